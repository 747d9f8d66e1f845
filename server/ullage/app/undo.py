"""Undo a compaction: the context is the one before it again, and nothing is deleted."""

from ullage.app.load import Loaded, Settings, load, read
from ullage.app.sessions import Session, open_session
from ullage.app.write import appended_by, new_entry_id, now_text, writable
from ullage.errors import Refused
from ullage.store.append import append_lines, session_lock, wait_until_quiet
from ullage.store.places import Places


def undo(session: Session, settings: Settings, places: Places) -> Loaded:
    """Take back the last compaction by an entry that goes on from before it.

    Raises:
        Refused: there is none, or the session went on after it.
        WriteNotSupported: this kind of session is not ours to write to.
        SessionLive: an agent or another Ullage is using the session.
        ChangedMeanwhile: the transcript changed while we looked.
        StorageError: the disk does not take it.
    """
    target = writable(session)
    context = read(session, places).context
    compaction = context.boundary
    if compaction is None:
        raise Refused(f"{session.path.name} has no compaction to undo")
    if context.leaf_id != compaction.entry_id:
        raise Refused(
            f"{session.path.name} went on after its last compaction, and undoing it would hide"
            " what followed: go back in the agent itself (pi: /tree)"
        )
    change = target.editor.undo_compaction(
        target.lines, context, compaction, entry_id=new_entry_id(), timestamp=now_text()
    )
    appended = appended_by(change)
    with session_lock(session.path, places):
        wait_until_quiet(session.path, target.lines.fingerprint)
        append_lines(session.path, target.lines.fingerprint, appended)
        return load(open_session(session.path), settings, places)
