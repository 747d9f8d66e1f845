"""A secret that was typed, read or run stays in the transcript: canaries over what we write."""

from pathlib import Path

import pytest

from pi_files import PiFile
from planning import SMALL, compacted
from ullage.app.checkpoint.write import write_checkpoint
from ullage.app.sessions.follow import read_session
from ullage.app.sessions.load import load
from ullage.app.sessions.open import open_session
from ullage.core.config.settings import CheckpointSettings
from ullage.store.files.demo import make_idle
from ullage.store.files.places import Places

TYPED = "sk-ant-api03-CANARYtyped0123456789abcdefghij"
ANSWERED = "ghp_CANARYanswered0123456789abcdefghijklm"
PRINTED = "AKIACANARYPRINTED123"
KNOWN = "canary-of-the-environment"


@pytest.fixture
def session(tmp_path: Path) -> Path:
    pi = PiFile()
    for number in range(30):
        pi.user(f"Never deploy with {TYPED} again, rule {number}. Keep {KNOWN} out of it.")
        pi.assistant(f"We decided to use {ANSWERED} because of {number}.", usage=9000 + number)
        pi.result("c1", f"export AWS_KEY={PRINTED}\nError: {KNOWN} refused at step {number}")
    pi.user("And now the last question about the deployment, please?")
    pi.assistant("The answer is that it works.", usage=9900)
    path = tmp_path / "session.jsonl"
    path.write_bytes(pi.data)
    make_idle(path)
    return path


NAMED = "tr0ub4dor+7x"


def test_what_was_called_a_secret_once_is_masked_in_all_that_follows(
    tmp_path: Path, places: Places
) -> None:
    pi = PiFile()
    pi.user("Set up the database, please.")
    pi.result("c1", f'{{"user": "app", "password": "{NAMED}"}}')
    before = len(pi.data)
    pi.user(f"Never deploy with {NAMED} again.")
    pi.assistant(f"We decided to drop {NAMED} because it leaked.", usage=9000)
    path = tmp_path / "session.jsonl"
    path.write_bytes(pi.data)
    written = write_checkpoint(
        load(open_session(path), SMALL, places), CheckpointSettings(), places, trigger="manual"
    )
    assert "[REDACTED:known:" in written.path.read_text("utf-8")
    assert NAMED not in written.path.read_text("utf-8")
    # The same by a session that is followed.
    path.write_bytes(pi.data[:before])
    followed = read_session(path, None, SMALL, places, lambda text, _: len(text))
    path.write_bytes(pi.data)
    followed = read_session(path, followed, SMALL, places, lambda text, _: len(text))
    assert NAMED in followed.loaded.known_secrets


def test_no_secret_is_in_a_checkpoint_or_a_summary(session: Path, tmp_path: Path) -> None:
    state = tmp_path / "state"
    places = Places(cwd=tmp_path, home=tmp_path, env={"SHOP_TOKEN": KNOWN}, state_folder=state)
    loaded = load(open_session(session), SMALL, places)
    written = write_checkpoint(loaded, CheckpointSettings(), places, trigger="manual")
    assert "rule" in written.path.read_text("utf-8")
    n_before = session.stat().st_size
    plan, _ = compacted(session, places)
    assert "[REDACTED:anthropic:" in plan.summary.text
    appended = session.read_bytes()[n_before:]
    files = [path for path in state.rglob("*") if path.is_file()]
    assert len(files) >= 3
    for data in (appended, *(path.read_bytes() for path in files)):
        for canary in (TYPED, ANSWERED, PRINTED, KNOWN):
            assert canary.encode() not in data
