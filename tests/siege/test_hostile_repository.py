"""A hostile repository: nothing of it runs, nothing leaves, nothing outside is written.

Every command is run in it, as by a person with keys, and with the repository in their path.
"""

import json
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import NamedTuple

import pytest

from command_tree import ALL_COMMANDS
from hook_inputs import claude, codex, data, tool_call
from pi_files import Json
from running import WAIT_S, Place, idle
from siege.besieged import SCRIPT, Siege, besieged

FOLDER, SESSIONS, SETTINGS = "work/shop/", "home/.pi/agent/sessions/", "home/.claude/settings.json"


class Row(NamedTuple):
    """What a command is asked, and what else than our state it is there to write then."""

    words: str = ""
    may_write: str = "state"


ROWS = {
    "sessions": Row(),
    "usage": Row(),
    "statusline": Row(),
    "config show": Row("--all"),
    "config check": Row(".ullage.yaml"),
    "context status": Row(),
    "context show": Row(),
    "context inspect": Row("--top 100"),
    "context assemble": Row(),
    "context history": Row(),
    "checkpoint write": Row(),
    "checkpoint list": Row(),
    "checkpoint show": Row("--text"),
    "checkpoint diff": Row("cp_001"),
    "checkpoint restore": Row("--into session --yes --window 8000", SESSIONS),
    "pin": Row("Never-touch-prod"),
    "prune": Row("--yes --window 8000", SESSIONS),
    "compact": Row("--yes --window 8000", SESSIONS),
    "undo": Row("--yes --window 8000", SESSIONS),
    "redo": Row("--yes --window 8000", SESSIONS),
    "autocompact": Row("off"),
    "context branch": Row("", SESSIONS),
    "context export": Row("out.json", f"{FOLDER}out.json"),
    "context import": Row("bundle.json", SESSIONS),
    "doctor": Row("--repair repaired.jsonl", f"{FOLDER}repaired.jsonl"),
    "memory status": Row(),
    "memory search": Row("send"),
    "memory get": Row("MEMORY.md#L3"),
    "memory store": Row("Tabs"),
    "memory changes": Row(),
    "memory accept": Row("MEMORY.md"),
    "memory reindex": Row("--yes"),
    "memory flush": Row("--yes --window 8000"),
    "memory dream": Row(),
    "memory review": Row(),
    "memory undo": Row(),
    "memory backfill": Row("--yes"),
    "install": Row("claude-code --yes", SETTINGS),
    "uninstall": Row("claude-code --yes", SETTINGS),
    "demo": Row(),
}
"""One after the other in one repository."""
SERVERS = {"agent", "hook", "lsp", "mcp"}
"""The language server is tried in `tests/lsp/test_hostile_repository.py`."""


@pytest.fixture
def siege(place: Place) -> Iterator[Siege]:
    with besieged(place) as siege:
        yield siege


def test_the_traps_work(siege: Siege) -> None:
    siege.run([sys.executable, "-c", "import json"])
    siege.run("git" if sys.platform == "win32" else "./git")
    (siege.place.cwd / "out.json").write_text("over what stood there", "utf-8")
    with socket.create_connection(siege.listener.getsockname()):
        damage = siege.damage()
    expected = {"outside/ran/json", "outside/ran/program git", "outside/out.json", "a connection"}
    assert expected <= {*damage}


def test_every_command_is_tried() -> None:
    assert {*ROWS, *SERVERS} == set(ALL_COMMANDS)


def test_no_command_serves_a_hostile_repository(siege: Siege) -> None:
    for name, row in ROWS.items():
        idle(siege.live)
        said = siege.run([SCRIPT, *name.split(), *row.words.split()])
        assert "fault of Ullage" not in said
        assert (name, siege.damage(row.may_write)) == (name, [])


@pytest.mark.parametrize("session", ["pi.jsonl", "claude.jsonl", "codex.jsonl"])
def test_no_command_serves_a_session_that_a_repository_brings(siege: Siege, session: str) -> None:
    for name in (name for name in ROWS if "session" in ALL_COMMANDS[name]):
        row = ROWS[name]
        path = idle(siege.place.cwd / "sessions" / session)
        words = (*name.split(), *row.words.split(), "--session", path)
        done = siege.place.run(*words, **siege.env())
        assert done.returncode in (0, 3, 4), done.stderr
        assert "fault of Ullage" not in done.stderr
        may_write = f"{FOLDER}sessions/" if row.may_write == SESSIONS else row.may_write
        assert (name, siege.damage(may_write)) == (name, [])


