"""`ullage context status` and `show`: every sample, every way to name a session."""

import json
from pathlib import Path

import pytest

from claude_files import ClaudeFile, text
from pi_files import PiFile

SAMPLES = Path(__file__).parents[1] / "samples"
PI = sorted((SAMPLES / "openclaw").glob("*.jsonl"))
CLAUDE = sorted((SAMPLES / "claude-code" / "projects").rglob("*.jsonl"))
STATUS_KEYS = {
    "agent", "session_id", "path", "model", "used_tokens", "used_source", "window_tokens",
    "window_source", "utilization", "compaction_count", "last_compaction_at", "risk",
    "information_loss_percent", "recommendation", "n_entries",
}  # fmt: skip


def read_json(done) -> dict:
    assert (done.returncode, done.stderr) == (0, "")
    return json.loads(done.stdout)


@pytest.mark.parametrize("path", [*PI, *CLAUDE], ids=lambda path: path.stem)
def test_the_status_of_every_sample_has_all_documented_keys(place, path: Path) -> None:
    status = read_json(place.run("context", "status", "--json", "--session", path))
    assert status.keys() >= STATUS_KEYS
    assert status["path"] == str(path)
    assert status["agent"] == ("openclaw" if path in PI else "claude-code")
    assert status["used_tokens"] > 0
    assert status["utilization"] == pytest.approx(
        status["used_tokens"] / status["window_tokens"], abs=1e-6
    )


@pytest.mark.parametrize("path", [p for p in PI if "gen-" not in p.name], ids=lambda p: p.stem)
def test_show_prints_the_messages_that_pi_builds(place, path: Path) -> None:
    shown = read_json(place.run("context", "show", "--json", "--session", path))
    (expected,) = (path.parent / "expected").glob(f"{path.stem}.pi*.json")
    assert shown["messages"] == json.loads(expected.read_bytes())["messages"]
    assert len(shown["entry_ids"]) == len(shown["messages"])


def test_the_figures_of_the_real_claude_session_are_printed(place) -> None:
    main = next(path for path in CLAUDE if "subagents" not in path.parts)
    status = read_json(place.run("context", "status", "--json", "--session", main))
    assert (status["used_tokens"], status["used_source"]) == (17554, "reported")
    assert (status["compaction_count"], status["n_entries"]) == (1, 129)
    assert status["window_tokens"] == 200_000


def test_a_status_reads_at_a_glance(place, session: Path) -> None:
    done = place.run("context", "status", "--session", session, "--window", "8000")
    assert (done.returncode, done.stderr) == (0, "")
    lines = done.stdout.splitlines()
    assert lines[0] == "Context Status"
    assert "Total Tokens:        7,000 / 8,000 (87.5%)" in lines
    assert any(line.startswith("Window:") and "your setting" in line for line in lines)
    assert any(line.startswith("Next Trigger:") for line in lines)
    assert any(line.strip("█░ ") == "" and "█" in line for line in lines)


def test_the_status_tells_where_claude_code_compacts_and_who_says_so(place) -> None:
    file = ClaudeFile(cwd=str(place.cwd))
    file.user("hello")
    file.assistant(text("hi"), usage=100_000)
    path = place.write("s.jsonl", file.data)
    args = ("context", "status", "--session", path)
    status = read_json(place.run(*args, "--json"))
    assert status["agent_compacts_at"]["tokens"] == 167_000
    assert status["next_trigger"] == {
        "name": "checkpoint",
        "at_tokens": 133_600,
        "in_tokens": 33_600,
    }
    place.write(str(place.home / ".claude" / "settings.json"), b'{"autoCompactWindow": 120000}')
    place.write(str(place.cwd / ".claude" / "settings.json"), b"{ damaged")
    status = read_json(place.run(*args, "--json"))
    own = {"tokens": 87_000, "source": "setting"}
    own["detail"] = "autoCompactWindow in .claude/settings.json"
    assert status["agent_compacts_at"] == own
    assert status["due"]["checkpoint"]
    shown = place.run(*args).stdout
    assert all(len(line) <= 80 for line in shown.splitlines())
    said = f"Agent Compacts: by itself at 87,000, which is reached ({own['detail']})"
    assert said in " ".join(shown.split())
    off = place.run(*args, "--json", DISABLE_AUTO_COMPACT="1")
    assert read_json(off)["agent_compacts_at"] is None
    assert read_json(off)["next_trigger"]["at_tokens"] == 160_000


def test_the_window_comes_from_the_environment_too(place, session: Path) -> None:
    done = place.run(
        "context", "status", "--json", "--session", session, ULLAGE_CONTEXT_WINDOW="10000"
    )
    assert read_json(done)["window_tokens"] == 10_000


