"""Dreaming: daily logs become proposals for long-term memory."""
