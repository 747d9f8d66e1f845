"""Damaged inputs to every reader, in this process and its forks: no traceback, no hang, no bloat.

    PYTHONPATH=tests .venv/bin/python -m siege.fuzz 1000000
    PYTHONPATH=tests .venv/bin/python -m siege.fuzz --again summaries:417

The first tries so many inputs, which are the same for the same seed; the second one of them again.
A table tells how many each reader was given, how long that took, the slowest one, and the memory.
"""

import argparse
import faulthandler
import os
import random
import resource
import shutil
import signal
import sys
import tempfile
import time
import traceback
from collections import defaultdict
from collections.abc import Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from multiprocessing import get_context
from pathlib import Path
from types import FrameType
from typing import NamedTuple

from siege.fuzz_mutations import mutate
from siege.fuzz_targets import TARGETS_BY_NAME, Take, Target
from ullage.core.text.tree import ParseError
from ullage.errors import UllageError
from ullage.store.files.places import Places

MAX_S = 10
MAX_MEMORY_BYTES = 500 * 1024 * 1024
HARD_LIMIT_BYTES = 3 * MAX_MEMORY_BYTES
"""Of a worker: an input that asks for more fails at once, and the machine lives on (chosen)."""
N_BEFORE_NEW_FOLDERS = 500
"""What is written gathers, and a server learns; then both begin anew (chosen)."""
N_WORKERS = 2
ROW = "{:16}{:>10}{:>9}{:>8}{:>9}  "
NOW = "now"
"""The file that names the input at work, for the case that its process dies."""


class Hang(Exception):
    """An input took too long."""


class Ended(Exception):
    """The program would have ended its process here, as for a stream that is broken."""


class Job(NamedTuple):
    target: str
    numbers: range


class Tried(NamedTuple):
    """What became of the inputs of a job."""

    target: str
    n_inputs: int
    n_refused: int
    seconds: float
    slowest_s: float
    slowest: int
    memory_bytes: int
    """The most that the worker had so far."""
    failures: tuple[str, ...]


REFUSALS = (UllageError, ParseError, Ended, SystemExit)
_exit = os._exit


def make_input(target: Target, number: int, seed: int) -> bytes:
    dice = random.Random(f"{seed}.{target.name}.{number}")
    return mutate(dice.choice(target.seeds), dice.choice(target.seeds), dice)


def share_out(n_inputs: int, only: str | None) -> list[Job]:
    """Give each target its share, in jobs of a few hundred."""
    targets = [each for each in TARGETS_BY_NAME.values() if only in (None, each.name)]
    total = sum(target.share for target in targets)
    shares = ((target, max(1, round(n_inputs * target.share / total))) for target in targets)
    return [
        Job(target.name, range(start, min(n_own, start + N_BEFORE_NEW_FOLDERS)))
        for target, n_own in shares
        for start in range(0, n_own, N_BEFORE_NEW_FOLDERS)
    ]


def try_out(job: Job, seed: int, folder: Path) -> Tried:
    """Give a target its inputs, in new folders of this process."""
    root = folder / str(os.getpid())
    target = TARGETS_BY_NAME[job.target]
    begun = time.monotonic()
    take = _enter(target, root)
    slowest_s, slowest, n_refused = 0.0, 0, 0
    failures: list[str] = []
    for number in job.numbers:
        given = make_input(target, number, seed)
        (root / NOW).write_text(f"{target.name}:{number}", "ascii")
        before, started = _memory_bytes(), time.monotonic()
        failure = _try_one(take, given)
        took_s = time.monotonic() - started
        if took_s > slowest_s:
            slowest_s, slowest = took_s, number
        n_refused += failure == ""
        if not failure and _memory_bytes() > max(before, MAX_MEMORY_BYTES):
            failure = f"took {_memory_bytes() / 2**20:.0f} MB"
        if failure:
            failures.append(f"{target.name}:{number}: {failure}")
    return Tried(
        target.name,
        len(job.numbers),
        n_refused,
        time.monotonic() - begun,
        slowest_s,
        slowest,
        _memory_bytes(),
        tuple(failures),
    )


def _enter(target: Target, root: Path) -> Take:
    """Go where nothing is yet, with nothing of the user's in the environment."""
    os.chdir("/")
    shutil.rmtree(root, ignore_errors=True)
    places = Places(cwd=root / "shop", home=root / "home", env={}, state_folder=root / "state")
    for folder in (places.cwd, places.home):
        folder.mkdir(parents=True)
    for name in tuple(os.environ):
        del os.environ[name]
    os.environ |= {"HOME": str(places.home), "ULLAGE_STATE_DIR": str(places.state_folder)}
    os.chdir(places.cwd)
    return target.make(places)


