"""Audited facts: what a summary has to hold of the messages that it stands for, by kind."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Literal, TypeAlias

import msgspec

from ullage.core.facts.facts import Facts
from ullage.core.facts.pins import clean_pin
from ullage.core.facts.previous_summary import OPEN_REQUEST
from ullage.core.facts.replaced_values import replaced_patterns
from ullage.core.summary.data_sources import data_sources
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

FactKind: TypeAlias = Literal["pin", "constraint", "open item", "decision", "identifier", "file"]
KINDS: tuple[FactKind, ...] = (
    "pin", "constraint", "open item", "decision", "identifier", "file",
)  # fmt: skip
"""In the order in which they are inserted where they are missing."""
TOKENS_PER_IDENTIFIER = 40
"""A summary has to hold one identifier in so many tokens of its budget; chosen."""
MIN_IDENTIFIERS = 10
_MAX_POINTS = 40
"""Open points and decisions each that are looked for, the newest; chosen."""
_MAX_SPOKEN = 5000
"""Sentences searched for identifiers, the newest; as in `sections`."""


class Fact(msgspec.Struct, frozen=True, kw_only=True):
    kind: FactKind
    text: str
    """The line that is inserted where the fact is missing."""
    needle: str
    """What has to be found: the text, or the identifier or path that the line holds."""
    is_required: bool
    """Whether it is inserted whatever it takes: pins, and rules that the user typed."""


def list_expected_facts(
    items: Sequence[ContextItem], facts: Facts, pins: Iterable[str], budget_tokens: int
) -> Iterator[Fact]:
    """List what a summary of this budget has to hold, each kind by its weight or newest first."""
    for pin in dict.fromkeys(clean_pin(pin) for pin in pins):
        if pin:
            yield Fact(kind="pin", text=pin, needle=pin, is_required=True)
    yield from _constraints(facts)
    yield from _open_items(facts)
    yield from _decisions(facts)
    n_identifiers = max(MIN_IDENTIFIERS, budget_tokens // TOKENS_PER_IDENTIFIER)
    yield from _identifiers(items, facts, n_identifiers)
    yield from _files(facts)


def _constraints(facts: Facts) -> Iterator[Fact]:
    is_typed: dict[str, bool] = {
        one_line(line): True
        for carried in facts.carried
        for line in carried.lines.get("Constraints", ())
    }
    for rule in facts.rules:
        text = one_line(rule.text)
        is_typed[text] = is_typed.get(text, False) or not rule.is_bulk
    for text, is_required in is_typed.items():
        yield Fact(kind="constraint", text=text, needle=text, is_required=is_required)


def _open_items(facts: Facts) -> Iterator[Fact]:
    asked = [turn.ask for turn in facts.turns if turn.ask and not turn.is_answered]
    for ask in reversed(asked):
        text = one_line(gist(ask, 600))
        yield _make_point("open item", OPEN_REQUEST + text, text)
    steps = [gist(step, 200) for step, is_done in facts.plan if not is_done]
    points = [gist(point, 300) for point in reversed(facts.open_points)]
    for text in list(dict.fromkeys(map(one_line, [*steps, *points])))[:_MAX_POINTS]:
        yield _make_point("open item", text, text)


def _decisions(facts: Facts) -> Iterator[Fact]:
    carried = [line for one in facts.carried for line in one.lines.get("Decisions", ())]
    chosen = [gist(choice.text, 420) for choice in facts.choices if not choice.is_guessed]
    newest = list(dict.fromkeys(map(one_line, reversed([*carried, *chosen]))))
    for text in newest[:_MAX_POINTS]:
        yield _make_point("decision", text, text)


def _make_point(kind: FactKind, text: str, needle: str) -> Fact:
    return Fact(kind=kind, text=text, needle=needle.rstrip("…"), is_required=False)


def _identifiers(items: Sequence[ContextItem], facts: Facts, limit: int) -> Iterator[Fact]:
    seen: set[str] = set()
    for line in _rank_data(items, facts):
        text = one_line(" ".join(line.text.split()))
        for kind, name in find_identifiers(text):
            if name in seen or not _is_exact(kind, name):
                continue
            seen.add(name)
            yield Fact(kind="identifier", text=text, needle=name, is_required=False)
            if len(seen) >= limit:
                return


def _rank_data(items: Sequence[ContextItem], facts: Facts) -> Iterator[DataLine]:
    spoken = [
        (sentence.text, sentence.n_item, 1.5 if sentence.is_user else 1.2)
        for sentence in facts.sentences[-_MAX_SPOKEN:]
    ]
    said = "\n".join(text for text, _, _ in spoken)
    old = replaced_patterns(facts.retired)
    for line in rank_lines([*spoken, *data_sources(items)], said):
        if line.score < MIN_DATA_SCORE:
            return
        is_fit = not looks_secret(line.text) and not is_directive(line.text)
        if is_fit and not any(pattern.search(line.text) for pattern in old):
            yield line


def _is_exact(kind: str, name: str) -> bool:
    """Tell whether a name is one that nobody can guess: not a common word or a small number."""
    if kind == "number":
        return sum(map(str.isdigit, name)) >= 4
    return kind not in ("name", "path")


def _files(facts: Facts) -> Iterator[Fact]:
    touched = {touch.path: touch.is_modified for touch in facts.files}
    for carried in facts.carried:
        for line in carried.lines.get("Files", ()):
            verb, _, path = line.partition(" ")
            if path:
                touched[path] = touched.get(path, False) or verb == "modified"
    newest = list(reversed(touched))
    for path in sorted(newest, key=lambda path: not touched[path]):
        text = one_line(f"{'modified' if touched[path] else 'read'} {path}")
        yield Fact(kind="file", text=text, needle=one_line(path), is_required=False)
