"""Runs operations with a fault at each of their file-system calls, in forks of one warm process.

    LD_PRELOAD=shim.so python -m crash.engine SHIM FOLDER PART N_PARTS N_RANDOM SEED SHARE [NAME]

prints one line of JSON: how many points of each operation, or of those with such a name, were tried
and what they broke. SHARE 10 tries every tenth.
"""

import ctypes
import dataclasses
import gc
import importlib
import json
import mmap
import os
import random
import select
import shutil
import sys
import time
import traceback
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from crash import agent
from crash.checker import Seen
from crash.naive_operations import NAIVE
from crash.operation import Operation
from crash.operations import OPERATIONS
from crash.places import leave_alone, places_of
from store.changing import NEW_SESSION
from ullage.errors import Refused, UllageError
from ullage.store.change import session_lock
from ullage.store.change.recovery import recover
from ullage.store.gauge.models import read_table
from ullage.store.gauge.tokenizer import encoding_of
from ullage.store.memory.changes import recover_memory_changes
from ullage.store.transcript.reader import look_at

NONE, KILL_BEFORE, KILL_AFTER, KILL_WITHIN, FAIL_EIO, FAIL_ENOSPC, SHORT, FULL_FROM = range(8)
KILLS = (KILL_BEFORE, KILL_AFTER, KILL_WITHIN)
MODES = {
    KILL_BEFORE: "WOLRMUTSPFc",
    KILL_AFTER: "WOLRMUTSPFcC",
    KILL_WITHIN: "W",
    FAIL_EIO: "WOoLRMUTSPFcCrs",
    FAIL_ENOSPC: "WOLRMT",
    SHORT: "W",
    FULL_FROM: "WOLRM",
}
"""Kinds of calls at which a mode makes a difference.

A kill before a call that only reads or closes leaves the disk as a kill after the call before it.
"""
WAIT_MS = 8
"""An agent that has not answered by then waits for our lease."""
ANSWER_S = 20
IMPORTED_LATE = (
    "encodings.utf_16_le",
    "encodings.utf_8_sig",
    "filelock",
    "ullage.store.memory.pulled",
)
"""What an operation imports when first it needs it: a fault of an import is none of a write."""
LIMIT_WITHOUT_LEASES = ("hidden: a1", "done, with 0 receipts")


class Shared(ctypes.Structure):
    _fields_ = [
        *((name, ctypes.c_int) for name in (
            "armed_pid", "n_calls", "fault_call", "fault_mode", "hook_call", "order_fd",
            "reply_fd", "wait_ms", "is_fired", "is_applied", "is_answered", "order_size",
            "no_leases",
        )),
        ("order", ctypes.c_char * 4096),
        ("kinds", ctypes.c_char * 4096),
    ]  # fmt: skip


@dataclass(frozen=True)
class Fault:
    mode: int = NONE
    call: int = -1
    hook: int = -1
    """The agent writes before this call."""
    recovery: tuple[tuple[int, int], ...] = ()
    """Mode and call of faults in the recoveries that follow."""

    @property
    def n_kills(self) -> int:
        return sum(mode in KILLS for mode, _ in ((self.mode, self.call), *self.recovery))


