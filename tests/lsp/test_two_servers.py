"""Servers in processes of their own on one session: two editors at once, and one that is killed."""

import json
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from lsp.test_lifecycle import Server, frame, initialize, read_message
from pi_files import Json, conversation
from running import Place

COMMAND = {"command": "ullage.compact"}
ORIGINAL = conversation(40, chars=4000, usage=50_000)


@pytest.fixture
def session(place: Place) -> Path:
    return place.write("s.jsonl", ORIGINAL.data)


@pytest.fixture
def start(place: Place) -> Iterator[Callable[[], Server]]:
    with ExitStack() as stack:

        def start_server() -> Server:
            server = stack.enter_context(Server(place))
            stack.callback(server.kill)
            server.send(initialize())
            return server

        yield start_server


def ask_to_compact(server: Server, session: Path) -> Json:
    """Ask for a compaction; give the question that comes before it."""
    server.send(
        frame(
            id=2,
            method="workspace/executeCommand",
            params=COMMAND | {"arguments": [{"session": str(session)}]},
        )
    )
    assert server.stdout is not None
    while (message := read_message(server.stdout)).get("method") != "window/showMessageRequest":
        assert message.get("id") != 2, message
    return message


def agree(server: Server, question: Json) -> None:
    server.send(frame(id=question["id"], result=question["params"]["actions"][0]))


def entries(session: Path) -> list[Json]:
    """Give our records of the session; the agent's are there as they were, in their order."""
    lines = session.read_bytes().split(b"\n")[:-1]
    ours = written_lines(session)
    assert [line + b"\n" for line in lines if line not in ours] == ORIGINAL.lines
    return [json.loads(line) for line in ours]


def written_lines(session: Path) -> list[bytes]:
    """Give the lines that are not the agent's, parts of one too."""
    lines = session.read_bytes().split(b"\n")
    return [line for line in lines if line and line + b"\n" not in ORIGINAL.lines]


def test_two_editors_that_compact_one_session_at_once_make_one_change(
    start: Callable[[], Server], session: Path
) -> None:
    servers = start(), start()
    questions = [ask_to_compact(server, session) for server in servers]
    for server, question in zip(servers, questions, strict=True):
        agree(server, question)
    answers = [server.answer(2) for server in servers]
    assert [entry["type"] for entry in entries(session)] == ["compaction"]
    assert sum("error" in answer for answer in answers) == 1, answers
    for server in servers:
        server.is_ready()


@pytest.mark.parametrize("n_looks", [0, 1, 30])
def test_a_server_that_is_killed_in_the_middle_loses_nothing(
    place: Place, start: Callable[[], Server], session: Path, n_looks: int
) -> None:
    """Killed so many looks after its journal is there, or once it is done."""
    server = start()
    journals = place.state / "journals"
    agree(server, ask_to_compact(server, session))
    while n_looks and not (journals.is_dir() and any(journals.iterdir())):
        if written_lines(session):
            break
    for _ in range(n_looks):
        written_lines(session)
    server.kill()
    server.wait()
    done = place.run("compact", "--yes", "--session", session)
    assert done.returncode in (0, 4), done.stderr
    assert {entry["type"] for entry in entries(session)} == {"compaction"}
    assert [path.name for path in place.cwd.iterdir() if path.name.startswith(".")] == []
    assert place.run("context", "status", "--session", session).returncode == 0
