"""The small files of a session's state: as version 0.1.0 wrote them, or read as it did."""

from ullage.core.change.breaker import Breaker
from ullage.core.change.request_plan import MemoryPrune
from ullage.core.facts.pins import Pin
from ullage.core.memory.flush import Epoch
from ullage.store.files.places import Places
from ullage.store.state.auto_state import AUTO_FILE, AutoState, change_auto_state, read_auto_state
from ullage.store.state.flush_state import FLUSH_FILE, read_flush_state, record_flush
from ullage.store.state.pins import change_pins, pins_path, read_pins
from ullage.store.state.runtime_state import (
    RUNTIME_FILE,
    RuntimeState,
    read_runtime_state,
)

KEY = "claude-code:a"
AUTO = AutoState(
    is_on=True,
    breaker=Breaker(epoch=2, last_compaction_ms=7, strikes_ms=(5, 6), held_layer="summarize"),
)
AUTO_BYTES = (
    b'{"version":1,"is_on":true,"epoch":2,"last_prune_ms":null,"last_compaction_ms":7,'
    b'"strikes_ms":[5,6],"held_layer":"summarize","held_until_tokens":0,"is_warned":false,'
    b'"nudges":{"told_band":"normal","asked_layer":null,"asked_compactions":0,'
    b'"snoozed_band":null,"snoozed_compactions":0}}\n'
)
PINS = (Pin(text="Never push."), Pin(text="the plan", entry_id="e1", label="plan"))
PINS_BYTES = (
    b'{"version":1,"pins":[{"text":"Never push."},'
    b'{"text":"the plan","entry_id":"e1","label":"plan"}]}\n'
)
FLUSH_BYTES = (
    b'{"version":1,"memoryFlushCompactionCount":3,"memoryFlushTurnId":"t",'
    b'"lastCompactionAt":null,"writtenPoints":["one"]}\n'
)
RUNTIME = RuntimeState(
    n_compactions=1,
    summary_id="e1",
    replaced_id=None,
    n_tokens_after=900,
    is_restore_due=True,
    pruned=(
        MemoryPrune(
            entry_id="e3", what="output", call_id="c1", n_tokens=100, n_freed=90, is_unreported=True
        ),
    ),
    answer_id="e4",
)
RUNTIME_BYTES = (
    b'{"version":1,"n_compactions":1,"summary_id":"e1","replaced_id":null,"n_tokens_after":900,'
    b'"is_restore_due":true,"pruned":[{"entry_id":"e3","what":"output","call_id":"c1",'
    b'"n_tokens":100,"n_freed":90,"is_unseen":true}],"answer_id":"e4"}\n'
)


def test_the_state_of_automatic_runs(places: Places) -> None:
    change_auto_state(KEY, lambda _: AUTO, places)
    assert AUTO_FILE.path(KEY, places).read_bytes() == AUTO_BYTES
    assert read_auto_state(KEY, places) == AUTO


def test_pins(places: Places) -> None:
    path = pins_path(KEY, places)
    change_pins(path, lambda _: PINS, places)
    assert path.read_bytes() == PINS_BYTES
    assert read_pins(path).pins == PINS


def test_what_was_flushed(places: Places) -> None:
    epoch = Epoch(n_compactions=3, turn_id="t")
    record_flush(KEY, places, epoch=epoch, digests=("one",))
    assert FLUSH_FILE.path(KEY, places).read_bytes() == FLUSH_BYTES
    state = read_flush_state(KEY, places)
    assert (state.epoch, state.digests) == (epoch, ("one",))


def test_a_session_that_its_runtime_holds(places: Places) -> None:
    path = RUNTIME_FILE.path(KEY, places)
    path.parent.mkdir(parents=True)
    path.write_bytes(RUNTIME_BYTES)
    # What that version did not note is empty.
    assert read_runtime_state(KEY, places) == RUNTIME
