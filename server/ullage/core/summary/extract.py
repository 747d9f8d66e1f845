"""The extractive summary: fixed sections from the messages themselves, without a model."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from functools import cache

import msgspec

from ullage.core.facts.collect import collect_facts
from ullage.core.facts.facts import Facts
from ullage.core.facts.replaced import apply_replaced
from ullage.core.facts.summary_sections import (
    ASKED,
    FOCUS,
    LEFT_OUT,
    OPEN_REQUEST,
    SECTION_NAMES,
    limit_data_chars,
    write_as_of,
    write_sections,
)
from ullage.core.summary import summary_lines
from ullage.core.summary.data_lines import list_data_lines, list_data_sources, list_needed_lines
from ullage.core.summary.focus import FOCUS_SHARE, Focus
from ullage.core.summary.summary_lines import Line
from ullage.core.text.identifiers import find_identifiers
from ullage.core.text.prose import gist
from ullage.core.text.quoting import one_line
from ullage.core.text.wording import read_wording
from ullage.core.transcript.context import ContextItem
from ullage.core.transcript.tokens import Count

_SPOKEN_SHARE = 0.85
"""Share of the budget for what was said and done; data has the rest at most."""
_BULK_SHARE = 0.4
"""Share of the budget for rules found in pasted documents; chosen."""
_PROSE_SHARE = 0.3
"""Share of the room for data that sentences without identifiers may take; chosen."""
_NOTE_TOKENS = 24
"""Held back for the line that says what was left out."""
_FIRST = -1e12
"""Puts what matches the focus first in its section."""
_SAME_SHARE = 0.8
"""Share of a line's words in another of about its size from which it says the same; chosen."""
_SAME_CHARS_SHARE = 0.6
"""Share of a line that is said already from which the rest is not worth a line; chosen."""
_MAX_COMPARED_CHARS = 200
_MIN_SAME_WORDS = 4
_MIN_CONTAINED_CHARS = 12
_MARKS = re.compile(r"[`*_\"“”'’‘]|[.。!…]+$")
_PREFIXES = (ASKED, OPEN_REQUEST, "last words: ", "last user message: ")
_LISTED = (summary_lines.FILES, summary_lines.COMMANDS)
"""Sections whose lines say nothing but what they list."""
_NOTED = {
    summary_lines.CONSTRAINTS: "constraints",
    summary_lines.DECISIONS: "decisions",
    summary_lines.REMAINING: "open points",
    summary_lines.FILES: "files",
}
"""Sections of weight, as the note on what the budget left out calls them."""


def summarize(
    items: Sequence[ContextItem],
    *,
    focus: str | None,
    budget_tokens: int,
    count: Count,
    facts: Facts | None = None,
) -> str:
    """Write the summary that stands for the messages, within the budget; it may be shorter.

    Deterministic; time grows linearly with the text. `count` is called once for each line that
    may enter. Facts that were collected from the items already spare collecting them again.
    """
    facts = collect_facts(items) if facts is None else facts
    lines = summary_lines.list_lines(facts, items)
    if focus and focus.strip():
        text = FOCUS + one_line(gist(focus, 200))
        lines.append(Line(section=summary_lines.GOAL, text=text, priority=1100, order=-1e15))
    lines.sort(key=lambda line: -line.priority)
    head = write_as_of(facts.last_at_ms)
    counted = cache(count)
    room = budget_tokens - counted(head + _write([], "")) - _NOTE_TOKENS
    if room <= 0:
        return _cut_short(lines, budget_tokens, count)
    said = _SaidLines()
    kept: list[Line] = []
    if focus and focus.strip():
        n_focus = int(room * FOCUS_SHARE)
        kept += _list_focused(items, facts, lines, Focus(focus), n_focus, said, counted)
    taken = {line.text for line in kept}
    lines = [line for line in lines if line.text not in taken]
    spoken = [line for line in lines if line.section != summary_lines.IDENTIFIERS]
    carried = [line for line in lines if line.section == summary_lines.IDENTIFIERS]
    kept += _choose(spoken, _count_lines(kept, counted), room, said, counted)
    n_left = room - _count_lines(kept, counted)
    data = (*carried, *_list_data(items, facts))
    kept += _choose_data(data, kept, n_left, said, counted)
    lines = [line for line in lines if line.text not in said.repeated]
    return _fit(head, lines, kept, budget_tokens, count)


