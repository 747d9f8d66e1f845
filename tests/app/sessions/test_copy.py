"""A copy in which a session goes on: its folder, its title, and how the origin tells of it."""

import json
from pathlib import Path

import pytest

from claude_files import ClaudeFile, json_line, text
from codex_files import SESSION_ID as CODEX_ID
from codex_files import CodexFile
from running import Done, Place, idle
from ullage.app.sessions.find import list_sessions, list_subagents
from ullage.app.sessions.named import find_session
from ullage.app.sessions.open import open_session
from ullage.app.sessions.title import HEAD_LINES, find_title, name_of, title_of
from ullage.core.transcript.lineage import EMPTY_INDEX
from ullage.formats.agents.claude_code.places import folder_name

REQUEST = "Fix double charges"
FULL = ("compact", "--layer", "full", "--yes", "--window", "30000")


def talk_to_claude(claude: ClaudeFile, **fields: object) -> None:
    for number in range(40):
        claude.user(f"Please look at module {number}. " * 40, **fields)
        claude.assistant(text(f"Module {number} does something. " * 40), usage=9_000)


def talk_to_codex(codex: CodexFile) -> None:
    for number in range(40):
        codex.user(f"Please look at module {number}. " * 40)
        codex.assistant(f"Module {number} does something. " * 40, n_total=9_000)


def claude_session(place: Place) -> Path:
    """Write a session whose agent went to a folder below its own."""
    claude = ClaudeFile(cwd=str(place.cwd))
    claude.user(REQUEST)
    claude.assistant(text("Which ones?"))
    claude.cwd = str(place.cwd / "assets")
    talk_to_claude(claude)
    folder = place.home / ".claude/projects" / folder_name(str(place.cwd))
    return place.write(str(folder / f"{claude.session_id}.jsonl"), claude.data).resolve()


def codex_session(place: Place) -> Path:
    codex = CodexFile(cwd=str(place.cwd))
    codex.user(REQUEST)
    codex.assistant("Which ones?")
    talk_to_codex(codex)
    name = f"rollout-2026-11-01T10-00-00-{CODEX_ID}.jsonl"
    return place.write(str(place.home / ".codex/sessions/2026/11/01" / name), codex.data).resolve()


@pytest.fixture(params=["claude", "codex"])
def origin(place: Place, request: pytest.FixtureRequest) -> Path:
    return claude_session(place) if request.param == "claude" else codex_session(place)


def copy_of(place: Place, path: Path, *command: str) -> Path:
    done = place.run(*(command or FULL), "--json", "--session", path)
    assert done.returncode == 0, done.stderr
    copy = Path(json.loads(done.stdout)["path_after"])
    assert copy != path
    return idle(copy, 1800)


def resume(copy: Path) -> None:
    """Go on with a copy as its agent does."""
    session = open_session(copy)
    if session.header.agent == "codex":
        codex = CodexFile(id=session.header.session_id)
        talk_to_codex(codex)
        lines = codex.lines[1:]
    else:
        before = session.agent.read_context(session.lines, session.header, EMPTY_INDEX).context
        claude = ClaudeFile(
            cwd=f"{session.header.cwd}/assets", session_id=session.header.session_id
        )
        claude.uuids = [""] * session.lines.size_bytes
        claude.leaf = before.leaf_id
        talk_to_claude(claude)
        lines = claude.lines
    add(copy, b"".join(lines))


def add(path: Path, data: bytes) -> None:
    with path.open("ab") as file:
        file.write(data)
    idle(path, 60)


def given_title(copy: Path, title: str) -> bytes:
    """Give the record of a title that the user gave."""
    session_id = open_session(copy).header.session_id
    if open_session(copy).header.agent == "codex":
        codex = CodexFile(id=session_id)
        codex.event("thread_name_updated", thread_name=title)
        return codex.lines[-1]
    return json_line({"type": "custom-title", "customTitle": title, "sessionId": session_id})


def test_a_copy_that_goes_on_is_a_session_of_its_origins_folder(place: Place, origin: Path) -> None:
    copy = copy_of(place, origin)
    assert open_session(copy).header.cwd == str(place.cwd)
    resume(copy)
    assert [session.path for session in list_sessions(place.cwd, place.places())] == [copy, origin]
    assert find_session(None, place.places()).path == copy
    assert not list(list_sessions(place.cwd / "assets", place.places()))
    pruned = copy_of(place, copy)
    resume(pruned)
    assert find_session(None, place.places()).path == pruned, "a copy of a copy"


