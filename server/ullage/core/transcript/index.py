"""What is known of a transcript's dead part, so that it need not be read again."""

from collections.abc import Iterable

import msgspec


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


EMPTY_INDEX = Index(covered_bytes=0, n_entries=0, compactions=())


def linear_chain(refs: Iterable[CompactionRef]) -> tuple[CompactionRef, ...]:
    """Chain the compactions of a transcript without branches, where ids need not be unique."""
    found: list[CompactionRef] = []
    for ref in sorted(refs, key=lambda one: one.offset):
        previous_id = found[-1].entry_id if found else None
        found.append(msgspec.structs.replace(ref, previous_id=previous_id))
    return tuple(found)


def chain(refs: dict[str, CompactionRef], last_id: str | None) -> tuple[CompactionRef, ...]:
    """List the compactions on the path that ends in `last_id`, oldest first."""
    found: list[CompactionRef] = []
    visited: set[str] = set()
    while last_id is not None and last_id in refs and last_id not in visited:
        visited.add(last_id)
        found.append(refs[last_id])
        last_id = refs[last_id].previous_id
    return tuple(reversed(found))
