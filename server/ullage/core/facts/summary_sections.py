"""Sections of a summary: what each is for, how it is written, and how its lines begin."""

import re
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime

import msgspec

NONE = "(none)"
FOCUS = "Focus: "
ASKED = "asked: "
REPLACED = "replaced: "
OPEN_REQUEST = "open request: "
NOT_CURED = " → not cured yet"
PASSED_LATER = " → passed later"
"""How the line of an error ends."""
MAX_DATA_SHARE = 0.15
"""Share of a summary's characters that identifiers may take: docs/design/summaries.md,
"Sections"."""
_MIN_DATA_CHARS = 200
"""What they may take of a short summary all the same; chosen."""
LEFT_OUT = "(left out: "
"""How a line begins that says what the budget left out; not carried forward."""
AS_OF = "(as of "
"""How the line above the sections begins that tells when the last message was written."""


class Section(msgspec.Struct, frozen=True, kw_only=True):
    """A section of our summaries."""

    name: str
    asked: str
    """What a model is asked to write in it."""
    headings: tuple[str, ...]
    """Words in the headings of other agents' summaries that say the same; the longest decides."""
    is_steering: bool = False
    """Whether it tells the agent what to do, so that text of tools must not enter it."""
    is_inserted: bool = False
    """Whether the audit puts lines into it."""


SECTIONS = (
    Section(
        name="Goal",
        asked=f"what the user wants in the end; then every request of the user in short, in order,"
        f" as `{ASKED}…`",
        headings=(
            "goal", "request", "intent", "objective", "task context", "task overview",
            "user message", "user's message",
        ),
        is_steering=True,
    ),
    Section(
        name="Constraints",
        asked="every rule, limit and preference that the user stated, word for word, in the user's"
        " language",
        headings=("constraint", "preference", "rule", "instruction"),
        is_steering=True,
        is_inserted=True,
    ),
    Section(
        name="Decisions",
        asked="what was decided and why, with what was ruled out",
        headings=("decision", "rationale", "choice"),
        is_steering=True,
        is_inserted=True,
    ),
    Section(
        name="Work completed",
        asked="what is done, with its result; findings that the rest relies on",
        headings=("done", "completed", "progress", "accomplish", "problem solving", "early"),
    ),
    Section(
        name="In progress",
        asked="what was being done at the end, and how far it is",
        headings=("current", "state", "context for"),
    ),
    Section(
        name="Errors and cures",
        asked="each error that cost work, as `ERROR → what cured it` or `ERROR → not cured yet`",
        headings=("error", "failure", "errors and fixes"),
    ),
    Section(
        name="Remaining",
        asked=f"what is still to be done or answered; a request without an answer as"
        f" `{OPEN_REQUEST}…`",
        headings=(
            "next steps", "next actions", "what's next", "remain", "pending", "todo", "to do",
            "open", "blocked", "unresolved", "in progress",
        ),
        is_steering=True,
        is_inserted=True,
    ),
    Section(
        name="Next step",
        asked="the very next thing to do, with who said so: `user: “their words”` or `agent: “its"
        " words”`",
        headings=("next step", "next action"),
        is_steering=True,
    ),
    Section(
        name="Files",
        asked="every file touched, as `modified PATH` or `read PATH`",
        headings=("files",),
        is_inserted=True,
    ),
    Section(
        name="Commands",
        asked="what checks or builds the work, as `ok: COMMAND` or `failed: COMMAND`",
        headings=("command",),
    ),
    Section(
        name="Identifiers",
        asked="exact names, numbers, ids, versions, addresses that do not stand above yet and that"
        " the work needs",
        headings=("identifier", "critical context", "key fact", "technical concept"),
        is_inserted=True,
    ),
)  # fmt: skip
"""Every section, in the order in which they are written."""
SECTION_NAMES = tuple(section.name for section in SECTIONS)
RENAMED = {"Current state": "In progress", "Commands and errors": "Commands"}
"""Sections as Ullage called them before, and their names now."""
_POINT = re.compile(r"\A(?:[-*+•]|\d{1,3}[.)])\s{1,4}(?:\[[ xX]\]\s)?")


def write_sections(lines: Mapping[str, Sequence[str]]) -> str:
    """Write a summary in our form: every section, each line as a point."""
    return "\n".join(
        f"## {name}\n" + ("\n".join(f"- {line}" for line in lines[name]) or NONE) + "\n"
        for name in SECTION_NAMES
    )


def write_as_of(at_ms: int | None) -> str:
    """Say when the last message of what is summarized was written; empty where nobody knows."""
    if at_ms is None:
        return ""
    try:
        at = datetime.fromtimestamp(at_ms / 1000, UTC)
    except (OverflowError, OSError, ValueError):
        return ""
    return f"{AS_OF}{at:%H:%M} UTC, {at:%Y-%m-%d})\n\n"


def limit_data_chars(n_other_chars: int) -> int:
    """Give how many characters identifiers may take beside all others of a summary."""
    return max(_MIN_DATA_CHARS, int(n_other_chars * MAX_DATA_SHARE / (1 - MAX_DATA_SHARE)))


def mark_empty_sections(lines: Sequence[str]) -> str:
    """Say of our sections that they are empty where their last line was taken away."""
    headings = {f"## {name}" for name in SECTION_NAMES}
    marked: list[str] = []
    for line, following in zip(lines, (*lines[1:], ""), strict=True):
        marked.append(line)
        if line in headings and (not following.strip() or following in headings):
            marked.append(NONE)
    return "\n".join(marked)


def remove_point_mark(line: str) -> str:
    """Give a line without the mark of a list that it begins with."""
    return _POINT.sub("", line, count=1)


def match_heading(heading: str) -> str | None:
    """Find the section whose words a heading has, the longest of them."""
    lower = heading.lower()
    matches = [
        (len(word), section.name)
        for section in SECTIONS
        for word in section.headings
        if word in lower
    ]
    return max(matches, key=lambda match: match[0])[1] if matches else None
