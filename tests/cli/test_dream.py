"""`ullage memory dream`, `review`, `undo` and `backfill`: what they say, and who may decide."""

import json
import os
import subprocess
import sys
from datetime import date
from pathlib import Path

import pytest

from pi_files import PiFile
from running import WAIT_S, Done, Place
from ullage.app.memory.origins import begin_memory, record_lines
from ullage.core.memory.inbox import read_items
from ullage.core.memory.origin import digest_line
from ullage.formats.agents.openclaw.agent import OPENCLAW

RULE = "Always run the tests against PostgreSQL 17 in `CI_MODE` before you push; SQLITE lies."
OTHER = "I prefer tables over prose in every REVIEW; long paragraphs are never read by anybody."
on_terminal = pytest.mark.skipif(sys.platform == "win32", reason="Windows has no pty")


@pytest.fixture
def logged(place: Place) -> Place:
    """A folder whose log of today has two lines that last."""
    begin_memory(place.cwd, place.places())
    lines = f"- {RULE}\n- ok thanks, looks good\n- {OTHER}\n"
    place.write(f"memory/{date.today().isoformat()}.md", lines.encode())
    origins = {digest_line(line): "user" for line in lines.splitlines()}
    record_lines(origins, "pi:s", place.cwd, place.places())
    return place


@pytest.fixture
def waiting(logged: Place) -> Place:
    assert logged.run("memory", "dream").returncode == 0
    return logged


def on_pty(place: Place, *args: str, typed: str = "") -> Done:
    """Run a command whose input is a terminal, on which something was typed."""
    ours, theirs = os.openpty()
    try:
        os.write(ours, typed.encode())
        done = subprocess.run(
            [sys.executable, "-m", "ullage", "memory", *args],
            cwd=place.cwd,
            env=place.env(),
            stdin=theirs,
            capture_output=True,
            timeout=WAIT_S,
            check=False,
        )
    finally:
        os.close(ours)
        os.close(theirs)
    return Done(done.returncode, done.stdout.decode(), done.stderr.decode())


def findings(place: Place) -> list[str]:
    return [each.finding for each in read_items((place.cwd / "DREAMS.md").read_text("utf-8"))]


def memory(place: Place) -> str:
    path = place.cwd / "MEMORY.md"
    return path.read_text("utf-8") if path.exists() else ""


def test_a_dream_says_what_it_read_and_proposes(logged: Place) -> None:
    done = logged.run("memory", "dream")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("Read 1 daily log, 3 points\n  + ")
    assert done.stdout.endswith("✓ 2 items added to DREAMS.md: ullage memory review\n")
    assert max(map(len, done.stdout.splitlines())) <= 80
    again = logged.run("memory", "dream")
    assert again.stdout == "Read 1 daily log, 3 points\nNothing new lasts: nothing was proposed\n"


def test_a_dream_as_json_has_its_items(logged: Place) -> None:
    report = json.loads(logged.run("memory", "dream", "--json").stdout)
    assert (report["cause"], report["n_logs"], report["n_statements"]) == ("request", 1, 3)
    assert sorted(item["finding"] for item in report["proposed"]) == sorted([RULE, OTHER])
    assert (report["applied"], report["notes"]) == ([], [])


def test_where_nothing_is_due_nothing_is_said(place: Place) -> None:
    assert place.run("memory", "dream", "--due") == Done(0, "", "")
    report = json.loads(place.run("memory", "dream", "--due", "--json").stdout)
    assert (report["cause"], report["proposed"]) == (None, [])
    done = place.run("memory", "dream")
    assert done.stdout.startswith("There is no daily log of these days: nothing was read\n")


def test_the_list_shows_each_item_with_its_number(waiting: Place) -> None:
    for args in (("memory", "review"), ("memory", "review", "list")):
        done = waiting.run(*args)
        assert (done.returncode, done.stderr) == (0, "")
        assert "1. " in done.stdout
        assert "typed by you" in done.stdout
        assert max(map(len, done.stdout.splitlines())) <= 80
    report = json.loads(waiting.run("memory", "review", "--json").stdout)
    assert [each["number"] for each in report["waiting"]] == [1, 2]
    assert [each["item"]["finding"] for each in report["waiting"]] == findings(waiting)
    assert {each["origin"] for each in report["waiting"]} == {"user"}


@pytest.mark.parametrize(
    "args",
    [
        ("accept", "1", "--yes"),
        ("accept", "all", "--yes", "--json"),
        ("reject", "1", "--yes"),
        ("edit", "1", "--text", "x", "--yes"),
        ("merge", "1", "2", "--yes"),
    ],
)
def test_who_has_no_terminal_decides_nothing(waiting: Place, args: tuple[str, ...]) -> None:
    before = waiting.files()
    done = waiting.run("memory", "review", *args, stdin="y\n" * 9)
    assert (done.returncode, done.stdout) == (4, "")
    assert done.stderr.startswith("ullage: only a person decides")
    assert done.stderr.count("\n") == 1
    assert waiting.files() == before


