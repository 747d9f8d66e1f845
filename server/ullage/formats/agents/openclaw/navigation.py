"""The active path of an OpenClaw session of version 4, whose leaf need not be its last line.

The rules are those of OpenClaw 2026.9 (`transcript-tree.ts`), read in the order of the lines:
- A `leaf` selects its target, and says below what the next entry hangs. One that names what is
  not there, or what stands outside of the last reset, selects nothing new.
- An entry becomes the leaf, unless its `appendMode` is `side` or its type is none of OpenClaw's.
- An entry whose parent is missing, outside of the last reset, or a cursor other than the leaf
  follows the leaf.
"""

from collections.abc import Sequence

from ullage.core.transcript.entries import Entry
from ullage.formats.json_line import text_of

NAVIGATED_VERSION = 4
BOUNDARY_KINDS = ("compaction", "reset")
ENTRY_KINDS = frozenset(
    "message thinking_level_change model_change compaction reset branch_summary custom"
    " custom_message label session_info".split()
)
"""Entries that make the path; all others only hold the place at which the next one hangs."""
_SIDE = "side"


def active_path(entries: Sequence[Entry]) -> tuple[Entry, ...]:
    """List the entries from the first to the leaf."""
    tree = _Tree()
    for entry in entries:
        tree.add(entry)
    path = tree.path_to(tree.leaf_id)
    return (*_lost_boundary(path, entries, tree), *path)


def is_plain(entry: Entry) -> bool:
    """Whether an entry only follows its parent."""
    return entry.kind in ENTRY_KINDS and "appendMode" not in entry.native


class _Tree:
    """The entries so far, each with the parent that its place gives it."""

    def __init__(self) -> None:
        self.leaf_id: str | None = None
        self._cursor_id: str | None = None
        """Below what the agent appends; it may be off the path."""
        self._entries: dict[str, Entry] = {}
        self._parents: dict[str, str | None] = {}
        self._refused: set[str] = set()
        self._reset_id: str | None = None
        self._below_reset: set[str] = set()

    def add(self, entry: Entry) -> None:
        has_parent = "parentId" in entry.native
        if not entry.entry_id.strip():
            return
        if has_parent and entry.parent_id is None and entry.native["parentId"] is not None:
            return
        if entry.kind == "leaf":
            if has_parent:
                self._select(entry)
        elif entry.kind in ENTRY_KINDS:
            self._append(entry, has_parent=has_parent)
        elif has_parent:
            self._put(entry, entry.parent_id)
            self._cursor_id = entry.entry_id

    def path_to(self, leaf_id: str | None) -> tuple[Entry, ...]:
        """Walk up as far as parents are there; a circle has no path."""
        upwards: list[Entry] = []
        visited: set[str] = set()
        current = leaf_id
        while current is not None and current in self._entries:
            if current in visited:
                return ()
            visited.add(current)
            if self._entries[current].kind != "leaf":
                upwards.append(self._entries[current])
            current = self._parents[current]
        return tuple(reversed(upwards))

    def _select(self, leaf: Entry) -> None:
        native = leaf.native
        if "targetId" not in native or native.get("appendMode", _SIDE) != _SIDE:
            return
        ids = [native["targetId"], native.get("appendParentId", native["targetId"])]
        if any(name is not None and not (isinstance(name, str) and name.strip()) for name in ids):
            return
        target_id = text_of(native, "targetId")
        cursor_id = text_of(native, "appendParentId") if "appendParentId" in native else target_id
        if self._reset_id and self.leaf_id is not None and target_id not in self._below_reset:
            target_id = cursor_id = self.leaf_id
        if not (self._is_selectable(target_id) and self._is_selectable(cursor_id)):
            self._refused.add(leaf.entry_id)
            self._put(leaf, leaf.parent_id)
            return
        self._put(leaf, target_id)
        self._cursor_id = cursor_id
        self.leaf_id = target_id

    def _is_selectable(self, entry_id: str | None) -> bool:
        return entry_id is None or (entry_id in self._entries and entry_id not in self._refused)

    def _append(self, entry: Entry, *, has_parent: bool) -> None:
        parent_id = entry.parent_id if has_parent else self.leaf_id
        is_side = entry.native.get("appendMode") == _SIDE
        if not is_side and self._follows_leaf(parent_id, has_parent=has_parent):
            parent_id = self.leaf_id
        self._put(entry, self._without_leaves(parent_id))
        if entry.kind == "reset":
            self._reset_id = entry.entry_id
            self._below_reset = {entry.entry_id}
        self._cursor_id = entry.entry_id
        if not is_side:
            self.leaf_id = entry.entry_id

    def _follows_leaf(self, parent_id: str | None, *, has_parent: bool) -> bool:
        if self._reset_id is not None and parent_id not in self._below_reset:
            return True
        if not has_parent:
            return False
        is_missing = parent_id is not None and parent_id not in self._entries
        return (is_missing and self.leaf_id is not None) or parent_id == self._cursor_id

    def _without_leaves(self, entry_id: str | None) -> str | None:
        visited: set[str] = set()
        while entry_id is not None and entry_id not in visited:
            visited.add(entry_id)
            if entry_id not in self._entries or self._entries[entry_id].kind != "leaf":
                break
            entry_id = self._parents[entry_id]
        return entry_id

    def _put(self, entry: Entry, parent_id: str | None) -> None:
        self._entries[entry.entry_id] = entry
        self._parents[entry.entry_id] = parent_id
        if parent_id in self._below_reset:
            self._below_reset.add(entry.entry_id)


def _lost_boundary(
    path: tuple[Entry, ...], entries: Sequence[Entry], tree: _Tree
) -> tuple[Entry, ...]:
    """Give the boundary before a path that does not reach back to it, and what a reset kept."""
    if not path:
        return ()
    before = (entry for entry in reversed(entries) if entry.offset < path[0].offset)
    boundary = next((entry for entry in before if entry.kind in BOUNDARY_KINDS), None)
    if boundary is None:
        return ()
    first_kept_id = text_of(boundary.native, "firstKeptEntryId")
    if boundary.kind == "reset" and first_kept_id:
        kept = tree.path_to(boundary.entry_id)
        ids = [entry.entry_id for entry in kept]
        if first_kept_id in ids:
            return kept[ids.index(first_kept_id) :]
    return (boundary,)
