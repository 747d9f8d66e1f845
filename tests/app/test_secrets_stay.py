"""A secret that was typed, read or run stays in the transcript: canaries over what we write."""

from pathlib import Path

import pytest

from pi_files import PiFile
from planning import SMALL, compacted
from ullage.app.checkpoint.write import write_checkpoint
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
