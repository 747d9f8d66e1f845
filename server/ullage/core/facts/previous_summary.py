"""A summary that was made before, by our sections: ours, or another's by the headings it has."""

import re
from collections.abc import Iterator, Mapping
from itertools import islice

import msgspec

from ullage.core.facts.pins import remove_pins
from ullage.core.facts.summary_sections import (
    ASKED,
    FOCUS,
    LEFT_OUT,
    NOT_CURED,
    PASSED_LATER,
    RENAMED,
    SECTION_NAMES,
    SECTIONS,
    match_heading,
    remove_point_mark,
)
from ullage.core.text.lazy_pattern import lazy_pattern
from ullage.core.text.prose import gist, remove_bold

_FORMER_NAMES = frozenset(
    ("Goal", "Constraints", "Decisions", "Work completed", "Remaining", "Files", "Identifiers")
).union(RENAMED)
_MAX_FOREIGN_CHARS = 50_000
_MAX_FOREIGN_LINES = 1000
"""Both bound what a hostile summary costs; the longest of 61 recorded ones has half of each."""
_MAX_POINT_CHARS = 500
_FIRST_HEADING = lazy_pattern(rf"^## {SECTIONS[0].name}\n", re.MULTILINE)
_HEADING = lazy_pattern(
    r"(?:(?P<level>#{1,6})\s{1,3}|\*\*|\d{1,2}\.\s{1,3}(?:\*\*)?)(?P<name>[^\n*:#]{3,80}?)"
    r"(?:\*\*)?:?(?:\*\*)?\s{0,3}(?:$|(?<=[:*])(?P<rest>.*))"
)
_FILES_TAG = lazy_pattern(r"<(?:/(?:read|modified)|(read|modified))-files>")
_ANALYSIS = lazy_pattern(
    r"<analysis>.*?</analysis>|^Analysis:[ \t]*\n.*?(?=^(?:<summary>|Summary:)[ \t]*$)",
    re.DOTALL | re.MULTILINE,
)
"""What Claude Code's model thinks before it summarizes; the summary says it again."""
_BOILERPLATE = lazy_pattern(
    r"<|```|---|Summary:$|\|[-:| ]+\|$|This session is being continued from a previous|"
    r"The (?:summary below|conversation history before)|If you need specific details from before|"
    r"(?:Please )?continue (?:the conversation )?from where|Another language model started to|"
    r".*compacted into the following|\*\*Turn Context \(split turn\)|"
    r"Context contained \d+ messages",
    re.IGNORECASE,
)
"""Lines that agents put around their summaries, and marks that say nothing."""
_EMPTY = lazy_pattern(
    r"[-*•\s(]*(?:none|n/a|nothing|no prior history)"
    r"(?: (?:currently|captured|yet|so far|identified|noted))?[.)\s]*",
    re.IGNORECASE,
)
"""What agents write into a section that has no points."""
_STOPPED = lazy_pattern(r"\[Request interrupted by user[^\]\n]{0,20}\]\s?")
"""What Claude Code writes in the user's place, which its summaries quote as theirs."""
_FILE_POINT = lazy_pattern(
    r"\A[`*_\s\"']{0,4}(?P<path>(?:[\w@.~+-]{0,80}/){0,20}[\w@.+-]{1,80}\.\w{1,10})`?\*{0,2}(?P<rest>.*)"
)
_FILE_CHANGED = lazy_pattern(
    r"\b(?:new|creat|modif|edit|updat|chang|add|delet|renam|rewr|fix)", re.IGNORECASE
)
_NOT_CARRIED = {"Goal": (FOCUS,), "Identifiers": (LEFT_OUT,)}
"""How lines begin that are true of one summary alone, by their section."""
_FORMER_LATEST = "Latest request: "
"""Stood for a request that was told elsewhere too."""
_FAILED = "failed: "
_FORMER_PASSED = " (a later run passed)"


class PreviousSummary(msgspec.Struct, frozen=True, kw_only=True):
    """The lines of a summary that was made before, by our sections."""

    is_ours: bool
    lines: dict[str, tuple[str, ...]]


def read_previous_summary(text: str) -> PreviousSummary:
    """Read a summary, ours or another's."""
    text = remove_pins(text)
    start = _FIRST_HEADING.search(text)
    if start is not None and _has_our_headings(text):
        return PreviousSummary(is_ours=True, lines=_freeze(_read_own(text[start.start() :])))
    lines, rest = _take_inserted(text)
    for section, line in islice(_read_foreign(rest), _MAX_FOREIGN_LINES):
        lines[section].append(line)
    return PreviousSummary(is_ours=False, lines=_freeze(lines, has_doubles=False))


def _has_our_headings(text: str) -> bool:
    headings = {line[3:] for line in text.split("\n") if line.startswith("## ")}
    return headings.issuperset(SECTION_NAMES) or headings.issuperset(_FORMER_NAMES)


def _empty_sections() -> dict[str, list[str]]:
    return {name: [] for name in SECTION_NAMES}


def _freeze(
    lines: Mapping[str, list[str]], *, has_doubles: bool = True
) -> dict[str, tuple[str, ...]]:
    return {
        name: tuple(texts if has_doubles else dict.fromkeys(texts)) for name, texts in lines.items()
    }


