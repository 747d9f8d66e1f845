"""`ullage memory dream` and `backfill`: what they propose, and what they say of it."""

import json
from datetime import date
from pathlib import Path

import pytest

from pi_files import PiFile
from running import Done, Place
from ullage.app.memory.origins import begin_memory, record_lines
from ullage.core.memory.inbox import read_items
from ullage.core.memory.origin import digest_line
from ullage.formats.agents.openclaw.agent import OPENCLAW

RULE = "Always run the tests against PostgreSQL 17 in `CI_MODE` before you push; SQLITE lies."
OTHER = "I prefer tables over prose in every REVIEW; long paragraphs are never read by anybody."


@pytest.fixture
def logged(place: Place) -> Place:
    """A folder whose log of today has two lines that last."""
    begin_memory(place.cwd, place.places())
    lines = f"- {RULE}\n- ok thanks, looks good\n- {OTHER}\n"
    place.write(f"memory/{date.today().isoformat()}.md", lines.encode())
    origins = {digest_line(line): "user" for line in lines.splitlines()}
    record_lines(origins, "pi:s", place.cwd, place.places())
    return place


def findings(place: Place) -> list[str]:
    return [each.finding for each in read_items((place.cwd / "DREAMS.md").read_text("utf-8"))]


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
