"""What `ullage prune` answers: JSON for programs, text for people."""

from collections.abc import Sequence
from typing import Literal

import msgspec

from ullage.app.change.make import Made
from ullage.app.change.prune import Pruning, Unpruned
from ullage.core.change.prune import PruneItem, PrunePlan, Reason
from ullage.core.secrets.scan import mask
from ullage.core.text.prose import gist
from ullage.core.transcript.message import JsonObject

LABEL_CHARS = 30
"""Enough for a path, few enough for a line of 80 columns (chosen)."""
SHORT_ID_CHARS = 13
MAX_SHOWN_ITEMS = 30
"""More than fit a screen hide the question that follows (chosen)."""


class PruneItemReport(msgspec.Struct, frozen=True, kw_only=True):
    """One output, or the images of one message, that a placeholder can stand for."""

    id: str
    """What `ullage prune --item` takes."""
    entry_id: str
    tool: str
    label: str
    """What it was: a path, a command."""
    reason: Reason
    tokens_freed: int
    chosen: bool


class PruneReport(msgspec.Struct, frozen=True, kw_only=True):
    """The answer of `ullage prune --json`."""

    outcome: Literal["planned", "pruned", "nothing"]
    path: str
    reason: str | None = None
    """Why there is nothing to do."""
    items: list[PruneItemReport]
    """All that can be pruned, chosen or not, in the order of the context."""
    tokens_freed: int
    tokens_before: int | None = None
    tokens_after: int | None = None
    messages: list[JsonObject] | None = None
    """The context afterwards, in the agent's own shape."""
    in_memory_only: str | None = None
    """Why the session itself cannot be pruned; the messages show what could be sent."""
    path_after: str | None = None
    """Where the session goes on: a new file for agents whose files are never changed."""
    resume: str | None = None
    checkpoint_id: str | None = None


def report_unpruned(unpruned: Unpruned) -> PruneReport:
    return PruneReport(
        outcome="nothing",
        path=str(unpruned.loaded.path),
        reason=unpruned.reason,
        items=_items(unpruned.plan, unpruned.loaded.known_secrets),
        tokens_freed=0,
    )


def report_pruning(pruning: Pruning) -> PruneReport:
    change = pruning.change
    return PruneReport(
        outcome="planned",
        path=str(pruning.loaded.path),
        items=_items(pruning.plan, pruning.loaded.known_secrets),
        tokens_freed=pruning.plan.n_freed,
        tokens_before=pruning.n_tokens_before,
        tokens_after=pruning.n_tokens_after,
        messages=pruning.messages,
        in_memory_only=pruning.refusal,
        path_after=None if change is None else str(change.path_after),
    )


def report_pruned(pruning: Pruning, made: Made) -> PruneReport:
    return msgspec.structs.replace(
        report_pruning(pruning),
        outcome="pruned",
        checkpoint_id=made.checkpoint_id,
        resume=made.resume_command,
    )


def unpruned_text(unpruned: Unpruned) -> str:
    lines = [f"Nothing to do: {unpruned.reason}"]
    items = unpruned.plan.items
    if items:
        n_tokens = sum(item.n_freed for item in items)
        lines += [
            "",
            f"Could go if you ask for it ({n_tokens:,} tokens with --all, or single --item ID):",
            *_item_lines(items, unpruned.loaded.known_secrets),
        ]
    return "\n".join(lines)


def pruning_text(pruning: Pruning) -> str:
    before, after, change = pruning.n_tokens_before, pruning.n_tokens_after, pruning.change
    chosen = [item for item in pruning.plan.items if item.is_chosen]
    lines = [
        f"Current context: {before:,} tokens",
        f"Estimated after pruning: {after:,} tokens",
        f"Potential savings: {before - after:,} tokens",
        "",
        f"Replaced by a placeholder ({len(chosen):,}):",
        *_item_lines(chosen, pruning.loaded.known_secrets),
    ]
    if change is None:
        lines += ["", f"In memory only: {pruning.refusal}"]
    elif change.path_after != pruning.loaded.path:
        lines += [
            "",
            f"Goes on in a new session: {change.path_after.name} (this one stays as it is)",
        ]
    return "\n".join(lines)


def pruned_text(pruning: Pruning, made: Made) -> str:
    return "\n".join(
        (
            f"✓ Pruned {_outputs(len(pruning.plan.replacements))}",
            f"  {pruning.n_tokens_before:,} → {pruning.n_tokens_after:,} tokens",
            f"  Checkpoint {made.checkpoint_id} written before; `ullage undo` takes it back.",
            f"  Go on with: {made.resume_command}",
        )
    )


def _outputs(n_outputs: int) -> str:
    return "1 output" if n_outputs == 1 else f"{n_outputs:,} outputs"


def _items(plan: PrunePlan, known: tuple[str, ...]) -> list[PruneItemReport]:
    return [
        PruneItemReport(
            id=item.item_id,
            entry_id=item.replacement.entry_id,
            tool=item.tool,
            label=mask(item.label, known),
            reason=item.reason,
            tokens_freed=item.n_freed,
            chosen=item.is_chosen,
        )
        for item in plan.items
    ]


def _item_lines(items: Sequence[PruneItem], known: tuple[str, ...]) -> list[str]:
    """Write a line for each item, the largest of many; the JSON has them all."""
    largest = sorted(items, key=lambda item: item.n_freed, reverse=True)[:MAX_SHOWN_ITEMS]
    shown = [item for item in items if item in largest]
    lines = [
        f"{item.n_freed:>9,}  {item.reason:<16}{item.tool or 'image'}"
        f" {gist(mask(item.label, known), LABEL_CHARS)}  {_short_id(item)}"
        for item in shown
    ]
    if len(shown) < len(items):
        n_tokens = sum(item.n_freed for item in items if item not in largest)
        lines.append(f"{n_tokens:>9,}  {len(items) - len(shown):,} smaller ones (--json lists all)")
    return lines


def _short_id(item: PruneItem) -> str:
    """Give as much of an item's id as names it: `ullage prune --item` takes beginnings."""
    return item.item_id if len(item.item_id) <= SHORT_ID_CHARS else item.item_id[:SHORT_ID_CHARS]
