"""Where a session can be parted so that a new one goes on from an entry."""

from collections.abc import Iterator

import msgspec

from ullage.core.change.compaction import list_open_calls
from ullage.core.change.edit import LinesBefore
from ullage.core.transcript.context import Context, Sketch
from ullage.core.transcript.entries import Header, Line, Lines, ToolCall, ToolResult
from ullage.core.transcript.lineage import EMPTY_INDEX
from ullage.formats.agent_info import AgentInfo


class Part(msgspec.Struct, frozen=True, kw_only=True):
    """A session as it was at one of its entries."""

    lines: LinesBefore
    context: Context
    entry_id: str
    """The last entry: the one that was asked for, or the result that completes it."""


def part_at(info: AgentInfo, header: Header, lines: Lines, at: str | None) -> Part | str:
    """Give a session as it was at an entry, the last by default; or say why it cannot go on there.

    Where a call would lose its results, these come along.
    """
    last = _find(info, header, lines, at)
    if isinstance(last, str):
        return last
    part = _part(info, header, lines, last)
    waiting = {call.call_id for call in list_open_calls(part.context.items)}
    if not waiting:
        return part
    refusal = f"entry {part.entry_id} is a call without its result: name an earlier one"
    for line, sketch in _sketches(info, header, lines.forward(_end(last[0]))):
        if sketch.item is None:
            continue
        blocks = sketch.item.message.blocks
        results = {block.call_id for block in blocks if isinstance(block, ToolResult)}
        if sketch.item.category == "user" and not results:
            return refusal
        waiting |= {block.call_id for block in blocks if isinstance(block, ToolCall)}
        waiting -= results
        if not waiting:
            longer = _part(info, header, lines, (line, sketch))
            return longer if _continues(part.context, longer.context) else refusal
    return refusal


def _find(
    info: AgentInfo, header: Header, lines: Lines, at: str | None
) -> tuple[Line, Sketch] | str:
    if at is None:
        newest = next(_sketches(info, header, lines.backward()), None)
        return newest or "it has no entries yet"
    matches: dict[str, tuple[Line, Sketch]] = {}
    for line, sketch in _sketches(info, header, lines.forward()):
        if sketch.entry_id.startswith(at):
            matches[sketch.entry_id] = line, sketch
    if at in matches or len(matches) == 1:
        return matches.get(at) or next(iter(matches.values()))
    count = "several entries have ids that begin" if matches else "no entry has an id that begins"
    return f"{count} with {at!r}: `ullage context show` lists them"


def _sketches(
    info: AgentInfo, header: Header, lines: Iterator[Line]
) -> Iterator[tuple[Line, Sketch]]:
    for line in lines:
        sketch = None if info.sketch is None else info.sketch(line, header)
        if isinstance(sketch, Sketch) and sketch.entry_id:
            yield line, sketch


def _part(info: AgentInfo, header: Header, lines: Lines, last: tuple[Line, Sketch]) -> Part:
    line, sketch = last
    before = LinesBefore(lines, _end(line))
    context = info.read_context(before, header, EMPTY_INDEX).context
    return Part(lines=before, context=context, entry_id=sketch.entry_id)


def _continues(shorter: Context, longer: Context) -> bool:
    """Whether a context only adds to another, and all its calls have their results."""
    ids = [item.entry_id for item in shorter.items]
    is_longer = [item.entry_id for item in longer.items[: len(ids)]] == ids
    return is_longer and not list_open_calls(longer.items)


def _end(line: Line) -> int:
    return line.offset + len(line.raw)
