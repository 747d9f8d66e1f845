"""Paths as a person reads them: below the folder that is worked in, or below the home folder."""

import re

import msgspec

from ullage.core.text.prose import gist
from ullage.core.text.quoting import one_line


class Label(msgspec.Struct, frozen=True):
    """What a call was about: its command, its paths, or its arguments."""

    text: str
    is_path: bool = False
    tool: str = ""
    """Whose call it was, in front."""

    def cut(self, n_chars: int) -> str:
        """Bring it onto one line; of a path the end stays."""
        head = f"{self.tool} " if self.tool else ""
        n_left = max(2, n_chars - len(head))
        text = cut_left(self.text, n_left) if self.is_path else gist(self.text, n_left)
        return f"{head}{text}".rstrip()


def cut_left(text: str, n_chars: int) -> str:
    """Bring a path onto one line of at most `n_chars` characters: its end tells more."""
    line = one_line(text)
    return line if len(line) <= n_chars else f"…{line[1 - n_chars :]}"


def shorten_paths(text: str, folder: str | None, home: str) -> str:
    """Leave the folder out of the paths below it, and write the home folder as `~`."""
    for start, itself, below in ((folder, ".", ""), (home, "~", r"~\1")):
        if start and (top := start.rstrip("/\\")):
            at_start = rf"(?<![\w.~/\\-]){re.escape(top)}"
            text = re.sub(rf"{at_start}([/\\])", below, text)
            text = re.sub(rf"{at_start}(?![\w.-])", itself, text)
    return text
