"""`ullage compact` and `ullage undo`: what is previewed is what comes, and it can be undone."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from claude_files import ClaudeFile
from pi_files import conversation

WINDOW = ("--window", "8000")


def show(place, session: Path) -> dict:
    done = place.run("context", "show", "--json", "--session", session)
    assert (done.returncode, done.stderr) == (0, "")
    return json.loads(done.stdout)


def compact(place, session: Path, *args: str, window: tuple[str, ...] = WINDOW) -> dict:
    done = place.run("compact", *args, "--json", "--session", session, *window)
    assert (done.returncode, done.stderr) == (0, "")
    return json.loads(done.stdout)


def timeless(messages: list[dict]) -> list[dict]:
    return [{key: m[key] for key in m if key != "timestamp"} for m in messages]


def test_what_must_not_be_compacted_has_failed_with_its_reason(place) -> None:
    claude = ClaudeFile(cwd=str(place.cwd), agent_id="a1")
    claude.user("hello")
    place.write("side.jsonl", claude.data)
    refused = place.run("compact", "--yes", "--session", "side.jsonl")
    assert refused.returncode == 4
    assert refused.stderr.startswith("ullage: hello · Claude Code · ")
    assert ": Compaction failed: a subagent's transcript cannot be resumed" in refused.stderr


@pytest.mark.parametrize("args", [(), ("--json",)], ids=["text", "json"])
def test_a_preview_writes_nothing_but_the_cache_of_counts(
    place, session: Path, args: tuple[str, ...]
) -> None:
    before = place.files()
    at_ns = session.stat().st_mtime_ns
    done = place.run("compact", "--dry-run", *args, "--session", session, *WINDOW)
    assert (done.returncode, done.stderr) == (0, "")
    assert session.stat().st_mtime_ns == at_ns
    new = {name for name in place.files() if name not in before}
    assert all(Path(name).parts[:2] in (("state",), ("state", "index")) for name in new)
    assert {name: place.files()[name] for name in before} == before


def test_the_context_afterwards_is_the_one_that_was_previewed(place, session: Path) -> None:
    original = session.read_bytes()
    planned = compact(place, session, "--dry-run")
    done = compact(place, session, "--yes")
    shown = show(place, session)
    assert (planned["outcome"], done["outcome"]) == ("planned", "compacted")
    assert shown["messages"] == done["messages"]
    assert timeless(shown["messages"]) == timeless(planned["messages"])
    assert shown["summary"] == planned["summary"] == done["summary"]
    assert session.read_bytes().startswith(original)
    (line,) = session.read_bytes()[len(original) :].splitlines()
    entry = json.loads(line)
    assert (entry["type"], entry["fromHook"]) == ("compaction", True)
    assert entry["firstKeptEntryId"] == done["first_kept_entry_id"] == shown["entry_ids"][1]
    assert entry["tokensBefore"] == planned["tokens_before"]


def test_a_compaction_makes_the_context_smaller_and_keeps_a_checkpoint(
    place, session: Path
) -> None:
    done = compact(place, session, "--yes")
    assert done["tokens_after"] < done["tokens_before"]
    status = json.loads(place.run("context", "status", "--json", "--session", session).stdout)
    assert status["compaction_count"] == 1
    assert status["used_tokens"] < done["tokens_before"]
    (checkpoint,) = place.state.rglob("cp_001.yaml")
    assert done["checkpoint_id"] == "cp_001"
    assert oct(checkpoint.stat().st_mode & 0o777) == "0o600"


def test_undo_gives_back_the_same_messages(
    place, session: Path, make_idle: Callable[[Path], Path]
) -> None:
    before = show(place, session)
    compact(place, session, "--yes")
    assert show(place, session) != before
    make_idle(session)
    done = place.run("undo", "--session", session, *WINDOW)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("✓ Undone:")
    assert show(place, session) == before


def test_a_compaction_can_be_made_again_after_it_was_undone(
    place, session: Path, make_idle: Callable[[Path], Path]
) -> None:
    first = compact(place, session, "--yes")
    place.run("undo", "--session", make_idle(session), *WINDOW)
    second = compact(place, make_idle(session), "--yes")
    assert timeless(second["messages"]) == timeless(first["messages"])
    # Nothing was forgotten in between, so that the first checkpoint says all there is.
    assert second["checkpoint_id"] == first["checkpoint_id"] == "cp_001"


def test_a_second_compaction_carries_the_first_summary_on(
    place, session: Path, make_idle: Callable[[Path], Path]
) -> None:
    compact(place, session, "--yes")
    make_idle(session)
    again = compact(place, session, "--yes", window=("--window", "3000"))
    assert again["outcome"] == "compacted"
    roles = [message["role"] for message in show(place, session)["messages"]]
    assert roles.count("compactionSummary") == 1


@pytest.mark.parametrize("ending", [b"", b"\n"], ids=["torn", "whole"])
def test_a_last_line_without_its_end_is_closed_before_ours(
    place, session: Path, ending: bytes, make_idle: Callable[[Path], Path]
) -> None:
    data = session.read_bytes().rstrip(b"\n") + ending
    session.write_bytes(data)
    compact(place, make_idle(session), "--yes")
    after = session.read_bytes()
    assert after.startswith(data)
    assert all(json.loads(line) for line in after.splitlines())


def test_without_a_yes_nothing_is_done(place, session: Path) -> None:
    before = session.read_bytes()
    done = place.run("compact", "--session", session, *WINDOW, stdin="n\n")
    assert done.returncode == 0
    assert "Compaction cancelled." in done.stderr
    assert session.read_bytes() == before
    assert not list(place.state.rglob("*.yaml"))


def test_a_closed_input_is_no_yes(place, session: Path) -> None:
    before = session.read_bytes()
    done = place.run("compact", "--session", session, *WINDOW, stdin="")
    assert done.returncode != 0
    assert session.read_bytes() == before


def test_a_yes_at_the_prompt_compacts(place, session: Path) -> None:
    done = place.run("compact", "--session", session, *WINDOW, stdin="y\n")
    assert done.returncode == 0
    assert "✓ Compacted" in done.stdout


def test_what_is_small_already_is_left_alone(place) -> None:
    session = place.write("small.jsonl", conversation(2).data)
    before = session.read_bytes()
    report = compact(place, session, "--yes", window=())
    assert report["outcome"] == "nothing"
    assert "is smaller than the 25,000 tokens that stay" in report["reason"]
    assert session.read_bytes() == before


def test_the_focus_is_named_in_the_summary_and_in_the_record(place, session: Path) -> None:
    done = compact(place, session, "--yes", "--focus", "the parser")
    assert "the parser" in done["summary"]
    assert json.loads(session.read_bytes().splitlines()[-1])["details"]["customInstruction"] == (
        "the parser"
    )


def test_the_demonstration_runs_through_and_leaves_nothing_behind(place) -> None:
    before = place.files()
    done = place.run("demo")
    assert (done.returncode, done.stderr) == (0, "")
    assert "✓ Compacted" in done.stdout
    assert "message for message" in done.stdout
    assert place.files() == before


def test_the_demonstration_tells_its_story_on_one_screen(place) -> None:
    lines = place.run("demo").stdout.split("\n")
    assert len(lines) <= 40
    assert max(map(len, lines)) <= 80
    assert [line for line in lines if line.endswith(("…", "..."))] == []
    for told in ("Total Tokens", "Replaced:", "Audit:", "- Never edit files", "✓ Undone"):
        assert any(told in line for line in lines), told
    full = place.run("demo", "--full").stdout.split("\n")
    assert {'schema: "openclaw/checkpoint"', "## Identifiers"} <= {*full} - {*lines}
