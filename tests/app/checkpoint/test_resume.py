"""An agent gets its state back from the latest checkpoint that can be read."""

from itertools import islice

import pytest
from quality_sessions import sessions

from factories import assistant, context_of, meta, user
from fixtures_session import coding_session
from ullage.app.checkpoint.resume import resume
from ullage.core.checkpoint.build import build
from ullage.core.config.settings import CheckpointSettings
from ullage.core.transcript.context import ContextItem
from ullage.store.checkpoint.files import next_id, save
from ullage.store.files.places import Places, session_folder
from ullage.store.gauge.tokenizer import count_tokens

KEY = "claude-code:one-1"
SETTINGS = CheckpointSettings()


def write(key: str, places: Places, *items: ContextItem) -> str:
    folder = session_folder("checkpoints", key, places)
    checkpoint = build(
        context_of(items),
        meta(next_id(folder), session_key=key),
    )
    save(checkpoint, folder, n_kept=5)
    return checkpoint.meta.checkpoint_id


def test_a_session_without_a_checkpoint_has_nothing_to_give(places: Places) -> None:
    assert resume(KEY, SETTINGS, places) is None


def test_the_latest_checkpoint_is_rendered(places: Places) -> None:
    write(KEY, places, user("Fix the lexer."), assistant("Fixed."))
    latest = write(KEY, places, user("Fix the parser."), assistant("Fixed."))
    found = resume(KEY, SETTINGS, places)
    assert found is not None
    assert "Working on: Fix the parser." in found.text
    assert (found.checkpoint_id, found.problem) == (latest, None)


def test_a_damaged_checkpoint_is_passed_over_and_named(places: Places) -> None:
    first = write(KEY, places, user("Fix the lexer."), assistant("Fixed."))
    latest = write(KEY, places, user("Fix the parser."), assistant("Fixed."))
    (session_folder("checkpoints", KEY, places) / f"{latest}.yaml").write_bytes(b"schema: [")
    found = resume(KEY, SETTINGS, places)
    assert found is not None
    assert found.checkpoint_id == first
    assert found.problem is not None
    assert latest in found.problem


def test_a_long_session_fills_600_to_800_real_tokens(places: Places) -> None:
    several = [item for planted in islice(sessions(), 4) for item in planted.items]
    write(KEY, places, *several)
    found = resume(KEY, SETTINGS, places)
    assert found is not None
    assert 600 <= count_tokens(found.text) <= 800


@pytest.mark.parametrize("max_chars", [0, 300, 1000, 10_000])
def test_the_agents_own_limit_is_kept(max_chars: int, places: Places) -> None:
    write(KEY, places, *coding_session())
    found = resume(KEY, SETTINGS, places, max_chars=max_chars)
    assert found is not None
    assert len(found.text) <= max_chars
