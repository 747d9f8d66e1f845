"""The working state in the sweep: captured, and bundled by a checkpoint.

Whatever happens, each event is in a checkpoint or in the state, never in both; and an event that
is sent again is counted where it was not, and nowhere else.
"""

from pathlib import Path

from crash.checker import Seen
from crash.places import leave_alone, places_of
from ullage.core.checkpoint.captured import Event, MessageEvent, ToolEvent, capture_events
from ullage.core.checkpoint.working_state import WorkingState
from ullage.store.checkpoint.spool import spool
from ullage.store.checkpoint.working_state import (
    LOCK_NAME,
    POINTER_NAME,
    add_to_working_state,
    hold_working_state,
    read_working_state,
)
from ullage.store.files.atomic import replace_file
from ullage.store.files.places import session_folder
from ullage.store.files.quick_lock import quick_lock
from ullage.store.transcript.reader import Fingerprint
from working_states import has_news, merge

KEY = "claude-code:one"
PLAN = "I would copy the table in steps and switch the readers last. " * 10


def _todo(step: str) -> str:
    return f'{{"todos": [{{"content": "{step}", "status": "pending"}}]}}'


def _events(at: int) -> tuple[Event, ...]:
    """Make events of which each of the four files has something."""
    return (
        MessageEvent(role="agent", text=f"{at} {PLAN}", at_ms=at + 1),
        MessageEvent(role="user", text=f"do {at}", at_ms=at + 2),
        ToolEvent(call_id=f"call_{at + 3:08}", name=f"r{at}", arguments="{}", at_ms=at + 3),
        ToolEvent(
            call_id=f"call_{at + 4:08}", name="todo", arguments=_todo(f"s{at}"), at_ms=at + 4
        ),
        ToolEvent(
            call_id=f"call_{at + 5:08}",
            name="bash",
            arguments='{"command": "make"}',
            is_error=True,
            error="Error: no rule",
            at_ms=at + 5,
        ),
    )


FIRST, SECOND = _events(10), _events(20)
BEFORE = merge(WorkingState(), FIRST, now_ms=0)
AFTER = merge(BEFORE, SECOND, now_ms=0)
BUNDLED = BEFORE.held()
PARTS = ("decisions", "thread", "resources", "open_items")


def _capture(root: Path, events: tuple[Event, ...]) -> list[str]:
    captured = capture_events(events, now_ms=0)
    return list(add_to_working_state(KEY, captured, places_of(root)))


def _read(root: Path) -> WorkingState:
    return read_working_state(KEY, places_of(root))


def capture_before(root: Path) -> None:
    _capture(root, FIRST)
    for path in session_folder("state", KEY, places_of(root)).glob("*.json"):
        leave_alone(path)


def capture(root: Path, _: Fingerprint) -> None:
    _capture(root, SECOND)


def capture_beside(root: Path, _: Fingerprint) -> None:
    with quick_lock(session_folder("state", KEY, places_of(root)) / LOCK_NAME):
        _capture(root, SECOND)


def capture_for_later(root: Path, _: Fingerprint) -> None:
    spool(KEY, capture_events(SECOND, now_ms=0), places_of(root))


def check_capture(seen: Seen) -> list[str]:
    if seen.outcome.startswith("bug"):
        return [seen.outcome]
    problems: list[str] = []
    state = _read(seen.root)
    if seen.outcome == "made" and state != AFTER:
        problems.append("success was reported, and the state is not as it should be")
    problems += [
        f"{name} is neither old nor new"
        for name in PARTS
        if getattr(state, name) not in (getattr(BEFORE, name), getattr(AFTER, name))
    ]
    problems += _capture(seen.root, (*FIRST, *SECOND))
    if _read(seen.root) != AFTER:
        problems.append("events that are sent again do not bring it up to date")
    return problems


def _pointer(root: Path) -> Path:
    return session_folder("checkpoints", KEY, places_of(root)) / POINTER_NAME


def bundle(root: Path, _: Fingerprint) -> None:
    with hold_working_state(KEY, places_of(root)) as state:
        if state == BEFORE:
            replace_file(_pointer(root), b'{"checkpoint_id": "cp_001"}')


def check_bundle(seen: Seen) -> list[str]:
    if seen.outcome.startswith("bug"):
        return [seen.outcome]
    problems: list[str] = []
    is_written = _pointer(seen.root).exists()
    if seen.outcome == "made" and not is_written:
        problems.append("success was reported, and there is no checkpoint")
    state = _read(seen.root)
    if is_written and has_news(state):
        problems.append("what a checkpoint holds is told again")
    if not is_written and state != BEFORE:
        problems.append("what no checkpoint holds is lost")
    problems += _capture(seen.root, (*FIRST, *SECOND))
    expected = merge(BUNDLED, SECOND, now_ms=0) if is_written else AFTER
    if _read(seen.root) != expected:
        problems.append("events that come later are not counted once")
    return problems