@pytest.mark.parametrize("command", [FULL, ("checkpoint", "restore", "--into", "session", "--yes")])
def test_a_copy_has_the_title_of_its_origin_until_its_user_gives_another(
    place: Place, origin: Path, command: tuple[str, ...]
) -> None:
    place.run("checkpoint", "write", "--session", origin)
    copy = copy_of(place, origin, *command)
    assert title_of(open_session(copy)) == title_of(open_session(origin)) == REQUEST
    resume(copy)
    assert title_of(open_session(copy)) == REQUEST
    assert copy.stem.endswith(name_of(open_session(copy))[-8:])
    add(copy, given_title(copy, "Refunds"))
    assert title_of(open_session(copy)) == "Refunds"
    assert title_of(open_session(copy_of(place, copy))) == "Refunds"


def test_a_session_without_a_request_makes_a_copy_without_a_title(place: Place) -> None:
    claude = ClaudeFile(cwd=str(place.cwd))
    talk_to_claude(claude, isMeta=True)
    copy = copy_of(place, place.write("s.jsonl", claude.data))
    assert find_title(open_session(copy)) is None


@pytest.mark.parametrize("n_lines_before", [1, HEAD_LINES[-1] + 1])
def test_a_subagent_that_nobody_asked_is_called_by_its_task(
    place: Place, n_lines_before: int
) -> None:
    path = claude_session(place)
    agent = ClaudeFile(cwd=str(place.cwd), agent_id="acompact-f46190")
    for _ in range(n_lines_before):
        agent.user("<system-reminder>Edit hook</system-reminder>", isMeta=True, parent="elsewhere")
    agent.user("Your task is to write a summary.", parent="elsewhere")
    agent.assistant(text("<summary>"))
    place.write(str(path.with_suffix("") / "subagents/agent-acompact-f46190.jsonl"), agent.data)
    (subagent,) = list_subagents(open_session(path), place.places(), [])
    assert title_of(subagent) == "Your task is to write a summary."


def outputs(*done: Done) -> list[str]:
    return [each.stdout + each.stderr for each in done]


def test_what_goes_on_in_a_copy_is_refused_before_it_is_previewed(
    place: Place, origin: Path
) -> None:
    copy = copy_of(place, origin)
    session = open_session(copy)
    resuming = session.agent.resume_command(session.header, copy)
    changes = [
        ("compact", "--yes"),
        ("compact", "--dry-run"),
        ("checkpoint", "restore", "--into", "session", "--yes"),
    ]
    for change in changes:
        done = place.run(*change, "--session", origin, "--window", "30000")
        assert done.returncode == 4
        assert done.stdout == "", change
        assert f"goes on already in {name_of(session)}: `{resuming}`" in done.stderr
        assert f"`ullage undo --session {copy}`" in done.stderr
    assert place.run("undo", "--yes", "--session", copy).returncode == 0
    assert copy_of(place, origin) == copy


def test_the_status_and_the_history_of_an_origin_tell_where_it_goes_on(
    place: Place, origin: Path
) -> None:
    before = outputs(place.run("context", "status"), place.run("context", "history"))
    assert not [text for text in before if "oes on in" in text.lower()]
    copy = copy_of(place, origin)
    session = open_session(copy)
    command = session.agent.resume_command(session.header, copy) or ""
    for told in outputs(place.run("context", "status"), place.run("context", "history")):
        assert f"{name_of(session)}: `{command}`" in " ".join(told.split())
    report = json.loads(place.run("context", "status", "--json").stdout)
    assert report["goes_on_in"] == f"{name_of(session)}: `{command}`"
    resume(copy)
    assert json.loads(place.run("context", "status", "--json").stdout)["goes_on_in"] is None
    assert place.run("undo", "--yes", "--session", copy).returncode == 0
    report = json.loads(place.run("context", "status", "--session", origin, "--json").stdout)
    assert report["goes_on_in"] is None


def test_an_origin_that_went_on_itself_goes_on_in_no_copy(place: Place, origin: Path) -> None:
    copy_of(place, origin)
    resume(origin)
    report = json.loads(place.run("context", "status", "--json").stdout)
    assert (report["path"], report["goes_on_in"]) == (str(origin), None)