def _try_one(take: Take, given: bytes) -> str | None:
    """Give what went wrong; nothing where the input was refused as it should be."""
    signal.setitimer(signal.ITIMER_REAL, MAX_S)
    faulthandler.dump_traceback_later(3 * MAX_S, exit=True)
    os._exit = _end
    try:
        take(given)
    except REFUSALS:
        return ""
    except BaseException as error:  # noqa: BLE001 - it is what is looked for
        where = traceback.extract_tb(error.__traceback__)[-1]
        return f"{error!r:.300} at {where.filename}:{where.lineno}"
    finally:
        os._exit = _exit
        faulthandler.cancel_dump_traceback_later()
        signal.setitimer(signal.ITIMER_REAL, 0)
    return None


def _hang(_: int, frame: FrameType | None) -> None:
    raise Hang("".join(traceback.format_stack(frame)[-3:]))


def _end(code: int) -> None:
    raise Ended(code)


def _memory_bytes() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def prepare_worker() -> None:
    """Let nothing in this process wait or grow without an end."""
    signal.signal(signal.SIGALRM, _hang)
    resource.setrlimit(resource.RLIMIT_AS, (HARD_LIMIT_BYTES, HARD_LIMIT_BYTES))


def run(jobs: Iterable[Job], seed: int, folder: Path) -> Iterator[Tried]:
    """Share jobs among forks of this process, and give what became of each.

    Raises:
        BrokenProcessPool: a worker died; a file below the folder names its input.
    """
    context = get_context("fork")
    with ProcessPoolExecutor(N_WORKERS, context, prepare_worker) as workers:
        for done in as_completed([workers.submit(try_out, job, seed, folder) for job in jobs]):
            yield done.result()


def tell(tried: Iterable[Tried]) -> tuple[str, int]:
    """Write a table of what became of all inputs, and count the failures."""
    by_target: defaultdict[str, list[Tried]] = defaultdict(list)
    places: set[str] = set()
    for each in tried:
        by_target[each.target].append(each)
        for failure in each.failures:
            # Told once for each place in the code: one fault meets thousands of inputs.
            place = failure.rpartition(" at ")[2]
            if place not in places:
                sys.stderr.write(f"{failure}\n")
            places.add(place)
    lines = [ROW.format("reader", "inputs", "refused", "s", "ms each") + "slowest"]
    for name, jobs in by_target.items():
        n_inputs, seconds = sum(job.n_inputs for job in jobs), sum(job.seconds for job in jobs)
        refused = sum(job.n_refused for job in jobs) / n_inputs
        each_ms = f"{1000 * seconds / n_inputs:.2f}"
        slowest = max(jobs, key=lambda job: job.slowest_s)
        row = ROW.format(name, f"{n_inputs:,}", f"{refused:.0%}", f"{seconds:.0f}", each_ms)
        lines.append(f"{row}{slowest.slowest_s:.2f} s, {name}:{slowest.slowest}")
    every = [job for jobs in by_target.values() for job in jobs]
    n_failures = sum(len(job.failures) for job in every)
    memory_mb = max(job.memory_bytes for job in every) / 2**20
    n_inputs = sum(job.n_inputs for job in every)
    lines.append(f"{n_inputs:,} inputs, {n_failures:,} failures, at most {memory_mb:.0f} MB")
    return "\n".join(lines), n_failures


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("n_inputs", type=int, nargs="?", default=100_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", choices=TARGETS_BY_NAME, help="one reader alone")
    parser.add_argument("--again", metavar="READER:NUMBER", help="one input, as a failure names it")
    chosen = parser.parse_args()
    begun = time.monotonic()
    memory = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
    with tempfile.TemporaryDirectory(prefix="ullage-fuzz-", dir=memory) as name:
        if chosen.again:
            target, number = chosen.again.split(":")
            first = int(number) // N_BEFORE_NEW_FOLDERS * N_BEFORE_NEW_FOLDERS
            given = make_input(TARGETS_BY_NAME[target], int(number), chosen.seed)
            sys.stdout.write(f"{given!r}\n")
            jobs = [Job(target, range(first, int(number) + 1))]
        else:
            jobs = share_out(chosen.n_inputs, chosen.only)
        try:
            table, n_failures = tell(run(jobs, chosen.seed, Path(name)))
        except BrokenProcessPool:
            inputs = ", ".join(sorted(path.read_text() for path in Path(name).glob(f"*/{NOW}")))
            sys.exit(f"a worker died at one of: {inputs}")
    sys.stdout.write(f"{table}, {time.monotonic() - begun:.0f} s\n")
    sys.exit(bool(n_failures))


if __name__ == "__main__":
    main()
