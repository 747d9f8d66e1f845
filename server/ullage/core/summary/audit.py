"""The audit of a summary, whoever wrote it: which facts it holds, lacks, invents or misplaces."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

import msgspec

from ullage.core.facts.facts import Facts, collect_facts
from ullage.core.facts.previous_summary import LEFT_OUT, OPEN_REQUEST, read_section
from ullage.core.facts.replaced_values import replaced_patterns
from ullage.core.summary.audit_facts import KINDS, Fact, FactKind, list_expected_facts
from ullage.core.text.identifiers import find_identifiers
from ullage.core.text.prose import separate_injected
from ullage.core.text.wording import is_directive, read_wording
from ullage.core.transcript.context import ContextItem
from ullage.core.transcript.message import Image, Text, Thinking, ToolCall, ToolResult, plain_text

_RESTATED_SHARE = 0.7
"""Share of a point's words that one line must have to tell it in other words; chosen."""
_MIN_WORDS = 3
_MIN_CLAIM_CHARS = 20
"""A shorter line stands in many places and proves nothing; chosen."""
_MAX_REPORTED = 50
_AUTHORITATIVE = ("Constraints", "Decisions", "Remaining")
"""Sections that text of tool results must not enter: docs/design/summaries.md, "Who may say
what"."""
_SEPARATOR = re.compile(r"(?<=\d)[,_](?=\d)")
_FIGURE = re.compile(r"(\d[\d,_]*)\s?[A-Za-z%€$]*\Z")


class Audit(msgspec.Struct, frozen=True, kw_only=True):
    facts: tuple[Fact, ...]
    """What the replaced messages hold that a summary should."""
    missing: tuple[Fact, ...]
    """Those of them that the summary lacks."""
    invented: tuple[str, ...]
    """Identifiers, paths and numbers of the summary that stand nowhere in the messages."""
    misplaced: tuple[str, ...]
    """Lines among constraints, decisions or open items that only a tool's result speaks for."""
    stale: tuple[str, ...]
    """Values that the summary still names although they were replaced."""

    @property
    def n_found(self) -> int:
        return len(self.facts)

    @property
    def n_kept(self) -> int:
        return len(self.facts) - len(self.missing)


class KindCount(msgspec.Struct, frozen=True, kw_only=True):
    kind: FactKind
    n_found: int
    n_kept: int


def audit(
    items: Sequence[ContextItem],
    summary: str,
    *,
    pins: Iterable[str] = (),
    budget_tokens: int,
    facts: Facts | None = None,
) -> Audit:
    """Compare a summary with the messages that it is to replace.

    Rules and pins have to stand verbatim but for white space, identifiers as whole words;
    decisions and open items may be told in other words. The budget is the summary's; it says
    how many identifiers are asked for. Facts that were gathered from the items already spare
    gathering them again. Time grows linearly with the text.
    """
    facts = collect_facts(items) if facts is None else facts
    wanted = tuple(list_expected_facts(items, facts, pins, budget_tokens))
    held = _SummaryIndex(summary)
    return Audit(
        facts=wanted,
        missing=tuple(fact for fact in wanted if not held.holds(fact)),
        invented=tuple(_list_invented(items, summary)),
        misplaced=tuple(_list_misplaced(items, summary)),
        stale=tuple(_list_stale(facts, held.flat)),
    )


def count_by_kind(audit: Audit) -> tuple[KindCount, ...]:
    """Count the facts of each kind that has any."""
    found = Counter(fact.kind for fact in audit.facts)
    missing = Counter(fact.kind for fact in audit.missing)
    return tuple(
        KindCount(kind=kind, n_found=found[kind], n_kept=found[kind] - missing[kind])
        for kind in KINDS
        if found[kind]
    )


class _SummaryIndex:
    """A summary made ready to be asked what it holds."""

    def __init__(self, summary: str) -> None:
        self.flat = collapse_spaces(summary)
        self._lines_of: dict[str, list[int]] = {}
        for n_line, line in enumerate(summary.split("\n")):
            for word in read_wording(line).words:
                self._lines_of.setdefault(word, []).append(n_line)

    def holds(self, fact: Fact) -> bool:
        match fact.kind:
            case "pin" | "constraint":
                return collapse_spaces(fact.needle) in self.flat
            case "decision" | "open item":
                return collapse_spaces(fact.needle) in self.flat or self._restates(fact.needle)
            case "identifier":
                return contains_whole(self.flat, fact.needle)
            case "file":
                return any(contains_whole(self.flat, path) for path in _path_forms(fact.needle))

    def _restates(self, text: str) -> bool:
        """Tell whether one line has most of the words of a point, and all of its figures."""
        words = {w for w in read_wording(text).words if len(w) > 3 or any(c.isdigit() for c in w)}
        if len(words) < _MIN_WORDS:
            return False
        figures = {word for word in words if any(char.isdigit() for char in word)}
        n_shared: Counter[int] = Counter()
        n_figures: Counter[int] = Counter()
        for word in words:
            n_shared.update(self._lines_of.get(word, ()))
            if word in figures:
                n_figures.update(self._lines_of.get(word, ()))
        return any(
            n_words >= _RESTATED_SHARE * len(words) and n_figures[n_line] == len(figures)
            for n_line, n_words in n_shared.items()
        )