def _read_own(text: str) -> dict[str, list[str]]:
    lines = _empty_sections()
    heading = ""
    for line in text.split("\n"):
        if line.startswith("## "):
            heading = line[3:]
        elif line.startswith("</summary>"):
            break
        elif line.startswith("- ") and (section := RENAMED.get(heading, heading)) in lines:
            point = line[2:].strip()
            if not point.startswith(_NOT_CARRIED.get(section, ())):
                _add_own(lines, heading, section, point)
    return lines


def _add_own(lines: dict[str, list[str]], heading: str, section: str, point: str) -> None:
    """Add a point to its section, which may be another than where it stood before."""
    if heading == "Commands and errors" and point.startswith(_FAILED):
        section, point = "Errors and cures", point.removeprefix(_FAILED)
        is_cured = point.endswith(_FORMER_PASSED)
        point = point.removesuffix(_FORMER_PASSED) + (PASSED_LATER if is_cured else NOT_CURED)
    elif section == "Work completed" and point.startswith(ASKED):
        section = "Goal"
    elif section == "Goal" and point.startswith(_FORMER_LATEST):
        return
    lines[section].append(point)


def _take_inserted(text: str) -> tuple[dict[str, list[str]], str]:
    """Take the points below headings that read as ours out of another's summary.

    Such points are taken whole and wherever they stand: the audit put them there.
    """
    inserted = _empty_sections()
    names = {section.name for section in SECTIONS if section.is_inserted}
    rest: list[str] = []
    section = ""
    for line in text.split("\n"):
        if line.startswith("#"):
            section = line.removeprefix("## ").rstrip()
        is_point = line.startswith("- ") and section in names and not _EMPTY.fullmatch(line)
        if is_point and (section != "Files" or line.startswith(("- modified ", "- read "))):
            inserted[section].append(line[2:].strip())
        else:
            rest.append(line)
    return inserted, "\n".join(rest)


def _read_foreign(text: str) -> Iterator[tuple[str, str]]:
    """Read the lines of another's summary: those between tags as files, none within a fence."""
    reader = _ForeignReader()
    text = _ANALYSIS.sub("", text[: 2 * _MAX_FOREIGN_CHARS])
    # Half a line would be read as a point of its own.
    bounded = (
        text if len(text) <= _MAX_FOREIGN_CHARS else text[:_MAX_FOREIGN_CHARS].rpartition("\n")[0]
    )
    for raw in bounded.split("\n"):
        reader.read(raw)
    yield from reader.points


class _ForeignReader(msgspec.Struct):
    """Where in another's summary reading is."""

    points: list[tuple[str, str]] = []
    section: str = "Work completed"
    level: int = 0
    """Marks of the heading that the section has; 0 for other headings."""
    verb: str = ""
    """What the tag around the lines says of files."""
    n_indent: int = 0
    """Of the last point that is not below another."""
    is_named: bool = False
    """Whether a heading names the point that the lines tell of."""
    is_fenced: bool = False
    is_users: bool = False
    """Whether the lines are the user's messages."""

    def read(self, raw: str) -> None:
        line = raw.strip()
        tag = _FILES_TAG.fullmatch(line)
        if line.startswith("```"):
            self.is_fenced = not self.is_fenced
        elif tag:
            self.verb = tag[1] or ""
        elif self.verb and line:
            self.points.append(("Files", f"{self.verb} {line}"))
        elif line and not self.is_fenced and not _BOILERPLATE.match(line):
            self._read_line(raw, self._read_heading(line))

    def _read_heading(self, line: str) -> str:
        """Go on to the section that a line names; give what of the line is no heading."""
        heading = _HEADING.fullmatch(line) if len(line) < 2000 else None
        if heading is None:
            return line
        name, level = heading["name"], len(heading["level"] or "")
        section = match_heading(name)
        if section is None and not level:
            return line
        is_below = self.level and level > self.level
        if is_below and (section is None or self.section == "Remaining"):
            # What stands below the heading of a section names one of its points.
            self.is_named = self.section == "Remaining"
            return line.lstrip("# ")
        self.section, self.level = section or "Work completed", level if section else 0
        self.is_named, self.is_users = False, "message" in name.lower()
        return (heading["rest"] or "").strip() if section else ""

    def _read_line(self, raw: str, line: str) -> None:
        n_indent = len(raw) - len(raw.lstrip())
        line = _STOPPED.sub("", line) if self.is_users else line
        body = gist(remove_bold(remove_point_mark(line)).strip("|").strip(), _MAX_POINT_CHARS)
        if not body or _EMPTY.fullmatch(body):
            return
        last = self.points[-1] if self.points else ("", "")
        is_below = self.section == "Errors and cures" and n_indent > self.n_indent
        if last[0] == self.section and (is_below or (self.is_named and line == raw.strip())):
            self.points[-1] = (last[0], gist(f"{last[1].rstrip(':')}: {body}", _MAX_POINT_CHARS))
            return
        self.n_indent = n_indent
        if self.section == "Files":
            self._read_file(body)
        elif self.section == "Commands":
            # Commands have a form of their own, which foreign lines need not have.
            self.points.append(("Identifiers", body))
        else:
            asked = body.strip('"“” ') if self.is_users else ""
            if asked or not self.is_users:
                self.points.append((self.section, ASKED + asked if asked else body))

    def _read_file(self, body: str) -> None:
        """Take the path that a point begins with, and what it tells of the file."""
        file = _FILE_POINT.match(body)
        if file is None:
            self.points.append(("Work completed", body))
            return
        verb = "modified" if _FILE_CHANGED.search(file["rest"][:80]) else "read"
        self.points.append(("Files", f"{verb} {file['path']}"))
