"""What two checkpoints of a session say differently, field by field and item by item."""

from collections.abc import Sequence
from typing import Literal, TypeAlias

import msgspec

from ullage.core.checkpoint.checkpoint import Checkpoint, storable
from ullage.core.checkpoint.fields import FIELDS, Field, LeftOut, read_field
from ullage.core.transcript.agent_lines import is_as_full

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
    for field in FIELDS:
        before, after = read_field(old, field.path), read_field(new, field.path)
        if field.compared == "text" and before != after:
            changed = Change(field=field.path, kind="changed", old=before[0], new=after[0])
            changes.append(changed)
        elif field.compared in ("items", "names"):
            changes += _item_changes(field, before, after)
    return tuple(changes)


def has_same_state(old: Checkpoint, new: Checkpoint) -> bool:
    """Whether two checkpoints say the same of the work; ids and times do not count."""
    return all(
        read_field(old, field.path) == read_field(new, field.path)
        for field in FIELDS
        if not isinstance(field.compared, LeftOut) and not field.path.startswith("meta.")
    )


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
    return is_as_full(old.meta.token_usage.input_tokens, n_input_tokens, minimum_change_percent)


def _place(checkpoint: Checkpoint) -> tuple[str, int]:
    return checkpoint.meta.session_file, checkpoint.meta.compaction_count


def _item_changes(field: Field, old: Sequence[str], new: Sequence[str]) -> list[Change]:
    removed = [item for item in dict.fromkeys(old) if item not in new]
    added = [item for item in dict.fromkeys(new) if item not in old]
    changes: list[Change] = []
    for item in removed:
        successor = None if field.compared == "names" else _find_successor(item, added)
        if successor is None:
            changes.append(Change(field=field.path, kind="removed", old=item, new=None))
        else:
            added.remove(successor)
            changes.append(Change(field=field.path, kind="changed", old=item, new=successor))
    return changes + [Change(field=field.path, kind="added", old=None, new=item) for item in added]


def _find_successor(item: str, added: Sequence[str]) -> str | None:
    """Give the item that shares the most words, if it shares enough of them."""
    words = set(item.lower().split())
    best: tuple[float, str] | None = None
    for candidate in added:
        candidate_words = set(candidate.lower().split())
        share = len(words & candidate_words) / max(1, len(words), len(candidate_words))
        if share >= MIN_SHARED_WORDS and (best is None or share > best[0]):
            best = (share, candidate)
    return None if best is None else best[1]
