"""The inbox of memory, `DREAMS.md`: items that wait for a person to look at them.

In the form of docs/design/memory.md, "The dreams file", so that what is written is read back.
"""

import hashlib
import re
from collections.abc import Callable, Collection, Iterator
from typing import Literal, TypeAlias, get_args

import msgspec

from ullage.core.memory.journal import Kind

TITLE = "DREAMS.md"
ID_CHARS = 8
"""Of an item's name, which people type; chosen: two of a thousand items have one name in common
once in ten thousand inboxes."""
MAX_REPLACES = 50
"""Of an item, that are read (chosen): one line stands for a few."""
Section: TypeAlias = Literal["preferences", "project", "decisions", "resources", "lessons"]
SECTIONS: tuple[Section, ...] = get_args(Section)
"""Of `MEMORY.md`, in this order where it has none of its own."""
SECTION_OF: dict[Kind, Section] = {
    "preference": "preferences",
    "fact": "project",
    "decision": "decisions",
    "command": "resources",
    "dead-end": "lessons",
}
_HEADING = "## Candidate Memory Items (Pending Review)"
_ITEM = re.compile(r"### \[(\d{4}-\d\d-\d\d)\s([^\]\n]*)\]\s*")
_ACTIONS: dict[Section, str] = {
    "preferences": "Update the user preferences section in MEMORY.md",
    "project": "Add this to the project facts section in MEMORY.md",
    "decisions": "Add this to the decisions section in MEMORY.md",
    "resources": "Add this to the project resources index in MEMORY.md",
    "lessons": "Add this to the lessons section in MEMORY.md",
}
_ADD_PATH = "Add this path to the project resources index in MEMORY.md"
_PLACE = re.compile(r"https?://\w|(?<![\w/])[~.]{0,2}/[\w.-]{2}|[\w-]/[\w./-]*\.[a-z]{1,5}\b")
"""An address, or a path that is no mere pair of words."""
_SECTION_WORDS = re.compile(r"\b(preferences|decisions|resources|lessons)\b", re.IGNORECASE)
_FIELDS = (
    ("finding", "Finding: "),
    ("action", "Suggested action: "),
    ("source", "Source: "),
    ("score", "Score: "),
    ("reason", "Reason: "),
)
_REPLACES = "Replaces: "


class InboxItem(msgspec.Struct, frozen=True, kw_only=True):
    """An item that waits; every text is one line."""

    day: str
    """`YYYY-MM-DD`, local."""
    title: str
    """How it came here."""
    finding: str
    action: str
    source: str = ""
    score: str = ""
    """How much speaks for it, 0 to 1, as written."""
    reason: str = ""
    replaces: tuple[str, ...] = ()
    """What it stands for from now on: lines of `MEMORY.md`, and what was said before."""

    @property
    def item_id(self) -> str:
        """Its name: of all that it shows, so that who decides by it decides what was seen."""
        shown = "\n".join((self.day, self.title, self.finding, self.action, self.source))
        shown = "\n".join((shown, self.score, self.reason, *self.replaces))
        return hashlib.sha256(shown.encode("utf-8", "surrogatepass")).hexdigest()[:ID_CHARS]

    @property
    def section(self) -> Section:
        """Where its suggested action, which a person may change, wants it in `MEMORY.md`."""
        named = _SECTION_WORDS.search(self.action)
        return "project" if named is None else msgspec.convert(named[1].lower(), Section)


class PlacedItem(msgspec.Struct, frozen=True, kw_only=True):
    """An item where it stands in the inbox."""

    item: InboxItem
    first_line: int
    """Of its heading, from 0."""
    end_line: int
    """Behind its last line that is not blank."""
    finding_line: int


def propose_item(
    kind: Kind,
    finding: str,
    *,
    day: str,
    title: str,
    source: str,
    score: str = "",
    reason: str = "",
    replaces: tuple[str, ...] = (),
) -> InboxItem:
    """Make an item of something that is to be remembered."""
    section = SECTION_OF[kind]
    if kind == "fact" and _PLACE.search(finding) is not None:
        section = "resources"
    is_path = section == "resources" and kind == "fact"
    return InboxItem(
        day=day,
        title=title,
        finding=finding,
        action=_ADD_PATH if is_path else _ACTIONS[section],
        source=source,
        score=score,
        reason=reason,
        replaces=replaces,
    )


