"""Who speaks: the words of each message by their speaker, as its agent's adapter decided."""

from collections.abc import Iterator

from ullage.core.transcript.context import Category, ContextItem
from ullage.core.transcript.entries import Speaker, Speech, Text, ToolResult, result_text

_SPEAKERS: dict[Category, Speaker] = {
    "user": "typed",
    "assistant": "assistant",
    "summary": "summary",
}
"""Who speaks in a message of a category, where its texts do not say it; else the harness."""


def list_speech(item: ContextItem, *, with_results: bool = True) -> Iterator[Speech]:
    """Yield the words of a message in order, each with who speaks."""
    for text in item.queued:
        yield Speech(speaker="typed", text=text)
    categories = item.block_categories or (item.category,) * len(item.message.blocks)
    for category, block in zip(categories, item.message.blocks, strict=True):
        if isinstance(block, ToolResult):
            if not with_results:
                continue
            texts = [part for part in block.content if isinstance(part, Text)]
            if any(text.speech for text in texts):
                for text in texts:
                    yield from text.speech or (Speech(speaker="tool", text=text.text),)
            else:
                yield Speech(speaker="tool", text=result_text(block))
        elif isinstance(block, Text):
            spoken = Speech(speaker=_SPEAKERS.get(category, "harness"), text=block.text)
            yield from block.speech or (spoken,)


def read_speech(item: ContextItem, *speakers: Speaker) -> str:
    """Join what some speakers say in a message, a line for each text."""
    return "\n".join(speech.text for speech in list_speech(item) if speech.speaker in speakers)
