"""Earlier summaries: ours read back by their sections, others' by the headings they have."""

import re
from collections.abc import Iterator
from itertools import islice

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
_MAX_FOREIGN_CHARS = 12_000
_MAX_FOREIGN_LINES = 120
_FIRST_HEADING = re.compile(rf"^## {SECTIONS[0]}\n", re.MULTILINE)
_HEADING = re.compile(
    r"(?:#{1,4}\s{1,3}|\*\*|\d{1,2}\.\s{1,3}(?:\*\*)?)([^\n*:#]{3,60}?)(?:\*\*)?:?(?:\*\*)?\s{0,3}"
    r"(?:$|(?<=[:*])(?P<rest>.*))"
)
_TAGGED = re.compile(r"<(read|modified)-files>\n?(.{0,20000}?)</", re.DOTALL)
_POINT = re.compile(r"(?:[-*+•]|\d{1,3}[.)])\s{1,4}(?:\[[ xX]\]\s)?")
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


class PreviousSummary(msgspec.Struct, frozen=True, kw_only=True):
    """The lines of an earlier summary, by our sections."""

    is_ours: bool
    lines: dict[str, tuple[str, ...]]


def read_previous_summary(text: str) -> PreviousSummary:
    """Read an earlier summary, ours or another's."""
    text = remove_pins(text)
    start = _FIRST_HEADING.search(text)
    if start is not None and all(f"\n## {name}\n" in text for name in SECTIONS[1:]):
        return PreviousSummary(is_ours=True, lines=_own_lines(text[start.start() :]))
    inserted, rest = _part_inserted(text)
    lines = _foreign_lines(rest)
    return PreviousSummary(
        is_ours=False,
        lines={name: tuple(dict.fromkeys([*inserted[name], *lines[name]])) for name in SECTIONS},
    )


def read_section(text: str, section: str) -> tuple[str, ...]:
    """Give the lines of a summary that belong to one of our sections, whoever wrote it."""
    return read_previous_summary(text).lines[section]


def _own_lines(text: str) -> dict[str, tuple[str, ...]]:
    lines: dict[str, list[str]] = {name: [] for name in SECTIONS}
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
    return {name: tuple(found) for name, found in lines.items()}


def _part_inserted(text: str) -> tuple[dict[str, list[str]], str]:
    """Part another's summary into the points below headings that read as ours, and the rest.

    Such points are taken whole and wherever they stand: the audit put them there.
    """
    inserted: dict[str, list[str]] = {name: [] for name in SECTIONS}
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


def _foreign_lines(text: str) -> dict[str, tuple[str, ...]]:
    lines: dict[str, list[str]] = {name: [] for name in SECTIONS}
    bounded = text[:_MAX_FOREIGN_CHARS]
    for match in _TAGGED.finditer(bounded):
        verb = "read" if match[1] == "read" else "modified"
        lines["Files"] += [
            f"{verb} {path.strip()}" for path in match[2].split("\n") if path.strip()
        ]
    for section, line in islice(_headed(_TAGGED.sub("", bounded)), _MAX_FOREIGN_LINES):
        # Files and commands have a form of their own, which foreign lines need not have.
        known = section if section not in ("Files", "Commands and errors") else "Work completed"
        lines[known].append(line)
    return {name: tuple(dict.fromkeys(found)) for name, found in lines.items()}


def _headed(text: str) -> Iterator[tuple[str, str]]:
    section = "Work completed"
    for raw in text.split("\n"):
        line = raw.strip()
        if (
            not line
            or line.startswith(("<", "```", "---"))
            or "compacted into the following" in line
        ):
            continue
        heading = _HEADING.fullmatch(line) if len(line) < 2000 else None
        named = _section_of(heading[1]) if heading else None
        if heading and (named or line.startswith("#")):
            section = named or section
            line = (heading["rest"] or "").strip()
        point = _POINT.match(line)
        body = line[point.end() :] if point else line
        if body and body.strip("()").lower() not in ("none", "n/a"):
            yield section, gist(body, 500)


def _section_of(heading: str) -> str | None:
    lower = heading.lower()
    for section, words in _FOREIGN_HEADINGS:
        if any(word in lower for word in words):
            return section
    return None
