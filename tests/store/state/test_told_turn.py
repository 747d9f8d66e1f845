"""A turn is told of once, whoever claims it."""

import msgspec
import pytest

from ullage.core.transcript.turn_end import TurnEnd
from ullage.errors import StorageError
from ullage.store.files.places import Places
from ullage.store.state.told_turn import TOLD_FILE, claim_turn

DONE = TurnEnd(entry_id="e1", asks=False)


def test_a_turn_is_claimed_once(places: Places) -> None:
    asks, later = TurnEnd(entry_id="e1", asks=True), TurnEnd(entry_id="e2", asks=False)
    claimed = [claim_turn("s1", turn, places) for turn in (DONE, DONE, asks, later, later)]
    assert claimed == [True, False, True, True, False]
    assert claim_turn("s2", later, places)


def test_a_damaged_note_is_moved_aside_and_one_of_a_newer_version_left_alone(
    places: Places,
) -> None:
    path = TOLD_FILE.path("s1", places)
    path.parent.mkdir(parents=True)
    path.write_bytes(b"{")
    assert [claim_turn("s1", DONE, places) for _ in range(2)] == [True, False]
    newer = msgspec.json.encode({"version": TOLD_FILE.version + 1})
    path.write_bytes(newer)
    with pytest.raises(StorageError, match="newer version"):
        claim_turn("s1", DONE, places)
    assert path.read_bytes() == newer
