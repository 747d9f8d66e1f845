"""What two checkpoints of a session say differently, field by field and item by item."""

from ullage.core.checkpoint import Checkpoint


def has_same_state(old: Checkpoint, new: Checkpoint) -> bool:
    """Whether two checkpoints say the same of the work; ids and times do not count."""
    return _state(old) == _state(new)


def has_same_figures(old: Checkpoint, new: Checkpoint) -> bool:
    """Whether two checkpoints are of the same file, compactions and tokens."""
    return _figures(old) == _figures(new)


def is_near(old: Checkpoint, new: Checkpoint, minimum_change_percent: float) -> bool:
    """Whether the used tokens differ by less than a share of what they were (S1 §5.2).

    Only for the same file and the same number of compactions: a context that filled up again is
    another one.
    """
    if _place(old) != _place(new):
        return False
    n_old, n_new = old.meta.token_usage.input_tokens, new.meta.token_usage.input_tokens
    return abs(n_new - n_old) * 100 < minimum_change_percent * max(1, n_old)


def _place(one: Checkpoint) -> tuple[str, int]:
    return one.meta.session_file, one.meta.compaction_count


def _figures(one: Checkpoint) -> object:
    return _place(one), one.meta.token_usage


def _state(one: Checkpoint) -> object:
    said = tuple(decision.what for decision in one.decisions)
    lists = (one.open_items, one.learnings, one.pins, one.dead_ends, one.trust_anchors)
    return one.working, said, one.resources, one.thread, lists
