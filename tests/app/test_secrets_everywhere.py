"""Every kind of secret, said, answered, printed and passed to tools, in sessions of every format.

No text that is made of them has one: checkpoints, summaries, daily logs, exports, readable chats,
assembled requests, what hooks and hovers give, and what a model is sent.
"""

import json
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from claude_files import ClaudeFile, call, result
from claude_files import text as claude_text
from codex_files import CodexFile
from database_files import OpencodeSession, tool_part
from gemini_files import GeminiFile, tool_call
from loopback_model import LoopbackModel
from pi_files import PiFile
from running import Place, idle
from secret_samples import SAMPLES
from ullage.app.sessions.load import load
from ullage.app.sessions.open import open_session
from ullage.core.checkpoint.captured import capture_events, events_of
from ullage.core.checkpoint.state_text import write_state
from ullage.core.checkpoint.working_state import WorkingState, add_captured
from ullage.core.config.settings import Config
from ullage.core.secrets.redaction import mask_items

TEXTS = [sample.text for sample in SAMPLES.values()]
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


def said(text: str, number: int) -> tuple[str, str, str, str]:
    """Give what a user, an answer, a command and its output say with a secret."""
    return (
        f"Never forget rule {number}: always deploy with {text} and nothing else.",
        f"We decided to use {text}.",
        f"cd x\n{text}\nmake deploy",
        f"Error: {text}\n{'x' * 50} was refused at step {number}",
    )


def pi_session(place: Place) -> Path:
    pi = PiFile(cwd=str(place.cwd))
    for n, text in enumerate(TEXTS):
        asked, answered, command, output = said(text, n)
        pi.user(asked)
        pi.assistant(answered, calls=[(f"c{n}", "bash", {"command": command})], usage=None)
        pi.result(f"c{n}", output, is_error=True)
    return place.write("pi.jsonl", pi.data)


def claude_session(place: Place) -> Path:
    file = ClaudeFile(cwd=str(place.cwd))
    for n, text in enumerate(TEXTS):
        asked, answered, command, output = said(text, n)
        file.user(asked)
        file.assistant(claude_text(answered), call(f"c{n}", command=command))
        file.user([result(f"c{n}", output, is_error=True)])
    return place.write("claude.jsonl", file.data)


def codex_session(place: Place) -> Path:
    file = CodexFile(cwd=str(place.cwd))
    file.turn()
    for n, text in enumerate(TEXTS):
        asked, answered, command, output = said(text, n)
        file.user(asked)
        file.assistant(answered)
        arguments = json.dumps({"cmd": command})
        made = {"name": "exec_command", "arguments": arguments, "call_id": f"c{n}"}
        file.item({"type": "function_call", **made})
        file.item({"type": "function_call_output", "call_id": f"c{n}", "output": output})
    return place.write("rollout.jsonl", file.data)


def gemini_session(place: Place) -> Path:
    file = GeminiFile()
    for n, text in enumerate(TEXTS):
        asked, answered, command, output = said(text, n)
        file.user(asked)
        file.model(answered, calls=(tool_call(f"c{n}", output, command=command),))
    return place.write("session-gemini.jsonl", file.data)


def opencode_session(place: Place) -> Path:
    path = place.cwd / "opencode.db"
    session = OpencodeSession(path)
    for n, text in enumerate(TEXTS):
        asked, answered, command, output = said(text, n)
        part = tool_part(f"c{n}", output)
        session.user(asked)
        session.assistant(
            answered, part | {"state": part["state"] | {"input": {"command": command}}}
        )
    return path


MAKERS: dict[str, Callable[[Place], Path]] = {
    "pi": pi_session,
    "claude-code": claude_session,
    "codex": codex_session,
    "gemini": gemini_session,
    "opencode": opencode_session,
}


def leaks(text: str) -> list[str]:
    """Name the secrets in a text, also where JSON and YAML broke or escaped it."""
    flat = " ".join(text.split()).replace("\\n", "\n").replace('\\"', '"')
    return [n for n, sample in SAMPLES.items() if sample.secret in text or sample.secret in flat]


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
