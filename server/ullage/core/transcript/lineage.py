"""Who follows whom in a transcript: faults of ids and parents, and the index of compactions."""

from collections.abc import Iterable, Sequence
from itertools import count
from typing import Literal

import msgspec

MAX_ROUNDS = 16
"""Loops of a crash are cut in one or two rounds (chosen)."""


class Node(msgspec.Struct, frozen=True, kw_only=True):
    """A record's place; its position in a sequence is the one in the file."""

    entry_id: str
    parent_id: str | None
    is_main: bool = True
    """Whether it is of the session's own thread, not of one beside it."""


class LineageFault(msgspec.Struct, frozen=True, kw_only=True):
    code: Literal["duplicate-id", "missing-parent", "lost-branch", "parent-loop"]
    at: int


def find_lineage_faults(nodes: Sequence[Node]) -> tuple[LineageFault, ...]:
    """Find what is wrong with the ids and parents."""
    last = {node.entry_id: at for at, node in enumerate(nodes)}
    seen: set[str] = set()
    path = path_of(nodes)
    faults: list[LineageFault] = []
    for at, node in enumerate(nodes):
        if node.entry_id in seen:
            faults.append(LineageFault(code="duplicate-id", at=at))
        seen.add(node.entry_id)
        if node.parent_id is not None and node.parent_id not in last:
            code = "missing-parent" if at in path else "lost-branch"
            faults.append(LineageFault(code=code, at=at))
    faults += [LineageFault(code="parent-loop", at=at) for at in _looping(nodes)]
    return tuple(sorted(faults, key=lambda fault: fault.at))


def reconnect_nodes(nodes: Sequence[Node]) -> tuple[Node, ...]:
    """Give each record a parent that exists and is not its own descendant.

    A missing parent, and in a loop each parent that stands below its child, becomes the record
    before in the same thread. Ids must not repeat.
    """
    at_of = {node.entry_id: at for at, node in enumerate(nodes)}
    parents = [node.parent_id for node in nodes]
    for at, parent_id in enumerate(parents):
        if parent_id is not None and parent_id not in at_of:
            parents[at] = _before(nodes, at)
    # Every round turns at least one parent from below to above. A file that was made to need
    # many rounds loses all that stand below: then no loop is possible.
    for n_rounds in count():
        linked = [_with_parent(*pair) for pair in zip(nodes, parents, strict=True)]
        loop = _looping(linked)
        if not loop:
            return tuple(linked)
        for at in loop if n_rounds < MAX_ROUNDS else range(len(nodes)):
            parent_id = parents[at]
            if parent_id is not None and at_of[parent_id] >= at:
                parents[at] = _before(nodes, at)
    raise AssertionError("a loop needs a parent that stands below")


def path_of(nodes: Sequence[Node]) -> set[int]:
    """Walk up from the last record of the main thread."""
    at_of = {node.entry_id: at for at, node in enumerate(nodes)}
    path: set[int] = set()
    at = next((at for at in reversed(range(len(nodes))) if nodes[at].is_main), None)
    while at is not None and at not in path:
        path.add(at)
        at = at_of.get(nodes[at].parent_id or "")
    return path


def _with_parent(node: Node, parent_id: str | None) -> Node:
    return msgspec.structs.replace(node, parent_id=parent_id)


def _before(nodes: Sequence[Node], at: int) -> str | None:
    above = (nodes[n] for n in range(at - 1, -1, -1))
    return next((node.entry_id for node in above if node.is_main == nodes[at].is_main), None)


def _looping(nodes: Sequence[Node]) -> list[int]:
    """List the records that are their own ancestors; each is walked over once."""
    at_of = {node.entry_id: at for at, node in enumerate(nodes)}
    parents = [None if n.parent_id is None else at_of.get(n.parent_id) for n in nodes]
    walk_of = [-1] * len(nodes)
    looping: set[int] = set()
    for start in range(len(nodes)):
        at: int | None = start
        while at is not None and walk_of[at] < 0:
            walk_of[at] = start
            at = parents[at]
        if at is None or walk_of[at] != start:
            continue
        while at is not None and at not in looping:
            looping.add(at)
            at = parents[at]
    return sorted(looping)


class CompactionRef(msgspec.Struct, frozen=True, kw_only=True):
    """Where a compaction stands in the file."""

    entry_id: str
    previous_id: str | None = None
    """The compaction before it on its path."""
    at_ms: int | None
    offset: int
    size_bytes: int


class Index(msgspec.Struct, frozen=True, kw_only=True):
    """Counts over the bytes before `covered_bytes`; a cache, rebuilt when in doubt."""

    covered_bytes: int
    n_entries: int
    compactions: tuple[CompactionRef, ...]
    title_offset: int | None = None
    """Where the last record stands that may name the session; 0 where none does, None where that is
    not known."""


EMPTY_INDEX = Index(covered_bytes=0, n_entries=0, compactions=())


def chain_in_order(refs: Iterable[CompactionRef]) -> tuple[CompactionRef, ...]:
    """Chain the compactions of a transcript without branches, where ids need not be unique."""
    linked: list[CompactionRef] = []
    for compaction in sorted(refs, key=lambda ref: ref.offset):
        previous_id = linked[-1].entry_id if linked else None
        linked.append(msgspec.structs.replace(compaction, previous_id=previous_id))
    return tuple(linked)


def chain(refs: dict[str, CompactionRef], last_id: str | None) -> tuple[CompactionRef, ...]:
    """List the compactions on the path that ends in `last_id`, oldest first."""
    linked: list[CompactionRef] = []
    visited: set[str] = set()
    while last_id is not None and last_id in refs and last_id not in visited:
        visited.add(last_id)
        linked.append(refs[last_id])
        last_id = refs[last_id].previous_id
    return tuple(reversed(linked))
