"""What `ullage checkpoint` answers: JSON for programs, text for people."""

from collections.abc import Sequence
from itertools import groupby
from textwrap import wrap
from typing import Literal

import msgspec

from ullage.app.change.make import ChangeResult, new_file_lines, way_on_lines
from ullage.app.change.restore import Begun, NewPlan, RestorePlan
from ullage.app.checkpoint.find import Difference, Listing, SavedCheckpoint
from ullage.app.checkpoint.write import WrittenCheckpoint
from ullage.app.gauge.status_text import about, local_time, name_text
from ullage.app.sessions.load import Loaded
from ullage.core.checkpoint.checkpoint import Checkpoint
from ullage.core.checkpoint.diff import Change
from ullage.core.checkpoint.fields import LABELS
from ullage.core.text.prose import gist
from ullage.formats.json_line import iso_ms


class WriteReport(msgspec.Struct, frozen=True, kw_only=True):
    """The answer of `ullage checkpoint write --json`."""

    checkpoint_id: str
    path: str
    is_new: bool
    """False where the latest checkpoint says the same; then it is that one."""
    trigger: str
    created_at: str
    problem: str | None
    """Which newer files cannot be read."""


class CheckpointRow(msgspec.Struct, frozen=True, kw_only=True):
    """One checkpoint in the answer of `ullage checkpoint list --json`."""

    checkpoint_id: str
    created_at: str
    trigger: str
    input_tokens: int
    context_window: int
    utilization: float
    compaction_count: int
    status: str
    topic: str
    previous_checkpoint: str | None
    path: str


class ListReport(msgspec.Struct, frozen=True, kw_only=True):
    """The answer of `ullage checkpoint list --json`."""

    session_key: str
    folder: str
    checkpoints: list[CheckpointRow]
    """Newest first."""
    problems: list[str]
    """Of files that cannot be read."""


class ShowReport(msgspec.Struct, frozen=True, kw_only=True):
    """The answer of `ullage checkpoint show --json`."""

    path: str
    checkpoint: Checkpoint
    problem: str | None
    """Which newer files cannot be read."""


class DiffReport(msgspec.Struct, frozen=True, kw_only=True):
    """The answer of `ullage checkpoint diff --json`."""

    old: str
    new: str
    changes: list[Change]
    problem: str | None
    """Which newer files cannot be read."""


class RestoreReport(msgspec.Struct, frozen=True, kw_only=True):
    """The answer of `ullage checkpoint restore --json`."""

    outcome: Literal["planned", "restored", "text"]
    checkpoint_id: str
    text: str
    """What the agent is given."""
    problem: str | None
    """Which newer files cannot be read."""
    path: str | None = None
    """The transcript that the checkpoint is of."""
    path_after: str | None = None
    """Where the session goes on; null where the text was only printed."""
    tokens_before: int | None = None
    tokens_after: int | None = None
    resume: str | None = None
    """The command that goes on with the session; null where none does."""


def report_written(written: WrittenCheckpoint) -> WriteReport:
    meta = written.checkpoint.meta
    return WriteReport(
        checkpoint_id=meta.checkpoint_id,
        path=str(written.path),
        is_new=written.is_new,
        trigger=meta.trigger,
        created_at=meta.created_at,
        problem=written.problem,
    )


def written_text(written: WrittenCheckpoint, loaded: Loaded) -> str:
    checkpoint_id = written.checkpoint.meta.checkpoint_id
    head = f"✓ Checkpoint {checkpoint_id}" if written.is_new else f"Unchanged since {checkpoint_id}"
    return f"{about(loaded, head)}\n  {written.path}"


def report_listing(listing: Listing) -> ListReport:
    return ListReport(
        session_key=listing.session_key,
        folder=str(listing.folder),
        checkpoints=[_row(saved) for saved in listing.saved],
        problems=list(listing.problems),
    )


def listing_text(report: ListReport, n_columns: int) -> str:
    """Write one line a checkpoint; the topic takes what is left of it."""
    lines: list[str] = []
    if report.checkpoints:
        lines.append(f"{'Id':<8}{'Written':<13}{'Trigger':<12}{'Tokens':>9}  {'Used':>4}  Topic")
    for row in report.checkpoints:
        written = local_time(iso_ms(row.created_at))
        head = (
            f"{row.checkpoint_id:<8}{written:<13}{row.trigger:<12}{row.input_tokens:>9,}"
            f"  {row.utilization:>4.0%}  "
        )
        lines.append((head + gist(row.topic, max(10, n_columns - len(head)))).rstrip())
    if not lines:
        lines.append("No checkpoints of this session yet: `ullage checkpoint write` makes one.")
    return "\n".join(lines + [f"Warning: {problem}" for problem in report.problems])


def report_found(saved: SavedCheckpoint) -> ShowReport:
    return ShowReport(path=str(saved.path), checkpoint=saved.checkpoint, problem=saved.problem)


def report_difference(difference: Difference) -> DiffReport:
    return DiffReport(
        old=difference.old.checkpoint_id,
        new=difference.new.checkpoint_id,
        changes=list(difference.changes),
        problem=difference.new.problem,
    )


