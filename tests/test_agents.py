"""An agent is one row, and whatever tells of an agent works with each row.

A row that lacks something fails here by the agent's name, before a user meets it.
"""

import json
import shutil
from pathlib import Path
from typing import get_args

import msgspec
import pytest

from packing import zstd
from running import Place, idle
from ullage.agent.hook_agents import HOOK_AGENTS
from ullage.app.change.make import change_target
from ullage.app.documents.kind import INSTRUCTION_NAMES, MEMORY_NAME
from ullage.app.gauge.inspect import fill
from ullage.app.gauge.session_list import report_sessions, sessions_text
from ullage.app.install.agents import TARGETS
from ullage.app.sessions.load import Loaded, load
from ullage.app.sessions.open import open_session
from ullage.app.sessions.session import Session
from ullage.core.config.settings import Config
from ullage.core.transcript.entries import Agent, Header, MessageFormat
from ullage.errors import InputError, WriteNotSupported
from ullage.formats.agent_info import AgentInfo
from ullage.formats.registry import (
    AGENTS,
    ROWS,
    agent_info,
    agent_of_runtime,
    agent_of_shell,
    message_shape,
)
from ullage.lsp.views.gauge import gauge_params

SAMPLES = Path(__file__).parent / "samples"
SCHEMAS = Path(__file__).parents[1] / "server" / "ullage" / "data" / "schemas"
HOME = Path("/home/me")
CWD = Path("/work/shop")
COMMANDS = (
    "context status",
    "context inspect",
    "context assemble",
    "context history",
    "context show",
    "context branch --dry-run",
    "context export --dry-run",
    "compact --dry-run",
    "prune --dry-run",
    "undo --dry-run",
    "redo --dry-run",
    "doctor",
    "checkpoint write",
    "checkpoint list",
    "checkpoint show",
    "checkpoint diff cp_001",
    "checkpoint restore",
    "autocompact status",
    "pin --list",
    "memory flush --dry-run",
)

each_agent = pytest.mark.parametrize("info", tuple(AGENTS), ids=lambda info: info.agent)


def sample_of(info: AgentInfo) -> Session:
    """Find a recorded session of an agent."""
    folder = SAMPLES / info.agent
    others: set[str] = set()
    for path in sorted(folder.rglob("*")):
        try:
            session = open_session(path)
        except (InputError, OSError):
            continue
        if session.header.agent == info.agent and session.header.parent_session_id is None:
            return session
        others.add(session.agent.agent)
    raise AssertionError(
        f"{folder} has no session that is recognized as one of {info.agent}: record one"
        + (f", or put its row in AGENTS before {', '.join(sorted(others))}" if others else "")
    )


def copied(info: AgentInfo, place: Place) -> Path:
    sample = sample_of(info).path
    return idle(Path(shutil.copy(sample, place.cwd / sample.name)))


def loaded_of(path: Path, place: Place) -> Loaded:
    return load(open_session(path), Config(), place.places())


def test_there_is_one_row_for_each_agent() -> None:
    assert sorted(info.agent for info in AGENTS) == sorted(get_args(Agent))
    assert [agent_info(info.agent) for info in AGENTS] == list(AGENTS)
    assert len({info.name for info in AGENTS}) == len(AGENTS)


@each_agent
def test_a_transcript_is_recognized_as_its_row_does(info: AgentInfo) -> None:
    lines = open_session(sample_of(info).path).lines
    assert ROWS[info.agent].read_header(lines) == info.read_header(lines) is not None


@each_agent
def test_a_row_has_what_users_are_told(info: AgentInfo) -> None:
    assert info.name
    assert info.way_out
    assert "{" not in info.fork_hint.format(session_id="1")
    assert bool(info.resume) == (info.editor is not None)
    header = Header(agent=info.agent, session_id="abc", version=0, cwd=None)
    command = info.resume_command(header, Path("a b.jsonl"))
    assert not info.resume or "abc" in command or '"a b.jsonl"' in command


@each_agent
def test_a_row_tells_the_agents_own_shell(info: AgentInfo) -> None:
    assert info.shell_variables
    for variable in info.shell_variables:
        assert agent_of_shell({variable: "1"}) is info
    assert agent_of_shell({"SHELL": "/bin/sh", info.shell_variables[0]: ""}) is None


@each_agent
def test_a_row_says_where_the_sessions_are(info: AgentInfo) -> None:
    assert info.homes
    assert info.workspace_folders(CWD, {}, HOME) or info.database_patterns({}, HOME)
    assert bool(info.session_roots({}, HOME)) == (info.session_folders is not None)


@each_agent
def test_an_agent_has_a_recorded_session(info: AgentInfo) -> None:
    assert sample_of(info).agent is info


@each_agent
@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_answers_for_every_agent(command: str, info: AgentInfo, place: Place) -> None:
    path = copied(info, place)
    words = command.split()
    if "export" in words:
        words.append("out.json")
    for options in ([], ["--json"]):
        done = place.run(*words, "--session", path, *options)
        assert "fault of Ullage" not in done.stderr
        assert done.returncode in (0, 3, 4), done
        assert done.stderr or done.stdout
        if options and not done.returncode:
            json.loads(done.stdout)


