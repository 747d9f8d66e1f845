"""What `ullage undo` answers: JSON for programs, text for people."""

from typing import Literal

import msgspec

from ullage.app.change.undo import Reversal, Undone, Withdrawal
from ullage.core.gauge.gauge import gauge_text


class UndoReport(msgspec.Struct, frozen=True, kw_only=True):
    """The answer of `ullage undo --json`."""

    outcome: Literal["planned", "undone"]
    path: str
    path_after: str
    """Where the session goes on; another file where ours goes or a new one is made."""
    tokens_before: int | None
    tokens_after: int | None
    messages_left_behind: int = 0
    """Messages since the change that are not in the session that goes on."""
    resume: str | None = None
    """The command that goes on with the session."""


def report_undo_plan(plan: Withdrawal | Reversal) -> UndoReport:
    if isinstance(plan, Withdrawal):
        return UndoReport(
            outcome="planned",
            path=str(plan.loaded.path),
            path_after=str(plan.old.path),
            tokens_before=plan.loaded.status.gauge.used_tokens,
            tokens_after=plan.old.status.gauge.used_tokens,
            messages_left_behind=plan.n_left_behind,
        )
    change = plan.change
    return UndoReport(
        outcome="planned",
        path=str(change.loaded.path),
        path_after=str(change.path_after),
        tokens_before=change.n_tokens_before,
        tokens_after=change.n_tokens_after,
        messages_left_behind=plan.n_left_behind,
    )


def report_undone(undone: Undone) -> UndoReport:
    return UndoReport(
        outcome="undone",
        path=str(undone.before.path),
        path_after=str(undone.after.path),
        tokens_before=undone.before.status.gauge.used_tokens,
        tokens_after=undone.after.status.gauge.used_tokens,
        resume=undone.resume_command,
    )


def undo_plan_text(report: UndoReport) -> str:
    lines = [
        f"Current context: {_tokens(report.tokens_before)}",
        f"After undo: {_tokens(report.tokens_after)}",
    ]
    if report.path_after != report.path:
        lines.append(f"The session goes on in {report.path_after}")
    if report.messages_left_behind:
        n_left = report.messages_left_behind
        what = "1 message that came" if n_left == 1 else f"{n_left:,} messages that came"
        lines.append(f"The {what} since will not be in it, and stays in {report.path}")
    return "\n".join(lines)


def undo_question(plan: Withdrawal | Reversal) -> str:
    """Ask whether to take a change back, with all that it leads to."""
    told = undo_plan_text(report_undo_plan(plan)).replace("\n", ". ")
    return f"Undo the last {_what(plan)}? {told}."


def undone_line(plan: Withdrawal | Reversal, undone: Undone) -> str:
    """Tell of an undo in one line."""
    before, after = undone.before.status.gauge, undone.after.status.gauge
    line = f"Undone: the {_what(plan)} · {gauge_text(before)} → {gauge_text(after)} of the window"
    return line if undone.log_name is None else f"{line}. {_stays(undone.log_name)}"


def _stays(log_name: str) -> str:
    return f"What was written to {log_name} stays there"


def _what(plan: Withdrawal | Reversal) -> str:
    return "change" if plan.receipt is None else plan.receipt.occasion.kind


def undone_text(undone: Undone) -> str:
    before, after = undone.before.status.gauge, undone.after.status.gauge
    return "\n".join(
        (
            f"✓ Undone: {gauge_text(before)} → {gauge_text(after)} of the window",
            f"  Session: {undone.after.session.header.session_id}",
            *(() if undone.log_name is None else (f"  {_stays(undone.log_name)}",)),
            f"  Go on with: {undone.resume_command}",
        )
    )


def _tokens(n_tokens: int | None) -> str:
    return "unknown" if n_tokens is None else f"{n_tokens:,} tokens"
