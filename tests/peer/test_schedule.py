"""One real night, cut short: Debian's cron runs the line of a schedule, and a dream takes place.

All runs in a namespace of mounts of its own: to cron and `crontab` the test's folders are those of
the machine, whose own crontabs are neither read nor changed.
"""

import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import date
from pathlib import Path

import pytest

from running import WAIT_S, Place
from ullage.app.memory.origins import begin_memory, record_lines
from ullage.core.install.schedule import PERIOD_MINUTES
from ullage.core.memory.inbox import read_items
from ullage.core.memory.origin import list_line_digests
from ullage.store.memory.dream_state import LOG_NAME
from ullage.store.memory.places import memory_folder

RULE = "Always run the tests against PostgreSQL 17 before you push."
EVERY_MINUTE = b"dreaming:\n  triggers:\n    schedule:\n      cron: '* * * * *'\n"
MACHINE = ("/var/spool/cron", "/etc/cron.d", "/etc/crontab", "/run")
"""What cron reads and writes; in /run is the socket of systemd, too, which is asked first."""
NIGHT_S = 300
"""Cron looks once a minute; a busy machine takes longer (chosen)."""

pytestmark = [
    pytest.mark.skipif(sys.platform != "linux", reason="only Linux has namespaces of mounts"),
    pytest.mark.skipif(shutil.which("cron") is None, reason="there is no cron"),
]


@pytest.fixture
def machine(place: Place) -> Place:
    """A place whose root is a machine of its own for `enter`, with a crontab already."""
    for path in MACHINE:
        (place.root / "machine" / path[1:]).mkdir(parents=True)
    crontab = place.root / "machine/etc/crontab"
    crontab.rmdir()
    crontab.touch(0o644)
    (place.root / "machine/var/spool/cron/crontabs").mkdir()
    entered = subprocess.run(enter(place, "true"), capture_output=True, timeout=WAIT_S, check=False)
    if entered.returncode:
        pytest.skip("only root, in no jail, mounts folders")
    return place


def enter(place: Place, *command: str) -> list[str]:
    """Give the command that runs another one on the machine of a place."""
    mounts = "".join(f'mount --bind "$0{path}" {path} && ' for path in MACHINE)
    # Whatever a daemon started ends with it.
    unshare = ("unshare", "--mount", "--pid", "--fork", "--kill-child")
    return [*unshare, "sh", "-c", f'{mounts}exec "$@"', str(place.root / "machine"), *command]


def run(place: Place, *command: str, stdin: bytes = b"") -> bytes:
    done = subprocess.run(
        enter(place, *command),
        cwd=place.cwd,
        env=place.env(),
        input=stdin,
        capture_output=True,
        timeout=WAIT_S,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@contextmanager
def cron_running(place: Place) -> Iterator[subprocess.Popen[bytes]]:
    with subprocess.Popen(
        enter(place, "cron", "-f"), cwd=place.cwd, env=place.env(), stderr=subprocess.PIPE
    ) as daemon:
        try:
            yield daemon
        finally:
            daemon.kill()


def wait_for(path: Path, daemon: subprocess.Popen[bytes]) -> None:
    """Wait until there is a file; a daemon that ends is a failure at once."""
    for _ in range(NIGHT_S):
        if path.exists():
            return
        try:
            daemon.wait(1)
        except subprocess.TimeoutExpired:
            continue
        assert daemon.stderr is not None
        pytest.fail(f"cron ended: {daemon.stderr.read()!r}")
    pytest.fail("nothing was dreamt")


def test_cron_runs_what_a_schedule_wrote_and_is_left_as_it_was(machine: Place) -> None:
    ullage = (sys.executable, "-m", "ullage")
    theirs = f"# mine\nHOME={machine.home}\n0 1 1 1 * true '100\\%'\n".encode()
    run(machine, "crontab", "-", stdin=theirs)
    machine.write(str(machine.home / ".openclaw/config.yaml"), EVERY_MINUTE)
    today = date.today().isoformat()
    machine.write(f"memory/{today}.md", f"# {today}\n\n- {RULE}\n".encode())
    begin_memory(machine.cwd, machine.places())
    lines = dict.fromkeys(list_line_digests(RULE), "user")
    record_lines(lines, "a:b", machine.cwd, machine.places())

    run(machine, *ullage, "install", "schedule", "--yes")
    scheduled = run(machine, "crontab", "-l")
    assert scheduled.startswith(theirs)
    hurried = scheduled.replace(f"\n*/{PERIOD_MINUTES} ".encode(), b"\n* ")
    assert hurried != scheduled
    run(machine, "crontab", "-", stdin=hurried)

    with cron_running(machine) as daemon:
        wait_for(memory_folder(machine.cwd, machine.places()) / LOG_NAME, daemon)
    inbox = (machine.cwd / "DREAMS.md").read_text("utf-8")
    assert [item.finding for item in read_items(inbox)] == [RULE]
    log = (memory_folder(machine.cwd, machine.places()) / LOG_NAME).read_text("utf-8")
    assert " · schedule · 1 log, 1 point read · 1 item proposed" in log
    assert not (machine.cwd / "MEMORY.md").exists()

    run(machine, *ullage, "uninstall", "schedule", "--yes")
    assert run(machine, "crontab", "-l") == theirs
