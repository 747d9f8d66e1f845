"""Which sessions a folder has, and which of them is meant: what its agent would go on with."""

import json
from pathlib import Path

import msgspec
import pytest

from claude_files import ClaudeFile, text
from codex_files import CodexFile
from gemini_files import GeminiFile
from pi_files import PiFile
from running import Place, idle
from ullage.app.sessions.find import list_sessions, list_subagents, look
from ullage.app.sessions.named import find_session
from ullage.errors import SessionNotFound
from ullage.formats.agents.claude_code.places import folder_name

COPY = ("compact", "--layer", "full", "--yes", "--window", "30000")


def write_claude(place: Place, session_id: str = "11111111-aaaa", age_s: float = 3600) -> Path:
    claude = ClaudeFile(cwd=str(place.cwd), session_id=session_id)
    for number in range(40):
        claude.user(f"Please look at module {number} and tell me what it does. " * 20)
        claude.assistant(text(f"Module {number} does the {number}th thing. " * 20), usage=7_000)
    folder = f"../../home/.claude/projects/{folder_name(str(place.cwd))}"
    return place.write(f"{folder}/{session_id}.jsonl", claude.data, age_s=age_s).resolve()


def write_gemini(place: Place, name: str, gemini: GeminiFile, *, age_s: float) -> Path:
    folder = place.home / ".gemini" / "tmp" / place.cwd.name / "chats"
    return place.write(str(folder / name), gemini.data, age_s=age_s)


def paths(place: Place) -> list[Path]:
    return [session.path for session in list_sessions(place.cwd, place.places())]


def copy_of(place: Place, path: Path) -> Path:
    done = place.run(*COPY, "--json", "--session", path)
    copy = Path(json.loads(done.stdout)["path_after"])
    assert copy != path
    return idle(copy, 1800)


def go_on(path: Path, *, age_s: float = 60) -> None:
    with path.open("ab") as file:
        file.write(path.read_bytes().splitlines(keepends=True)[-1])
    idle(path, age_s)


def test_a_copy_counts_once_an_agent_has_written_to_it(place: Place) -> None:
    path = write_claude(place)
    copy = copy_of(place, path)
    assert paths(place) == [path]
    assert find_session(None, place.places()).path == path
    go_on(copy)
    assert paths(place) == [copy, path]
    assert [seen.continues for seen in look((place.cwd,), place.places())] == [path, None]


def test_a_copy_that_was_only_touched_does_not_count(place: Place) -> None:
    path = write_claude(place)
    idle(copy_of(place, path), 1)
    assert paths(place) == [path]


def test_a_copy_that_was_taken_back_counts_once_it_was_written_to_since(place: Place) -> None:
    path = write_claude(place)
    copy = copy_of(place, path)
    go_on(copy)
    assert place.run("undo", "--yes", "--session", copy).returncode == 0
    assert copy.exists()
    assert paths(place) == [path]
    assert place.run("context", "status").stdout.count(path.stem) == 1
    go_on(copy)
    assert paths(place) == [copy, path]


def test_undo_without_a_session_takes_back_the_copy_of_the_one_that_is_meant(place: Place) -> None:
    path = write_claude(place)
    copy = copy_of(place, path)
    assert place.run("undo", "--yes").returncode == 0
    assert not copy.exists()
    assert paths(place) == [path]


def test_stubs_of_gemini_are_no_sessions_and_one_id_is_one_session(place: Place) -> None:
    session_id = "aaaaaaaa-0000-4000-8000-00000000beef"
    chat, stub = GeminiFile(sessionId=session_id), GeminiFile(sessionId=session_id)
    chat.user("Fix the flaky test")
    chat.model("Done.", n_input=900)
    stub.user("<session_context>This is the Gemini CLI.</session_context>")
    other = write_gemini(place, "session-2026-11-22T09-00-aaaaaaaa.jsonl", chat, age_s=300)
    path = write_gemini(place, "session-2026-11-22T10-00-aaaaaaaa.jsonl", chat, age_s=200)
    write_gemini(place, "session-2026-11-22T11-00-aaaaaaaa.jsonl", stub, age_s=100)
    assert paths(place) == [path]
    assert other.exists()
    assert find_session("0000beef", place.places()).path == path
    assert find_session(session_id, place.places()).path == path


def write_codex(place: Place, day: str, data: bytes, age_s: float = 3600) -> Path:
    name = f"rollout-2026-11-{day}T10-00-00-01a1fbde-0000-7000-8000-0000000000{day}.jsonl"
    return place.write(str(place.home / ".codex/sessions/2026/11" / day / name), data, age_s=age_s)


def codex_of(cwd: Path, day: str, **meta: object) -> CodexFile:
    codex = CodexFile(id=f"01a1fbde-0000-7000-8000-0000000000{day}", cwd=str(cwd), **meta)
    codex.user("Fix the flaky test")
    codex.assistant("Done.", n_total=900)
    return codex


