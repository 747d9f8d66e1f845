"""Faults of ours, told without what the user's session holds."""

import traceback


def where(error: Exception) -> str:
    """Tell where an error happened and what it was, not its message, which may hold content."""
    frames = "".join(traceback.format_tb(error.__traceback__))
    return f"{frames}{type(error).__name__}"
