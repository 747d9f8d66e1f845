"""The page that explains every diagnostic, as a part of the package."""

import re
from functools import cache
from importlib import resources
from pathlib import Path


@cache
def diagnostic_links() -> dict[str, str]:
    """Give the address of each code's section; none where the package is no folder."""
    page = resources.files("ullage") / "data" / "diagnostics.md"
    if not isinstance(page, Path):
        return {}
    lines = page.read_text("utf-8").split("\n")
    rows = ((number, re.match(r"### ([a-z0-9-]+)", line)) for number, line in enumerate(lines, 1))
    # Editors take `#L12` of a file's address as its line.
    return {match[1]: f"{page.as_uri()}#L{number}" for number, match in rows if match}