def test_no_hook_and_no_status_line_serves_a_hostile_repository(siege: Siege) -> None:
    """They are run as an agent does, in the repository, with modules of its own on the path."""
    place = siege.place
    for agent in ("claude-code", "codex"):
        assert place.run("install", agent, "--yes").returncode == 0
    settings = json.loads((place.home / ".claude" / "settings.json").read_text("utf-8"))
    hook = settings["hooks"]["PreCompact"][0]["hooks"][0]["command"]
    siege.damage("home/")
    told = {"cwd": str(place.cwd)}
    for session, write in (("claude.jsonl", claude), ("codex.jsonl", codex)):
        told["transcript_path"] = str(place.cwd / "sessions" / session)
        for event in (
            write("SessionStart", source="startup"),
            write("UserPromptSubmit", prompt="go on"),
            write("PostToolUse", **tool_call(tool_input={"file_path": "../../outside/written"})),
            write("PreCompact", trigger="auto"),
            write("SessionStart", source="compact"),
        ):
            command = hook if write is claude else hook.replace("claude-code", "codex")
            siege.run(command, data(event | told), PYTHONPATH=".")
            assert (event["hook_event_name"], siege.damage()) == (event["hook_event_name"], [])
    siege.run(settings["statusLine"]["command"], data(told), PYTHONPATH=".")
    assert siege.damage() == []


@contextmanager
def served(siege: Siege, server: str) -> Iterator[Callable[[str, Json], Json]]:
    """Start a server in the repository, which a method and its parameters are asked of."""
    with subprocess.Popen(
        [SCRIPT, server],
        cwd=siege.place.cwd,
        env=siege.env(),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    ) as process:

        def ask(method: str, params: Json) -> Json:
            request = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
            process.stdin.write(json.dumps(request).encode() + b"\n")
            process.stdin.flush()
            return json.loads(process.stdout.readline())

        yield ask
        process.communicate(timeout=WAIT_S)


def test_no_tool_over_mcp_serves_a_hostile_repository(siege: Siege) -> None:
    begin: Json = {"protocolVersion": "2025-06-18", "capabilities": {}}
    begin |= {"clientInfo": {"name": "test", "version": "1"}}
    names = ("pi", "claude", "codex")
    sessions: list[Json] = [{}, *({"session": f"sessions/{name}.jsonl"} for name in names)]
    tools: list[tuple[str, Json]] = [
        (tool, session)
        for session in sessions
        for tool in ("context_status", "checkpoint_write", "checkpoint_read")
    ]
    tools += [
        ("memory_search", {"query": "what is sent"}),
        ("memory_get", {"path": "MEMORY.md"}),
        ("memory_get", {"path": "../../outside/secret.txt"}),
        ("memory_store", {"text": "Tabs are used", "kind": "fact"}),
    ]
    with served(siege, "mcp") as ask:
        assert "result" in ask("initialize", begin)
        for name, arguments in tools:
            said = ask("tools/call", {"name": name, "arguments": arguments})["result"]
            assert "what stands in" not in json.dumps(said)
    assert siege.damage() == []


def test_no_method_for_runtimes_serves_a_hostile_repository(siege: Siege) -> None:
    folder = str(siege.place.cwd)
    opened: Json = {"agent": "pi", "cwd": folder, "sessionKey": "one", "windowTokens": 200_000}
    with served(siege, "agent") as ask:
        session = {"session": ask("context/open", opened)["result"]["session"]}
        for method, params in (
            ("context/assemble", {**session, "messages": []}),
            ("context/resume", session),
            ("context/offer", session),
            ("memory/search", {"cwd": folder, "query": "what is sent"}),
        ):
            assert "result" in ask(method, params), method
        outside = {"cwd": folder, "path": "../../outside/secret.txt"}
        assert "error" in ask("memory/get", outside)
    assert siege.damage() == []
