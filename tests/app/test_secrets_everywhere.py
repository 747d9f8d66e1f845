"""Every kind of secret, said, answered, printed and passed to tools, in sessions of every format.

No text that is made of them has one: checkpoints, summaries, daily logs, exports, readable chats,
assembled requests, what hooks give, and what a model is sent. `tests/lsp/test_secrets.py` has the
hovers, findings and rows of an editor.
"""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from loopback_model import LoopbackModel
from running import Place, idle
from secret_sessions import MAKERS, leaks
from ullage.app.sessions.load import load
from ullage.app.sessions.open import open_session
from ullage.core.checkpoint.captured import capture_events, events_of
from ullage.core.checkpoint.state_text import write_state
from ullage.core.checkpoint.working_state import WorkingState, add_captured
from ullage.core.config.settings import Config
from ullage.core.secrets.redaction import mask_items

OUTPUTS = (
    ("context", "inspect", "--top", "500"),
    ("context", "assemble"),
    ("context", "history"),
    ("context", "export", "out.json"),
    ("checkpoint", "write"),
    ("checkpoint", "show"),
    ("checkpoint", "restore", "--into", "text"),
    ("memory", "flush", "--yes"),
    ("compact", "--dry-run", "--window", "200000"),
    ("doctor",),
)


def made_texts(place: Place, path: Path) -> Iterator[tuple[str, str]]:
    for command in OUTPUTS:
        idle(path)
        done = place.run(*command, "--session", path)
        assert done.returncode in (0, 4), done.stderr
        yield " ".join(command), done.stdout + done.stderr
    loaded = load(open_session(path), Config(), place.places())
    events = events_of(loaded.context.items, range(len(loaded.context.items)))
    captured = capture_events(events, now_ms=0)
    yield "what a hook captures", str(captured)
    yield "a state", write_state(add_captured(WorkingState(), captured))
    masked = mask_items(loaded.context.items, loaded.known_secrets)
    yield "readable chat", "\n".join(str(item.message) for item in masked)
    for file in (*place.state.rglob("*"), *place.cwd.rglob("*")):
        if file.is_file() and file != path:
            yield file.name, file.read_bytes().decode("utf-8", "replace")


@pytest.mark.parametrize("agent", MAKERS)
def test_no_secret_is_in_what_is_made_of_a_session(agent: str, place: Place) -> None:
    path = MAKERS[agent](place)
    names: set[str] = set()
    for name, text in made_texts(place, path):
        assert (name, leaks(text)) == (name, [])
        names.add(name)
    assert {"cp_001.yaml", "out.json", "readable chat"} <= names


@pytest.mark.parametrize("agent", ["pi", "claude-code", "codex"])
def test_no_secret_is_sent_to_a_model(agent: str, place: Place) -> None:
    path = MAKERS[agent](place)
    with LoopbackModel() as model:
        config = place.home / ".openclaw" / "config.yaml"
        config.parent.mkdir()
        settings = {"provider": "custom", "modelName": "m", "baseUrl": f"{model.url}/v1"}
        config.write_text(json.dumps({"compaction": {"model": settings}}), "utf-8")
        idle(path)
        done = place.run("compact", "--dry-run", "--window", "100000", "--session", path)
        assert done.returncode == 0, done.stderr
        sent = [json.dumps(body, ensure_ascii=False) for body in (*model.asides, *model.requests)]
    assert any("REDACTED" in text for text in sent)
    assert leaks(done.stdout + done.stderr) == []
    for text in sent:
        assert leaks(text) == []