class _SaidLines:
    """What the lines taken so far say, to tell whether another says it again."""

    def __init__(self) -> None:
        self.repeated: set[str] = set()
        """Lines that said nothing new."""
        self._texts: set[str] = set()
        self._joined = ""
        self._words: list[frozenset[str]] = []
        self._lines_of: dict[str, list[int]] = {}

    def add(self, line: Line) -> bool:
        """Take a line; false where another says the same already."""
        is_new = self._take(line, normalize_line(line.text))
        if not is_new:
            self.repeated.add(line.text)
        return is_new

    def _take(self, line: Line, text: str) -> bool:
        is_listed = line.section in _LISTED or line.text.startswith(summary_lines.RUNNING)
        if text in self._texts:
            return False
        words = read_wording(text).words
        if not is_listed and line.section != summary_lines.CONSTRAINTS:
            is_contained = len(text) >= _MIN_CONTAINED_CHARS and text in self._joined
            if is_contained or self._is_reworded(words) or self._holds_most(text):
                return False
        self._texts.add(text)
        if not is_listed:
            self._joined += f"\n{text}"
            for word in words:
                self._lines_of.setdefault(word, []).append(len(self._words))
            self._words.append(words)
        return True

    def _holds_most(self, text: str) -> bool:
        """Tell whether a line that was taken is most of a text."""
        return len(text) <= _MAX_COMPARED_CHARS and any(
            len(taken) >= _SAME_CHARS_SHARE * len(text) and taken in text for taken in self._texts
        )

    def _is_reworded(self, words: frozenset[str]) -> bool:
        figures = {word for word in words if any(map(str.isdigit, word))}
        if len(words) - len(figures) < _MIN_SAME_WORDS:
            return False
        n_shared = Counter(at for word in words for at in self._lines_of.get(word, ()))
        return any(
            n_same >= _SAME_SHARE * len(words) and figures <= self._words[at]
            for at, n_same in n_shared.items()
        )


def normalize_line(text: str) -> str:
    """Give a line without what makes no difference: our prefix, marks, case, white space."""
    for prefix in _PREFIXES:
        text = text.removeprefix(prefix)
    return _MARKS.sub("", " ".join(text.split())).strip().lower()


def _count_lines(lines: Sequence[Line], counted: Count) -> int:
    return sum(counted(f"- {line.text}\n") for line in lines)


def _choose(
    lines: Sequence[Line], n_used: int, room: int, said: _SaidLines, counted: Count
) -> list[Line]:
    """Take lines by priority, none that says what another does.

    Essential ones may fill the whole room, others their share of it.
    """
    kept: list[Line] = []
    n_bulk = 0
    for line in lines:
        limit = room if line.priority >= summary_lines.ESSENTIAL else int(room * _SPOKEN_SHARE)
        if limit - n_used < 4:
            continue
        n_line = counted(f"- {line.text}\n")
        if n_used + n_line > limit or (line.is_bulk and n_bulk + n_line > room * _BULK_SHARE):
            continue
        if not said.add(line):
            continue
        n_bulk += n_line if line.is_bulk else 0
        n_used += n_line
        kept.append(line)
    return kept


