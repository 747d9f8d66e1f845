"""Paths as a person reads them: below the folder that is worked in, or below the home folder."""

import re


def shorten_paths(text: str, folder: str | None, home: str) -> str:
    """Leave the folder out of the paths below it, and write the home folder as `~`."""
    for start, itself, below in ((folder, ".", ""), (home, "~", r"~\1")):
        if start and (top := start.rstrip("/\\")):
            at_start = rf"(?<![\w.~/\\-]){re.escape(top)}"
            text = re.sub(rf"{at_start}([/\\])", below, text)
            text = re.sub(rf"{at_start}(?![\w.-])", itself, text)
    return text
