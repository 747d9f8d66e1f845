"""Adapters, one for each agent's transcripts: pure, lossless, independent of each other."""