def format_item(item: InboxItem, inbox: str) -> str:
    """Write an item as it follows what stands in the inbox, with LF."""
    headings = [line.rstrip() for line in inbox.split("\n") if line.startswith("## ")]
    heading = "" if headings[-1:] == [_HEADING] else f"{_HEADING}\n\n"
    values = (item.finding, item.action, item.source, item.score, item.reason)
    labelled = zip(_FIELDS, values, strict=True)
    fields = "".join(f"{label}{value}\n" for (_, label), value in labelled if value)
    replaces = "".join(f"{_REPLACES}{line}\n" for line in item.replaces)
    return f"{heading}### [{item.day} {item.title}]\n\n{fields}{replaces}"


def read_items(inbox: str) -> Iterator[InboxItem]:
    """Read the items that wait; what has another form is passed over."""
    return (placed.item for placed in place_items(inbox))


def place_items(inbox: str) -> Iterator[PlacedItem]:
    """Read the items that wait, each with its place."""
    is_inside = False
    lines = inbox.replace("\r\n", "\n").split("\n")
    for at, line in enumerate(lines):
        if line.startswith("## "):
            is_inside = line.rstrip() == _HEADING
        if is_inside and (heading := _ITEM.fullmatch(line)):
            placed = _read_item(lines, at, heading)
            if placed is not None:
                yield placed


def change_texts(item: InboxItem, change: Callable[[str], str]) -> InboxItem:
    """Give an item with each of its texts changed, such as one that hides secrets."""
    return InboxItem(
        day=item.day,
        title=change(item.title),
        finding=change(item.finding),
        action=change(item.action),
        source=change(item.source),
        score=change(item.score),
        reason=change(item.reason),
        replaces=tuple(map(change, item.replaces)),
    )


def cut_items(inbox: str, ids: Collection[str]) -> str:
    """Give the inbox without some items; all else stays as it is."""
    placed = [place for place in place_items(inbox) if place.item.item_id in ids]
    lines = inbox.split("\n")
    kept: list[str] = []
    begin = 0
    for place in placed:
        kept += lines[begin : place.first_line]
        begin = place.end_line
        while begin < len(lines) - 1 and not lines[begin].strip():
            begin += 1
    return "\n".join(kept + lines[begin:])


def _read_field(line: str, above: str) -> tuple[str, str, bool]:
    """Give the field that a line belongs to, what it says, and whether the field begins there.

    The name is empty where it is no field.
    """
    for name, label in (*_FIELDS, ("replaces", _REPLACES)):
        if f"{line} ".startswith(label):
            return name, line.removeprefix(label.strip()).strip(), True
    is_continued = line and above not in ("", "replaces")
    return (above, line, False) if is_continued else ("", "", False)


def _read_item(lines: list[str], first: int, heading: re.Match[str]) -> PlacedItem | None:
    fields: dict[str, str] = {}
    replaces: list[str] = []
    end = at = first + 1
    finding_line = first
    name = ""
    while at < len(lines) and not lines[at].startswith("#"):
        line = lines[at].strip()
        name, value, is_begun = _read_field(line, name)
        if name == "replaces":
            replaces = [*replaces, value][:MAX_REPLACES]
        elif name and is_begun and name in fields:
            # The first of two counts.
            name = ""
        elif name:
            finding_line = at if name == "finding" and is_begun else finding_line
            # Who wraps a line in an editor says one thing still.
            fields[name] = value if is_begun else f"{fields[name]} {value}"
        at += 1
        # What is no field is a note of the user's, which stays where it is.
        end = at if name else end
    if not fields.get("finding"):
        return None
    item = InboxItem(
        day=heading[1],
        title=heading[2].strip(),
        finding=fields["finding"],
        action=fields.get("action", ""),
        source=fields.get("source", ""),
        score=fields.get("score", ""),
        reason=fields.get("reason", ""),
        replaces=tuple(filter(None, replaces)),
    )
    return PlacedItem(item=item, first_line=first, end_line=end, finding_line=finding_line)