def difference_lines(difference: Difference, n_columns: int) -> list[tuple[str, str]]:
    """Write a difference as lines, each with its mark: `+`, `-`, or nothing."""
    old, new = difference.old.checkpoint.meta, difference.new.checkpoint.meta
    lines = [("", f"{_when(old.checkpoint_id, old.created_at)} → "
                  f"{_when(new.checkpoint_id, new.created_at)}")]  # fmt: skip
    if not difference.changes:
        return [*lines, ("", "Nothing differs but ids and times.")]
    for field, changes in groupby(difference.changes, lambda change: change.field):
        lines += _field_lines(LABELS[field], list(changes), n_columns)
    return lines


def report_text(saved: SavedCheckpoint, text: str) -> RestoreReport:
    return RestoreReport(
        outcome="text",
        checkpoint_id=saved.checkpoint_id,
        text=text,
        problem=saved.problem,
        path=saved.checkpoint.meta.session_file,
    )


def report_restore_plan(plan: RestorePlan, problem: str | None) -> RestoreReport:
    change = plan.change
    is_begun = isinstance(change, NewPlan)
    return RestoreReport(
        outcome="planned",
        checkpoint_id=plan.checkpoint.meta.checkpoint_id,
        text=plan.text,
        problem=problem,
        path=str(plan.loaded.path),
        path_after=str(plan.path_after),
        tokens_before=0 if is_begun else change.n_tokens_before,
        tokens_after=plan.n_text_tokens if is_begun else change.n_tokens_after,
    )


def report_restored(
    plan: RestorePlan, restored: Begun | ChangeResult, problem: str | None
) -> RestoreReport:
    return msgspec.structs.replace(
        report_restore_plan(plan, problem), outcome="restored", resume=restored.resume_command
    )


def restore_plan_text(plan: RestorePlan) -> str:
    """Show where the text goes, what that costs, and the text itself."""
    meta = plan.checkpoint.meta
    lines = [f"Checkpoint {meta.checkpoint_id}, {local_time(iso_ms(meta.created_at))}"]
    if isinstance(plan.change, NewPlan):
        lines.append(f"Begins a new session of {plan.n_text_tokens:,} tokens: {plan.path_after}")
    else:
        before, after = plan.change.n_tokens_before, plan.change.n_tokens_after
        lines.append(f"Goes to the end of the session: {before:,} → {after:,} tokens")
        lines += new_file_lines(plan.change)
    return "\n".join((*lines, "", "What the agent is told:", "", plan.text))


def restore_question(plan: RestorePlan) -> str:
    checkpoint_id = plan.checkpoint.meta.checkpoint_id
    return f"Restore checkpoint {checkpoint_id} of {name_text(plan.loaded)}?"


def restored_text(plan: RestorePlan, restored: Begun | ChangeResult) -> str:
    checkpoint_id = plan.checkpoint.meta.checkpoint_id
    if isinstance(plan.change, NewPlan):
        what, more = "into a new session", str(plan.path_after)
    else:
        what, more = "", f"`{plan.loaded.session.command('undo')}` takes it back."
    head = about(plan.loaded, f"✓ Restored {checkpoint_id} {what}".rstrip())
    return "\n".join((head, f"  {more}", *way_on_lines(restored.resume_command)))


def _row(saved: SavedCheckpoint) -> CheckpointRow:
    meta, work = saved.checkpoint.meta, saved.checkpoint.working
    return CheckpointRow(
        checkpoint_id=meta.checkpoint_id,
        created_at=meta.created_at,
        trigger=meta.trigger,
        input_tokens=meta.token_usage.input_tokens,
        context_window=meta.token_usage.context_window,
        utilization=meta.token_usage.utilization,
        compaction_count=meta.compaction_count,
        status=work.status,
        topic=work.topic,
        previous_checkpoint=meta.previous_checkpoint,
        path=str(saved.path),
    )


def _when(checkpoint_id: str, created_at: str) -> str:
    return f"{checkpoint_id} ({local_time(iso_ms(created_at))})"


def _field_lines(name: str, changes: Sequence[Change], n_columns: int) -> list[tuple[str, str]]:
    """Write what changed in a field: on one line where it is short, else old above new."""
    first = changes[0]
    one_line = f"{name}: {first.old or 'none'} → {first.new or 'none'}"
    is_short = len(one_line) <= n_columns and "\n" not in one_line
    if len(changes) == 1 and first.kind == "changed" and is_short:
        return [("", one_line)]
    lines = [("", f"{name}:")]
    for change in changes:
        lines += _marked("-", change.old, n_columns) + _marked("+", change.new, n_columns)
    return lines


def _marked(mark: str, text: str | None, n_columns: int) -> list[tuple[str, str]]:
    if not text:
        return []
    flat = " ".join(text.split())
    pieces = wrap(flat, n_columns - 4, break_on_hyphens=False) or [""]
    head, *rest = pieces
    return [(mark, f"  {mark} {head}"), *((mark, f"    {piece}") for piece in rest)]
