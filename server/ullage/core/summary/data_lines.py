"""Lines of data for a summary: values of results, calls and quotations that a successor needs."""

import re
from collections.abc import Iterable, Iterator, Sequence

import msgspec

from ullage.core.change.tool_outputs import is_placeholder
from ullage.core.facts.command_runs import unwrap_output
from ullage.core.facts.tool_calls import list_new_texts
from ullage.core.text import identifiers
from ullage.core.text.quotations import read_quoted
from ullage.core.text.wording import is_directive
from ullage.core.transcript.context import ContextItem
from ullage.core.transcript.entries import Text, ToolCall, ToolResult
from ullage.core.transcript.speech import read_speech

_MAX_REFERENCE_CHARS = 400
"""Of an argument that refers to something; a longer one is the text of a file. Chosen."""
_LAST_ITEMS = 6
"""Messages whose data is at hand still; chosen."""
_CODE = re.compile(
    r"(?:import|from|export|const|let|var|return|def|class|func|fn|pub|use|using|package|public|"
    r"private|static|async|await|if|for|while|else|type|interface)\b.*(?:[;{}()=]|\bimport\b)|"
    r"[}{)\]@|<]|//|/?\*+\s|[+-]{1,3}(?:\s{2}|\w)|#include|index \w+\.\.|[^\w`'\"~/]*\d+\W*$|"
    r".*(?:[{(\[;,\\]|=>|&&|\)\s*:)$"
)
"""How lines of programs, of diffs and of tables begin and end; a lone figure is torn out of one."""
_TORN = ("</", '":"', '","')
"""What markup and packed JSON hold, which make no line of their own."""
_MARKS = re.compile(r"[{}()\[\]<>;=\"'\\|*]|\$(?!\d)")
_MAX_MARKS_SHARE = 0.12
"""Share of such characters from which a line is code; tried on sessions."""


def list_data_lines(
    sources: Iterable[tuple[str, int, float]], spoken: str
) -> Iterator[identifiers.DataLine]:
    """Rank the lines of sources, without keys; `spoken` is what user and agent said.

    Of a line that instructs, only the values in it are data; an address that it names is a part of
    the instruction.
    """
    shown: set[str] = set()
    for line in identifiers.rank_lines(sources, spoken):
        if line.score < identifiers.MIN_DATA_SCORE:
            return
        if identifiers.looks_secret(line.text):
            continue
        if is_directive(line.text):
            names = tuple(name for name in line.names if name not in shown and "://" not in name)
            if names:
                yield msgspec.structs.replace(line, text=", ".join(names), names=names)
        else:
            yield line
        shown.update(line.names)


def list_needed_lines(items: Sequence[ContextItem], spoken: str) -> Iterator[identifiers.DataLine]:
    """Rank the lines of data by need: first what is referred to later or came last, then the exact.

    Code and pieces of a torn line are no data; of those that are referred to, the value is.
    """
    references = _find_references(items)
    needed: list[identifiers.DataLine] = []
    exact_lines: list[identifiers.DataLine] = []
    others: list[identifiers.DataLine] = []
    for line in list_data_lines(list_data_sources(items), spoken):
        exact = line.exact
        referred = tuple(name for name in exact if references.get(name, -1) > line.n_item)
        is_recent = line.n_item >= len(items) - _LAST_ITEMS
        if not is_code(line.text):
            is_needed = bool(referred) or (bool(exact) and is_recent)
            (needed if is_needed else exact_lines if exact else others).append(line)
        elif referred:
            text = ", ".join(referred)
            needed.append(msgspec.structs.replace(line, text=text, names=referred))
    yield from (*needed, *exact_lines, *others)


def is_code(text: str) -> bool:
    """Tell whether a line is of a program, a diff, a table or markup, or torn out of one."""
    bare = text.strip()
    if bare.startswith("…") and bare.endswith("…"):
        return True
    bare = bare.strip("…").strip()
    if _CODE.match(bare) is not None or bare.count("\\n") > 1 or any(map(bare.__contains__, _TORN)):
        return True
    return len(_MARKS.findall(bare)) > _MAX_MARKS_SHARE * len(bare)


def _find_references(items: Sequence[ContextItem]) -> dict[str, int]:
    """Find the last message in which a call's arguments or somebody's words name each value."""
    references: dict[str, int] = {}
    for n_item, item in enumerate(items):
        texts = [read_speech(item, "typed", "assistant")] if item.category != "summary" else []
        for block in item.message.blocks:
            if isinstance(block, ToolCall) and len(block.arguments) <= 8 * _MAX_REFERENCE_CHARS:
                texts += (
                    text for text in list_new_texts(block) if len(text) <= _MAX_REFERENCE_CHARS
                )
        for text in texts:
            for _, name in identifiers.find_identifiers(text[: 20 * _MAX_REFERENCE_CHARS]):
                references[name] = n_item
    return references


def list_data_sources(items: Sequence[ContextItem]) -> Iterator[tuple[str, int, float]]:
    """Give results, arguments, code and pasted lines as (text, number of the item, weight)."""
    for n_item, item in enumerate(items):
        for block in item.message.blocks:
            if isinstance(block, ToolResult) and not is_placeholder(block):
                for part in block.content:
                    if isinstance(part, Text):
                        yield unwrap_output(part.text), n_item, 1.0
            elif isinstance(block, ToolCall):
                yield "\n".join(list_new_texts(block)), n_item, 0.8
        if item.category != "system":
            yield read_speech(item, "pasted"), n_item, 1.0
            yield read_speech(item, "harness"), n_item, 0.7
        yield read_quoted(read_speech(item, "typed")), n_item, 1.3
        yield read_quoted(read_speech(item, "assistant"), is_agents=True), n_item, 1.3
