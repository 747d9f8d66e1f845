"""The audit of any summary: which facts it holds, lacks, invents or misplaces."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Literal, TypeAlias, get_args

import msgspec

from ullage.core.facts.collect import collect_facts
from ullage.core.facts.facts import Facts
from ullage.core.facts.pins import clean_pin
from ullage.core.facts.previous_summary import read_previous_summary
from ullage.core.facts.replaced import apply_replaced
from ullage.core.facts.summary_sections import AS_OF, LEFT_OUT, OPEN_REQUEST
from ullage.core.facts.task_state import read_task_state
from ullage.core.summary.data_lines import list_data_lines, list_data_sources, list_needed_lines
from ullage.core.text.identifiers import contains_whole, find_identifiers
from ullage.core.text.prose import collapse_spaces, gist
from ullage.core.text.quotations import read_own_words
from ullage.core.text.quoting import one_line
from ullage.core.text.wording import is_directive, read_wording
from ullage.core.transcript import entries
from ullage.core.transcript.context import ContextItem
from ullage.core.transcript.speech import read_speech

FactKind: TypeAlias = Literal["pin", "constraint", "open item", "decision", "identifier", "file"]
KINDS: tuple[FactKind, ...] = get_args(FactKind)
"""In the order in which they are inserted where they are missing."""
_TOKENS_PER_IDENTIFIER = 40
"""A summary must hold one identifier per this many tokens of its budget; chosen."""
_MIN_IDENTIFIERS = 10
_MAX_POINTS = 40
"""Open points and decisions each that are looked for, the newest; chosen."""
_MAX_SPOKEN = 5000
"""Sentences searched for identifiers, the newest; as in `summary_lines`."""
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
_WORD = re.compile(r"[\w./-]*\w")
_FIGURE = re.compile(r"(\d[\d,_]*)\s?[A-Za-z%€$]*\Z")


class Fact(msgspec.Struct, frozen=True, kw_only=True):
    kind: FactKind
    text: str
    """The line that is inserted where the fact is missing."""
    needle: str
    """What has to be found: the text, or the identifier or path that the line holds."""
    is_required: bool = False
    """Whether it is inserted at any cost: pins, and rules that the user typed."""


class Audit(msgspec.Struct, frozen=True, kw_only=True):
    facts: tuple[Fact, ...]
    """What the replaced messages hold that a summary should."""
    missing: tuple[Fact, ...]
    """Those of them that the summary lacks."""
    invented: tuple[str, ...]
    """Identifiers, paths and numbers of the summary that stand nowhere in the messages."""
    misplaced: tuple[str, ...]
    """Lines among constraints, decisions or open items that nobody said: they stand in a quotation
    or in a tool's result."""


def audit(
    items: Sequence[ContextItem],
    summary: str,
    *,
    pins: Iterable[str] = (),
    budget_tokens: int,
    facts: Facts | None = None,
    expected: tuple[Fact, ...] | None = None,
) -> Audit:
    """Compare a summary with the messages that it is to replace.

    Rules and pins have to stand verbatim but for white space, identifiers as whole words;
    decisions and open items may be reworded. The budget is the summary's; it says
    how many identifiers are asked for. Facts that were collected from the items already, and what
    `list_expected` made of them, spare doing so again. Time grows linearly with the text.
    """
    if expected is None:
        facts = collect_facts(items) if facts is None else facts
        expected = list_expected(items, facts, budget_tokens)
    wanted = (*_list_pins(pins), *expected)
    index = _SummaryIndex(summary)
    return Audit(
        facts=wanted,
        missing=tuple(fact for fact in wanted if not index.holds(fact)),
        invented=tuple(_list_invented(items, summary)),
        misplaced=tuple(_list_misplaced(items, summary)),
    )


def count_by_kind(facts: Iterable[Fact]) -> dict[str, int]:
    """Count the facts of each kind that has any, in the order of the kinds."""
    counts = Counter(fact.kind for fact in facts)
    return {kind: counts[kind] for kind in KINDS if counts[kind]}


