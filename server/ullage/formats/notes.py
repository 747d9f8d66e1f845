"""What Ullage itself notes in an agent's files, in keys and records that the agent passes over."""

from ullage.core.change.edit import PruneEdit, count_pruned
from ullage.core.transcript.context import Context, PruneRecord
from ullage.core.transcript.entries import JsonObject
from ullage.errors import Refused
from ullage.formats.json_line import int_of, object_of, text_of

OWN_KEY = "ullage"
"""Where our details stand in a record of the agent's own kind."""
FROM_SESSION = "fromSession"
"""Names the session that a compacted or pruned one continues."""


def own_note(holder: JsonObject) -> JsonObject | None:
    """Give what we noted beside a record's own fields; None where the agent made it alone."""
    return object_of(holder, OWN_KEY)


def prune_figures(context: Context, edit: PruneEdit) -> JsonObject:
    return {
        "tokensBefore": edit.n_tokens_before,
        "tokensAfter": edit.n_tokens_after,
        "pruned": count_pruned(context.items, edit.replacements),
    }


def to_prune_record(figures: JsonObject, entry_id: str, at_ms: int | None) -> PruneRecord:
    return PruneRecord(
        entry_id=entry_id,
        at_ms=at_ms,
        n_tokens_before=int_of(figures, "tokensBefore"),
        n_tokens_after=int_of(figures, "tokensAfter"),
        n_pruned=int_of(figures, "pruned") or 0,
    )


def refuse_undo_of_first(note: JsonObject | None, command: str) -> None:
    """Refuse to undo a compaction that began its session; `command` continues the one before.

    Raises:
        Refused: with that command.
    """
    if note is not None:
        raise Refused(
            "this session begins with its compaction; the one from before it is whole:"
            f" go on there with `{command} {text_of(note, FROM_SESSION)}`"
        )
