"""Lines of a page that contradict each other: on one subject, with other values or the opposite.

Two statements that stand beside each other under one heading are judged alone, and quietly: what
both name in one sort of value differs wholly (two weekdays, two numbers of columns), or one says
no to nearly the same words.
"""

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from itertools import combinations

import msgspec

from ullage.core.dream.subjects import MIN_SHARED, Subjects, read_subject, read_values
from ullage.core.text.markdown import Part, read_parts, split_plain_words
from ullage.core.text.prose import remove_list_mark
from ullage.core.text.word_lists import word_list

MIN_VALUED_RATIO = 0.75
"""Of the rarity of the shorter statement's words, beside the value, what the other has too. Chosen:
the instruction files of 50 repositories have no false pair, 3,400 log lines of the samples four."""
MIN_REVERSED_RATIO = 0.8
"""Of all words of both, those that they have in common, where one says no (chosen)."""
MAX_LINES = 200
"""Of a page, the first: what Claude Code loads of one."""
MAX_OF_ONE = 2
"""Lines that one contradicts: of more, they are a list of things with a value each (chosen)."""
MAX_COUNT_DIGITS = 3
"""A longer number names a run, a port or a year as often as it counts (chosen)."""
_REVERSALS = word_list("reversals").words
_FORCE = _REVERSALS | word_list("strong_rules").words
_NUMBERED = re.compile(r"[\w#][\w#.,/-]{0,40}\d(?:[\w.,/-]{0,40}\w)?|\d")
_CODE = re.compile(r"`([^`\n]{1,200})`")


class Contradiction(msgspec.Struct, frozen=True, kw_only=True):
    """Two parts of a text, in its order."""

    first: Part
    second: Part


class _Line(msgspec.Struct, frozen=True, kw_only=True):
    part: Part
    heading: int
    """Offset of the heading that it stands under."""
    text: str
    words: frozenset[str]
    values: dict[str, frozenset[str]]
    value_words: dict[str, frozenset[str]]
    is_reversed: bool
    """Whether it says no."""
    matter: frozenset[str]
    """Its words but for those that say yes or no, always or never."""
    names: frozenset[str]
    """What it names in backticks, or by a number that is no value: a run, a version, a ticket."""


def find_contradictions(page: str) -> tuple[Contradiction, ...]:
    """Find pairs of lines of which only one can hold, each pair once."""
    lines = tuple(_read_lines(page))
    subjects = Subjects(line.text for line in lines)
    pairs = [
        (first, second)
        for first, second in combinations(lines, 2)
        if first.heading == second.heading and _contradict(first, second, subjects)
    ]
    counts = Counter(line.part.start for pair in pairs for line in pair)
    return tuple(
        Contradiction(first=first.part, second=second.part)
        for first, second in pairs
        if max(counts[first.part.start], counts[second.part.start]) <= MAX_OF_ONE
    )


def _read_lines(page: str) -> Iterator[_Line]:
    heading = n_lines = 0
    for part in read_parts(page):
        if part.kind == "heading":
            heading = part.start
            continue
        text = " ".join(remove_list_mark(page[part.start : part.end].strip()).split())
        # What announces others says nothing by itself.
        if part.kind == "code" or text.rstrip("*_ ").endswith(":"):
            continue
        if n_lines == MAX_LINES:
            return
        n_lines += 1
        plain = split_plain_words(text)
        # Of a unit there are several: “8867 took” counts nothing.
        values = {sort: of_sort for sort, of_sort in read_values(text).items() if _is_sort(sort)}
        yield _Line(
            part=part,
            heading=heading,
            text=text,
            words=read_subject(text),
            values=values,
            value_words={sort: read_subject(" ".join(named)) for sort, named in values.items()},
            is_reversed=not _REVERSALS.isdisjoint(plain),
            matter=read_subject(" ".join(word for word in plain if word not in _FORCE)),
            names=frozenset(_list_names(text, values)),
        )


def _contradict(first: _Line, second: _Line, subjects: Subjects) -> bool:
    # What names another command, file or run speaks of another thing.
    if first.names != second.names:
        return False
    sorts = first.values.keys() & second.values.keys()
    if any(first.values[sort].isdisjoint(second.values[sort]) for sort in sorts):
        named = {
            word for line in (first, second) for sort in sorts for word in line.value_words[sort]
        }
        ours, theirs = first.words - named, second.words - named
        least = min(subjects.weigh(ours), subjects.weigh(theirs))
        return _is_most(ours & theirs, least, MIN_VALUED_RATIO, subjects)
    if first.is_reversed == second.is_reversed:
        return False
    ours, theirs = first.matter, second.matter
    return _is_most(ours & theirs, subjects.weigh(ours | theirs), MIN_REVERSED_RATIO, subjects)


def _list_names(text: str, values: Mapping[str, frozenset[str]]) -> Iterator[str]:
    yield from _CODE.findall(text)
    counts = {value for of_sort in values.values() for value in of_sort}
    for word in (match[0] for match in _NUMBERED.finditer(text)):
        if word not in counts or len(word) > MAX_COUNT_DIGITS:
            yield word


def _is_sort(sort: str) -> bool:
    return sort in ("weekday", "address") or sort.endswith("s")


def _is_most(shared: frozenset[str], whole: float, min_ratio: float, subjects: Subjects) -> bool:
    return len(shared) >= MIN_SHARED and subjects.weigh(shared) >= min_ratio * whole
