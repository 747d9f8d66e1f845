"""What the language server costs while nothing happens, and while an agent writes.

    python benchmarks/idle.py [N_SESSIONS ...]

Linux only: it reads /proc. The real server is started over standard input and output, in a made-up
home of so many sessions, a tenth of them of the workspace. Once it is at rest and its process for
tokens ended, all that it does in a minute is counted: each time that a thread slept and went on is
a wakeup. Then lines are appended to the session that the gauge shows, by turns an answer and a
result.
"""

import json
import sys
import tempfile
import threading
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

from editor import Client

SIZES = (1, 50, 500)
IDLE_S = 60.0
REST_S = 5.0
MAX_REST_CPU_S = 0.1
"""At rest, so many seconds of a window of `REST_S` are used at most."""
MAX_WINDOWS = 60
RATES = ((1, 20), (10, 100), (100, 1000))
"""Lines a second, and how many."""
PING_PAUSE_S = 0.05
TEXT = "The checkout sums net prices twice, so the total of an order with a voucher is wrong. " * 4


class Use(NamedTuple):
    cpu_s: float
    n_wakeups: int


def main() -> None:
    sizes = [int(arg) for arg in sys.argv[1:]] or SIZES
    for n_sessions in sizes:
        with tempfile.TemporaryDirectory(prefix="ullage-bench-") as folder:
            measure(n_sessions, Path(folder))


def measure(n_sessions: int, home: Path) -> None:
    workspace = home / "work" / "shop"
    workspace.mkdir(parents=True)
    shown = write_home(home, workspace, n_sessions)
    client = Client(home)
    folders = [{"uri": workspace.as_uri(), "name": "shop"}]
    params = {"processId": None, "rootUri": None, "capabilities": {}, "workspaceFolders": folders}
    client.request("initialize", params)
    client.notify("initialized", {})
    print(f"\n{n_sessions} sessions")
    windows = wait_for_rest(client.process_id)
    print(f"  at rest after {windows * REST_S:.0f} s; {memory_text(client.process_id)}", flush=True)
    used = use_in(client.process_id, IDLE_S)
    print(
        f"  idle            {used.cpu_s / IDLE_S:>7.2%} CPU   "
        f"{used.n_wakeups / IDLE_S:.2f} wakeups a second; {memory_text(client.process_id)}",
        flush=True,
    )
    for per_second, n_lines in RATES:
        cpu_ms, ping_ms = append(client, shown, per_second, n_lines)
        print(
            f"  {per_second:>3} lines a second {cpu_ms:>6.2f} ms CPU a line   "
            f"worst ping {ping_ms:.0f} ms; {memory_text(client.process_id)}",
            flush=True,
        )
    client.stop()


def write_home(home: Path, workspace: Path, n_sessions: int) -> Path:
    """Write sessions of pi, Codex and Claude Code in turn; give the one written last."""
    path = home
    for number in range(n_sessions, 0, -1):
        here = number % 10 == 1
        cwd = str(workspace) if here else f"/work/other-{number % 7}"
        write = (write_pi, write_claude, write_codex)[number % 3] if number > 1 else write_pi
        path = write(home, cwd, number)
    return path


def write_pi(home: Path, cwd: str, number: int) -> Path:
    folder = home / ".pi/agent/sessions" / f"--{cwd.lstrip('/').replace('/', '-')}--"
    records: list[dict[str, object]] = [
        {
            "type": "session",
            "version": 3,
            "id": f"0000{number:04}-pi",
            "cwd": cwd,
            "timestamp": now(),
        }
    ]
    records += [pi_entry(at) for at in range(40)]
    return write_lines(folder / f"2026-02-03_{number}.jsonl", records)


def write_claude(home: Path, cwd: str, number: int) -> Path:
    folder = home / ".claude/projects" / cwd.replace("/", "-")
    session_id = f"{number:08}-4444-4555-8666-777777777777"
    records: list[dict[str, object]] = []
    for at in range(40):
        is_user = at % 2 == 0
        message: dict[str, object] = {"role": "user" if is_user else "assistant", "content": TEXT}
        if not is_user:
            message["content"] = [{"type": "text", "text": TEXT}]
            message |= {"id": f"m{at}", "model": "claude-sonnet-4-5"}
            message["usage"] = {"input_tokens": 10, "output_tokens": 300 + at}
        record = {"type": message["role"], "uuid": f"u{at}", "timestamp": now(), "message": message}
        record |= {"parentUuid": f"u{at - 1}" if at else None, "isSidechain": False}
        records.append(record | {"sessionId": session_id, "cwd": cwd, "version": "2.0.0"})
    return write_lines(folder / f"{session_id}.jsonl", records)


def write_codex(home: Path, cwd: str, number: int) -> Path:
    session_id = f"{number:08}-0000-7000-8000-000000000001"
    meta = {"id": session_id, "cwd": cwd, "source": "cli"}
    records: list[dict[str, object]] = [codex_record("session_meta", meta)]
    for at in range(40):
        role, kind = ("assistant", "output_text") if at % 2 else ("user", "input_text")
        item = {"type": "message", "role": role, "content": [{"type": kind, "text": TEXT}]}
        records.append(codex_record("response_item", item))
    folder = home / f".codex/sessions/2026/{number % 12 + 1:02}/{number % 28 + 1:02}"
    return write_lines(folder / f"rollout-2026-01-01T00-00-00-{session_id}.jsonl", records)


