"""Measure what a hook costs at each event, on a session that nearly fills 200,000 tokens.

Run as `python benchmarks/hook.py` in the environment of the tests; prints Markdown. CPU time is
of the whole process, its start included; ratios are against a bare Python and against `ullage
context status` on the same file in the same run.
"""

import json
import os
import random
import shlex
import statistics
import sys
import tempfile
from pathlib import Path

from measure import Cost, median, run
from sessions import prose

from ullage.core.install.hook_settings import write_command
from ullage.store.files.programs import package_folder

N_ROUNDS = 11
SESSION_ID = "33333333-4444-4555-8666-777777777777"
SECOND_ID = "33333333-4444-4555-8666-888888888888"
N_USED = 190_000
APPENDED = "UserPromptSubmit, another turn each time"
"""Of a session that is a third full at first."""
EVENTS: dict[str, dict[str, object]] = {
    "PostToolUse": {
        "hook_event_name": "PostToolUse",
        "tool_name": "Edit",
        "tool_input": {"file_path": "/bench/a.py", "old_string": "x", "new_string": "y"},
        "tool_response": {"filePath": "/bench/a.py"},
        "tool_use_id": "toolu_000000001",
    },
    "PostToolUseFailure": {
        "hook_event_name": "PostToolUseFailure",
        "tool_name": "Bash",
        "tool_input": {"command": "npm test"},
        "tool_use_id": "toolu_000000002",
        "error": "Exit code 1\n3 failed",
    },
    "UserPromptSubmit": {"hook_event_name": "UserPromptSubmit", "prompt": "Go on."},
    APPENDED: {"hook_event_name": "UserPromptSubmit", "prompt": "Go on."},
    "PreCompact": {"hook_event_name": "PreCompact", "trigger": "auto"},
    "SessionStart compact": {"hook_event_name": "SessionStart", "source": "compact"},
    "SessionStart resume": {"hook_event_name": "SessionStart", "source": "resume"},
    "SessionStart startup": {
        "hook_event_name": "SessionStart",
        "source": "startup",
        "session_id": "new",
        "cwd": "/",
    },
    "SessionStart startup, offered": {"hook_event_name": "SessionStart", "source": "startup"},
}
LINE = "`statusline`"
OFFERED = "SessionStart startup, offered"
"""Each time to another session, which the work of the first one is offered to."""


def main() -> None:
    with tempfile.TemporaryDirectory(prefix="ullage-bench-") as name:
        folder = Path(name)
        path = folder / "session.jsonl"
        write_session(path, folder)
        env = {**os.environ, "HOME": name, "XDG_STATE_HOME": str(folder / "state")}
        # As it is installed: with its byte code.
        env.pop("PYTHONDONTWRITEBYTECODE", None)
        base = {"session_id": SESSION_ID, "transcript_path": str(path), "cwd": name}
        python = [sys.executable, "-P"]
        commands: dict[str, tuple[list[str], dict[str, object]]] = {
            "`python -c pass`": ([*python, "-c", "pass"], {}),
            "`context status`": (
                [*python, "-m", "ullage", "context", "status", "--session", str(path)],
                {},
            ),
        }
        hook, line = (installed("hook", "claude-code"), installed("statusline"))
        for event, fields in EVENTS.items():
            commands[event] = hook, base | fields
        older = [*python, "-m", "ullage", "hook", "claude-code"]
        commands["PostToolUse, as 0.1 installed it"] = older, commands["PostToolUse"][1]
        commands[LINE] = line, {**base}
        other = folder / "other.jsonl"
        turns = part_session(path)
        other.write_bytes(turns[0])
        own_names = {"transcript_path": str(other), "session_id": SECOND_ID}
        commands[APPENDED] = hook, commands[APPENDED][1] | own_names
        costs: dict[str, list[Cost]] = {name: [] for name in commands}
        for n in range(-1, N_ROUNDS):
            for event, (command, fields) in commands.items():
                own = {"session_id": f"new-{n}"} if event == OFFERED else {}
                if event == APPENDED:
                    with other.open("ab") as file:
                        file.write(turns[n + 2])
                cost = run(command, env, json.dumps(fields | own).encode())
                # The first of a session and the first after an install take longer.
                costs[event] += [cost] if n >= 0 else []
    bare, status = (statistics.median(c.cpu_s for c in found) for found in list(costs.values())[:2])
    print("| event | CPU ms, median | least | times `python -c pass` | times `context status` |")
    print("|---|---|---|---|---|")
    for event, found in costs.items():
        cost, least = median(found), min(one.cpu_s for one in found)
        print(
            f"| {event} | {cost.cpu_s * 1000:.0f} | {least * 1000:.0f}"
            f" | {cost.cpu_s / bare:.1f} | {cost.cpu_s / status:.2f} |"
        )


def installed(*arguments: str) -> list[str]:
    command = write_command(
        arguments,
        sys.executable,
        package_folder(),
        is_windows=os.name == "nt",
        takes_bash=True,
    )
    return shlex.split(command)


def part_session(path: Path) -> list[bytes]:
    """Make another session, parted into its first third and pieces of four lines after that."""
    data = path.read_bytes().replace(SESSION_ID.encode(), SECOND_ID.encode())
    lines = data.splitlines(keepends=True)
    starts = range(len(lines) // 3, len(lines), 4)
    return [b"".join(lines[: starts[0]]), *(b"".join(lines[at : at + 4]) for at in starts)]


def write_session(path: Path, cwd: Path) -> None:
    """Write a session of Claude Code: one read with each answer, a prompt now and then."""
    rng = random.Random(5)
    lines: list[dict[str, object]] = []
    n_used = 20_000

    def add(kind: str, message: dict[str, object], **fields: object) -> None:
        number = len(lines)
        lines.append(
            {
                "parentUuid": f"u{number - 1}" if number else None,
                "isSidechain": False,
                "type": kind,
                "message": message,
                "uuid": f"u{number}",
                "timestamp": f"2026-01-01T{number // 60 % 24:02}:{number % 60:02}:00.000Z",
                "cwd": str(cwd),
                "sessionId": SESSION_ID,
                **fields,
            }
        )

    while n_used < N_USED:
        if len(lines) % 20 < 2:
            add(
                "user", {"role": "user", "content": f"Fix step {len(lines)}; keep the limit at 42."}
            )
        output = prose(rng, rng.randint(500, 9000))
        n_used += len(output) // 5 + 150
        call_id, file = f"toolu_{len(lines)}", f"{cwd}/src/{len(lines)}.py"
        call = {"type": "tool_use", "id": call_id, "name": "Read", "input": {"file_path": file}}
        usage = {"input_tokens": n_used - 100, "output_tokens": 100}
        answer = [{"type": "text", "text": "I read the file because the router fails."}, call]
        message = {"role": "assistant", "model": "claude-sonnet-4-5", "id": f"m{len(lines)}"}
        add("assistant", {**message, "content": answer, "usage": usage})
        result = {"type": "tool_result", "tool_use_id": call_id, "content": output}
        told = {"type": "text", "file": {"filePath": file, "content": output}}
        add("user", {"role": "user", "content": [result]}, toolUseResult=told)
    path.write_bytes(b"".join(json.dumps(line).encode() + b"\n" for line in lines))


if __name__ == "__main__":
    main()
