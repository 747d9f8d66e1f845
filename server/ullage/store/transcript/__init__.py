"""Transcripts on disk and in databases, read as lines."""
