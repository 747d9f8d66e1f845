"""Prune a session on disk: placeholders take the place of old tool output, the pairs stay."""

from collections.abc import Collection

import msgspec

from ullage.app.change import (
    ChangePlan,
    Made,
    changeable,
    make_change,
    new_entry_id,
    now_text,
    plan_change,
)
from ullage.app.load import Loaded
from ullage.core.compaction import hidden_tokens, refuse_open_calls
from ullage.core.config.settings import Config
from ullage.core.edit import FileChange, PruneEdit
from ullage.core.prune import ALL_REASONS, RULE_REASONS, PrunePlan, plan_prune
from ullage.core.tokens import count_items
from ullage.errors import UnknownItem
from ullage.store.places import Places


class PruneRequest(msgspec.Struct, frozen=True, kw_only=True):
    chosen: tuple[str, ...] | None = None
    """Items by their ids; None for what the rules choose."""
    is_everything: bool = False
    """Whether superseded reads, duplicates and old images go too."""


class Pruning(msgspec.Struct, frozen=True, kw_only=True):
    """A prune that is worked out to the last byte, and not made yet."""

    plan: PrunePlan
    change: ChangePlan


class Unpruned(msgspec.Struct, frozen=True, kw_only=True):
    """Why nothing is pruned, and what could be."""

    plan: PrunePlan
    reason: str


def plan_pruning(loaded: Loaded, request: PruneRequest) -> Pruning | Unpruned:
    """Work out a prune without writing anything.

    Raises:
        WriteNotSupported: this kind of session is not ours to write to.
        UnknownItem: an item was named that cannot be pruned.
    """
    target = changeable(loaded.session)
    plan = plan_prune(
        loaded.context.items,
        loaded.policy,
        loaded.count,
        chosen=request.chosen,
        reasons=ALL_REASONS if request.is_everything else RULE_REASONS,
    )
    _refuse_unknown(plan.unknown_ids)
    waiting = refuse_open_calls(loaded.context.items)
    reason = plan.refusal if waiting is None else waiting.reason
    if reason is not None:
        return Unpruned(plan=plan, reason=reason)
    entry_id, timestamp = new_entry_id(), now_text()
    n_counted = count_items(loaded.context.items, loaded.count)
    n_hidden = hidden_tokens(loaded.status.gauge, n_counted)

    def render(n_tokens_after: int | None) -> FileChange:
        edit = PruneEdit(
            entry_id=entry_id,
            timestamp=timestamp,
            replacements=plan.replacements,
            n_tokens_before=n_hidden + n_counted,
            n_tokens_after=n_tokens_after,
        )
        return target.editor.prune(target.lines, loaded.context, edit)

    change = plan_change(
        loaded,
        render,
        change_id=entry_id,
        n_tokens_before=n_hidden + n_counted,
        n_tokens_hidden=n_hidden,
    )
    return Pruning(plan=plan, change=change)


def prune(pruning: Pruning, config: Config, places: Places) -> Made:
    """Make a planned prune.

    Raises:
        SessionLive: an agent or another Ullage is using the session.
        ChangedMeanwhile: the transcript is not what the plan was made from.
        StorageError: the disk or the state folder does not take it.
    """
    change = pruning.change
    entry_ids = {one.entry_id for one in pruning.plan.replacements}
    replaced = [item for item in change.loaded.context.items if item.entry_id in entry_ids]
    return make_change(change, config, places, kind="prune", layer="prune", replaced=replaced)


def _refuse_unknown(item_ids: Collection[str]) -> None:
    if item_ids:
        raise UnknownItem(
            f"cannot prune {', '.join(sorted(item_ids))}: gone, pruned before, or protected;"
            " `ullage prune --dry-run` lists what can go"
        )
