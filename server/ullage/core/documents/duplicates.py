"""Statements that are made twice in what an agent is given.

The same words in the same order are a duplicate, whatever markup and case they have, where what
stands below them and what they stand below is the same too: an item counts with its children,
and a list with the line that announces it. So are two long statements of which nine tenths of the
two-word runs are the same (Broder's resemblance): that is one word in forty that differs.
A statement with one word negated or one number changed is no duplicate: it says something else.
"""

from collections.abc import Iterable, Sequence
from typing import TypeAlias

import msgspec

from ullage.core.text.markdown import Part, nest_parts, read_parts, split_plain_words
from ullage.core.text.word_lists import word_list

MIN_WORDS = 6
"""Shorter ones ("Run the tests.") are said again with good reason (chosen)."""
MIN_CHARS = 40
NEAR_MIN_WORDS = 39
"""Below it, one other word changes more than a tenth of the runs: (n - 3) / (n + 1) < 0.9."""
NEAR_RATIO = 0.9
RUN_WORDS = 2
MAX_STATEMENTS = 2000
"""Of one file; a longer one is a document, no instructions (chosen)."""
_REVERSALS = word_list("reversals").words


Words: TypeAlias = tuple[str, ...]
Context: TypeAlias = tuple[tuple[Words, ...], tuple[Words, ...]]
"""What stands above a statement, and what below it."""


class Statement(msgspec.Struct, frozen=True, kw_only=True):
    part: Part
    end: int
    """Of the last part below it."""
    words: Words
    context: Context
    """The same words mean something else in another one."""


class Duplicate(msgspec.Struct, frozen=True, kw_only=True):
    """A statement of a file, and the earlier one that says the same."""

    statement: Statement
    source: int
    """Which of the sources the other stands in."""
    other: Statement
    is_exact: bool


def read_statements(text: str) -> tuple[Statement, ...]:
    statements: list[Statement] = []
    for nested in nest_parts(text, read_parts(text)):
        part = nested.part
        if part.end - part.start < MIN_CHARS:
            continue
        words = split_plain_words(text[part.start : part.end])
        if len(words) >= MIN_WORDS:
            context = (_list_words(text, nested.above), _list_words(text, nested.below))
            statements.append(Statement(part=part, end=nested.end, words=words, context=context))
        if len(statements) == MAX_STATEMENTS:
            break
    return tuple(statements)


def _list_words(text: str, parts: Iterable[Part]) -> tuple[Words, ...]:
    return tuple(split_plain_words(text[part.start : part.end]) for part in parts)


def find_duplicates(
    own: Sequence[Statement], others: Iterable[Sequence[Statement]]
) -> tuple[Duplicate, ...]:
    """Find the statements that an earlier one of the same file, or another file, makes too.

    Sources count from 0, which is the file itself. Of several places the first is told.
    """
    index = _StatementIndex()
    for source, made in enumerate(others, start=1):
        for statement in made:
            index.add(source, statement)
    duplicates: list[Duplicate] = []
    for statement in own:
        same = index.find(statement)
        if same is not None:
            duplicates.append(same)
        index.add(0, statement)
    return tuple(duplicates)


class _StatementIndex:
    """Statements by what they say, and the long ones by their runs of words."""

    def __init__(self) -> None:
        self._exact: dict[tuple[Words, Context], tuple[int, Statement]] = {}
        self._long: list[tuple[int, Statement, frozenset[Words]]] = []
        self._by_run: dict[Words, list[int]] = {}

    def add(self, source: int, statement: Statement) -> None:
        meaning = (statement.words, statement.context)
        if meaning in self._exact:
            return
        self._exact[meaning] = (source, statement)
        if len(statement.words) >= NEAR_MIN_WORDS:
            runs = _cut_runs(statement.words)
            for run in runs:
                self._by_run.setdefault(run, []).append(len(self._long))
            self._long.append((source, statement, runs))

    def find(self, statement: Statement) -> Duplicate | None:
        same = self._exact.get((statement.words, statement.context))
        if same is not None:
            return Duplicate(statement=statement, source=same[0], other=same[1], is_exact=True)
        if len(statement.words) < NEAR_MIN_WORDS:
            return None
        runs = _cut_runs(statement.words)
        shared: dict[int, int] = {}
        for run in runs:
            for at in self._by_run.get(run, ()):
                shared[at] = shared.get(at, 0) + 1
        for at, n_shared in shared.items():
            source, earlier, its_runs = self._long[at]
            is_near = n_shared >= NEAR_RATIO * (len(runs) + len(its_runs) - n_shared)
            is_alike = statement.context == earlier.context and (
                _list_reversals(statement.words) == _list_reversals(earlier.words)
            )
            if is_near and is_alike:
                return Duplicate(statement=statement, source=source, other=earlier, is_exact=False)
        return None


def _cut_runs(words: Words) -> frozenset[Words]:
    return frozenset(words[at : at + RUN_WORDS] for at in range(len(words) - RUN_WORDS + 1))


def _list_reversals(words: Words) -> list[str]:
    """Give the words that turn a statement into another one: negations and numbers."""
    return [word for word in words if word in _REVERSALS or any(map(str.isdigit, word))]
