"""Text that comes from sessions, made safe for Markdown that editors show."""

_SPECIAL = frozenset(r"\`*_{}[]<>()#+!|~$")


def escaped(text: str) -> str:
    """Write a text on one line so that Markdown shows it as it is."""
    flat = " ".join(text.split())
    return "".join(f"\\{char}" if char in _SPECIAL else char for char in flat)