class Engine:
    def __init__(self, shim: str, folder: Path) -> None:
        self.folder = folder
        self.n_cases = 0
        self.kinds = ""
        """Of the calls of the operation that ran last."""
        self._memory = mmap.mmap(-1, ctypes.sizeof(Shared))
        self.shared = Shared.from_buffer(self._memory)
        ctypes.CDLL(shim).shim_attach(ctypes.byref(self.shared))
        to_agent, from_agent = os.pipe(), os.pipe()
        self._agent = os.fork()
        if self._agent == 0:
            os.close(to_agent[1])
            works = {each.name: each.beside for each in OPERATIONS if each.beside}
            agent.serve(to_agent[0], from_agent[1], works)
            os._exit(0)
        self._orders, self._replies = to_agent[1], from_agent[0]
        os.close(to_agent[0])
        self.shared.order_fd, self.shared.reply_fd = self._orders, self._replies
        self.shared.wait_ms = WAIT_MS

    def stop(self) -> None:
        os.close(self._orders)
        os.waitpid(self._agent, 0)

    def order(self, **what: str) -> None:
        os.write(self._orders, json.dumps(what).encode() + b"\n")
        self._await_answer()

    def _await_answer(self) -> None:
        if not select.select([self._replies], [], [], ANSWER_S)[0]:
            raise RuntimeError("the agent does not answer")
        os.read(self._replies, 1)

    def in_fork(self, prepare: Callable[[], Callable[[], None]], fault: Fault) -> str:
        """Do work in a process of its own, and give what it reported."""
        result = os.pipe()
        shared = self.shared
        shared.n_calls = shared.is_applied = 0
        shared.fault_mode, shared.fault_call = fault.mode, fault.call
        shared.hook_call = fault.hook
        pid = os.fork()
        if pid == 0:
            outcome = "made"
            try:
                work = prepare()
                known = set(sys.modules)
                shared.armed_pid = os.getpid()
                work()
                shared.armed_pid = 0
                if imported := set(sys.modules) - known:
                    raise RuntimeError(f"import these before the sweep: {sorted(imported)}")
            except Refused:
                outcome = "refused"
            except (UllageError, NaiveError):
                outcome = "failed"
            except BaseException as error:  # noqa: BLE001 - it is reported as a fault of ours
                shared.armed_pid = 0
                outcome = f"bug: {error!r} {traceback.format_tb(error.__traceback__)[-3:]}"
            shared.armed_pid = 0
            os.write(result[1], outcome.encode())
            os._exit(0)
        os.close(result[1])
        os.waitpid(pid, 0)
        shared.armed_pid = 0
        outcome = os.read(result[0], 4096).decode() or "killed"
        os.close(result[0])
        return outcome

    def run(self, operation: Operation, fault: Fault) -> tuple[list[str], bool]:
        """Try one case; give what it broke, and whether the fault was met."""
        self.n_cases += 1
        root = self.folder / str(self.n_cases)
        (root / "agent").mkdir(parents=True)
        path = root / "agent" / "s.jsonl"
        path.write_bytes(operation.original)
        path.chmod(0o640)
        leave_alone(path)
        target = root / "agent" / operation.target
        foreign: list[bytes] = []
        shared = self.shared
        shared.no_leases = not operation.has_leases
        first = agent.record("a1", operation.leaf)
        is_holding = operation.is_held
        if is_holding:
            self.order(do="hold", path=str(target))
        if operation.beside:
            order = {"do": "work", "path": str(root), "name": operation.name}
        else:
            do = "write held" if is_holding else "append"
            order = {"do": do, "path": str(target), "line": first.decode()}
        text = json.dumps(order) + "\n"
        shared.order, shared.order_size = text.encode(), len(text)
        shared.is_fired = shared.is_answered = 0
        met = fault if operation.has_others else dataclasses.replace(fault, hook=-1)
        outcome = self.in_fork(lambda: _prepared(operation, root), met)
        self.kinds = shared.kinds[: shared.n_calls].decode()
        is_met = bool(shared.is_applied or shared.is_fired)
        if shared.is_fired:
            if not shared.is_answered:
                self._await_answer()
            if not operation.beside:
                foreign.append(first)
        if is_holding:
            self.order(do="release", path=str(target))
        self._go_on(operation, target, foreign, "r1")
        if operation.is_ours:
            for mode, call in fault.recovery:
                told = self.in_fork(lambda: _recovery(root), Fault(mode, call))
                if told.startswith("bug"):
                    outcome = told
                self._go_on(operation, target, foreign, f"r{len(foreign) + 1}")
            shared.no_leases = not operation.has_leases
            told = self.in_fork(lambda: _recovery(root), Fault())
            if told.startswith("bug"):
                outcome = told
        self._go_on(operation, target, foreign, "z1")
        seen = Seen(root=root, outcome=outcome, foreign=foreign)
        problems = operation.check(seen)
        if (root / agent.FAULT_NAME).exists():
            problems.append((root / agent.FAULT_NAME).read_text())
        if not operation.has_leases and outcome == "killed":
            # Known limit: without leases an agent can write between our comparison and our
            # write; killed before we look again, and the agent started anew before `recover`,
            # its record is on a branch. No byte of it is lost.
            problems = [one for one in problems if not one.startswith(LIMIT_WITHOUT_LEASES)]
        if not problems:
            shutil.rmtree(root)
        return problems, is_met

    def _go_on(
        self, operation: Operation, target: Path, foreign: list[bytes], entry_id: str
    ) -> None:
        """Let the agent resume the session and write one record."""
        if operation.leaf is None or not target.exists() or operation.target == NEW_SESSION.name:
            return
        # An agent whose last record cannot be read there (it is in the old file, or behind a part
        # of ours) is still running, and goes on from what it holds; others were started anew.
        lines = [line.strip() for line in target.read_bytes().split(b"\n")]
        torn = operation.original.rpartition(b"\n")[2]
        own_fault = bool(torn and foreign) and torn + foreign[-1].strip() in lines
        is_running = bool(foreign) and foreign[-1].strip() not in lines and not own_fault
        held = json.loads(foreign[-1])["id"] if is_running else None
        line = agent.record(entry_id, held or agent.leaf_of(target))
        agent.append(target, line)
        foreign.append(line)


