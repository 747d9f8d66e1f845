"""The inbox of memory, `DREAMS.md`: items that wait for a person to look at them.

In the form of docs/design/memory.md, "The dreams file", so that what is written is read back.
"""

import re
from collections.abc import Iterator

import msgspec

from ullage.core.memory.journal import Kind

TITLE = "DREAMS.md"
_SECTION = "## Candidate Memory Items (Pending Review)"
_ITEM = re.compile(r"### \[(\d{4}-\d\d-\d\d)\s+([^\]\n]*)\]\s*")
_FINDING, _ACTION, _SOURCE = "Finding: ", "Suggested action: ", "Source: "
_ACTIONS: dict[Kind, str] = {
    "fact": "Add this to the project facts section in MEMORY.md",
    "decision": "Add this to the decisions section in MEMORY.md",
    "preference": "Update the user preferences section in MEMORY.md",
    "command": "Add this to the commands section in MEMORY.md",
    "dead-end": "Add this to the dead ends section in MEMORY.md",
}


class InboxItem(msgspec.Struct, frozen=True, kw_only=True):
    """An item that waits; every text is one line."""

    day: str
    """`YYYY-MM-DD`, local."""
    title: str
    """How it came here."""
    finding: str
    action: str
    source: str = ""


def propose_item(kind: Kind, finding: str, *, day: str, title: str, source: str) -> InboxItem:
    """Make an item of something that is to be remembered."""
    action = _ACTIONS[kind]
    return InboxItem(day=day, title=title, finding=finding, action=action, source=source)


def format_item(item: InboxItem, inbox: str) -> str:
    """Write an item as it follows what stands in the inbox, with LF."""
    headings = [line.rstrip() for line in inbox.split("\n") if line.startswith("## ")]
    section = "" if headings[-1:] == [_SECTION] else f"{_SECTION}\n\n"
    source = f"{_SOURCE}{item.source}\n" if item.source else ""
    return (
        f"{section}### [{item.day} {item.title}]\n\n"
        f"{_FINDING}{item.finding}\n{_ACTION}{item.action}\n{source}"
    )


def read_items(inbox: str) -> Iterator[InboxItem]:
    """Read the items that wait; what has another form is passed over."""
    is_inside = False
    lines = inbox.split("\n")
    for at, line in enumerate(lines):
        if line.startswith("## "):
            is_inside = line.rstrip() == _SECTION
        if is_inside and (heading := _ITEM.fullmatch(line)):
            fields = _read_fields(lines, at + 1)
            if _FINDING in fields:
                yield InboxItem(
                    day=heading[1],
                    title=heading[2].strip(),
                    finding=fields[_FINDING],
                    action=fields.get(_ACTION, ""),
                    source=fields.get(_SOURCE, ""),
                )


def _read_fields(lines: list[str], at: int) -> dict[str, str]:
    fields: dict[str, str] = {}
    while at < len(lines) and not lines[at].startswith("#"):
        for name in (_FINDING, _ACTION, _SOURCE):
            if lines[at].startswith(name):
                fields.setdefault(name, lines[at].removeprefix(name).strip())
        at += 1
    return fields
