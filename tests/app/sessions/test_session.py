"""What a session says of itself, and how far that counts."""

import pytest

from pi_files import conversation
from running import Place
from ullage.app.sessions.open import open_session
from ullage.app.sessions.session import Session
from ullage.core.transcript.entries import Header
from ullage.formats.agent_info import AgentInfo
from ullage.formats.registry import AGENTS
from ullage.store.transcript.reader import FileLines


@pytest.mark.parametrize(
    ("folder", "named", "expected"),
    [
        ("work/shop", "work/other", False),
        ("work/shop", "work", False),
        ("work/shop/sessions", "work/other", False),
        ("work/shop", "work/other\0", False),
        ("work/other", "work/other", True),
        ("work/other", "work/shop", True),
        ("home/.pi/agent/sessions/--x--", "work/other", True),
        ("home/.openclaw/agents/main/sessions", "work/other", True),
    ],
)
def test_a_file_that_names_another_folder_is_not_believed(
    place: Place, folder: str, named: str, expected: bool
) -> None:
    data = conversation(1, cwd=str(place.root / named)).data
    session = open_session(place.write(str(place.root / folder / "s.jsonl"), data))
    assert session.is_believed(place.places()) == expected


@pytest.mark.parametrize("info", [*AGENTS], ids=[info.agent for info in AGENTS])
def test_a_session_is_believed_where_its_agent_keeps_it(info: AgentInfo, place: Place) -> None:
    databases = [
        folder / pattern.replace("*", "x")
        for folder, pattern in info.database_patterns({}, place.home)
    ]
    files = [root / "below" / "s.jsonl" for root in info.session_roots({}, place.home)]
    header = Header(agent=info.agent, session_id="s", version=1, cwd=str(place.root / "elsewhere"))
    assert databases or files
    for path, is_believed in (
        *((path, True) for path in (*databases, *files)),
        *((place.root / path.name, False) for path in (*databases, *files)),
    ):
        lines = FileLines(place.write(str(path), b"{}\n"))
        session = Session(header=header, agent_info=info, lines=lines)
        assert session.is_believed(place.places()) == is_believed, path
