"""An agent gets its state back from the latest checkpoint that can be read."""

from itertools import islice

import msgspec
import pytest
from quality_sessions import sessions

from factories import assistant, context_of, user
from fixtures_session import coding_session
from store.changing import occasion
from ullage.app.resume import resume
from ullage.core.checkpoint_build import build
from ullage.core.config.settings import CheckpointSettings
from ullage.core.context import ContextItem
from ullage.core.receipt import Before, Receipt, ReceiptState
from ullage.store.checkpoints import checkpoint_folder, next_id, save
from ullage.store.places import Places
from ullage.store.receipts import add_receipt, mark
from ullage.store.tokenizer import count_tokens

OLD, NEW, NEWEST = "claude-code:old-1", "claude-code:new-2", "claude-code:newest-3"
SETTINGS = CheckpointSettings()


def write(key: str, places: Places, *items: ContextItem) -> str:
    folder = checkpoint_folder(key, places)
    checkpoint = build(
        context_of(items),
        checkpoint_id=next_id(folder),
        session_key=key,
        session_file="s.jsonl",
        created_at="2026-02-03T10:00:00Z",
        trigger="compaction",
        n_input_tokens=1,
        n_window_tokens=2,
        previous_checkpoint=None,
        channel="cli",
        agent_id="claude-code",
        is_split_turn=False,
    )
    save(checkpoint, folder, n_kept=5)
    return checkpoint.meta.checkpoint_id


def note_new_session(
    old_key: str, new_key: str, places: Places, state: ReceiptState = "done"
) -> None:
    """Leave the receipt of a session that Ullage made from another one."""
    receipt = Receipt(
        receipt_id="",
        state="planned",
        occasion=msgspec.structs.replace(occasion(), session_key=old_key),
        change="new session",
        path="/sessions/old.jsonl",
        before=Before(device=1, inode=2, size_bytes=3, mtime_ns=4, head_sha256="5"),
        appended_sha256="",
        originals=(),
        backup=None,
        new_path=f"/sessions/{new_key.partition(':')[2]}.jsonl",
        new_sha256=None,
    )
    added = add_receipt(receipt, places)
    mark(old_key, added.receipt_id, state, places)


def test_a_session_without_a_checkpoint_has_nothing_to_give(places: Places) -> None:
    assert resume(OLD, SETTINGS, places) is None


def test_the_latest_checkpoint_is_rendered(places: Places) -> None:
    write(OLD, places, user("Fix the lexer."), assistant("Fixed."))
    latest = write(OLD, places, user("Fix the parser."), assistant("Fixed."))
    found = resume(OLD, SETTINGS, places)
    assert found is not None
    assert "Working on: Fix the parser." in found.text
    assert (found.checkpoint_id, found.problem) == (latest, None)


def test_a_damaged_checkpoint_is_passed_over_and_named(places: Places) -> None:
    first = write(OLD, places, user("Fix the lexer."), assistant("Fixed."))
    latest = write(OLD, places, user("Fix the parser."), assistant("Fixed."))
    (checkpoint_folder(OLD, places) / f"{latest}.yaml").write_bytes(b"schema: [")
    found = resume(OLD, SETTINGS, places)
    assert found is not None
    assert found.checkpoint_id == first
    assert found.problem is not None
    assert latest in found.problem


def test_a_long_session_fills_600_to_800_real_tokens(places: Places) -> None:
    several = [item for planted in islice(sessions(), 4) for item in planted.items]
    write(OLD, places, *several)
    found = resume(OLD, SETTINGS, places)
    assert found is not None
    assert 600 <= count_tokens(found.text) <= 800


@pytest.mark.parametrize("max_chars", [0, 300, 1000, 10_000])
def test_the_agents_own_limit_is_kept(max_chars: int, places: Places) -> None:
    write(OLD, places, *coding_session())
    found = resume(OLD, SETTINGS, places, max_chars=max_chars)
    assert found is not None
    assert len(found.text) <= max_chars


def test_a_session_made_from_another_has_that_ones_checkpoint(places: Places) -> None:
    write(OLD, places, user("Fix the parser."), assistant("Fixed."))
    note_new_session(OLD, NEW, places)
    note_new_session(NEW, NEWEST, places)
    found = resume(NEWEST, SETTINGS, places)
    assert found is not None
    assert "Fix the parser." in found.text


def test_its_own_checkpoint_comes_first(places: Places) -> None:
    write(OLD, places, user("Fix the parser."), assistant("Fixed."))
    note_new_session(OLD, NEW, places)
    write(NEW, places, user("Now the printer."), assistant("Done."))
    found = resume(NEW, SETTINGS, places)
    assert found is not None
    assert "Now the printer." in found.text


def test_a_session_that_was_never_made_comes_from_none(places: Places) -> None:
    write(OLD, places, user("Fix the parser."), assistant("Fixed."))
    note_new_session(OLD, NEW, places, state="planned")
    assert resume(NEW, SETTINGS, places) is None


def test_sessions_that_come_from_each_other_end_somewhere(places: Places) -> None:
    note_new_session(OLD, NEW, places)
    note_new_session(NEW, OLD, places)
    assert resume(NEW, SETTINGS, places) is None
