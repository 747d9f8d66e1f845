"""Whatever stands in files of others, nothing of it steers the terminal or turns its text."""

import json
from pathlib import Path

import pytest

from pi_files import PiFile, usage_of
from running import Place
from test_agents import COMMANDS
from ullage.core.config.settings import KEYS

CONTROLS = "".join(map(chr, (*range(0x20), *range(0x7F, 0xA0))))
BIDI = "\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"
SEQUENCES = "\x1b[2J\x1b]0;title\x07\x1b]8;;http://a.test\x1b\\link\x1b]8;;\x1b\\\x9b31m\x1bP\x90"
HOSTILE = f"Never {CONTROLS} use {BIDI} tabs {SEQUENCES} in parser.py."
FORBIDDEN = set(CONTROLS + BIDI) - set("\n\t")
ALL = (
    *COMMANDS,
    "context branch",
    "context export out.json",
    "context import out.json",
    "prune --yes",
    "compact --yes",
    "undo --yes",
    "checkpoint restore cp_001 --into new --yes",
    "checkpoint write",
    "checkpoint diff cp_001 cp_002",
    "memory flush --yes",
    "memory search parser",
    "memory get MEMORY.md",
    "memory status",
    "memory changes",
    "memory dream --dry-run",
    "memory backfill --dry-run",
    "memory review",
    "sessions",
    "usage",
    "config show",
    "config show --all",
    "config check",
    "install claude-code --dry-run",
    "nothing",
)


def hostile_session(cwd: Path) -> bytes:
    pi = PiFile(cwd=str(cwd))
    pi.entry("model_change", provider=HOSTILE, modelId=HOSTILE)
    pi.entry("session_info", name=HOSTILE)
    for number in range(8):
        pi.user(f"{HOSTILE} Please look at {number}. " * 20)
        call = {"type": "toolCall", "id": f"call{number}", "name": HOSTILE}
        call |= {"arguments": {HOSTILE: HOSTILE, "path": f"{HOSTILE}.py", "command": HOSTILE}}
        said = [{"type": "thinking", "thinking": HOSTILE}, {"type": "text", "text": HOSTILE}, call]
        pi.message("assistant", content=said, model=HOSTILE, usage=usage_of(9000 + number))
        output = [{"type": "text", "text": f"Error: {HOSTILE}\n" * 200}]
        pi.message(
            "toolResult",
            toolCallId=f"call{number}",
            toolName=HOSTILE,
            content=output,
            isError=bool(number % 2),
        )
    pi.message("assistant", content=[{"type": "text", "text": HOSTILE}], usage=usage_of(170_000))
    return pi.data


@pytest.fixture
def hostile_place(place: Place) -> Place:
    place.let_pi_fill_its_window()
    sample = hostile_session(place.cwd)
    folder = f"--{str(place.cwd).lstrip('/').replace('/', '-')}--"
    place.write(str(place.home / ".pi" / "agent" / "sessions" / folder / "a.jsonl"), sample)
    for name in ("AGENTS.md", "MEMORY.md", "DREAMS.md", "memory/2026-01-02.md"):
        place.write(name, f"# {HOSTILE}\n\n- {HOSTILE}\n".encode())
    values = [f"{json.dumps(key.name)}: {json.dumps(HOSTILE)}" for key in KEYS]
    place.write(".ullage.yaml", "\n".join((*values, f"{json.dumps(HOSTILE)}: 1")).encode())
    return place


def test_no_command_lets_through_what_a_terminal_obeys(hostile_place: Place) -> None:
    shown = ""
    for command in ALL:
        for options in ((), ("--json",)):
            done = hostile_place.run(*command.split(), *options)
            told = done.stdout + done.stderr
            assert not FORBIDDEN & set(told), (command, options, sorted(FORBIDDEN & set(told)))
            assert "a fault of Ullage" not in told, (command, told)
            shown += told
    assert "parser.py" in shown


@pytest.mark.parametrize("command", ["context status", "doctor", "checkpoint show", "memory get"])
def test_an_argument_is_shown_without_what_a_terminal_obeys(place: Place, command: str) -> None:
    named = HOSTILE.replace("\0", "")
    options = (named,) if command == "memory get" else ("--session", named)
    done = place.run(*command.split(), *options)
    assert done.returncode
    assert not FORBIDDEN & set(done.stdout + done.stderr)
