"""What happens is captured as it happens, without its secrets, and light enough for a hook."""

import subprocess
import sys

import msgspec
import pytest

from ullage.app.checkpoint.capture import capture
from ullage.core.checkpoint.captured import MessageEvent, ToolEvent
from ullage.store.checkpoint.working_state import hold_working_state, read_working_state
from ullage.store.files.places import Places, session_folder
from ullage.store.files.quick_state import MAX_WAITING
from working_states import has_news

KEY = "claude-code:one"
READ = ToolEvent(call_id="call_00000001", name="Read", arguments='{"path": "a.py"}', at_ms=1)
EDIT = ToolEvent(call_id="call_00000002", name="Edit", arguments='{"path": "a.py"}', at_ms=2)
HEAVY = (
    "yaml", "asyncio", "filelock", "ssl", "ullage.formats", "tiktoken", "pygls", "openai",
    "ullage.core.checkpoint.working_state", "ullage.store.checkpoint.working_state",
)  # fmt: skip


def test_the_same_event_counts_once_across_a_checkpoint(places: Places) -> None:
    capture(KEY, [READ], places)
    with hold_working_state(KEY, places):
        # The lock is held: what happens now waits beside the state.
        capture(KEY, [EDIT], places)
    capture(KEY, [READ, EDIT], places)
    state = read_working_state(KEY, places)
    assert state.resources.tools_used == ("Edit",)
    assert state.resources.files_read == ()
    assert state.resources.files_modified == ("a.py",)


def test_a_checkpoint_takes_what_it_bundles(places: Places) -> None:
    capture(KEY, [READ], places)
    with hold_working_state(KEY, places) as state:
        assert state.resources.tools_used == ("Read",)
    assert not has_news(read_working_state(KEY, places))


def test_a_hook_lays_its_events_beside_the_state(places: Places) -> None:
    assert capture(KEY, [READ], places, is_hook=True) == ()
    folder = session_folder("state", KEY, places)
    assert [path.name.partition("-")[0] for path in folder.iterdir()] == ["waiting"]
    assert read_working_state(KEY, places).resources.tools_used == ("Read",)
    with hold_working_state(KEY, places) as state:
        assert state.resources.tools_used == ("Read",)
    capture(KEY, [READ], places, is_hook=True)
    assert not has_news(read_working_state(KEY, places))


def test_of_the_events_of_hooks_no_more_than_some_wait(places: Places) -> None:
    folder = session_folder("state", KEY, places)
    calls = [
        msgspec.structs.replace(READ, call_id=f"call_{at:08}", name=f"tool{at}", at_ms=at)
        for at in range(MAX_WAITING + 3)
    ]
    n_waiting: list[int] = []
    for call in calls:
        capture(KEY, [call], places, is_hook=True)
        n_waiting.append(len(list(folder.glob("waiting-*"))))
    assert max(n_waiting) == MAX_WAITING - 1
    assert n_waiting[-1] == 3
    tools = read_working_state(KEY, places).resources.tools_used
    assert tools == tuple(call.name for call in calls)


def test_sessions_are_kept_apart(places: Places) -> None:
    capture(KEY, [READ], places)
    assert not has_news(read_working_state("claude-code:two", places))


def test_where_nothing_happened_nothing_is_written(places: Places) -> None:
    assert capture(KEY, [], places) == ()
    assert not places.state_folder.exists()


def test_an_event_without_a_time_is_of_this_moment(places: Places) -> None:
    capture(KEY, [MessageEvent(role="user", text="hello")], places)
    (said,) = read_working_state(KEY, places).thread.exchanges
    assert said.at_ms > 1_770_000_000_000


def test_secrets_of_the_environment_and_of_the_folder_are_masked(places: Places) -> None:
    places = msgspec.structs.replace(places, env={"API_TOKEN": "from-the-environment"})
    (places.cwd / ".env").write_text("DB_PASSWORD=from-the-folder\n")
    text = "use from-the-environment and from-the-folder"
    capture(KEY, [MessageEvent(role="user", text=text, at_ms=1)], places)
    topic = read_working_state(KEY, places).thread.topic
    assert topic.startswith("use [REDACTED:known:")
    for path in session_folder("state", KEY, places).glob("*.json"):
        assert b"from-the" not in path.read_bytes()


def test_secrets_are_masked_in_what_waits(places: Places) -> None:
    places = msgspec.structs.replace(places, env={"API_TOKEN": "from-the-environment"})
    with hold_working_state(KEY, places):
        for event in (
            MessageEvent(role="user", text="use from-the-environment", at_ms=1),
            ToolEvent(
                call_id="c1",
                name="bash",
                arguments='{"command": "curl from-the-environment"}',
                is_error=True,
                error="Error: from-the-environment",
            ),
        ):
            capture(KEY, [event], places)
        waiting = list(session_folder("state", KEY, places).glob("waiting-*"))
        assert len(waiting) == 2
        assert not any(b"from-the" in path.read_bytes() for path in waiting)


@pytest.mark.parametrize("name", HEAVY)
def test_a_hook_imports_nothing_heavy_to_capture(name: str, imported: set[str]) -> None:
    assert name not in imported


@pytest.fixture(scope="module")
def imported(tmp_path_factory: pytest.TempPathFactory) -> set[str]:
    script = (
        "import sys, pathlib; from ullage.app.checkpoint.capture import capture;"
        "from ullage.core.checkpoint.captured import ToolEvent;"
        "from ullage.store.files.places import Places;"
        "here = pathlib.Path.cwd();"
        "capture('KEY', [ToolEvent(call_id='c', name='Read', arguments='{}')],"
        " Places(cwd=here, home=here, env={}, state_folder=here / 'state'), is_hook=True);"
        "print(*sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-c", script],
        cwd=tmp_path_factory.mktemp("hook"),
        capture_output=True,
        check=True,
        encoding="utf-8",
    )
    return set(done.stdout.split())
