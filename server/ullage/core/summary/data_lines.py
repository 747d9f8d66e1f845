"""Data: the lines of results, arguments and pastes that hold exact values, the best first."""

from collections.abc import Iterable, Iterator, Sequence

from ullage.core.change.tool_outputs import is_placeholder
from ullage.core.facts.replaced_values import ReplacedValue, holds_old_value
from ullage.core.facts.tool_calls import list_new_texts
from ullage.core.text.identifiers import MIN_DATA_SCORE, DataLine, looks_secret, rank_lines
from ullage.core.text.prose import looks_like_data, separate_injected
from ullage.core.text.wording import is_directive
from ullage.core.transcript.context import ContextItem
from ullage.core.transcript.message import Text, ToolCall, ToolResult, plain_text


def list_data_lines(
    sources: Iterable[tuple[str, int, float]], spoken: str, replaced: Sequence[ReplacedValue]
) -> Iterator[DataLine]:
    """Rank the lines of sources, without those that must not enter a summary.

    These are a key, an instruction, or a replaced value. `spoken` is what user and agent said.
    """
    for line in rank_lines(sources, spoken):
        if line.score < MIN_DATA_SCORE:
            return
        is_unfit = looks_secret(line.text) or is_directive(line.text)
        if not is_unfit and not holds_old_value(line.text, replaced):
            yield line


def list_data_sources(items: Sequence[ContextItem]) -> Iterator[tuple[str, int, float]]:
    """Give results, arguments, code and pasted lines as (text, number of the item, weight)."""
    for n_item, item in enumerate(items):
        for block in item.message.blocks:
            if isinstance(block, ToolResult) and not is_placeholder(block):
                for part in block.content:
                    if isinstance(part, Text):
                        yield part.text, n_item, 1.0
            elif isinstance(block, ToolCall):
                yield "\n".join(list_new_texts(block)), n_item, 0.8
        if item.category in ("user", "assistant", "injected"):
            own, injected = separate_injected(plain_text(item.message))
            yield injected, n_item, 1.0
            yield "\n".join(_list_pasted(own)), n_item, 1.3


def _list_pasted(text: str) -> Iterator[str]:
    is_fenced = False
    for line in text.split("\n"):
        if line.lstrip().startswith("```"):
            is_fenced = not is_fenced
        elif is_fenced or looks_like_data(line.strip()):
            yield line