def list_expected(
    items: Sequence[ContextItem], facts: Facts, budget_tokens: int
) -> tuple[Fact, ...]:
    """List what a summary of this budget has to hold beside the pins, each kind by its weight or
    newest first.
    """
    n_identifiers = max(_MIN_IDENTIFIERS, budget_tokens // _TOKENS_PER_IDENTIFIER)
    return (
        *_list_constraints(facts),
        *_list_open_items(facts),
        *_list_decisions(facts),
        *_list_identifiers(items, facts, n_identifiers),
        *_list_files(facts),
    )


def _list_pins(pins: Iterable[str]) -> Iterator[Fact]:
    for pin in filter(None, dict.fromkeys(map(clean_pin, pins))):
        yield Fact(kind="pin", text=pin, needle=pin, is_required=True)


def _list_constraints(facts: Facts) -> Iterator[Fact]:
    is_typed = dict.fromkeys(map(one_line, facts.previous_lines("Constraints")), True)
    for rule in facts.rules:
        text = one_line(rule.text).strip()
        is_typed[text] = is_typed.get(text, False) or not rule.is_bulk
    replaced = facts.replaced
    for text, is_required in is_typed.items():
        marked = apply_replaced(text, replaced) or text
        yield Fact(kind="constraint", text=marked, needle=text, is_required=is_required)


def _list_open_items(facts: Facts) -> Iterator[Fact]:
    for item in read_task_state(facts).open_items:
        text = one_line(item.text).strip()
        is_asked = item.state in ("asked", "in progress")
        shown = OPEN_REQUEST + text if is_asked else text
        yield Fact(kind="open item", text=shown, needle=text.rstrip("…"))


def _list_decisions(facts: Facts) -> Iterator[Fact]:
    chosen = [gist(choice.text, 420) for choice in facts.choices]
    newest_first = reversed([*facts.previous_lines("Decisions"), *chosen])
    yield from _list_points("decision", newest_first)


def _list_points(kind: FactKind, texts: Iterable[str]) -> Iterator[Fact]:
    for text in list(dict.fromkeys(map(one_line, texts)))[:_MAX_POINTS]:
        yield Fact(kind=kind, text=text, needle=text.rstrip("…"))


def _list_identifiers(items: Sequence[ContextItem], facts: Facts, limit: int) -> Iterator[Fact]:
    spoken = [
        (sentence.text, sentence.n_item, 1.5 if sentence.is_user else 1.2)
        for sentence in facts.sentences[-_MAX_SPOKEN:]
        if any(map(str.isalpha, sentence.text))
    ]
    words = "\n".join(text for text, _, _ in spoken)
    seen: set[str] = set()
    replaced = facts.replaced
    for line in (*list_data_lines(spoken, words), *list_needed_lines(items, words)):
        text = apply_replaced(one_line(collapse_spaces(line.text)), replaced).strip()
        for kind, name in find_identifiers(text):
            if name in seen or not _is_exact(kind, name):
                continue
            seen.add(name)
            yield Fact(kind="identifier", text=text, needle=name)
            if len(seen) >= limit:
                return


def _is_exact(kind: str, name: str) -> bool:
    """Whether a name cannot be guessed: not a common word or a small number."""
    if kind == "number":
        return sum(map(str.isdigit, name)) >= 4
    return kind not in ("name", "path")


def _list_files(facts: Facts) -> Iterator[Fact]:
    touched = {touch.path: touch.is_modified for touch in facts.files}
    for line in facts.previous_lines("Files"):
        verb, _, path = line.partition(" ")
        if path:
            touched[path] = touched.get(path, False) or verb == "modified"
    newest_first = list(reversed(touched))
    for path in sorted(newest_first, key=lambda path: not touched[path]):
        text = one_line(f"{'modified' if touched[path] else 'read'} {path}")
        yield Fact(kind="file", text=text, needle=one_line(path))


class _SummaryIndex:
    """A summary made ready to be asked what it holds."""

    def __init__(self, summary: str) -> None:
        self.text = collapse_spaces(summary)
        self._lines_of: dict[str, list[int]] = {}
        for n_line, line in enumerate(summary.split("\n")):
            for word in read_wording(line).words:
                self._lines_of.setdefault(word, []).append(n_line)

    def holds(self, fact: Fact) -> bool:
        match fact.kind:
            case "pin" | "constraint":
                return collapse_spaces(fact.needle) in self.text
            case "decision" | "open item":
                is_verbatim = collapse_spaces(fact.needle) in self.text
                return is_verbatim or self._restates(fact.needle)
            case "identifier":
                return contains_whole(self.text, fact.needle)
            case "file":
                return any(contains_whole(self.text, path) for path in _path_forms(fact.needle))

    def _restates(self, text: str) -> bool:
        """Tell whether one line has most of the words of a point, and all of its figures."""
        words = {word for word in read_wording(text).words if len(word) > 3 or _has_digit(word)}
        if len(words) < _MIN_WORDS:
            return False
        figures = set(filter(_has_digit, words))
        n_shared = Counter(n_line for word in words for n_line in self._lines_of.get(word, ()))
        n_figures = Counter(n_line for word in figures for n_line in self._lines_of.get(word, ()))
        return any(
            n_words >= _RESTATED_SHARE * len(words) and n_figures[n_line] == len(figures)
            for n_line, n_words in n_shared.items()
        )


def _has_digit(word: str) -> bool:
    return any(map(str.isdigit, word))


def _path_forms(path: str) -> tuple[str, ...]:
    """Give the path and its last two parts: a summary may leave out where the project lies."""
    parts = path.replace("\\", "/").rsplit("/", 2)
    return (path, "/".join(parts[-2:])) if len(parts) == 3 else (path,)


def _list_invented(items: Sequence[ContextItem], summary: str) -> Iterator[str]:
    """Give what is exact in the summary and stands nowhere in the messages."""
    text = "\n".join(
        line for line in summary.split("\n") if LEFT_OUT not in line and not line.startswith(AS_OF)
    )
    named = dict.fromkeys(
        name for kind, name in find_identifiers(text) if _is_claim(kind, name, text)
    )
    if not named:
        return
    source = "\n".join(_list_texts(items)).lower()
    # Most stand there as words: searching the whole source for each takes long.
    words = set(_WORD.findall(source))
    lacking = [
        name
        for name in named
        if (bare := _strip_additions(name)) not in words and bare not in source
    ]
    if any(name[0].isdigit() for name in lacking):
        # One may write 1,200 for 1200, and the other way round.
        source = _SEPARATOR.sub("", source)
        lacking = [
            name for name in lacking if _SEPARATOR.sub("", _strip_additions(name)) not in source
        ]
    yield from lacking[:_MAX_REPORTED]


def _is_claim(kind: str, name: str, text: str) -> bool:
    """Tell whether a name can be looked for: whole, and not a figure that one may reckon."""
    # What we cut short ourselves may end within a name.
    is_cut = "…" in name or f"{name}…" in text or f"…{name}" in text
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
                case entries.Text() | entries.Thinking():
                    yield block.text
                case entries.ToolCall():
                    yield block.name
                    yield block.arguments.replace("\\n", "\n").replace("\\\\", "\\")
                case entries.ToolResult():
                    yield entries.result_text(block)
                case entries.Image():
                    pass


def _list_misplaced(items: Sequence[ContextItem], summary: str) -> Iterator[str]:
    """Give the lines of authority found only in what was shown, in no speaker's own words.

    An instruction needs the user's own words; anything else may be the agent's.
    """
    sections = read_previous_summary(summary).lines
    lines = [
        (line, text)
        for name in _AUTHORITATIVE
        for line in sections[name]
        if len(text := collapse_spaces(line.removeprefix(OPEN_REQUEST))) >= _MIN_CLAIM_CHARS
    ]
    if not lines:
        return
    shown = collapse_spaces("\n".join(text for text, _, _ in list_data_sources(items)))
    by_user = collapse_spaces("\n".join(map(_read_users_words, items)))
    by_agent = collapse_spaces(
        "\n".join(read_own_words(read_speech(item, "assistant"), is_agents=True) for item in items)
    )
    for line, text in lines:
        is_agents = text in by_agent and not is_directive(text)
        if text in shown and text not in by_user and not is_agents:
            yield line


def _read_users_words(item: ContextItem) -> str:
    return f"{read_own_words(read_speech(item, 'typed'))}\n{read_speech(item, 'summary')}"
