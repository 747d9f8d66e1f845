"""The extractive summary: fixed sections from the messages themselves, without a model."""

from collections import Counter
from collections.abc import Iterator, Sequence
from functools import cache

from ullage.core.facts.facts import Facts, collect_facts
from ullage.core.facts.summary_sections import FOCUS, LEFT_OUT, SECTIONS, write_sections
from ullage.core.summary import summary_lines
from ullage.core.summary.summary_lines import list_data_lines, list_data_sources
from ullage.core.text.identifiers import find_identifiers
from ullage.core.text.prose import gist, one_line
from ullage.core.transcript.context import ContextItem
from ullage.core.transcript.tokens import Count

_SPOKEN_SHARE = 0.72
"""Share of the budget for what was said and done; data fills the rest. Tried on sessions."""
_BULK_SHARE = 0.4
"""Share of the budget for rules found in pasted documents; chosen."""
_PROSE_SHARE = 0.3
"""Share of the room for data that sentences without identifiers may take; chosen."""
_NOTE_TOKENS = 24
"""Held back for the line that says what was left out."""
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
    """Write the summary that stands for the messages, within the budget.

    Deterministic; time grows linearly with the text. `count` is called once for each line that
    may enter. Facts that were collected from the items already spare collecting them again.
    """
    facts = collect_facts(items) if facts is None else facts
    lines = summary_lines.list_lines(facts, focus)
    if focus and focus.strip():
        text = FOCUS + one_line(gist(focus, 200))
        lines.append(
            summary_lines.Line(section=summary_lines.GOAL, text=text, priority=1100, order=-1e9)
        )
    lines.sort(key=lambda line: -line.priority)
    counted = cache(count)
    room = budget_tokens - counted(_write([], "")) - _NOTE_TOKENS
    if room <= 0:
        return _cut_short(lines, budget_tokens, count)
    kept = _choose(lines, 0, room, int(room * _SPOKEN_SHARE), counted)
    kept += _list_data(items, facts, kept, room - _count_lines(kept, counted), counted)
    taken = set(kept)
    rest = [line for line in lines if line not in taken and not line.is_bulk]
    # What the data left unused goes back to what was said.
    kept += _choose(rest, _count_lines(kept, counted), room, room, counted)
    return _fit(lines, kept, budget_tokens, count)


def _count_lines(lines: Sequence[summary_lines.Line], counted: Count) -> int:
    return sum(counted(f"- {line.text}\n") for line in lines)


def _choose(
    lines: Sequence[summary_lines.Line], n_used: int, room: int, share: int, counted: Count
) -> list[summary_lines.Line]:
    """Take lines by priority: essential ones up to the whole room, others up to their share."""
    kept: list[summary_lines.Line] = []
    n_bulk = 0
    for line in lines:
        limit = room if line.priority >= summary_lines.ESSENTIAL else share
        if limit - n_used < 4:
            continue
        n_line = counted(f"- {line.text}\n")
        if n_used + n_line > limit or (line.is_bulk and n_bulk + n_line > room * _BULK_SHARE):
            continue
        n_bulk += n_line if line.is_bulk else 0
        n_used += n_line
        kept.append(line)
    return kept


def _list_data(
    items: Sequence[ContextItem],
    facts: Facts,
    kept: list[summary_lines.Line],
    room: int,
    counted: Count,
) -> Iterator[summary_lines.Line]:
    """Add identifiers that no kept line holds, the best first."""
    spoken = "\n".join(sentence.text for sentence in facts.sentences)
    shown = {name for line in kept for _, name in find_identifiers(line.text)}
    shown.update(word for line in kept for word in line.text.split())
    prose_room = int(room * _PROSE_SHARE)
    data_lines = list_data_lines(list_data_sources(items), spoken)
    for at, line in enumerate(data_lines):
        if room < 8:
            return
        is_shown = bool(line.names) and shown.issuperset(line.names)
        n_limit = room if line.names else prose_room
        if is_shown or n_limit < 8:
            continue
        text = one_line(" ".join(line.text.split()))
        n_line = counted(f"- {text}\n")
        if n_line <= n_limit:
            room -= n_line
            prose_room -= 0 if line.names else n_line
            shown.update(line.names)
            yield summary_lines.Line(
                section=summary_lines.IDENTIFIERS, text=text, priority=100 + line.score, order=at
            )


def _write(lines: Sequence[summary_lines.Line], note: str) -> str:
    texts: dict[str, list[str]] = {name: [] for name in SECTIONS}
    for line in sorted(lines, key=lambda line: line.order):
        texts[SECTIONS[line.section]].append(line.text)
    if note:
        texts[SECTIONS[-1]].append(note)
    return write_sections(texts)


def _write_note(lines: Sequence[summary_lines.Line], kept: Sequence[summary_lines.Line]) -> str:
    """Say what of weight the budget left out."""
    n_left = Counter(line.section for line in set(lines) - set(kept))
    parts = [f"{n_left[section]} {what}" for section, what in _NOTED.items() if n_left[section]]
    return f"{LEFT_OUT}{', '.join(parts)})" if parts else ""


def _fit(
    lines: list[summary_lines.Line],
    kept: list[summary_lines.Line],
    budget_tokens: int,
    count: Count,
) -> str:
    """Write, dropping the lines of lowest priority until the whole is within the budget."""
    kept = sorted(kept, key=lambda line: -line.priority)
    while True:
        text = _write(kept, _write_note(lines, kept))
        n_over = count(text) - budget_tokens
        if n_over <= 0:
            return text
        if not kept:
            return _cut_short(lines, budget_tokens, count)
        n_dropped = max(1, min(len(kept), n_over // 40))
        kept = kept[:-n_dropped]


def _cut_short(lines: list[summary_lines.Line], budget_tokens: int, count: Count) -> str:
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
