"""Where Claude Code keeps what is of a folder (docs/design/agents.md, "Claude Code: places")."""

from ullage.formats.agent_info import Home

HOME = Home(variable="CLAUDE_CONFIG_DIR", default=".claude", folders=("projects",))
MAX_SLUG_CHARS = 200
_DIGITS = "0123456789abcdefghijklmnopqrstuvwxyz"


def folder_name(cwd: str) -> str:
    """Encode a working folder as Claude Code does (docs/design/agents.md,
    "Claude Code: places").

    Every UTF-16 unit but ASCII letters and digits becomes `-`; a name over 200 characters is cut
    and ends in the path's 32-bit hash in base 36. Different folders may share a name.
    """
    data = cwd.encode("utf-16-le", "surrogatepass")
    units = [int.from_bytes(data[i : i + 2], "little") for i in range(0, len(data), 2)]
    slug = "".join(chr(u) if u < 128 and chr(u).isalnum() else "-" for u in units)
    if len(slug) <= MAX_SLUG_CHARS:
        return slug
    value = 0
    for unit in units:
        value = (value * 31 + unit) & 0xFFFFFFFF
    return f"{slug[:MAX_SLUG_CHARS]}-{_base36(abs(value - 2**32 if value >= 2**31 else value))}"


def _base36(value: int) -> str:
    digits = ""
    while True:
        value, digit = divmod(value, 36)
        digits = _DIGITS[digit] + digits
        if not value:
            return digits
