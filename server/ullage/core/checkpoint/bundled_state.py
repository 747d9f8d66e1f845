"""What stays of a working state once a checkpoint holds a part of it."""

from collections.abc import Sequence

import msgspec

from ullage.core.checkpoint.working_state import (
    MAX_COUNTED_REPLIES,
    CapturedResources,
    CapturedThread,
    Decisions,
    OpenItems,
    Used,
    WorkingState,
    retold,
)
from ullage.core.facts.captured_messages import remember


def without(state: WorkingState, bundled: WorkingState) -> WorkingState:
    """Take away what a checkpoint holds; that it was counted stays known."""
    return WorkingState(
        decisions=decisions_without(state.decisions, bundled.decisions),
        thread=thread_without(state.thread, bundled.thread),
        resources=resources_without(state.resources, bundled.resources),
        open_items=open_items_without(state.open_items, bundled.open_items),
    )


def decisions_without(decisions: Decisions, held: Decisions) -> Decisions:
    gone = {(one.at_ms, one.message_id) for one in held.made}
    counted = sorted({*decisions.bundled, *gone})
    return Decisions(
        made=tuple(one for one in decisions.made if (one.at_ms, one.message_id) not in gone),
        bundled=tuple(counted[-MAX_COUNTED_REPLIES:]),
    )


def thread_without(thread: CapturedThread, held: CapturedThread) -> CapturedThread:
    gone = {(one.at_ms, one.message_id) for one in held.heard}
    calls = {one.call for one in held.errors}
    marked = [
        msgspec.structs.replace(one, is_bundled=True)
        if (one.at_ms, one.message_id) in gone
        else one
        for one in thread.heard
    ]
    return retold(
        msgspec.structs.replace(
            thread,
            heard=remember(marked, (), thread.floor_ms),
            errors=tuple(one for one in thread.errors if one.call not in calls),
        )
    )


def resources_without(resources: CapturedResources, held: CapturedResources) -> CapturedResources:
    return CapturedResources(
        read=_unused(resources.read, held.read),
        modified=_unused(resources.modified, held.modified),
        tools=_unused(resources.tools, held.tools),
        counted=resources.counted,
    )


def _unused(used: Sequence[Used], held: Sequence[Used]) -> tuple[Used, ...]:
    """Keep what is not held; what was used again since then stays."""
    gone = set(held)
    return tuple(one for one in used if one not in gone)


def open_items_without(open_items: OpenItems, held: OpenItems) -> OpenItems:
    if open_items.counted.calls[-1:] != held.counted.calls[-1:]:
        return open_items
    return msgspec.structs.replace(open_items, steps=())
