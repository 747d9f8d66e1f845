"""Read bytes as a transcript, the way the application reads a file."""

from ullage.core.transcript.context import Context
from ullage.core.transcript.entries import JsonObject, MemoryLines
from ullage.core.transcript.lineage import EMPTY_INDEX, Index
from ullage.formats.reading import Reading
from ullage.formats.registry import recognize


def read(data: bytes, known: Index = EMPTY_INDEX) -> Reading:
    lines = MemoryLines(data)
    found = recognize(lines)
    assert found is not None
    return found[0].read_context(lines, found[1], known)


def read_context(data: bytes) -> Context:
    return read(data).context


def read_messages(data: bytes) -> list[JsonObject]:
    found = recognize(MemoryLines(data))
    assert found is not None
    return found[0].messages(read_context(data))


def essence(context: Context) -> tuple[object, ...]:
    """Give all that must not depend on how a transcript was read; of problems, their places."""
    return (
        context.items,
        context.boundary,
        context.compactions,
        context.leaf_id,
        context.model,
        context.provider,
        context.window_tokens,
        context.n_sent_before,
        context.limits,
        context.n_entries,
        context.size_bytes,
    )