@each_agent
def test_the_status_names_the_agent(info: AgentInfo, place: Place) -> None:
    path = copied(info, place)
    assert f"{info.name} · " in place.run("context", "status", "--session", path).stdout
    told = json.loads(place.run("context", "status", "--session", path, "--json").stdout)
    assert told["agent"] == info.agent
    report = json.loads((SCHEMAS / "context-status.schema.json").read_text("utf-8"))
    assert info.agent in json.dumps(report)


@each_agent
def test_who_cannot_change_a_session_is_told_what_to_do(info: AgentInfo, place: Place) -> None:
    path = copied(info, place)
    session = open_session(path)
    if info.editor is None:
        with pytest.raises(WriteNotSupported, match=info.way_out):
            change_target(session)
        assert info.way_out in place.run("compact", "--session", path, "--yes").stderr
    else:
        held = msgspec.structs.replace(session, lines=open_session(packed(path)).lines)
        with pytest.raises(WriteNotSupported, match=info.way_out):
            change_target(held)


def packed(path: Path) -> Path:
    """Pack a transcript, which is read and never written."""
    packed_path = path.with_name(f"{path.name}.zst")
    packed_path.write_bytes(zstd.compress(path.read_bytes()))
    return packed_path


@each_agent
def test_who_branches_a_session_is_told_the_agents_own_way(info: AgentInfo, place: Place) -> None:
    path = copied(info, place)
    done = place.run("context", "branch", "--session", path, "--dry-run")
    session_id = open_session(path).header.session_id
    assert done.returncode == 0 or info.fork_hint.format(session_id=session_id) in done.stderr


@each_agent
def test_an_id_that_is_none_is_in_no_command(info: AgentInfo) -> None:
    for session_id in ("x; touch /tmp/y #", "$(y)", "`y`", "--yolo", "-9", "a b", "a\nb", ""):
        header = Header(agent=info.agent, session_id=session_id, version=0, cwd=None)
        commands = (info.resume_command(header, Path("/s.jsonl")) or "", info.fork_command(header))
        assert not session_id or not any(session_id in command for command in commands)
        assert "{session_id}" not in info.resume or commands[0] == ""


@each_agent
def test_a_session_is_found_where_its_agent_keeps_it(info: AgentInfo, place: Place) -> None:
    sample = sample_of(info)
    cwd, places = Path(sample.header.cwd or place.cwd), place.places()
    folders = info.workspace_folders(cwd, {}, place.home)
    session_id = sample.header.session_id
    if folders:
        # Files are looked for by the id in their names.
        name = sample.path.name if session_id[:8] in sample.path.name else f"{session_id}.jsonl"
        target = folders[0] / name
    else:
        folder, pattern = info.database_patterns({}, place.home)[0]
        target = folder / pattern.replace("*", "x")
    target.parent.mkdir(parents=True)
    idle(Path(shutil.copy(sample.path, target)))
    found = report_sessions(Config(), msgspec.structs.replace(places, cwd=cwd), limit=3)
    assert [(one.agent, one.path) for one in found.sessions][:1] == [(info.agent, str(target))]
    assert info.name in sessions_text(found, 80)
    by_id = place.run("context", "status", "--session", session_id)
    assert info.name in by_id.stdout


@each_agent
def test_the_gauge_names_the_agent(info: AgentInfo, place: Place) -> None:
    loaded = loaded_of(copied(info, place), place)
    params = gauge_params(loaded, fill(loaded))
    assert params.title.endswith(f" · {info.name} · {params.session.sessionId[-8:]}")
    assert f"\n{info.name} · " in params.tooltip
    assert params.session.agent == info.agent


@each_agent
def test_what_an_agent_loads_is_known_by_its_name(info: AgentInfo) -> None:
    choices = (names for loader in info.loaders for names in loader.choices)
    names = {Path(name).name for names in choices for name in names if not name.endswith("/**")}
    assert {name for name in names if not name.endswith(".MD")} <= {*INSTRUCTION_NAMES, MEMORY_NAME}


@pytest.mark.parametrize("message_format", get_args(MessageFormat))
def test_every_shape_in_memory_is_that_of_a_row_or_of_no_agent(
    message_format: MessageFormat,
) -> None:
    shape = message_shape(message_format)
    rows = [info for info in AGENTS if info.in_memory is shape]
    assert [info.agent for info in rows] == ([message_format] if shape.runtimes else [])
    assert all(agent_of_runtime(name) is rows[0] for name in shape.runtimes)


def test_a_row_with_a_shape_in_memory_is_one_that_runtimes_may_name() -> None:
    shapes = {info.agent for info in AGENTS if info.in_memory is not None}
    assert shapes == {*get_args(MessageFormat)} - {"openai-chat"}


def test_a_hook_is_registered_for_each_agent_that_runs_one_and_reads_its_transcripts() -> None:
    assert [target.name for target in TARGETS if target.hooks] == [a.name for a in HOOK_AGENTS]
    for agent in HOOK_AGENTS:
        assert agent.transcripts == agent.name
