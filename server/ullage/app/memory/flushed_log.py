"""The daily log that a compaction added to: an undo leaves it as it is, and says so."""

from datetime import datetime

from ullage.app.checkpoint.write import session_key
from ullage.app.memory.flush import log_name_of, workspace_of
from ullage.app.sessions.load import Loaded
from ullage.core.change.receipt import Receipt
from ullage.core.memory.flush import epoch_of
from ullage.core.memory.log_text import flush_marker
from ullage.errors import Refused, StorageError
from ullage.store.files.places import Places
from ullage.store.memory.daily_log import read_logs


def flushed_log_name(before: Loaded, receipt: Receipt | None, places: Places) -> str | None:
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
    marker = flush_marker(session_key(before.session), epoch_of(before.context))
    is_written = marker[: marker.rindex(" turn ")] in log
    return log_name_of(workspace, at, places) if is_written else None