def settle(place: Place) -> None:
    """Let the folders of Codex be old, so that they are not listed again without need."""
    for folder in (place.home / ".codex").rglob("*/"):
        idle(folder)


def test_an_old_session_of_codex_that_goes_on_comes_first(place: Place) -> None:
    old = write_codex(place, "01", codex_of(place.cwd, "01").data, age_s=7200)
    new = write_codex(place, "02", codex_of(place.cwd, "02").data)
    write_codex(place, "03", codex_of(place.home, "03").data)
    settle(place)
    assert paths(place) == [new, old]
    go_on(old)
    assert paths(place) == [old, new]


def test_a_session_counts_once_its_first_line_is_whole(place: Place) -> None:
    data = codex_of(place.cwd, "01").data
    path = write_codex(place, "01", data[:40])
    settle(place)
    assert paths(place) == []
    path.write_bytes(data)
    assert paths(place) == [path]


def test_a_subagent_is_found_below_its_session_alone(place: Place) -> None:
    main = codex_of(place.cwd, "01")
    parent_id = "01a1fbde-0000-7000-8000-000000000001"
    source = {"subagent": {"thread_spawn": {"parent_thread_id": parent_id}}}
    path = write_codex(place, "01", main.data)
    child = write_codex(place, "02", codex_of(place.cwd, "02", source=source).data)
    child = child.rename(path.with_name(child.name))
    settle(place)
    for _ in range(2):
        (session,) = list_sessions(place.cwd, place.places())
        assert session.path == path
        assert [each.path for each in list_subagents(session, place.places(), [])] == [child]


def test_a_look_of_a_command_writes_nothing_where_nothing_may_be_written(place: Place) -> None:
    write_claude(place)
    settings = place.home / ".openclaw" / "config.yaml"
    settings.parent.mkdir()
    settings.write_bytes(b"sandbox:\n  readOnly: true\n")
    for words in (("sessions",), ("context", "status"), ("checkpoint", "list"), ("doctor",)):
        assert place.run(*words).returncode == 0, words
    assert not place.state.exists()


def test_a_live_session_comes_before_one_that_was_written_to_later(place: Place) -> None:
    running = write_claude(place, "11111111-aaaa", age_s=900)
    other = write_claude(place, "22222222-bbbb", age_s=300)
    assert find_session(None, place.places()).path == other
    process = place.home / ".claude" / "sessions" / "1.json"
    process.parent.mkdir()
    process.write_text(json.dumps({"pid": 1, "sessionId": "11111111-aaaa"}))
    assert find_session(None, place.places()).path == running
    listed = json.loads(place.run("sessions", "--json").stdout)["sessions"]
    assert [row["path"] for row in listed] == [str(running), str(other)]


@pytest.mark.parametrize("part", ["11111111", "1-cafe0001"])
def test_a_session_is_named_by_the_beginning_or_the_end_of_its_id(place: Place, part: str) -> None:
    path = write_claude(place, "11111111-cafe0001")
    write_claude(place, "22222222-cafe0002")
    assert find_session(part, place.places()).path == path


def test_a_folder_without_sessions_names_the_one_above_that_has_some(place: Place) -> None:
    write_claude(place)
    below = place.cwd / "src" / "deep"
    below.mkdir(parents=True)
    done = place.run("context", "status", cwd=below)
    assert f"no session of an agent in {below}: run Ullage in {place.cwd}, which" in done.stderr
    for command in ("sessions", "usage"):
        assert f"in {place.cwd}, which has some." in place.run(command, cwd=below).stdout
    above = msgspec.structs.replace(place.places(), cwd=place.home)
    with pytest.raises(SessionNotFound, match="where the agent ran"):
        find_session(None, above)


def test_a_change_of_ours_makes_no_session_the_one_that_is_meant(place: Place) -> None:
    claude = write_claude(place)
    folder = f"../../home/.pi/agent/sessions/--{str(place.cwd).strip('/').replace('/', '-')}--"
    pi = place.write(f"{folder}/old.jsonl", long_pi(place).data, age_s=6 * 86400).resolve()
    before = pi.read_bytes()
    for command in ("compact", "undo"):
        place.run(command, "--yes", "--session", pi, *(COPY[-2:] if command == "compact" else ()))
        assert pi.read_bytes() != before
        first, second = look((place.cwd,), place.places())
        assert (first.path, second.path, second.is_live) == (claude, pi, False)
        before = pi.read_bytes()
    go_on(pi, age_s=1)
    first, _ = look((place.cwd,), place.places())
    assert (first.path, first.is_live) == (pi, True)


def long_pi(place: Place) -> PiFile:
    pi = PiFile(cwd=str(place.cwd))
    for number in range(60):
        pi.user(f"Please look at module {number} and tell me what it does. " * 20)
        pi.assistant(f"Module {number} does the {number}th thing. " * 20)
    return pi