def test_nothing_that_steers_a_terminal_is_printed(place) -> None:
    pi = PiFile()
    pi.user("a\x1b]0;title\x07b \x9b31m \u202egnp.exe\u2066 \r\nnext")
    pi.assistant("one", model="gpt\x1b[2J\ud800")
    path = place.write("s.jsonl", pi.data)
    for command in ("status", "show"):
        done = place.run("context", command, "--session", path)
        assert (done.returncode, done.stderr) == (0, "")
        assert not set(done.stdout) & set("\x1b\x07\x9b\u202e\u2066\r")


def pi_session(place, name: str, *, age_s: float, cwd: str | None = None) -> Path:
    """Write a session of pi for the project folder, where pi keeps it."""
    own = str(place.cwd)
    pi = PiFile(cwd=cwd or own, session_id=name)
    pi.user("hello")
    folder = f"--{own.lstrip('/').replace('/', '-')}--"
    path = place.home / ".pi" / "agent" / "sessions" / folder / f"2026-02-03_{name}.jsonl"
    return place.write(str(path), pi.data, age_s=age_s)


def claude_session(place, name: str, *, age_s: float, cwd: str | None = None) -> Path:
    claude = ClaudeFile(cwd=cwd or str(place.cwd), session_id=name)
    claude.user("hello")
    claude.assistant(text("hi"), usage=4000)
    slug = "".join(c if c.isascii() and c.isalnum() else "-" for c in str(place.cwd))
    path = place.home / ".claude" / "projects" / slug / f"{name}.jsonl"
    return place.write(str(path), claude.data, age_s=age_s)


def status_id(place, *args: str) -> str:
    return read_json(place.run("context", "status", "--json", *args))["session_id"]


@pytest.mark.parametrize(("pi_age_s", "expected"), [(10, "pi-session"), (5000, "claude-session")])
def test_without_a_name_the_newest_session_of_the_folder_is_meant(
    place, pi_age_s: float, expected: str
) -> None:
    pi_session(place, "pi-session", age_s=pi_age_s)
    claude_session(place, "claude-session", age_s=100)
    assert status_id(place) == expected


def test_sessions_of_other_folders_that_share_a_name_are_passed_over(place) -> None:
    claude_session(place, "ours", age_s=100)
    claude_session(place, "theirs", age_s=10, cwd=f"{place.cwd.parent}.shop")
    assert status_id(place) == "ours"


def test_files_that_cannot_be_read_hide_none_of_the_others(place) -> None:
    path = claude_session(place, "ours", age_s=100)
    place.write(str(path.with_name("broken.jsonl")), b"<html>", age_s=1)
    place.write(str(path.with_name("empty.jsonl")), b"", age_s=2)
    path.with_name("folder.jsonl").mkdir()
    path.with_name("gone.jsonl").symlink_to(path.with_name("nowhere"))
    assert status_id(place) == "ours"


def test_a_subagent_is_not_the_newest_session_of_a_folder(place) -> None:
    path = claude_session(place, "ours", age_s=100)
    sub = ClaudeFile(cwd=str(place.cwd), session_id="ours", agent_id="a1b2c3d4")
    sub.user("aside")
    below = path.parent / "ours" / "subagents" / "agent-a1b2c3d4.jsonl"
    place.write(str(below), sub.data, age_s=1)
    assert status_id(place) == "ours"


@pytest.mark.parametrize("name", ["0199aaaa-1111", "0199aaaa", "0199AAAA-1"])
def test_a_session_is_found_by_the_beginning_of_its_id_from_any_folder(place, name: str) -> None:
    pi_session(place, "0199aaaa-1111", age_s=10)
    claude_session(place, "0199bbbb-2222", age_s=5)
    done = place.run("context", "status", "--json", "--session", name, cwd=place.home)
    assert read_json(done)["session_id"] == "0199aaaa-1111"


def test_an_id_that_names_several_sessions_is_refused(place) -> None:
    pi_session(place, "0199aaaa-1111", age_s=10)
    claude_session(place, "0199aaaa-2222", age_s=5)
    done = place.run("context", "status", "--session", "0199aaaa")
    assert (done.returncode, done.stdout) == (3, "")
    assert (
        done.stderr
        == "ullage: 2 sessions have ids that begin or end with 0199aaaa: give more of it\n"
    )


def test_a_relative_path_is_one_of_the_current_folder(place, session: Path) -> None:
    assert read_json(place.run("context", "status", "--json", "--session", session.name))


def test_the_agents_own_variables_for_their_folders_are_obeyed(place) -> None:
    path = pi_session(place, "moved", age_s=10)
    elsewhere = place.root / "elsewhere"
    elsewhere.mkdir()
    path.rename(elsewhere / path.name)
    done = place.run("context", "status", "--json", PI_CODING_AGENT_SESSION_DIR=str(elsewhere))
    assert read_json(done)["session_id"] == "moved"


def test_the_sessions_of_a_folder_are_listed_newest_first(place) -> None:
    pi_session(place, "older", age_s=500)
    claude_session(place, "newer", age_s=5)
    report = read_json(place.run("sessions", "--json"))
    assert [found["session_id"] for found in report["sessions"]] == ["newer", "older"]
