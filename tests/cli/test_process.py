"""What only a process of its own shows: exit codes, signals, streams and their encodings."""

import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import pytest

from pi_files import conversation
from running import WAIT_S, Place

COMPACT = ("compact", "--window", "8000", "--session")


@pytest.mark.parametrize(
    ("args", "exit_code"),
    [(("--version",), 0), (("context", "nonsense"), 2), (("context", "status"), 3)],
    ids=str,
)
def test_a_process_ends_with_the_exit_code_of_its_command(
    place: Place, args: tuple[str, ...], exit_code: int
) -> None:
    done = place.run_process(*args)
    assert done.returncode == exit_code
    assert (done.stdout == "") == (exit_code != 0)
    assert done.stderr.count("\n") == (exit_code != 0)


def test_a_yes_in_the_input_is_an_answer(place: Place, session: Path) -> None:
    done = place.run_process(*COMPACT, session, stdin=b"y\n")
    assert done.returncode == 0, done.stderr
    assert "✓ Compacted" in done.stdout


@pytest.mark.skipif(sys.platform == "win32", reason="Windows knows other signals")
def test_an_interrupted_question_changes_nothing(place: Place, session: Path) -> None:
    before = session.read_bytes()
    with place.start(*COMPACT, session) as process:
        asked = b""
        while not asked.endswith(b"[y/N]: ") and (char := process.stderr.read(1)):
            asked += char
        for _ in range(4):  # a signal just before the read is seen with the next one
            process.send_signal(signal.SIGINT)
            with suppress(subprocess.TimeoutExpired):
                process.wait(WAIT_S / 4)
                break
        process.kill()
        assert process.returncode == 130
        assert process.stderr.read().strip() == b"ullage: stopped; nothing more was done"
    assert session.read_bytes() == before


@pytest.mark.parametrize(
    ("encoding", "printed"), [("ascii", "utf-8"), ("cp1252", "cp1252"), ("cp850", "cp850")]
)
def test_a_terminal_without_unicode_gets_what_it_can_show(
    place: Place, session: Path, encoding: str, printed: str
) -> None:
    """click takes ASCII for a terminal set up badly; the others are code pages of Windows."""
    command = ("context", "status", "--session", session)
    with place.start(*command, PYTHONIOENCODING=encoding, PYTHONUTF8="0") as process:
        out, err = process.communicate(timeout=WAIT_S)
    assert (process.returncode, err) == (0, b"")
    lines = out.decode(printed).splitlines()
    assert lines[0] == "Context Status"
    assert any(line.strip("?░█ ") == "" and line.strip() for line in lines)


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere a name is text")
def test_a_name_that_is_no_text_is_refused_in_one_line(place: Place) -> None:
    done = place.run_process("context", "status", "--session", "caf\udce9.jsonl")
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (3, "", 1)


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere no device is full")
@pytest.mark.parametrize("options", [(), ("--json",)], ids=["text", "JSON"])
def test_a_full_disk_is_no_fault_of_ours(
    place: Place, session: Path, options: tuple[str, ...]
) -> None:
    command = (sys.executable, "-m", "ullage", "context", "status", "--session", str(session))
    with Path("/dev/full").open("wb") as full:
        done = subprocess.run(
            [*command, *options],
            cwd=place.cwd,
            env=place.env(),
            stdout=full,
            stderr=subprocess.PIPE,
            timeout=WAIT_S,
            check=False,
        )
    said = b"ullage: the output cannot be written: No space left on device\n"
    assert (done.returncode, done.stderr) == (5, said)


def test_a_reader_that_stops_reading_is_no_fault(place: Place) -> None:
    path = place.write("long.jsonl", conversation(100, chars=2400).data)
    with place.start("context", "show", "--session", path) as process:
        assert process.stdout.readline()
        process.stdout.close()
        assert process.stderr.read() == b""
        assert process.wait(WAIT_S) == 0
