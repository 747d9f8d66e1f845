"""What `ullage compact` answers: JSON for programs, text for people."""

from typing import Literal

import msgspec

from ullage.app.change.compact import Plan, Request, select_messages
from ullage.app.change.make import (
    ChangePlan,
    ChangeResult,
    new_file_lines,
    way_on_lines,
    written_before_line,
)
from ullage.app.change.prune import PruningPlan
from ullage.app.gauge.status_text import about
from ullage.app.memory import report as memory_report
from ullage.app.sessions.load import Loaded
from ullage.app.summary.write import WrittenSummary
from ullage.core.change.compaction import NoCompaction, Selection
from ullage.core.change.edit import Rewrite
from ullage.core.gauge.gauge import Layer, protected_tokens, tokens_text
from ullage.core.gauge.loss import left_out_text, loss_text
from ullage.core.text.prose import gist, plural
from ullage.core.transcript.entries import JsonObject

MAX_NAMES = 3
"""Points left out that an outcome names (chosen): it is one line of a notification."""
MAX_NAME_CHARS = 40


class SummaryReport(msgspec.Struct, frozen=True, kw_only=True):
    """Who wrote the summary, and what its audit did."""

    by: str
    """`extractive` (no model), `user`, or the model as `provider/name`."""
    tokens: int
    put_back: dict[str, int]
    """What its author had left out and was put in word for word, by its kind: pins, constraints,
    open items, decisions, identifiers, files."""
    left_out: int
    """What it lacks still."""
    invented: list[str]
    """Names and figures that stand nowhere in the session."""
    model_calls: int
    model_input_tokens: int
    model_output_tokens: int
    cost_usd: float | None
    """Null where no price is known, or no model was asked."""
    warnings: list[str]


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
    audit: SummaryReport | None = None
    messages: list[JsonObject] | None = None
    """The context afterwards, in the agent's own shape."""
    path_after: str | None = None
    """Where the session goes on: a new file for agents whose files are never changed."""
    resume: str | None = None
    """The command that goes on with the session; null where none does."""
    advice: str | None = None
    """What to do about a session that is compacted over and over."""
    checkpoint_id: str | None = None
    memory: memory_report.MemoryReport | None = None
    """What goes into the workspace's daily log before; null where that is not wanted."""


def unneeded_text(loaded: Loaded, unneeded: NoCompaction, layer: Layer) -> str:
    """Say why nothing is compacted, and which layer would."""
    reason = unneeded.reason
    full = select_messages(loaded, Request(layer="full"))
    if layer != "full" and isinstance(full, Selection):
        n_kept = protected_tokens("full", loaded.status.gauge.window.n_tokens, loaded.policy)
        reason += f"; `{loaded.session.command('compact --layer full')}` keeps {n_kept:,}"
    return about(loaded, f"Nothing to do: {reason}")


def report_unneeded(unneeded: NoCompaction) -> CompactReport:
    return CompactReport(outcome="nothing", reason=unneeded.reason)


def report_plan(plan: Plan) -> CompactReport:
    selection, change = plan.selection, plan.change
    return CompactReport(
        outcome="planned",
        path=str(change.loaded.path),
        layer=selection.layer,
        tokens_before=change.n_tokens_before,
        tokens_after=change.n_tokens_after,
        summary_tokens=plan.summary.n_tokens,
        messages_compacted=len(selection.replaced),
        messages_kept=len(selection.kept),
        first_kept_entry_id=selection.kept[0].entry_id,
        summary=plan.summary.text,
        audit=_report_summary(plan.summary),
        messages=change.loaded.session.agent.messages(change.context_after),
        path_after=str(change.path_after),
        advice=plan.advice,
        memory=None if plan.flush is None else memory_report.report_flush(plan.flush),
    )


def report_done(plan: Plan, made: ChangeResult) -> CompactReport:
    flush, flushed = plan.flush, made.flushed
    return msgspec.structs.replace(
        report_plan(plan),
        outcome="compacted",
        checkpoint_id=made.checkpoint_id,
        resume=made.resume_command,
        memory=None
        if flush is None or flushed is None
        else memory_report.report_flushed(flush, flushed),
    )


def preview_text(plan: Plan) -> str:
    """Show what goes, what stays and the summary itself."""
    before, after = plan.change.n_tokens_before, plan.change.n_tokens_after
    return "\n".join(
        (
            f"Current context: {before:,} tokens",
            f"Estimated after compaction: {after:,} tokens",
            f"Potential savings: {before - after:,} tokens",
            "",
            *plan_lines(plan),
            "",
            "Summary:",
            "",
            plan.summary.text,
            *(("", "Memory:", "", plan.flush.text) if plan.flush and plan.flush.text else ()),
        )
    )


def plan_lines(plan: Plan) -> tuple[str, ...]:
    """Tell what goes and what stays, who wrote the summary, and what to know before."""
    selection = plan.selection
    return (
        f"Replaced: {plural(len(selection.replaced), 'message')},"
        f" {selection.cut.n_tokens_replaced:,} tokens, by a summary of"
        f" {plan.summary.n_tokens:,}",
        f"Kept: the last {plural(len(selection.kept), 'message')},"
        f" {selection.cut.n_tokens_kept:,} tokens",
        *_audit_lines(plan.summary),
        *([f"Note: {plan.advice}"] if plan.advice else []),
        *_unread_lines(plan),
        *new_file_lines(plan.change),
        *_truncation_lines(plan.change),
        *memory_report.flush_lines(plan.flush),
        *_too_large_lines(plan),
    )


