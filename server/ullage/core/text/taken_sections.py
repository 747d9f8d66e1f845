"""Sections that were taken out of a Markdown text, to be put back at its end."""

import re

_HEADING = re.compile(r"^(?=#)", re.MULTILINE)
_BLANK = re.compile(r"\n(?:[ \t]*\n)+")
_BARE = re.compile(r"#{3,}[^\n]*")
"""The heading of a section alone."""


def write_taken_sections(before: str, after: str, now: str) -> str | None:
    """Write, as it follows a text, what was taken out of an earlier version of it; all have LF.

    A section is a heading of the third level or below, and the paragraph under it: what follows is
    somebody's note, which may have stayed. Each stands behind a blank line, and below the `## `
    heading that it stood under, which is written again where another one is the last. What stands
    in the text again is left out. None where anything but sections and headings was changed.
    """
    left, standing = _split(after)[::-1], _split(now)
    heading, last = "", next((_top(each) for each in reversed(standing) if _top(each)), "")
    n_taken, pieces = 0, [""]
    for section in _split(before):
        heading = _top(section) or heading
        if left[-1:] == [section]:
            left.pop()
            continue
        if not section.startswith("#"):
            return None
        n_taken += 1
        if section in standing:
            continue
        if heading not in (last, _top(section)):
            pieces.append(f"{heading}\n")
        pieces.append(f"{section}\n")
        last = heading or last
    if left or not n_taken:
        return None
    text = "\n".join(pieces)
    if not now or now.endswith("\n\n"):
        return text.removeprefix("\n")
    return text if now.endswith("\n") or not text else f"\n{text}"


def _split(text: str) -> list[str]:
    """Split a text into headings, sections and paragraphs; blank lines between do not count."""
    pieces: list[str] = []
    for piece in (each for part in _BLANK.split(text) for each in _HEADING.split(part)):
        if not piece.strip():
            continue
        if pieces and _BARE.fullmatch(pieces[-1]) and not piece.startswith("#"):
            pieces[-1] += f"\n\n{piece.rstrip()}"
        else:
            pieces.append(piece.rstrip())
    return pieces


def _top(section: str) -> str:
    """Give the heading of a section, where it is one of the second level; else nothing."""
    return section.partition("\n")[0].rstrip() if section.startswith("## ") else ""
