"""Sources of data: the texts of messages that nobody need have spoken."""

from collections.abc import Iterator, Sequence

from ullage.core.change.tool_outputs import is_placeholder
from ullage.core.facts.tool_calls import list_new_texts
from ullage.core.text.prose import looks_like_data, separate_injected
from ullage.core.transcript.context import ContextItem
from ullage.core.transcript.message import Text, ToolCall, ToolResult, plain_text


def data_sources(items: Sequence[ContextItem]) -> Iterator[tuple[str, int, float]]:
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
            own, foreign = separate_injected(plain_text(item.message))
            yield foreign, n_item, 1.0
            yield "\n".join(_pasted(own)), n_item, 1.3


def _pasted(text: str) -> Iterator[str]:
    is_fenced = False
    for line in text.split("\n"):
        if line.lstrip().startswith("```"):
            is_fenced = not is_fenced
        elif is_fenced or looks_like_data(line.strip()):
            yield line
