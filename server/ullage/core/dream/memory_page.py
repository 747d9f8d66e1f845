"""`MEMORY.md` as a page of sections: where a line belongs, and what a change takes away."""

import re
from collections.abc import Callable, Iterator, Sequence

import msgspec

from ullage.core.memory.inbox import SECTIONS, Section
from ullage.core.memory.origin import normalize_line
from ullage.core.text.markdown import Part, nest_parts, read_parts
from ullage.core.text.prose import remove_list_mark

MAX_LOSS_RATIO = 0.25
"""Of the lines of `MEMORY.md`, what one review may take away (docs/design/memory.md, "Changes to
memory files")."""
TITLE = "# Memory"
HEADINGS: dict[Section, str] = {
    "preferences": "User Preferences",
    "project": "Project",
    "decisions": "Decisions",
    "resources": "Resources",
    "lessons": "Lessons",
}
_KNOWN_BY: dict[Section, re.Pattern[str]] = {
    "preferences": re.compile(r"preference|style|how i work|about me|\brules?\b|conventions"),
    "project": re.compile(r"project|facts?\b|architecture|environment|code ?base|overview|team"),
    "decisions": re.compile(r"decision|decided|choices"),
    "resources": re.compile(r"resource|reference|links?\b|commands?\b|paths?\b|docs\b|where"),
    "lessons": re.compile(r"lesson|gotcha|pitfall|dead.?ends?|learned|learnings|known issues"),
}
"""By which headings of the user's own a section is known; the first that fits."""
_MARK = re.compile(r"[ \t]*([-*+])[ \t]+")
_UNPLAIN = re.compile(r"<!--|^[ \t]*(?:\||(?:=+|-+)[ \t]*$)", re.MULTILINE)
"""A comment, a row of a table, the line below a heading: who cuts there cuts more than a point."""


class Point(msgspec.Struct, frozen=True, kw_only=True):
    """An item of a list, or a paragraph, with nothing that is part of it; no table."""

    text: str
    """On one line, without the mark of a list."""
    start: int
    end: int


class _Place(msgspec.Struct, frozen=True, kw_only=True):
    """A heading with what belongs to it, up to the next heading."""

    section: Section | None
    heading: Part
    end: int
    """Offset behind its last line that says something."""
    last_item: Part | None


def add_line(page: str, section: Section, line: str) -> str:
    """Add an item to a section of the page, which is begun where there is none.

    A section begins behind those that come before it in our order, so that the user's own order of
    all others stays.
    """
    places = _read_places(page)
    place = next((place for place in places if place.section == section), None)
    if place is not None:
        return _insert(page, place.end, _write_item(page, place, line))
    heading = f"## {HEADINGS[section]}\n\n- {line}"
    if not page.strip():
        return f"{TITLE}\n\n{heading}\n"
    before = SECTIONS[: SECTIONS.index(section)]
    ends = [_find_end(places, at) for at, place in enumerate(places) if place.section in before]
    at = max(ends, default=len(page.rstrip()))
    return _insert(page, at, f"\n{heading}")


def read_points(page: str) -> Iterator[Point]:
    """Read what a page says, point by point; headings, code and comments are none."""
    for nested in nest_parts(page, read_parts(page)):
        start, end = nested.part.start, nested.part.end
        is_plain = not _UNPLAIN.search(page, start, end)
        if is_plain and not nested.below:
            text = remove_list_mark(" ".join(page[start:end].split()))
            yield Point(text=text, start=start, end=end)


def remove_point(page: str, text: str, quote: Callable[[str], str]) -> str | None:
    """Give the page without a point, all its lines; None where it has none of these words.

    `quote` gives a point as it is shown. Words that may mean two points mean none.
    """
    wanted = normalize_line(text)
    meant = [point for point in read_points(page) if normalize_line(quote(point.text)) == wanted]
    if not wanted or len(meant) != 1:
        return None
    begin = page.rfind("\n", 0, meant[0].start) + 1
    end = page.find("\n", meant[0].end) + 1 or len(page)
    return page[:begin] + page[end:]


def is_loss_too_large(before: str, after: str) -> bool:
    """Tell whether more than a quarter of the points would go; one always may."""
    points = [normalize_line(point.text) for point in read_points(before)]
    kept = {normalize_line(point.text) for point in read_points(after)}
    n_lost = sum(point not in kept for point in points)
    return n_lost > max(1.0, MAX_LOSS_RATIO * len(points))


def _read_places(page: str) -> list[_Place]:
    places: list[_Place] = []
    parts = read_parts(page)
    for at, part in enumerate(parts):
        if part.kind != "heading":
            continue
        below = _take_below(parts, at + 1)
        items = [each for each in below if each.is_item]
        places.append(
            _Place(
                section=_tell_section(page[part.start : part.end], part.level),
                heading=part,
                end=_end_of_comment(page, below[-1] if below else part),
                last_item=items[-1] if items else None,
            )
        )
    known: set[Section] = set()
    for at, place in enumerate(places):
        if place.section in known:
            places[at] = msgspec.structs.replace(place, section=None)
        elif place.section is not None:
            known.add(place.section)
    return places


def _take_below(parts: Sequence[Part], start: int) -> Sequence[Part]:
    end = start
    while end < len(parts) and parts[end].kind != "heading":
        end += 1
    return parts[start:end]


def _end_of_comment(page: str, part: Part) -> int:
    """Give the end of a part with the comment that begins in it and ends on a later line."""
    opened = page.rfind("<!--", part.start, part.end)
    closed = page.find("-->", opened) + len("-->")
    return max(part.end, closed) if opened >= 0 else part.end


def _tell_section(heading: str, level: int) -> Section | None:
    if level == 1:
        return None
    words = heading.strip("# \t").casefold()
    return next((name for name in SECTIONS if _KNOWN_BY[name].search(words)), None)


def _find_end(places: Sequence[_Place], at: int) -> int:
    """Give the offset behind a section and all below it."""
    end = places[at].end
    for place in places[at + 1 :]:
        if place.heading.level <= places[at].heading.level:
            break
        end = place.end
    return end


def _write_item(page: str, place: _Place, line: str) -> str:
    if place.last_item is None:
        return f"\n- {line}"
    mark = _MARK.match(page, place.last_item.start)
    return f"{mark[1] if mark else '-'} {line}"


def _insert(page: str, at: int, text: str) -> str:
    """Put a text on lines of its own behind an offset."""
    end = "\r\n" if page[at : at + 2] == "\r\n" else "\n"
    return page[:at] + end + text.replace("\n", end) + (page[at:] or end)
