"""`/ullage …` in the real pi, 0.73.1 and 0.87.1, with the real service and command line."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import cast

import pytest

from loopback_model import Answer, Json, LoopbackModel
from pi_process import PI_PACKAGES, SERVICE, Pi

RESTORED = "[Post-compaction checkpoint restore]"
TASK = "Keep the parcels in SQLite, never in files."


@pytest.fixture(params=PI_PACKAGES)
def version(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def model() -> Iterator[LoopbackModel]:
    with LoopbackModel() as model:
        yield model


@pytest.fixture
def pi(tmp_path: Path, model: LoopbackModel, version: str) -> Iterator[Pi]:
    """Give a pi that was asked for something, and had much to read for it."""
    with Pi(tmp_path, model, version=version, command=SERVICE, keep_tokens=10) as pi:
        pi.wait_for_service()
        listing = "seq -f 'E0042 in src/parcels.py: parcel %g has no owner' 1 300"
        model.answers = [
            Answer("I look at src/parcels.py.", commands=(listing,)),
            Answer("Then we store the parcels in SQLite."),
        ]
        pi.ask(TASK)
        yield pi
        assert pi.problems == []


def type_command(pi: Pi, text: str) -> str:
    """Type a command, and give what it says."""
    n_told = len(pi.notices)
    pi.send({"type": "prompt", "message": text})
    if len(pi.notices) == n_told:
        pi.wait_for("extension_ui_request", lambda event: event["method"] == "notify")
    return pi.notices[-1]


def texts(request: Json) -> list[str]:
    """Give the text of each message that reached the model."""
    contents = [message.get("content") or "" for message in cast(list[Json], request["messages"])]
    return [content if isinstance(content, str) else json.dumps(content) for content in contents]


def test_what_reads_says_it_and_asks_no_model(pi: Pi, model: LoopbackModel) -> None:
    n_requests = len(model.requests)
    for typed in ("/ullage", "/ullage status"):
        assert "Context Status" in type_command(pi, typed)
    assert "cp_001" in type_command(pi, "/ullage checkpoint")
    assert list(pi.state.rglob("cp_001.yaml"))
    assert "cp_001" in type_command(pi, "/ullage checkpoints")
    assert "Nothing to do" in type_command(pi, "/ullage prune")
    assert "not been compacted" in type_command(pi, "/ullage history")
    assert "--never mind" in type_command(pi, "/ullage pin --never mind")
    assert "1." in type_command(pi, "/ullage pin")
    assert type_command(pi, "/ullage restore cp_009").startswith("Ullage: ")
    assert "there is no /ullage sing" in type_command(pi, "/ullage sing")
    assert type_command(pi, "/ullage undo") == "Ullage: there is no compaction to undo"
    assert len(model.requests) == n_requests
    assert [entry for entry in pi.entries() if entry["type"] in ("compaction", "custom")] == []


def test_a_compaction_is_pis_with_our_summary_and_is_undone_in_its_tree(
    pi: Pi, model: LoopbackModel
) -> None:
    pi.send({"type": "prompt", "message": "/ullage compact the parcels without owners"})
    pi.wait_for("compaction_end")
    (compaction,) = [entry for entry in pi.entries() if entry["type"] == "compaction"]
    assert compaction["fromHook"] is True
    assert "Focus: the parcels without owners" in str(compaction["summary"])
    pi.ask("Go on.")
    assert not any(text == TASK for text in texts(model.requests[-1]))
    pi.post({"type": "prompt", "message": "/ullage undo"})
    pi.confirm(is_wanted=True)
    told = pi.wait_for("extension_ui_request", lambda event: event["method"] == "notify")
    assert str(told["message"]).startswith("✓")
    # The next compaction would be the first one again.
    assert type_command(pi, "/ullage undo") == "Ullage: there is no compaction to undo"
    pi.ask("And now?")
    sent = texts(model.requests[-1])
    assert any(TASK in text for text in sent)
    assert not any("Go on." in text for text in sent)


def test_the_checkpoint_goes_into_the_session_and_into_a_new_one(
    pi: Pi, model: LoopbackModel
) -> None:
    type_command(pi, "/ullage checkpoint")
    pi.send({"type": "prompt", "message": "/ullage restore"})
    pi.ask("Go on.")
    assert sum(RESTORED in text for text in texts(model.requests[-1])) == 1
    (old,) = pi.agent_folder.glob("sessions/*/*.jsonl")
    pi.send({"type": "prompt", "message": "/ullage new"})
    pi.ask("What were we at?")
    sent = texts(model.requests[-1])
    assert sum(RESTORED in text for text in sent) == 1
    assert "Then we store the parcels in SQLite." not in sent
    (new,) = set(pi.agent_folder.glob("sessions/*/*.jsonl")) - {old}
    header = json.loads(new.read_text("utf-8").split("\n", 1)[0])
    assert header["parentSession"] == str(old)
