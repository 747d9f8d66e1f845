"""Agents and Ullage at one session at once: every record of every agent is there, in its order."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from running import WAIT_S
from store.changing import HEADER, KEY, record
from ullage.store.change.receipts import list_receipts
from ullage.store.change.recovery import recover
from ullage.store.files.places import Places

N_AGENTS = 4
N_RECORDS = 150
N_TRIES = 60
"""At least: who never has the session alone tries on."""

AGENT = """
import os, sys, time
from store.changing import record
path, name, n_records = sys.argv[1], sys.argv[2], int(sys.argv[3])
sys.stdin.readline()
for number in range(n_records):
    fd = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
    os.write(fd, record(f"{name}.{number}", None, "x" * (number % 700)))
    os.close(fd)
    time.sleep(0.0005 * (number % 5))
"""

TOOL = """
import sys, time
from itertools import count
from pathlib import Path
from store.changing import occasion, record
from ullage.core.change.edit import Append, LineChange, Rewrite
from ullage.errors import Refused
from ullage.store.change import session_lock
from ullage.store.change.make import apply_change
from ullage.store.files.places import Places
from ullage.store.transcript.reader import look_at
# Idle for no time at all: what is tried here is what holds where that look was wrong.
session_lock.QUIET_S = 0.0
session_lock.PATIENCE_S = 0.02
root, name, n_tries = Path(sys.argv[1]), sys.argv[2], int(sys.argv[3])
places = Places(cwd=root, home=root, env={}, state_folder=root / "state")
path = root / "agent" / "s.jsonl"
first = record("first", None, "old " * 50)
sys.stdin.readline()
n_made = 0
for number in count():
    if number >= n_tries and n_made:
        break
    seen = look_at(path)
    line = record(f"{name}.{number}", "first")
    if name == "append":
        change = Append(data=line)
    else:
        with path.open("rb") as file:
            file.readline()
            old = file.readline()
        new = record("first", None, f"{name} {number}")
        offset = HEADER_SIZE
        change = Rewrite(changes=(LineChange(offset=offset, old=old, new=new),), appended=line)
    try:
        apply_change(path, seen, change, occasion(), places)
        n_made += 1
    except Refused:
        time.sleep(0.002)
print(n_made)
""".replace("HEADER_SIZE", str(len(HEADER)))


@pytest.mark.skipif(
    sys.platform != "linux", reason="elsewhere no lease keeps an agent out while we rename"
)
def test_nothing_is_lost_between_agents_and_tools(tmp_path: Path, places: Places) -> None:
    path = tmp_path / "agent" / "s.jsonl"
    path.parent.mkdir()
    path.write_bytes(HEADER + record("first", None, "old " * 50))
    agents = [_start(AGENT, path, f"agent{n}", N_RECORDS) for n in range(N_AGENTS)]
    tools = [_start(TOOL, tmp_path, name, N_TRIES) for name in ("append", "rewrite")]
    for process in (*agents, *tools):
        assert process.stdin
        process.stdin.write("go\n")
        process.stdin.flush()
    try:
        for process in agents:
            process.communicate(timeout=WAIT_S)
        n_made = [int(process.communicate(timeout=WAIT_S)[0]) for process in tools]
    finally:
        for process in (*agents, *tools):
            process.kill()
    recover(places)

    ids = [json.loads(line).get("id") for line in path.read_bytes().split(b"\n")[:-1]]
    for number in range(N_AGENTS):
        theirs = [one for one in ids if one.startswith(f"agent{number}.")]
        assert theirs == [f"agent{number}.{n}" for n in range(N_RECORDS)]
    ours = [one for one in ids if one.startswith(("append.", "rewrite."))]
    assert len(ours) == len(set(ours)) == sum(n_made)
    assert all(n_made)
    done = [one for one in list_receipts(KEY, places).receipts if one.state == "done"]
    assert len(done) == sum(n_made)


def _start(source: str, *args: object) -> "subprocess.Popen[str]":
    tests = str(Path(__file__).parents[1])
    env = dict(os.environ) | {
        "PYTHONPATH": os.pathsep.join([tests, os.environ.get("PYTHONPATH", "")])
    }
    return subprocess.Popen(
        [sys.executable, "-c", source, *map(str, args)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env=env,
        encoding="utf-8",
    )