def codex_record(kind: str, payload: object) -> dict[str, object]:
    return {"timestamp": now(), "type": kind, "payload": payload}


def pi_entry(number: int) -> dict[str, object]:
    """Give an entry of a chain: an answer that calls a tool, or that tool's result."""
    if number == 0:
        message: dict[str, object] = {"role": "user", "content": TEXT}
    elif number % 2:
        call = {"type": "toolCall", "id": f"c{number}", "name": "read", "arguments": {"path": "a"}}
        message = {"role": "assistant", "content": [{"type": "text", "text": TEXT}, call]}
        message |= {"provider": "anthropic", "model": "claude-sonnet-4-5", "stopReason": "toolUse"}
        n_input = 20_000 + number
        usage = {"input": n_input, "output": 300, "cacheRead": 0, "cacheWrite": 0}
        message["usage"] = usage | {"totalTokens": n_input + 300}
    else:
        content = [{"type": "text", "text": f"{number} {TEXT}"}]
        message = {"role": "toolResult", "toolCallId": f"c{number - 1}", "toolName": "read"}
        message |= {"content": content, "isError": False}
    parent = f"e{number - 1}" if number else None
    entry = {"type": "message", "id": f"e{number}", "parentId": parent, "timestamp": now()}
    return entry | {"message": message}


def now() -> str:
    return datetime.now(UTC).isoformat().replace("+00:00", "Z")


def write_lines(path: Path, records: list[dict[str, object]]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(record) + "\n" for record in records), "utf-8")
    return path


def wait_for_rest(process_id: int) -> int:
    """Wait until next to nothing is done and no tokens are counted; give how many windows passed.

    Raises:
        RuntimeError: it never rests.
    """
    for number in range(1, MAX_WINDOWS):
        is_quiet = use_in(process_id, REST_S).cpu_s < MAX_REST_CPU_S
        if is_quiet and processes_of(process_id) == [process_id]:
            return number
    raise RuntimeError("the server is never at rest")


def append(client: Client, path: Path, per_second: int, n_lines: int) -> tuple[float, float]:
    """Append lines; give the CPU time of one and the longest round trip meanwhile, in ms."""
    pings: list[float] = []
    is_done = threading.Event()

    def ping() -> None:
        while not is_done.wait(PING_PAUSE_S):
            pings.append(client.request("ullage/none", {})[0])

    pinging = threading.Thread(target=ping)
    first = path.read_bytes().count(b"\n") - 1
    with_pings, lone = n_lines // 2, n_lines - n_lines // 2
    pinging.start()
    write_at(path, first, with_pings, per_second)
    is_done.set()
    pinging.join()
    before = used_by(client.process_id)
    write_at(path, first + with_pings, lone, per_second)
    time.sleep(1)
    cpu_s = used_by(client.process_id).cpu_s - before.cpu_s
    return cpu_s * 1000 / lone, max(pings) * 1000


def write_at(path: Path, first: int, n_lines: int, per_second: int) -> None:
    started = time.monotonic()
    for number in range(n_lines):
        time.sleep(max(0.0, started + number / per_second - time.monotonic()))
        with path.open("ab") as file:
            file.write(json.dumps(pi_entry(first + number)).encode() + b"\n")


def use_in(process_id: int, seconds: float) -> Use:
    before = used_by(process_id)
    time.sleep(seconds)
    after = used_by(process_id)
    return Use(after.cpu_s - before.cpu_s, after.n_wakeups - before.n_wakeups)


def used_by(process_id: int) -> Use:
    """Add up what a process and its children used; threads that ended count by their CPU alone."""
    # The number of a process's clock: Linux, "include/linux/posix-timers.h".
    uses = [
        Use(time.clock_gettime((~pid << 3) | 2), sum(map(n_switches, threads_of(pid))))
        for pid in processes_of(process_id)
    ]
    return Use(sum(use.cpu_s for use in uses), sum(use.n_wakeups for use in uses))


def processes_of(process_id: int) -> list[int]:
    children = [
        int(child)
        for thread in threads_of(process_id)
        for child in (thread / "children").read_text().split()
    ]
    return [process_id, *children]


def threads_of(process_id: int) -> list[Path]:
    return list(Path(f"/proc/{process_id}/task").iterdir())


def n_switches(thread: Path) -> int:
    return field_of(thread / "status", "voluntary_ctxt_switches")


def memory_text(process_id: int) -> str:
    pids = processes_of(process_id)
    pss = [field_of(Path(f"/proc/{pid}/smaps_rollup"), "Pss") / 1024 for pid in pids]
    rss = [field_of(Path(f"/proc/{pid}/status"), "VmRSS") / 1024 for pid in pids]
    each = " + ".join(f"{size:.0f}" for size in rss)
    return f"RSS {each} = {sum(rss):.0f} MB, PSS {sum(pss):.0f} MB"


def field_of(path: Path, name: str) -> int:
    for line in path.read_text().splitlines():
        if line.startswith(f"{name}:"):
            return int(line.split()[1])
    raise RuntimeError(f"{path} has no {name}")


if __name__ == "__main__":
    main()