def collapse_spaces(text: str) -> str:
    """Make white space alike, so that a line break more or less is no difference."""
    return " ".join(text.split())


def contains_whole(text: str, value: str) -> bool:
    """Tell whether a value stands in a text by itself, not as a part of a longer one."""
    start = text.find(value)
    while start >= 0:
        end = start + len(value)
        before, after = text[start - 1 : start], text[end : end + 1]
        if not _is_joined(before, value[0]) and not _is_joined(after, value[-1]):
            return True
        start = text.find(value, start + 1)
    return False


def _is_joined(neighbor: str, edge: str) -> bool:
    # Chinese puts no space before a value, so its letters are no part of a Latin one.
    is_word = neighbor.isalnum() and (neighbor.isascii() or not edge.isascii())
    return (is_word or neighbor == "_") and (edge.isalnum() or edge == "_")


def _path_forms(path: str) -> tuple[str, ...]:
    """Give the path and its last two parts: a summary may leave out where the project lies."""
    parts = path.replace("\\", "/").rsplit("/", 2)
    return (path, "/".join(parts[-2:])) if len(parts) == 3 else (path,)


def _list_invented(items: Sequence[ContextItem], summary: str) -> Iterator[str]:
    """Give what is exact in the summary and stands nowhere in the messages."""
    told = "\n".join(line for line in summary.split("\n") if LEFT_OUT not in line)
    named = dict.fromkeys(
        name for kind, name in find_identifiers(told) if _is_claim(kind, name, told)
    )
    if not named:
        return
    source = "\n".join(_list_texts(items)).lower()
    lacking = [name for name in named if _strip_additions(name) not in source]
    if any(name[0].isdigit() for name in lacking):
        # One may write 1,200 for 1200, and the other way round.
        source = _SEPARATOR.sub("", source)
        lacking = [
            name for name in lacking if _SEPARATOR.sub("", _strip_additions(name)) not in source
        ]
    yield from lacking[:_MAX_REPORTED]


def _is_claim(kind: str, name: str, told: str) -> bool:
    """Tell whether a name can be looked for: whole, and not a figure that one may reckon."""
    # What we cut short ourselves may end within a name.
    is_cut = f"{name}…" in told or f"…{name}" in told
    return not is_cut and (kind != "number" or sum(map(str.isdigit, name)) >= 3)


def _strip_additions(name: str) -> str:
    """Give a name as it stands without what a summary may add to it: a unit, call marks."""
    figure = _FIGURE.match(name)
    if figure is not None:
        return figure[1]
    return name.removesuffix("()").removeprefix("./").rstrip(".").lower()


def _list_texts(items: Sequence[ContextItem]) -> Iterator[str]:
    for item in items:
        for block in item.message.blocks:
            match block:
                case Text() | Thinking():
                    yield block.text
                case ToolCall():
                    yield block.name
                    yield block.arguments.replace("\\n", "\n").replace("\\\\", "\\")
                case ToolResult():
                    yield from (part.text for part in block.content if isinstance(part, Text))
                case Image():
                    pass


def _list_misplaced(items: Sequence[ContextItem], summary: str) -> Iterator[str]:
    """Give the lines of authority that stand in a tool's result and in nobody's words.

    An instruction needs the user's own words; anything else may be the agent's.
    """
    lines = [
        (line, collapse_spaces(line.removeprefix(OPEN_REQUEST)))
        for name in _AUTHORITATIVE
        for line in read_section(summary, name)
    ]
    lines = [(line, bare) for line, bare in lines if len(bare) >= _MIN_CLAIM_CHARS]
    if not lines:
        return
    results = collapse_spaces("\n".join(_list_result_texts(items)))
    by_user = collapse_spaces("\n".join(_list_spoken(items, ("user", "summary"))))
    by_agent = collapse_spaces("\n".join(_list_spoken(items, ("assistant",))))
    for line, bare in lines:
        is_agents = bare in by_agent and not is_directive(bare)
        if bare in results and bare not in by_user and not is_agents:
            yield line


def _list_result_texts(items: Sequence[ContextItem]) -> Iterator[str]:
    for item in items:
        for block in item.message.blocks:
            if isinstance(block, ToolResult):
                yield from (part.text for part in block.content if isinstance(part, Text))
        if item.category in ("user", "injected"):
            yield separate_injected(plain_text(item.message))[1]


def _list_spoken(items: Sequence[ContextItem], categories: tuple[str, ...]) -> Iterator[str]:
    for item in items:
        if item.category in categories:
            yield separate_injected(plain_text(item.message))[0]


def _list_stale(facts: Facts, summary: str) -> Iterator[str]:
    patterns = replaced_patterns(facts.retired)
    found = (match[0] for pattern in patterns if (match := pattern.search(summary)))
    yield from list(dict.fromkeys(found))[:_MAX_REPORTED]
