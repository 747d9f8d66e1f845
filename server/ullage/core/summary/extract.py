"""The extractive summary: fixed sections from the messages themselves, without a model."""

import re
from collections.abc import Callable, Iterator, Sequence
from typing import TypeAlias

from ullage.core.facts.facts import Facts, collect_facts
from ullage.core.facts.previous_summary import FOCUS, LEFT_OUT, NONE, SECTIONS
from ullage.core.facts.replaced_values import replaced_patterns
from ullage.core.summary.data_sources import data_sources
from ullage.core.summary.sections import (
    CONSTRAINTS,
    DECISIONS,
    ESSENTIAL,
    FILES,
    GOAL,
    IDENTIFIERS,
    REMAINING,
    Line,
    list_lines,
)
from ullage.core.text.identifiers import (
    MIN_DATA_SCORE,
    DataLine,
    find_identifiers,
    looks_secret,
    rank_lines,
)
from ullage.core.text.prose import gist, one_line
from ullage.core.text.wording import is_directive
from ullage.core.transcript.context import ContextItem

Count: TypeAlias = Callable[[str], int]

_SPOKEN_SHARE = 0.72
"""Share of the budget for what was said and done; data fills the rest. Tried on sessions."""
_BULK_SHARE = 0.4
"""Share of the budget for rules found in pasted documents; chosen."""
_PROSE_SHARE = 0.3
"""Share of the room for data that sentences without identifiers may take; chosen."""
_NOTE_TOKENS = 24
"""Held back for the line that says what was left out."""


def summarize(
    items: Sequence[ContextItem],
    *,
    focus: str | None,
    budget_tokens: int,
    count: Callable[[str], int],
    facts: Facts | None = None,
) -> str:
    """Write the summary that stands for the messages, within the budget.

    Deterministic; time grows linearly with the text. `count` is called once for each line that
    may enter. Facts that were gathered from the items already spare gathering them again.
    """
    facts = collect_facts(items) if facts is None else facts
    lines = list_lines(facts, focus)
    if focus and focus.strip():
        text = FOCUS + one_line(gist(focus, 200))
        lines.append(Line(section=GOAL, text=text, priority=1100, order=-1e9))
    counted = _cache_counts(count)
    room = budget_tokens - counted(_write([], "")) - _NOTE_TOKENS
    if room <= 0:
        return _cut_short(lines, budget_tokens, count)
    kept, n_used = _choose(lines, room, counted)
    kept += _data_lines(items, facts, kept, room - n_used, counted)
    kept += _choose_rest(lines, kept, room, counted)
    return _fit(lines, kept, budget_tokens, count)


def _cache_counts(count: Count) -> Count:
    known: dict[str, int] = {}

    def counted(text: str) -> int:
        if text not in known:
            known[text] = count(text)
        return known[text]

    return counted


def _choose(lines: list[Line], room: int, counted: Count) -> tuple[list[Line], int]:
    """Take lines by priority: essential ones up to the whole room, others up to their share."""
    share = int(room * _SPOKEN_SHARE)
    kept: list[Line] = []
    n_used = n_bulk = 0
    for line in sorted(lines, key=lambda line: -line.priority):
        limit = room if line.priority >= ESSENTIAL else share
        if limit - n_used < 4:
            continue
        n_line = counted(f"- {line.text}\n")
        if n_used + n_line > limit or (line.is_bulk and n_bulk + n_line > room * _BULK_SHARE):
            continue
        n_bulk += n_line if line.is_bulk else 0
        n_used += n_line
        kept.append(line)
    return kept, n_used


def _choose_rest(lines: list[Line], kept: list[Line], room: int, counted: Count) -> list[Line]:
    """Give what the data left unused back to what was said."""
    taken = set(kept)
    n_used = sum(counted(f"- {line.text}\n") for line in kept)
    rest: list[Line] = []
    for line in sorted(lines, key=lambda line: -line.priority):
        if room - n_used < 4:
            break
        if line in taken or line.is_bulk:
            continue
        n_line = counted(f"- {line.text}\n")
        if n_used + n_line <= room:
            n_used += n_line
            rest.append(line)
    return rest


def _data_lines(
    items: Sequence[ContextItem], facts: Facts, kept: list[Line], room: int, counted: Count
) -> Iterator[Line]:
    """Add identifiers that no kept line holds, the best first."""
    spoken = "\n".join(sentence.text for sentence in facts.sentences)
    shown = {name for line in kept for _, name in find_identifiers(line.text)}
    shown.update(word for line in kept for word in line.text.split())
    old = replaced_patterns(facts.retired)
    prose_room = int(room * _PROSE_SHARE)
    for at, line in enumerate(rank_lines(data_sources(items), spoken)):
        if room < 8 or line.score < MIN_DATA_SCORE:
            return
        is_known = bool(line.names) and all(name in shown for name in line.names)
        n_limit = room if line.names else prose_room
        if is_known or n_limit < 8 or _is_unfit(line, old):
            continue
        text = one_line(" ".join(line.text.split()))
        n_line = counted(f"- {text}\n")
        if n_line <= n_limit:
            room -= n_line
            prose_room -= 0 if line.names else n_line
            shown.update(line.names)
            yield Line(section=IDENTIFIERS, text=text, priority=100 + line.score, order=at)


def _is_unfit(line: DataLine, old: Sequence[re.Pattern[str]]) -> bool:
    """Tell whether a line must not enter: a key, an instruction, or a replaced value."""
    if looks_secret(line.text) or is_directive(line.text):
        return True
    return any(pattern.search(line.text) for pattern in old)


def _write(lines: Sequence[Line], note: str) -> str:
    parts: list[str] = []
    for section, name in enumerate(SECTIONS):
        own = sorted(
            (line for line in lines if line.section == section), key=lambda line: line.order
        )
        body = [f"- {line.text}" for line in own]
        if section == len(SECTIONS) - 1 and note:
            body.append(note)
        parts.append(f"## {name}\n" + "\n".join(body or [NONE]))
    return "\n\n".join(parts) + "\n"


def _write_note(lines: Sequence[Line], kept: Sequence[Line]) -> str:
    """Say what of weight the budget left out."""
    left = set(lines) - set(kept)
    told: list[str] = []
    for section, what in (
        (CONSTRAINTS, "constraints"),
        (DECISIONS, "decisions"),
        (REMAINING, "open points"),
        (FILES, "files"),
    ):
        n_left = sum(line.section == section for line in left)
        if n_left:
            told.append(f"{n_left} {what}")
    return f"- {LEFT_OUT}{', '.join(told)})" if told else ""


def _fit(lines: list[Line], kept: list[Line], budget_tokens: int, count: Count) -> str:
    """Render, dropping the lines of lowest priority until the whole is within the budget."""
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


def _cut_short(lines: list[Line], budget_tokens: int, count: Count) -> str:
    """Write what fits of the lines of highest priority where not even the headings fit."""
    note = f"- {LEFT_OUT}the budget of {budget_tokens} tokens is too small for a summary)"
    text = note
    for line in sorted(lines, key=lambda line: -line.priority):
        longer = f"- {line.text}\n{text}"
        if count(longer) > budget_tokens:
            break
        text = longer
    while text and count(text) > budget_tokens:
        text = text[: len(text) * 3 // 4]
    return text
