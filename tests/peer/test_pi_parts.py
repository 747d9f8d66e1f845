"""Each part of a request that we list is in what the real pi sends, and counted as it is there."""

from pathlib import Path

import pytest
from recorded_requests import check_request, cut_before_answer

from loopback_model import Answer, LoopbackModel
from pi_process import PI_PACKAGES, Pi
from ullage.store.files.places import Places


@pytest.mark.parametrize("version", PI_PACKAGES)
def test_what_is_listed_is_what_is_sent(tmp_path: Path, version: str) -> None:
    contents = {
        "home/.pi/agent/AGENTS.md": "Always answer in English.\n",
        "home/.pi/agent/APPEND_SYSTEM.md": "Be short.\n",
        "AGENTS.md": "Run the tests before each commit.\n",
        "project/CLAUDE.md": "Never push to the main branch.\n",
    }
    for name, content in contents.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content, "utf-8")
    with LoopbackModel() as model:
        model.answers = [Answer("I look.", ("echo one",)), Answer("Done.")]
        with Pi(tmp_path, model, version=version, command=None) as pi:
            pi.ask("Begin.")
            (transcript,) = pi.agent_folder.glob("sessions/*/*.jsonl")
    before = cut_before_answer(transcript.read_bytes(), number=2)
    assert before is not None
    path = tmp_path / transcript.name
    path.write_bytes(before)
    places = Places(cwd=pi.project, home=pi.home, env={}, state_folder=tmp_path / "state")
    checked = check_request(model.requests[-1], path, places, is_disk_old=False)
    assert checked.is_right, checked
    files = {part.source for part in checked.parts if "/" in part.source}
    assert files == {str(tmp_path / name) for name in contents}
