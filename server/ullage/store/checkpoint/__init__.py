"""Checkpoints and captured working state on disk."""
