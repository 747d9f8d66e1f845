"""What `ullage compact` answers: JSON for programs, text for people."""

from typing import Literal

import msgspec

from ullage.app.compact import Compacted, Plan
from ullage.core.compaction import Unneeded
from ullage.core.message import JsonObject
from ullage.core.policy import Layer


class CompactReport(msgspec.Struct, frozen=True, kw_only=True):
    """The answer of `ullage compact --json`."""

    outcome: Literal["planned", "compacted", "nothing"]
    reason: str | None = None
    """Why there is nothing to do."""
    path: str | None = None
    layer: Layer | None = None
    tokens_before: int | None = None
    tokens_after: int | None = None
    summary_tokens: int | None = None
    messages_compacted: int | None = None
    messages_kept: int | None = None
    first_kept_entry_id: str | None = None
    summary: str | None = None
    messages: list[JsonObject] | None = None
    """The context afterwards, in the agent's own shape."""
    checkpoint_id: str | None = None


def report_unneeded(unneeded: Unneeded) -> CompactReport:
    return CompactReport(outcome="nothing", reason=unneeded.reason)


def report_plan(plan: Plan) -> CompactReport:
    selection = plan.selection
    return CompactReport(
        outcome="planned",
        path=str(plan.loaded.path),
        layer=selection.layer,
        tokens_before=selection.n_tokens_before,
        tokens_after=plan.n_tokens_after,
        summary_tokens=plan.n_summary_tokens,
        messages_compacted=len(selection.replaced),
        messages_kept=len(selection.kept),
        first_kept_entry_id=selection.kept[0].entry_id,
        summary=plan.summary,
        messages=plan.loaded.session.format.messages(plan.context_after),
    )


def report_done(done: Compacted) -> CompactReport:
    return msgspec.structs.replace(
        report_plan(done.plan), outcome="compacted", checkpoint_id=done.checkpoint_id
    )


def preview_text(plan: Plan) -> str:
    """Show what goes, what stays and the summary itself."""
    selection = plan.selection
    before, after = selection.n_tokens_before, plan.n_tokens_after
    return "\n".join(
        (
            f"Current context: {before:,} tokens",
            f"Estimated after compaction: {after:,} tokens",
            f"Potential savings: {before - after:,} tokens",
            "",
            f"Replaced: {len(selection.replaced):,} messages,"
            f" {selection.cut.n_tokens_replaced:,} tokens, by a summary of"
            f" {plan.n_summary_tokens:,}",
            f"Kept as they are: the last {len(selection.kept):,} messages,"
            f" {selection.cut.n_tokens_kept:,} tokens",
            "",
            "Summary:",
            "",
            plan.summary,
        )
    )


def done_text(done: Compacted) -> str:
    selection = done.plan.selection
    return "\n".join(
        (
            f"✓ Compacted {len(selection.replaced):,} messages",
            f"  {selection.n_tokens_before:,} → {done.plan.n_tokens_after:,} tokens",
            f"  Checkpoint {done.checkpoint_id} written before; `ullage undo` takes it back.",
            f"  Go on with: pi --session {done.plan.loaded.path}",
        )
    )
