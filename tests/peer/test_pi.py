"""The real pi 0.73.1 reads what we read and what we wrote, and agrees."""

import gzip
import json
import os
import subprocess
from importlib import resources
from pathlib import Path

import pytest

from ullage.app.compact import Plan, Request, compact, plan_compaction
from ullage.app.load import Settings, load, read
from ullage.app.reports import report_context
from ullage.app.sessions import open_session
from ullage.app.undo import undo
from ullage.store.demo import make_idle
from ullage.store.places import Places

HERE = Path(__file__).parent
SAMPLES = sorted((HERE.parent / "samples" / "openclaw-pi").glob("*.jsonl"))


def ask_pi(path: Path) -> dict[str, object]:
    done = subprocess.run(
        ["node", str(HERE / "context.mjs"), str(path)],
        capture_output=True,
        check=True,
        timeout=60,
        cwd=HERE,
    )
    return json.loads(done.stdout)


def ask_ullage(path: Path, places: Places) -> list[object]:
    session = open_session(path)
    report = report_context(session, read(session, places).context)
    return json.loads(json.dumps(report.messages))


@pytest.fixture
def places(tmp_path: Path) -> Places:
    return Places(
        cwd=tmp_path, home=tmp_path, env=dict(os.environ), state_folder=tmp_path / "state"
    )


@pytest.fixture
def demo_session(tmp_path: Path) -> Path:
    packed = resources.files("ullage") / "data" / "demo" / "session.jsonl.gz"
    path = tmp_path / "session.jsonl"
    path.write_bytes(gzip.decompress(packed.read_bytes()))
    make_idle(path)
    return path


@pytest.mark.parametrize(
    "path", [p for p in SAMPLES if "0.87" not in p.name], ids=lambda path: path.stem
)
def test_a_sample_gives_the_context_that_pi_builds(path: Path, places: Places) -> None:
    assert ask_ullage(path, places) == ask_pi(path)["messages"]


def test_pi_opens_a_compacted_session_with_the_context_that_was_previewed(
    demo_session: Path, places: Places
) -> None:
    plan = plan_compaction(
        load(open_session(demo_session), Settings(), places), Request(), Settings()
    )
    assert isinstance(plan, Plan)
    previewed = json.loads(json.dumps([item.native for item in plan.context_after.items]))
    compact(plan, Settings(), places)
    answer = ask_pi(demo_session)
    assert answer["messages"] == previewed
    assert previewed[0]["role"] == "compactionSummary"


def test_pi_opens_an_undone_session_with_the_context_from_before(
    demo_session: Path, places: Places
) -> None:
    before = ask_pi(demo_session)["messages"]
    plan = plan_compaction(
        load(open_session(demo_session), Settings(), places), Request(), Settings()
    )
    assert isinstance(plan, Plan)
    compact(plan, Settings(), places)
    assert ask_pi(demo_session)["messages"] != before
    make_idle(demo_session)
    undo(open_session(demo_session), Settings(), places)
    assert ask_pi(demo_session)["messages"] == before
