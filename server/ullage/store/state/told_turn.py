"""The last turn of a session that its user was told of, by whichever editor: one small file."""

import msgspec

from ullage.core.transcript.turn_end import TurnEnd
from ullage.store.files.places import Places
from ullage.store.files.quick_lock import quick_lock
from ullage.store.files.state_file import SessionFile, replace_state


class ToldTurn(msgspec.Struct, frozen=True, kw_only=True):
    """The content of `told_turn.json`."""

    version: int = 1
    entry_id: str
    asks: bool


TOLD_FILE = SessionFile("told_turn.json", ToldTurn)


def claim_turn(session_key: str, ended: TurnEnd, places: Places) -> bool:
    """Claim to tell of a turn that ended; False where that was told of already.

    Raises:
        StateBusy: another Ullage is writing for longer than we wait.
        StateUnwritable: the state folder does not take it.
        StorageError: a newer version wrote the file.
    """
    path = TOLD_FILE.path(session_key, places)
    told = ToldTurn(entry_id=ended.entry_id, asks=ended.asks)
    with quick_lock(path.with_suffix(".lock")):
        before = TOLD_FILE.read(session_key, places)
        if before.content == told:
            return False
        replace_state(path, before, told)
    return True