def _list_focused(
    items: Sequence[ContextItem],
    facts: Facts,
    lines: Sequence[Line],
    focus: Focus,
    room: int,
    said: _SaidLines,
    counted: Count,
) -> Iterator[Line]:
    """Give what matches the focus, lines, all that was said and data, the best first."""
    told = [
        Line(
            section=summary_lines.GOAL if sentence.is_user else summary_lines.COMPLETED,
            text=one_line(sentence.text).strip(),
            priority=0,
            order=sentence.n_item,
        )
        for sentence in facts.sentences
    ]
    data = [
        Line(section=summary_lines.IDENTIFIERS, text=text, priority=0, order=0)
        for line in list_data_lines(list_data_sources(items), "")
        if (text := one_line(" ".join(line.text.split())))
    ]
    candidates = [*(line for line in lines if not line.text.startswith(FOCUS)), *told, *data]
    for n_rank, (weight, at) in enumerate(focus.rank([line.text for line in candidates])):
        line = candidates[at]
        n_line = counted(f"- {line.text}\n")
        if n_line <= room and said.add(line):
            room -= n_line
            priority = max(line.priority, summary_lines.ESSENTIAL + weight)
            yield msgspec.structs.replace(line, priority=priority, order=_FIRST + n_rank)


def _list_data(items: Sequence[ContextItem], facts: Facts) -> Iterator[Line]:
    """Give the identifiers of the messages, the best first."""
    spoken = "\n".join(sentence.text for sentence in facts.sentences)
    replaced = facts.replaced
    for at, line in enumerate(list_needed_lines(items, spoken)):
        text = one_line(apply_replaced(" ".join(line.text.split()), replaced))
        if text:
            yield Line(
                section=summary_lines.IDENTIFIERS, text=text, priority=100 + line.score, order=at
            )


def _choose_data(
    data: Iterable[Line], kept: Sequence[Line], room: int, said: _SaidLines, counted: Count
) -> Iterator[Line]:
    """Take lines of data that hold something that no kept line does, up to their share."""
    spoken = [line for line in kept if line.section != summary_lines.IDENTIFIERS]
    n_chars = limit_data_chars(sum(len(line.text) + 3 for line in spoken))
    shown = {name for line in kept for _, name in find_identifiers(line.text)}
    shown.update(word for line in kept for word in line.text.split())
    prose_room = int(room * _PROSE_SHARE)
    for line in data:
        if room < 8 or n_chars < 8:
            return
        names = {name for _, name in find_identifiers(line.text)}
        n_limit = room if names else prose_room
        n_line = counted(f"- {line.text}\n")
        is_shown = bool(names) and shown.issuperset(names)
        if is_shown or n_line > n_limit or len(line.text) + 3 > n_chars or not said.add(line):
            continue
        room -= n_line
        n_chars -= len(line.text) + 3
        prose_room -= 0 if names else n_line
        shown.update(names)
        yield line


def _write(lines: Sequence[Line], note: str) -> str:
    texts: dict[str, list[str]] = {name: [] for name in SECTION_NAMES}
    for line in sorted(lines, key=lambda line: line.order):
        texts[line.section].append(line.text)
    if note:
        texts[summary_lines.IDENTIFIERS].append(note)
    return write_sections(texts)


def _write_note(lines: Sequence[Line], kept: Sequence[Line]) -> str:
    """Say what of weight the budget left out."""
    n_left = Counter(line.section for line in set(lines) - set(kept))
    parts = [f"{n_left[section]} {what}" for section, what in _NOTED.items() if n_left[section]]
    return f"{LEFT_OUT}{', '.join(parts)})" if parts else ""


def _fit(head: str, lines: list[Line], kept: list[Line], budget_tokens: int, count: Count) -> str:
    """Write, dropping the lines of lowest priority until the whole is within the budget."""
    kept = sorted(kept, key=lambda line: -line.priority)
    while True:
        text = head + _write(kept, _write_note(lines, kept))
        n_over = count(text) - budget_tokens
        if n_over <= 0:
            return text
        if not kept:
            return _cut_short(lines, budget_tokens, count)
        n_dropped = max(1, min(len(kept), n_over // 40))
        kept = kept[:-n_dropped]


def _cut_short(lines: list[Line], budget_tokens: int, count: Count) -> str:
    """Write what fits of the lines of highest priority where not even the headings fit."""
    text = f"- {LEFT_OUT}the budget of {budget_tokens} tokens is too small for a summary)"
    for line in lines:
        longer = f"- {line.text}\n{text}"
        if count(longer) > budget_tokens:
            break
        text = longer
    while text and count(text) > budget_tokens:
        text = text[: len(text) * 3 // 4]
    return text
