"""`context/compact`: the summary of a compaction that the runtime applies itself."""

from ullage.agent.protocol import Audit, Compact, Compacted
from ullage.agent.sessions import Sessions, call_of
from ullage.agent.wire import refused
from ullage.app.change.compact import Request
from ullage.app.runtime.compact import HeldCompaction, Wish, compact_held
from ullage.core.change.compaction import Unneeded
from ullage.core.gauge.loss import Loss


async def compact(sessions: Sessions, params: Compact) -> Compacted:
    call = call_of(params.messages, params.entry_ids, params.usage, params.compaction_count)
    wish = Wish(
        request=Request(
            layer=params.layer,
            focus=params.custom_instructions or None,
            trigger="manual" if params.reason == "manual" else "auto",
        ),
        first_kept=_first_kept(params),
        previous_summary=params.previous_summary or None,
        is_split_turn=params.is_split_turn,
    )
    async with sessions.use(params.session) as opened:
        if opened.attached.runtime.is_read_only:
            raise refused("read_only", "the session is read-only: only pruning in memory is done")
        done, opened.progress = await compact_held(opened.attached, opened.progress, call, wish)
    if isinstance(done, Unneeded):
        raise refused("nothing_to_compact", done.reason)
    return _compacted(done, params.entry_ids)


def _first_kept(params: Compact) -> int | None:
    entry_id, at = params.first_kept_entry_id, params.first_kept_index
    if entry_id is not None and at is None:
        ids = params.entry_ids or []
        if entry_id not in ids:
            raise refused("bad_messages", "firstKeptEntryId is none of entryIds")
        at = ids.index(entry_id)
    if at is not None and not 0 < at <= len(params.messages):
        raise refused("bad_messages", "firstKeptIndex must be from 1 to the number of messages")
    return at


def _compacted(done: HeldCompaction, entry_ids: list[str] | None) -> Compacted:
    is_kept = entry_ids is not None and done.first_kept < len(entry_ids)
    return Compacted(
        summary=done.summary,
        summary_message=done.message,
        first_kept_index=done.first_kept,
        standing_indexes=list(done.standing),
        first_kept_entry_id=entry_ids[done.first_kept] if entry_ids and is_kept else None,
        details=done.details,
        tokens_before=done.n_tokens_before,
        tokens_after=done.n_tokens_after,
        author=done.author,
        checkpoint_id=done.checkpoint_id,
        notes=list(done.notes),
        audit=_audit(done.loss),
    )


def _audit(loss: Loss) -> Audit:
    ratio = loss.compression_ratio
    return Audit(
        facts_found=loss.n_found,
        facts_kept=loss.n_kept,
        facts_inserted=loss.n_inserted,
        facts_lost=loss.n_lost,
        compression_ratio=None if ratio is None else round(ratio, 2),
    )