@on_terminal
def test_what_a_person_accepts_is_written_and_taken_back(waiting: Place) -> None:
    before = {path: (waiting.cwd / path).read_bytes() for path in ("DREAMS.md",)}
    first, second = findings(waiting)
    done = on_pty(waiting, "review", "accept", "1", "--yes")
    assert (done.returncode, done.stderr) == (0, "")
    assert "✓ 1 item accepted into MEMORY.md; 1 still waiting." in done.stdout
    assert f"- {first}\n" in memory(waiting)
    assert findings(waiting) == [second]
    assert waiting.run("memory", "undo", "--yes").returncode == 4
    undone = on_pty(waiting, "undo", "--yes")
    assert undone.stdout == "✓ Taken back: “1 item accepted into MEMORY.md”\n"
    assert not (waiting.cwd / "MEMORY.md").exists()
    assert {path: (waiting.cwd / path).read_bytes() for path in before} == before
    nothing = on_pty(waiting, "undo", "--yes")
    assert (nothing.returncode == 0, nothing.stdout) == (False, "")
    assert nothing.stderr.startswith("ullage: no change of this folder's memory is left")


@on_terminal
def test_each_item_is_asked_about_in_turn(waiting: Place) -> None:
    first, second = findings(waiting)
    done = on_pty(waiting, "review", typed="a\nr\n")
    assert done.returncode == 0
    assert "1 item accepted into MEMORY.md, 1 item rejected" in done.stdout
    assert f"- {first}\n" in memory(waiting)
    assert second not in memory(waiting)
    assert findings(waiting) == []
    assert waiting.run("memory", "dream").stdout.endswith("nothing was proposed\n")


@on_terminal
def test_a_no_changes_nothing(waiting: Place) -> None:
    before = findings(waiting)
    done = on_pty(waiting, "review", "reject", "all", typed="n\n")
    assert done.returncode == 0
    assert "Nothing was changed." in done.stderr
    assert findings(waiting) == before


@on_terminal
def test_words_of_ones_own_are_taken_for_one_item_or_several(waiting: Place) -> None:
    args = (
        "merge",
        "1",
        "2",
        "--text",
        "Tests: PostgreSQL 17. Reviews: tables.",
        "--yes",
        "--json",
    )
    done = on_pty(waiting, "review", *args)
    assert (done.returncode, done.stderr) == (0, "")
    report = json.loads(done.stdout)
    assert (report["accepted"], report["n_waiting"]) == (
        ["Tests: PostgreSQL 17. Reviews: tables."],
        0,
    )
    assert memory(waiting).count("\n- ") == 1


@on_terminal
@pytest.mark.parametrize(
    ("args", "told"),
    [
        (("accept",), "takes an item"),
        (("merge", "1"), "takes two items or more"),
        (("edit", "1", "2", "--text", "x"), "takes one item"),
        (("edit", "1"), "--text goes with edit"),
        (("accept", "1", "--text", "x"), "--text goes with edit"),
        (("accept", "9"), "9 names no item (1 to 2)"),
        (("accept", "1", "nonsense"), "nonsense names no item"),
        (("forget", "1"), "'forget'"),
    ],
)
def test_bad_input_is_told_and_changes_nothing(
    waiting: Place, args: tuple[str, ...], told: str
) -> None:
    before = findings(waiting)
    done = on_pty(waiting, "review", *args, "--yes")
    assert done.returncode not in (0, 1)
    assert told in done.stderr
    assert "Traceback" not in done.stderr
    assert (findings(waiting), memory(waiting)) == (before, "")


@pytest.mark.parametrize("command", ["dream", "backfill"])
def test_where_memory_is_off_or_read_only_it_is_one_line(logged: Place, command: str) -> None:
    args = ("memory", command, *(("--yes",) if command == "backfill" else ()))
    for env in ({"ULLAGE_MEMORY_ENABLED": "false"}, {"ULLAGE_SANDBOX_READ_ONLY": "true"}):
        done = logged.run(*args, **env)
        assert (done.returncode, done.stdout, done.stderr.count("\n")) == (4, "", 1)
    assert not (logged.cwd / "DREAMS.md").exists()


def write_session(place: Place) -> Path:
    pi = PiFile(cwd=str(place.cwd))
    pi.user("Our team has an API spec document at /docs/api-spec.yaml.")
    pi.assistant("I see.")
    folder = OPENCLAW.workspace_folders(place.cwd, {}, place.home)[0]
    return place.write(str(folder / "a.jsonl"), pi.data)


def test_a_backfill_says_what_it_takes_and_asks_before_it_reads(place: Place) -> None:
    write_session(place)
    shown = place.run("memory", "backfill", "--dry-run")
    assert shown.stdout.startswith("1 session to read, 0.0 MB, about 1 s; nothing is sent")
    asked = place.run("memory", "backfill", stdin="n\n")
    assert "Nothing was read." in asked.stderr
    assert not (place.cwd / "DREAMS.md").exists()
    done = place.run("memory", "backfill", "--yes")
    assert (done.returncode, done.stderr) == (0, "")
    assert "Read 1 session\n  + Our team has an API spec document" in done.stdout
    assert findings(place) == ["Our team has an API spec document at /docs/api-spec.yaml."]
    again = place.run("memory", "backfill", "--yes")
    assert again.stdout.startswith("Nothing to do: 1 read before, none since")
    report = json.loads(place.run("memory", "backfill", "--yes", "--json").stdout)
    assert (report["n_sessions"], report["n_read_before"], report["proposed"]) == (0, 1, [])


def test_a_backfill_since_a_day_leaves_out_what_ended_before(place: Place) -> None:
    write_session(place)
    args = ("memory", "backfill", "--dry-run", "--json", "--since")
    assert json.loads(place.run(*args, "2999-01-01").stdout)["n_sessions"] == 0
    assert json.loads(place.run(*args, "2000-01-01").stdout)["n_sessions"] == 1
    assert place.run(*args, "last week").returncode == 2
