"""Which key of a configuration stands at a place of its text."""

from collections.abc import Iterator

import msgspec

from ullage.core.config.keys import OVERRIDES, SPELLINGS, Key
from ullage.core.config.tree import Entry, Node, Span, Table


class Located(msgspec.Struct, frozen=True, kw_only=True):
    key: Key
    span: Span
    """Of the key's name."""


def key_at(root: Node, offset: int) -> Located | None:
    """Find the key whose name or value holds an offset; None between keys and for unknown ones."""
    path: list[str] = []
    found: Located | None = None
    for entry in _entries_at(root, offset):
        path.append(entry.key)
        key = SPELLINGS.get(_canonical(path))
        if key is not None and entry.key_span is not None:
            found = Located(key=key, span=entry.key_span)
    return found


def spelled_at(root: Node, offset: int, name: str) -> str | None:
    """Spell the name of a key as it must stand at an offset, below what it is nested in.

    None where it cannot stand there.
    """
    entries = list(_entries_at(root, offset))
    holds_name = entries and entries[-1].key_span is not None
    parents = [entry.key for entry in (entries[:-1] if holds_name else entries)]
    parts = name.split(".")
    spellings = (".".join(parts[at:]) for at in range(len(parts)))
    return next((one for one in spellings if _canonical([*parents, one]) == name), None)


def _entries_at(root: Node, offset: int) -> Iterator[Entry]:
    """Give the entries around an offset, outermost first."""
    node = root
    while isinstance(node, Table):
        entry = next((one for one in node.entries if _holds(one, offset)), None)
        if entry is None:
            return
        yield entry
        node = entry.node


def _holds(entry: Entry, offset: int) -> bool:
    spans = [span for span in (entry.key_span, entry.node.span) if span is not None]
    return bool(spans) and spans[0].start <= offset <= spans[-1].end


def _canonical(path: list[str]) -> str:
    """Name a key as the table does: OpenClaw's prefix is none, nor is the name of a model."""
    name = ".".join(path).removeprefix("agents.defaults.")
    n_parts = OVERRIDES.count(".") + 1
    if name.startswith(f"{OVERRIDES}.") and len(path) > n_parts + 1:
        rest = ".".join(path[path.index(OVERRIDES.rpartition(".")[2]) + 2 :])
        return rest if rest in SPELLINGS else f"compaction.{rest}"
    return name if name in SPELLINGS else ".".join(path)
