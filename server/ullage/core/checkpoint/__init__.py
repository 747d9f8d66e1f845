"""Checkpoints: the working state of a session, built, compared, and given back as text."""
