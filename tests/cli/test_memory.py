"""`ullage memory flush`, and the flush before a compaction: shown first, then written."""

import json
from datetime import datetime, timedelta
from pathlib import Path

import pytest

from pi_files import PiFile, conversation
from running import Place
from secret_samples import SAMPLES

CANARY = SAMPLES["github"].secret
WINDOW = ("--window", "8000")


@pytest.fixture
def spoken(place: Place) -> Path:
    pi = PiFile(cwd=str(place.cwd))
    pi.user(f"Fix src/total.py, my token is {CANARY}. Never touch schema.sql.")
    pi.assistant("Decided to round the sum because the tax office asks for it.")
    return place.write("spoken.jsonl", pi.data)


@pytest.fixture
def session(place: Place) -> Path:
    data = conversation(10, chars=2400, usage=7_000, cwd=str(place.cwd)).data
    return place.write("session.jsonl", data)


def logs(place: Place) -> list[Path]:
    return sorted((place.cwd / "memory").glob("*.md"))


def test_a_preview_writes_nothing_and_a_no_neither(place: Place, spoken: Path) -> None:
    before = place.files()
    shown = place.run("memory", "flush", "--session", spoken, stdin="n\n")
    assert shown.returncode == 0
    assert shown.stdout.startswith("Memory: 3 lines to memory/")
    assert "(by extraction, no model)\n\n## " in shown.stdout
    assert "Memory flush cancelled." in shown.stderr
    planned = place.run("memory", "flush", "--dry-run", "--json", "--session", spoken)
    assert (planned.returncode, planned.stderr) == (0, "")
    assert json.loads(planned.stdout)["outcome"] == "planned"
    assert {name: place.files()[name] for name in before} == before
    assert logs(place) == []


def test_what_is_new_is_written_and_then_there_is_nothing_new(place: Place, spoken: Path) -> None:
    args = ("memory", "flush", "--yes", "--session", spoken)
    done = place.run(*args)
    assert (done.returncode, done.stderr) == (0, "")
    (log,) = logs(place)
    assert f"✓ Wrote 3 lines to memory/{log.name}" in done.stdout
    text = log.read_text("utf-8")
    assert text.startswith(f"# {log.stem}\n\n## ")
    assert " — Memory flush\n" in text
    assert "- Never touch schema.sql." in text
    assert CANARY not in text + done.stdout
    again = place.run(*args)
    assert again.stdout.startswith("Nothing to do: nothing is new since the last flush · ")
    assert log.read_text("utf-8") == text


def test_the_answer_as_json(place: Place, spoken: Path) -> None:
    args = ("memory", "flush", "--json", "--yes", "--session", spoken)
    done = json.loads(place.run(*args).stdout)
    (log,) = logs(place)
    assert (done["outcome"], done["path"]) == ("written", str(log))
    assert (done["lines"], done["by"]) == (3, "extractive")
    assert log.read_text("utf-8").endswith(done["text"])
    again = json.loads(place.run(*args).stdout)
    assert (again["outcome"], again["path"], again["lines"]) == ("nothing", None, 0)


def test_refusals_are_one_line_and_write_nothing(place: Place, spoken: Path) -> None:
    args = ("memory", "flush", "--yes", "--session", spoken)
    read_only = place.run(*args, ULLAGE_SANDBOX_READ_ONLY="true")
    assert read_only.returncode == 4
    assert ": the workspace is read-only" in read_only.stderr
    assert read_only.stderr.count("\n") == 1
    without = place.run(*args, ULLAGE_MEMORY_ENABLED="false")
    assert (without.returncode, without.stderr.count("\n")) == (4, 1)
    assert ": memory is switched off" in without.stderr
    assert not (place.cwd / "memory").exists()
    (place.cwd / "memory").write_text("a file", "utf-8")
    refused = place.run(*args)
    assert (refused.returncode, refused.stderr.count("\n")) == (4, 1)
    assert "is no folder" in refused.stderr
    assert (place.cwd / "memory").read_text("utf-8") == "a file"


def test_a_compaction_lists_its_flush_and_makes_it(place: Place, session: Path) -> None:
    (place.cwd / "MEMORY.md").write_text("# Memory\n", "utf-8")
    args = ("compact", "--session", session, *WINDOW)
    shown = place.run(*args, "--dry-run")
    assert (shown.returncode, shown.stderr) == (0, "")
    assert "\nMemory: " in shown.stdout
    assert logs(place) == []
    done = place.run(*args, "--json", "--yes")
    assert (done.returncode, done.stderr) == (0, "")
    (log,) = logs(place)
    memory = json.loads(done.stdout)["memory"]
    assert (memory["outcome"], memory["path"]) == ("written", str(log))
    assert " epoch 0 turn " in log.read_text("utf-8")


def test_a_compaction_where_no_memory_is_kept_writes_none(place: Place, session: Path) -> None:
    done = place.run("compact", "--json", "--yes", "--session", session, *WINDOW)
    assert (done.returncode, done.stderr) == (0, "")
    assert json.loads(done.stdout)["memory"] is None
    assert not (place.cwd / "memory").exists()


def test_a_compaction_whose_log_cannot_be_written_says_so_and_is_made(
    place: Place, session: Path
) -> None:
    (place.cwd / "outside").mkdir()
    try:
        (place.cwd / "memory").symlink_to(place.root)
    except OSError:
        pytest.skip("the system lets us make no links")
    done = place.run("compact", "--yes", "--session", session, *WINDOW)
    assert done.returncode == 0
    assert "Note: memory is not written down: " in done.stdout
    assert "✓ Compacted" in done.stdout


@pytest.mark.parametrize("command", ["compact", "memory flush"])
@pytest.mark.parametrize("name", ["conftest.py", ".git/hooks/post-checkout"])
def test_no_file_of_a_repository_is_written_through_a_planted_link(
    place: Place, session: Path, command: str, name: str
) -> None:
    target = place.cwd / name
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text("theirs\n", "utf-8")
    (place.cwd / "memory").mkdir()
    now = datetime.now().astimezone()
    try:
        for day in (now, now + timedelta(days=1)):
            (place.cwd / "memory" / f"{day:%Y-%m-%d}.md").symlink_to(target)
    except OSError:
        pytest.skip("the system lets us make no links")
    done = place.run(*command.split(), "--yes", "--session", session, *WINDOW)
    assert target.read_text("utf-8") == "theirs\n"
    assert "is a link" in done.stdout + done.stderr
    assert done.returncode == (0 if command == "compact" else 4)
