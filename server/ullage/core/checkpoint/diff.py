"""What two checkpoints of a session say differently, field by field and item by item."""

from collections.abc import Iterator, Sequence
from typing import Literal, TypeAlias

import msgspec

from ullage.core.checkpoint.checkpoint import Checkpoint, storable

ChangeKind: TypeAlias = Literal["added", "removed", "changed"]
MIN_SHARED_WORDS = 0.5
"""An item of which this share of the words stands in another one is that, changed (chosen)."""


class Change(msgspec.Struct, frozen=True, kw_only=True):
    """One difference; the paths of fields are those of the YAML."""

    field: str
    kind: ChangeKind
    old: str | None
    """None where something was added."""
    new: str | None
    """None where something was removed."""


def diff(old: Checkpoint, new: Checkpoint) -> tuple[Change, ...]:
    """Compare two checkpoints; ids, times and the order of items do not count."""
    changes: list[Change] = []
    for (field, before), (_, after) in zip(_fields(old), _fields(new), strict=True):
        if before != after:
            changes.append(Change(field=field, kind="changed", old=before, new=after))
    for (field, before), (_, after) in zip(_lists(old), _lists(new), strict=True):
        changes += _item_changes(field, before, after)
    return tuple(changes)


def has_same_state(old: Checkpoint, new: Checkpoint) -> bool:
    """Whether two checkpoints say the same of the work; ids and times do not count."""
    is_same_work = (old.working, old.thread.summary) == (new.working, new.thread.summary)
    return is_same_work and dict(_lists(old)) == dict(_lists(new))


def has_same_figures(old: Checkpoint, new: Checkpoint) -> bool:
    """Whether two checkpoints are of the same file, compactions and tokens."""
    return _place(old) == _place(new) and old.meta.token_usage == new.meta.token_usage


def is_near(old: Checkpoint, new: Checkpoint, minimum_change_percent: float) -> bool:
    """Whether the used tokens differ by less than a share of what they were."""
    return is_near_to(
        old,
        session_file=new.meta.session_file,
        n_compactions=new.meta.compaction_count,
        n_input_tokens=new.meta.token_usage.input_tokens,
        minimum_change_percent=minimum_change_percent,
    )


def is_near_to(
    old: Checkpoint,
    *,
    session_file: str,
    n_compactions: int,
    n_input_tokens: int,
    minimum_change_percent: float,
) -> bool:
    """Tell it before the new checkpoint is built.

    Only for the same file and the same number of compactions: a context that filled up again is
    another one.
    """
    if _place(old) != (storable(session_file), n_compactions):
        return False
    n_old = old.meta.token_usage.input_tokens
    return abs(n_input_tokens - n_old) * 100 < minimum_change_percent * max(1, n_old)


def _place(one: Checkpoint) -> tuple[str, int]:
    return one.meta.session_file, one.meta.compaction_count


def _fields(one: Checkpoint) -> Iterator[tuple[str, str]]:
    meta, work = one.meta, one.working
    call = work.last_tool_call
    yield "meta.session_file", meta.session_file
    yield "meta.compaction_count", str(meta.compaction_count)
    yield "meta.token_usage.input_tokens", f"{meta.token_usage.input_tokens:,}"
    yield "meta.token_usage.context_window", f"{meta.token_usage.context_window:,}"
    yield "working.topic", work.topic
    yield "working.status", work.status
    yield "working.interrupted", "true" if work.interrupted else "false"
    yield "working.last_tool_call", "" if call is None else f"{call.name} {call.params_summary}"
    yield "working.next_action", work.next_action
    yield "thread.summary", one.thread.summary


def _lists(one: Checkpoint) -> Iterator[tuple[str, tuple[str, ...]]]:
    exchanges = one.thread.key_exchanges
    yield "decisions", tuple(decision.what for decision in one.decisions)
    yield "open_items", one.open_items
    yield "pins", one.pins
    yield "resources.files_modified", one.resources.files_modified
    yield "resources.files_read", one.resources.files_read
    yield "resources.tools_used", one.resources.tools_used
    yield "thread.key_exchanges", tuple(f"{said.role}: {said.gist}" for said in exchanges)
    yield "learnings", one.learnings
    yield "dead_ends", one.dead_ends
    yield "trust_anchors", one.trust_anchors


_EXACT = frozenset(
    ("pins", "resources.files_modified", "resources.files_read", "resources.tools_used")
)
"""Lists of names and of the user's own words: another one is another one."""


def _item_changes(field: str, old: Sequence[str], new: Sequence[str]) -> list[Change]:
    removed = [item for item in dict.fromkeys(old) if item not in new]
    added = [item for item in dict.fromkeys(new) if item not in old]
    changes: list[Change] = []
    for item in removed:
        successor = None if field in _EXACT else _successor(item, added)
        if successor is None:
            changes.append(Change(field=field, kind="removed", old=item, new=None))
        else:
            added.remove(successor)
            changes.append(Change(field=field, kind="changed", old=item, new=successor))
    return changes + [Change(field=field, kind="added", old=None, new=item) for item in added]


def _successor(item: str, added: Sequence[str]) -> str | None:
    """Give the item that shares the most words, if it shares enough of them."""
    words = set(item.lower().split())
    best: tuple[float, str] | None = None
    for other in added:
        others = set(other.lower().split())
        share = len(words & others) / max(1, len(words), len(others))
        if share >= MIN_SHARED_WORDS and (best is None or share > best[0]):
            best = (share, other)
    return None if best is None else best[1]
