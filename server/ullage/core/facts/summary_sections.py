"""Sections of a summary: ours written and read back, others' read by the headings they have."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import TypeVar

import msgspec

from ullage.core.facts.pins import remove_pins
from ullage.core.text.prose import gist

SECTIONS = (
    "Goal",
    "Constraints",
    "Decisions",
    "Work completed",
    "Current state",
    "Remaining",
    "Files",
    "Commands and errors",
    "Identifiers",
)
"""Headings of our summaries, in their order."""
NONE = "(none)"
FOCUS = "Focus: "
LATEST = "Latest request: "
OPEN_REQUEST = "open request: "
LEFT_OUT = "(left out: "
"""How a line begins that says what the budget left out; not carried forward."""
_MAX_FOREIGN_CHARS = 50_000
_MAX_FOREIGN_LINES = 1000
"""Both bound what a hostile summary costs; the longest of 61 recorded ones has half of each."""
_FIRST_HEADING = re.compile(rf"^## {SECTIONS[0]}\n", re.MULTILINE)
_HEADING = re.compile(
    r"(?:#{1,4}\s{1,3}|\*\*|\d{1,2}\.\s{1,3}(?:\*\*)?)([^\n*:#]{3,60}?)(?:\*\*)?:?(?:\*\*)?\s{0,3}"
    r"(?:$|(?<=[:*])(?P<rest>.*))"
)
_FILES_TAG = re.compile(r"<(?:/(?:read|modified)|(read|modified))-files>")
_POINT = re.compile(r"\A(?:[-*+•]|\d{1,3}[.)])\s{1,4}(?:\[[ xX]\]\s)?")
_FOREIGN_HEADINGS = (
    ("Constraints", ("constraint", "preference", "rule", "instruction")),
    ("Decisions", ("decision", "rationale", "choice")),
    ("Remaining", ("next", "remaining", "pending", "todo", "to do", "open", "blocked")),
    ("Remaining", ("in progress",)),
    ("Goal", ("goal", "request", "intent", "objective", "task context", "task overview")),
    ("Goal", ("user message",)),
    ("Work completed", ("done", "completed", "progress", "accomplish", "problem solving")),
    ("Work completed", ("early",)),
    ("Commands and errors", ("error", "command", "failure")),
    ("Current state", ("current", "state", "context for")),
    ("Files", ("files",)),
    ("Identifiers", ("identifier", "critical context", "key fact", "technical concept")),
)
"""Words in the headings of pi's, Claude Code's and OpenClaw's summaries, first match wins."""
_INSERTED = ("Constraints", "Decisions", "Remaining", "Files", "Identifiers")
_NOT_CARRIED = {"Goal": (FOCUS,), SECTIONS[-1]: (LEFT_OUT,)}
"""How lines begin that are true of one summary alone, by their section."""
_Section = TypeVar("_Section", bound=str)


class PreviousSummary(msgspec.Struct, frozen=True, kw_only=True):
    """The lines of a summary that was made before, by our sections."""

    is_ours: bool
    lines: dict[str, tuple[str, ...]]


def write_sections(lines: Mapping[str, Sequence[str]]) -> str:
    """Write a summary in our form: every section, each line as a point."""
    return "\n".join(
        f"## {name}\n" + ("\n".join(f"- {line}" for line in lines[name]) or NONE) + "\n"
        for name in SECTIONS
    )


def mark_empty_sections(lines: Sequence[str]) -> str:
    """Say of our sections that they are empty where their last line was taken away."""
    headings = {f"## {name}" for name in SECTIONS}
    marked: list[str] = []
    for line, following in zip(lines, (*lines[1:], ""), strict=True):
        marked.append(line)
        if line in headings and (not following.strip() or following in headings):
            marked.append(NONE)
    return "\n".join(marked)


def read_previous_summary(text: str) -> PreviousSummary:
    """Read a summary, ours or another's."""
    text = remove_pins(text)
    start = _FIRST_HEADING.search(text)
    if start is not None and all(f"\n## {name}\n" in text for name in SECTIONS[1:]):
        return PreviousSummary(is_ours=True, lines=_freeze(_read_own(text[start.start() :])))
    lines, rest = _take_inserted(text)
    for section, line in islice(_read_foreign(rest), _MAX_FOREIGN_LINES):
        lines[section].append(line)
    return PreviousSummary(is_ours=False, lines=_freeze(lines, has_doubles=False))


def _empty_sections() -> dict[str, list[str]]:
    return {name: [] for name in SECTIONS}


def _freeze(
    lines: Mapping[str, list[str]], *, has_doubles: bool = True
) -> dict[str, tuple[str, ...]]:
    return {
        name: tuple(texts if has_doubles else dict.fromkeys(texts)) for name, texts in lines.items()
    }


def _read_own(text: str) -> dict[str, list[str]]:
    lines = _empty_sections()
    section = ""
    for line in text.split("\n"):
        if line.startswith("## "):
            section = line[3:]
        elif line.startswith("</summary>"):
            break
        elif line.startswith("- ") and section in lines:
            point = line[2:].strip()
            if not point.startswith(_NOT_CARRIED.get(section, ())):
                lines[section].append(point)
    return lines


def _take_inserted(text: str) -> tuple[dict[str, list[str]], str]:
    """Take the points below headings that read as ours out of another's summary.

    Such points are taken whole and wherever they stand: the audit put them there.
    """
    inserted = _empty_sections()
    rest: list[str] = []
    section = ""
    for line in text.split("\n"):
        if line.startswith("#"):
            section = line.removeprefix("## ").rstrip()
        is_point = line.startswith("- ") and section in _INSERTED
        if is_point and (section != "Files" or line.startswith(("- modified ", "- read "))):
            inserted[section].append(line[2:].strip())
        else:
            rest.append(line)
    return inserted, "\n".join(rest)


def _read_foreign(text: str) -> Iterator[tuple[str, str]]:
    """Read the lines of another's summary, those between tags as files."""
    section, verb = "Work completed", ""
    # Half a line would be read as a point of its own.
    bounded = (
        text if len(text) <= _MAX_FOREIGN_CHARS else text[:_MAX_FOREIGN_CHARS].rpartition("\n")[0]
    )
    for raw in bounded.split("\n"):
        line = raw.strip()
        tag = _FILES_TAG.fullmatch(line)
        if tag:
            verb = tag[1]
        elif verb and line:
            yield "Files", f"{verb} {line}"
        elif line and not _is_boilerplate(line):
            heading = _HEADING.fullmatch(line) if len(line) < 2000 else None
            named = match_heading(heading[1], _FOREIGN_HEADINGS) if heading else None
            if heading and (named or line.startswith("#")):
                section = named or section
                line = (heading["rest"] or "").strip()
            body = remove_point_mark(line)
            if body and body.strip("()").lower() not in ("none", "n/a"):
                # Files and commands have a form of their own, which foreign lines need not have.
                has_form = section in ("Files", "Commands and errors")
                yield "Work completed" if has_form else section, gist(body, 500)


def _is_boilerplate(line: str) -> bool:
    return line.startswith(("<", "```", "---")) or "compacted into the following" in line


def remove_point_mark(line: str) -> str:
    """Give a line without the mark of a list that it begins with."""
    return _POINT.sub("", line, count=1)


def match_heading(
    heading: str, words_by_section: Iterable[tuple[_Section, tuple[str, ...]]]
) -> _Section | None:
    """Find the first section one of whose words is in a heading."""
    lower = heading.lower()
    return next(
        (section for section, words in words_by_section if any(word in lower for word in words)),
        None,
    )
