"""Compact a session: plan it, show it, apply it, check it."""

import msgspec

from ullage.app.checkpoint import write_checkpoint
from ullage.app.load import Loaded, Settings, load
from ullage.app.sessions import open_session
from ullage.app.write import appended_by, new_entry_id, now_text, writable
from ullage.core.compaction import Selection, Unneeded, refuse_summary, select
from ullage.core.context import Context
from ullage.core.edit import CompactionEdit
from ullage.core.gauge import Gauge
from ullage.core.lines import AppendedLines
from ullage.core.message import JsonObject
from ullage.core.policy import Layer
from ullage.core.secrets import mask
from ullage.core.summary import summarize
from ullage.core.tokens import count_items
from ullage.errors import ChangedMeanwhile
from ullage.store.append import append_lines, session_lock, wait_until_quiet
from ullage.store.places import Places


class Request(msgspec.Struct, frozen=True, kw_only=True):
    layer: Layer = "summarize"
    focus: str | None = None


class Plan(msgspec.Struct, frozen=True, kw_only=True):
    """A compaction that is worked out to the last byte, and not made yet."""

    loaded: Loaded
    selection: Selection
    summary: str
    n_summary_tokens: int
    n_tokens_after: int
    appended: bytes
    """What goes to the end of the transcript."""
    context_after: Context
    """The context as the agent's own rule will build it from the longer transcript."""


class Compacted(msgspec.Struct, frozen=True, kw_only=True):
    plan: Plan
    gauge: Gauge
    """Measured from the transcript as it stands now."""
    checkpoint_id: str


def plan_compaction(loaded: Loaded, request: Request, settings: Settings) -> Plan | Unneeded:
    """Work out a compaction without writing anything.

    Raises:
        WriteNotSupported: this kind of session is not ours to write to.
    """
    target = writable(loaded.session)
    selection = select(
        loaded.context, loaded.status.gauge, request.layer, settings.policy, loaded.count
    )
    if isinstance(selection, Unneeded):
        return selection
    summary = mask(
        summarize(
            selection.replaced,
            focus=request.focus,
            budget_tokens=selection.summary_budget_tokens,
            count=loaded.count,
        ),
        loaded.known_secrets,
    )
    n_summary_tokens = loaded.count(summary)
    reason = refuse_summary(selection, n_summary_tokens, summary)
    if reason is not None:
        return Unneeded(reason=reason)
    entry_id, timestamp = new_entry_id(), now_text()

    def appended_with(n_after: int | None) -> bytes:
        edit = CompactionEdit(
            entry_id=entry_id,
            timestamp=timestamp,
            summary=summary,
            first_kept_id=selection.kept[0].entry_id,
            n_tokens_before=selection.n_tokens_before,
            n_tokens_after=n_after,
            details=_details(selection, request),
        )
        return appended_by(target.editor.compact(target.lines, loaded.context, edit))

    # What will be in the context is known only by the agent's rule; its size goes into the line.
    draft = _context_after(loaded, appended_with(None))
    n_after = selection.n_tokens_hidden + count_items(draft.items, loaded.count)
    loaded.count.save()
    appended = appended_with(n_after)
    return Plan(
        loaded=loaded,
        selection=selection,
        summary=summary,
        n_summary_tokens=n_summary_tokens,
        n_tokens_after=n_after,
        appended=appended,
        context_after=_context_after(loaded, appended),
    )


def compact(plan: Plan, settings: Settings, places: Places) -> Compacted:
    """Make a planned compaction: lock, compare, checkpoint, append, read back, compare.

    Raises:
        SessionLive: an agent or another Ullage is using the session.
        ChangedMeanwhile: the transcript is not what the plan was made from.
        StorageError: the disk or the state folder does not take it.
    """
    path = plan.loaded.path
    fingerprint = writable(plan.loaded.session).lines.fingerprint
    with session_lock(path, places):
        wait_until_quiet(path, fingerprint)
        written = write_checkpoint(plan.loaded, places, trigger="compaction")
        append_lines(path, fingerprint, plan.appended)
        loaded = load(open_session(path), settings, places, plan.loaded.count.count_text)
    if loaded.context.items != plan.context_after.items:
        raise ChangedMeanwhile(
            f"{path.name} was compacted, but its context is not the one that was previewed:"
            " look at it with `ullage context show`, or take it back with `ullage undo`"
        )
    return Compacted(
        plan=plan, gauge=loaded.status.gauge, checkpoint_id=written.checkpoint.meta.checkpoint_id
    )


def _details(selection: Selection, request: Request) -> JsonObject:
    """Note S0's fields of a CompactionEvent beside the summary."""
    details: JsonObject = {
        "by": "ullage",
        "version": 1,
        "trigger": "manual",
        "layer": selection.layer,
        "messagesCompacted": len(selection.replaced),
        "tokensBefore": selection.n_tokens_before,
        "boundaryMessageId": selection.replaced[-1].entry_id,
    }
    if request.focus:
        details["customInstruction"] = request.focus
    return details


def _context_after(loaded: Loaded, appended: bytes) -> Context:
    session = loaded.session
    lines = AppendedLines(session.lines, appended)
    return session.format.read_context(lines, session.header, loaded.reading.index).context