def done_text(plan: Plan, made: ChangeResult) -> str:
    head, gain = compacted_lines(plan)
    return "\n".join(
        (
            about(plan.loaded, head),
            gain,
            written_before_line(made),
            *way_on_lines(made.resume_command),
            *_memory_lines(plan, made),
            *_too_large_lines(plan),
        )
    )


def compacted_lines(plan: Plan) -> tuple[str, str]:
    """Tell in short what a compaction did."""
    return (
        f"✓ Compacted {plural(len(plan.selection.replaced), 'message')}",
        f"  {gain_text(plan)}",
    )


def gain_text(plan: Plan | PruningPlan) -> str:
    return f"{plan.n_tokens_before:,} → {plan.n_tokens_after:,} tokens"


def made_text(plan: Plan, made: ChangeResult) -> str:
    """Tell in one line what a compaction did: to the context, to memory, and what it left out."""
    n_before, n_kept = len(plan.loaded.context.items), len(made.context.items)
    return " · ".join(
        (
            "Context compacted into a new session" if made.is_elsewhere else "Context compacted",
            f"{tokens_text(plan.n_tokens_before, plan.n_tokens_after)} tokens",
            f"{n_before:,} → {plural(n_kept, 'message')}",
            *made_notes(plan, made),
        )
    )


def made_notes(plan: Plan, made: ChangeResult) -> tuple[str, ...]:
    """Tell why no model wrote the summary, which log of memory was written, what was left out."""
    notes = list(plan.summary.warnings)
    if plan.flush is not None and made.flushed is not None and made.flushed.log_path is not None:
        notes.append(f"{memory_report.lines_text(made.flushed)} of memory in {plan.flush.log_name}")
    if plan.summary.loss.n_left_out:
        notes.append(_left_out(plan.summary))
    return tuple(notes)


def _left_out(summary: WrittenSummary) -> str:
    """Name the first of what the summary lacks still; where nothing has a name, count it."""
    n_lost, text = summary.loss.n_left_out, summary.text.lower()
    lost = [fact for fact in summary.audit.missing if fact.needle.lower() not in text]
    names = [gist(fact.needle, MAX_NAME_CHARS) for fact in lost[: min(n_lost, MAX_NAMES)]]
    n_others = n_lost - len(names)
    others = f" and {n_others:,} more" if n_others else ""
    return (
        f"not in the summary: {', '.join(names)}{others}" if names else left_out_text(summary.loss)
    )


def _memory_lines(plan: Plan, made: ChangeResult) -> list[str]:
    if plan.flush is None or made.flushed is None or made.flushed.log_path is None:
        return []
    return [f"  Memory: {memory_report.lines_text(made.flushed)} in {plan.flush.log_name}"]


def _too_large_lines(plan: Plan) -> list[str]:
    n_window = plan.loaded.status.gauge.window.n_tokens
    if plan.n_tokens_after <= n_window - plan.loaded.policy.reserve_tokens:
        return []
    rescue = plan.loaded.session.command("prune --rescue")
    return [f"  The last messages alone fill the window: `{rescue}` makes room."]


def _audit_lines(summary: WrittenSummary) -> list[str]:
    invented = summary.audit.invented
    lines = [f"Summary by: {author_text(summary)}", f"Audit: {loss_text(summary.loss)}"]
    if invented:
        lines.append(f"Not in the session: {', '.join(invented[:5])}")
    return lines + [f"Note: {warning}" for warning in summary.warnings]


def _truncation_lines(change: ChangePlan) -> list[str]:
    if not isinstance(change.file_change, Rewrite):
        return []
    n_lines = sum(not line.new for line in change.file_change.changes)
    backup = f"{change.loaded.path.name}.bak"
    return [f"Taken out of the file: {plural(n_lines, 'line')}; it stays as it was as {backup}"]


def _unread_lines(plan: Plan) -> list[str]:
    n_unread = len(plan.loaded.context.problems)
    if not n_unread:
        return []
    what = (
        "1 line cannot be read and is"
        if n_unread == 1
        else f"{n_unread} lines cannot be read and are"
    )
    doctor = plan.loaded.session.command("doctor")
    return [f"Note: {what} not in the summary: `{doctor}` shows more"]


def author_text(summary: WrittenSummary) -> str:
    """Say who wrote a summary, and what a model was sent for it."""
    if summary.model is None:
        return {"extractive": "extraction, no model", "user": "you"}[summary.author]
    return f"{summary.author} ({memory_report.spending_text(summary.model.spent)})"


def _report_summary(summary: WrittenSummary) -> SummaryReport:
    spent = None if summary.model is None else summary.model.spent
    return SummaryReport(
        by=summary.author,
        tokens=summary.n_tokens,
        put_back=summary.loss.put_back,
        left_out=summary.loss.n_left_out,
        invented=list(summary.audit.invented),
        model_calls=0 if spent is None else spent.n_calls,
        model_input_tokens=0 if spent is None else spent.n_input_tokens,
        model_output_tokens=0 if spent is None else spent.n_output_tokens,
        cost_usd=None if spent is None else spent.cost_usd,
        warnings=list(summary.warnings),
    )