class NaiveError(Exception):
    """What a naive writer reports when its disk fails."""


def _prepared(operation: Operation, root: Path) -> Callable[[], None]:
    if operation.prepare:
        operation.prepare(root)
    seen = look_at(root / "agent" / "s.jsonl")

    def work() -> None:
        try:
            operation.run(root, seen)
        except OSError as error:
            if operation.is_ours:
                raise
            raise NaiveError from error

    return work


def _recovery(root: Path) -> Callable[[], None]:
    def work() -> None:
        recover(places_of(root))
        recover_memory_changes(root, places_of(root))

    return work


def systematic(kinds: str, *, has_agent: bool) -> Iterator[Fault]:
    """Yield every call with every mode, the agent before every call, and both at one call."""
    for call, kind in enumerate(kinds):
        for mode, applies in MODES.items():
            if kind in applies:
                yield Fault(mode, call)
        if has_agent:
            yield Fault(hook=call)
            for mode in (KILL_AFTER, KILL_WITHIN):
                if kind in MODES[mode]:
                    yield Fault(mode, call, call)


def stacked(kinds: str, dice: random.Random) -> Fault:
    """Throw a fault, an agent at some call, and faults in the recoveries."""
    call = dice.randrange(len(kinds))
    mode = dice.choice([mode for mode, applies in MODES.items() if kinds[call] in applies])
    hook = dice.choice((-1, dice.randrange(len(kinds)), dice.randint(0, call)))
    recovery = tuple(
        (
            dice.choice((KILL_BEFORE, KILL_AFTER, KILL_WITHIN, FAIL_EIO, FULL_FROM)),
            dice.randrange(70),
        )
        for call in dice.choices(range(70), k=dice.choice((0, 1, 1, 1, 2)))
    )
    return Fault(mode, call, hook, recovery)


def main() -> None:
    shim, folder, part, n_parts, n_random, seed, share = sys.argv[1:8]
    wanted = "".join(sys.argv[8:])
    # Patience is for people; here every wait is one for something that will not come.
    session_lock.PATIENCE_S = 0.01
    session_lock.DRAIN_S = 0.1
    session_lock.LOCK_TIMEOUT_S = 1.0
    for module in IMPORTED_LATE:
        importlib.import_module(module)
    # Data of the package, as no fault of it is meant either.
    encoding_of("gpt-4")
    read_table()
    # A fork then copies less of this process: a quarter of the time.
    gc.freeze()
    gc.disable()
    engine = Engine(shim, Path(folder))
    started = time.monotonic()
    found: dict[str, dict[str, object]] = {}
    for number, operation in enumerate((*OPERATIONS, *NAIVE)):
        if wanted in operation.name:
            dice = random.Random(f"{seed}.{part}.{number}")
            # The naive are few, and each has to be convicted.
            own_share, shift = (int(share), int(seed)) if operation.is_ours else (1, 0)
            first = int(part) + int(n_parts) * (shift % own_share)
            kinds = engine_kinds(engine, operation)
            points = list(systematic(kinds, has_agent=operation.has_others))
            points = points[first :: int(n_parts) * own_share]
            if operation.is_ours:
                points += [stacked(kinds, dice) for _ in range(-(-int(n_random) // own_share))]
            found[operation.name] = {"n_calls": len(kinds), **sweep(engine, operation, points)}
    engine.stop()
    sys.stdout.write(json.dumps({"operations": found, "seconds": time.monotonic() - started}))


def sweep(engine: Engine, operation: Operation, points: list[Fault]) -> dict[str, object]:
    """Try all points of an operation."""
    broken: list[str] = []
    begun = time.monotonic()
    n_points = n_kills = 0
    for fault in points:
        problems, is_met = engine.run(operation, fault)
        n_points += is_met
        n_kills += fault.n_kills if is_met else 0
        if problems:
            broken.append(f"{fault}: {problems}")
    return {
        "n_points": n_points,
        "n_kills": n_kills,
        "n_broken": len(broken),
        "broken": broken[:6],
        "seconds": time.monotonic() - begun,
        "is_ours": operation.is_ours,
    }


def engine_kinds(engine: Engine, operation: Operation) -> str:
    """Run an operation without a fault and note its calls."""
    problems, _ = engine.run(operation, Fault(hook=10_000))
    if problems and operation.is_ours:
        raise RuntimeError(f"{operation.name} without a fault: {problems}")
    return engine.kinds


if __name__ == "__main__":
    main()
