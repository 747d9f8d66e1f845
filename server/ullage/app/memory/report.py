"""What a flush of memory answers: JSON for programs, text for people."""

from datetime import datetime
from typing import Literal

import msgspec

from ullage.app.memory.flush import FlushPlan, FlushResult, log_name_of, workspace_of
from ullage.app.sessions.load import Loaded
from ullage.core.change.receipt import Receipt
from ullage.core.memory.flush import read_epoch
from ullage.core.memory.log_text import write_flush_marker
from ullage.core.text.prose import plural
from ullage.errors import Refused, StorageError
from ullage.store.files.places import Places
from ullage.store.memory.daily_log import read_logs
from ullage.summary.request import TokenSpending


class MemoryReport(msgspec.Struct, frozen=True, kw_only=True):
    """The answer of `ullage memory flush --json`; also a part of the one of `ullage compact`."""

    outcome: Literal["planned", "written", "nothing"]
    path: str | None
    """The daily log; null where nothing goes into it."""
    lines: int
    """Points that go into it."""
    text: str
    """As it stands there."""
    by: str
    """`extractive` (no model), or the model as `provider/name`."""
    model_calls: int
    model_input_tokens: int
    model_output_tokens: int
    cost_usd: float | None
    """Null where no price is known, or no model was asked."""
    warnings: list[str]


def report_flush(plan: FlushPlan) -> MemoryReport:
    spent = plan.spent
    return MemoryReport(
        outcome="planned" if plan.text else "nothing",
        path=str(plan.log_path) if plan.text else None,
        lines=plan.n_lines,
        text=plan.text,
        by=plan.author,
        model_calls=0 if spent is None else spent.n_calls,
        model_input_tokens=0 if spent is None else spent.n_input_tokens,
        model_output_tokens=0 if spent is None else spent.n_output_tokens,
        cost_usd=None if spent is None else spent.cost_usd,
        warnings=list(plan.notes),
    )


def report_flushed(plan: FlushPlan, done: FlushResult) -> MemoryReport:
    is_written = done.log_path is not None
    return msgspec.structs.replace(
        report_flush(plan),
        outcome="written" if is_written else "nothing",
        path=str(done.log_path) if is_written else None,
        lines=done.n_lines,
        text=done.text,
        warnings=list(done.notes),
    )


def flush_text(plan: FlushPlan) -> str:
    """Show what is written, and where to."""
    return "\n".join((*flush_lines(plan), "", plan.text.rstrip("\n")))


def flush_lines(plan: FlushPlan | None) -> list[str]:
    """Give a preview's lines about a flush; none where nothing is written or wrong."""
    if plan is None:
        return []
    lines = [f"Note: {note}" for note in plan.notes]
    if plan.text:
        lines.insert(0, f"Memory: {lines_text(plan)} to {plan.log_name} (by {_author(plan)})")
    return lines


def flush_gist(plan: FlushPlan | None) -> str | None:
    if plan is None or not plan.text:
        return None
    return f"appends {lines_text(plan)} to {plan.log_name}"


def flush_listing(plan: FlushPlan | None) -> list[str]:
    """Give the lines of a proposal that list what is appended to the log when it is applied."""
    if plan is None:
        return []
    lines = [f"Note: {note}" for note in plan.notes]
    if plan.text:
        points = [line for line in plan.text.split("\n") if line.startswith("- ")]
        lines += [f"To apply this also appends {lines_text(plan)} to `{plan.log_name}`:", ""]
        lines += points
    return lines


def flush_sentence(log_name: str | None) -> str:
    """Tell, before a compaction, of the daily log that is added to; None where none is."""
    return "" if log_name is None else f" Before that, what is worth keeping goes to {log_name}."


def done_text(plan: FlushPlan, done: FlushResult) -> str:
    if done.log_path is None:
        return "Nothing to do: it was written down already"
    return f"✓ Wrote {lines_text(done)} to {plan.log_name}"


def lines_text(flush: FlushPlan | FlushResult) -> str:
    return plural(flush.n_lines, "line")


def _author(plan: FlushPlan) -> str:
    if plan.spent is None:
        return "extraction, no model"
    return f"{plan.author}: {spending_text(plan.spent)}"


def spending_text(spent: TokenSpending) -> str:
    cost = "" if spent.cost_usd is None else f", ${spent.cost_usd:.4f}"
    return (
        f"{plural(spent.n_calls, 'call')}, {spent.n_input_tokens:,} tokens in,"
        f" {spent.n_output_tokens:,} out{cost}"
    )


def find_flushed_log(before: Loaded, receipt: Receipt | None, places: Places) -> str | None:
    """Name the log that holds what a compaction wrote down; None where it wrote nothing.

    `before` is the session as it is without the compaction.
    """
    if receipt is None or receipt.occasion.kind != "compaction":
        return None
    at = datetime.fromisoformat(receipt.occasion.at).astimezone()
    workspace = workspace_of(before, places)
    try:
        log, _ = read_logs(workspace, f"{at:%Y-%m-%d}")
    except (Refused, StorageError):
        return None
    # The user may have said more since: it is the turn of the flush that differs then.
    marker = write_flush_marker(before.session.state_key, read_epoch(before.context))
    is_written = marker[: marker.rindex(" turn ")] in log
    return log_name_of(workspace, at, places) if is_written else None
