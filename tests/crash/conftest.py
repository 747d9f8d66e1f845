"""Runs the sweep once, on as many processors as there are, for all tests of this folder."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import TypedDict

import pytest

from running import WAIT_S

N_PARTS = 2
SHARE = int(os.environ.get("CRASH_SHARE", "10"))
"""One of so many points is tried; 1 tries all of them."""
N_RANDOM = int(os.environ.get("CRASH_RANDOM", "40"))
"""Stacked faults for each operation and part, of which the share is tried too."""
SEED = os.environ.get("CRASH_SEED", "1")
TIMEOUT_S = 3600
_SUMMARY = pytest.StashKey[str]()


class Swept(TypedDict):
    n_calls: int
    n_points: int
    n_kills: int
    n_broken: int
    broken: list[str]
    is_ours: bool


@pytest.fixture(scope="session")
def swept(
    tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest
) -> dict[str, Swept]:
    if sys.platform != "linux":
        pytest.skip("only Linux has LD_PRELOAD and write leases")
    compiler = shutil.which("cc") or shutil.which("gcc")
    if compiler is None:
        pytest.skip("there is no C compiler")
    shim = tmp_path_factory.mktemp("shim") / "shim.so"
    source = Path(__file__).with_name("shim.c")
    subprocess.run(
        [compiler, "-O2", "-shared", "-fPIC", "-o", shim, source, "-ldl"],
        check=True,
        timeout=WAIT_S,
    )
    folder = _fast_folder(tmp_path_factory)
    try:
        parts = [_start(shim, folder / str(part), part) for part in range(N_PARTS)]
        found = [_result(part) for part in parts]
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    total = {name: _joined([one[name] for one in found]) for name in found[0]}
    ours = [one for one in total.values() if one["is_ours"]]
    naive = [one["n_broken"] > 0 for one in total.values() if not one["is_ours"]]
    request.config.stash[_SUMMARY] = (
        f"crash: {sum(one['n_points'] for one in ours)} points,"
        f" {sum(one['n_kills'] for one in ours)} kills in them,"
        f" {sum(one['n_broken'] for one in ours)} violations;"
        f" naive writers convicted: {sum(naive)} of {len(naive)}"
    )
    return total


def _fast_folder(factory: pytest.TempPathFactory) -> Path:
    memory = Path("/dev/shm")
    if os.access(memory, os.W_OK) and shutil.disk_usage(memory).free > 2**28:
        folder = memory / f"ullage-crash-{os.getpid()}"
        folder.mkdir(mode=0o700)
        return folder
    return factory.mktemp("crash")


def _start(shim: Path, folder: Path, part: int) -> subprocess.Popen[str]:
    folder.mkdir()
    tests = Path(__file__).parents[1]
    env = dict(os.environ) | {
        "LD_PRELOAD": str(shim),
        "PYTHONPATH": os.pathsep.join([str(tests), os.environ.get("PYTHONPATH", "")]),
    }
    arguments = [str(shim), str(folder), str(part), str(N_PARTS), str(N_RANDOM), SEED, str(SHARE)]
    return subprocess.Popen(
        [sys.executable, "-m", "crash.engine", *arguments],
        env=env,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        encoding="utf-8",
    )


def _result(part: subprocess.Popen[str]) -> dict[str, Swept]:
    out, said = part.communicate(timeout=TIMEOUT_S)
    assert part.returncode == 0, said
    return json.loads(out)["operations"]


def _joined(parts: list[Swept]) -> Swept:
    return {
        "n_calls": parts[0]["n_calls"],
        "n_points": sum(one["n_points"] for one in parts),
        "n_kills": sum(one["n_kills"] for one in parts),
        "n_broken": sum(one["n_broken"] for one in parts),
        "broken": [broken for one in parts for broken in one["broken"]],
        "is_ours": parts[0]["is_ours"],
    }


def pytest_terminal_summary(
    terminalreporter: pytest.TerminalReporter, config: pytest.Config
) -> None:
    if _SUMMARY in config.stash:
        terminalreporter.write_line(config.stash[_SUMMARY])
