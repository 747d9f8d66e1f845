"""What the language server costs while nothing happens, and while an agent writes.

    python benchmarks/idle.py [N_SESSIONS ...]

Linux only: it reads /proc. The real server is started over standard input and output, in a made-up
home of so many sessions, a tenth of them of the workspace. Once it is at rest and its process for
tokens ended, all that it does in a minute is counted: each time that a thread slept and went on is
a wakeup. Then lines are appended to the session that the gauge shows, by turns an answer and a
result.
"""

import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import NamedTuple

from editor import Client
from looks import Home

from pi_files import PiFile

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


def start(n_sessions: int, folder: Path) -> tuple[Client, "Session"]:
    """Start a server, and give the session that it shows."""
    home = Home(folder)
    shown = write_home(home, n_sessions)
    client = Client(home.home)
    folders = [{"uri": home.cwd.as_uri(), "name": "shop"}]
    params = {"processId": None, "rootUri": None, "capabilities": {}, "workspaceFolders": folders}
    client.request("initialize", params)
    client.notify("initialized", {})
    return client, shown


def measure(n_sessions: int, folder: Path) -> None:
    client, shown = start(n_sessions, folder)
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


def write_home(home: Home, n_sessions: int) -> "Session":
    """Write sessions of pi, Codex and Claude Code in turn; give the one written last."""
    for number in range(n_sessions, 1, -1):
        cwd = home.cwd if number % 10 == 1 else home.cwd.parent / f"other-{number % 7}"
        home.write(("pi", "claude", "codex")[number % 3], number, cwd)
    return Session(home)


class Session:
    """A session of pi that grows."""

    def __init__(self, home: Home) -> None:
        self._path = home.write("pi", 1, home.cwd)
        self._pi = PiFile(cwd=str(home.cwd), session_id=self._path.stem)
        self._pi.user(TEXT)
        for _ in range(40):
            self.add_line()
        self._path.write_bytes(self._pi.data)

    def add_line(self) -> bytes:
        """Give an answer that calls a tool, and that tool's result by turns."""
        number = len(self._pi.lines)
        if number % 2:
            self._pi.result(f"c{number - 1}", f"{number} {TEXT}", name="read")
        else:
            calls = [(f"c{number}", "read", {"path": "a"})]
            self._pi.assistant(TEXT, calls=calls, usage=20_000 + number, stop="toolUse")
        return self._pi.lines[-1]

    def append_line(self) -> None:
        with self._path.open("ab") as file:
            file.write(self.add_line())


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


def append(client: Client, session: Session, per_second: int, n_lines: int) -> tuple[float, float]:
    """Append lines; give the CPU time of one and the longest round trip meanwhile, in ms."""
    pings: list[float] = []
    is_done = threading.Event()

    def ping() -> None:
        while not is_done.wait(PING_PAUSE_S):
            pings.append(client.request("ullage/none", {})[0])

    pinging = threading.Thread(target=ping)
    with_pings, lone = n_lines // 2, n_lines - n_lines // 2
    pinging.start()
    write_at(session, with_pings, per_second)
    is_done.set()
    pinging.join()
    before = used_by(client.process_id)
    write_at(session, lone, per_second)
    time.sleep(1)
    cpu_s = used_by(client.process_id).cpu_s - before.cpu_s
    return cpu_s * 1000 / lone, max(pings) * 1000


def write_at(session: Session, n_lines: int, per_second: int) -> None:
    started = time.monotonic()
    for number in range(n_lines):
        time.sleep(max(0.0, started + number / per_second - time.monotonic()))
        session.append_line()


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
