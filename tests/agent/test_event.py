"""What happens is noted for the working state, however it arrives, and comes into checkpoints."""

from pi_files import Json
from service import RuntimeSession, Service
from ullage.core.checkpoint.working_state import WorkingState
from ullage.store.checkpoint.working_state import read_working_state

READ: Json = {
    "type": "toolResult",
    "callId": "toolu_000042",
    "name": "read",
    "arguments": {"path": "src/parser.py"},
    "atMs": 1_700_000_000_000,
}


def state_of(session: RuntimeSession) -> WorkingState:
    return read_working_state(session.opened.session_key, session.service.sessions.places)


async def test_tools_and_messages_are_noted(service: Service) -> None:
    session = await service.open()
    message = {"role": "user", "content": "Rename the parser.", "timestamp": 1_700_000_000_001}
    taken = await session.event(READ, {"type": "message", "message": message})
    assert taken.n_events == 2
    state = state_of(session)
    assert state.resources.files_read == ("src/parser.py",)
    assert state.thread.topic == "Rename the parser."


async def test_the_same_event_by_two_ways_counts_once(service: Service) -> None:
    session = await service.open()
    session.turn("Rename the parser.", output="x = 1")
    call = {"type": "toolResult", "callId": "toolu_000001", "name": "read"}
    await session.event(call | {"arguments": '{"path":"src/1.py"}'})
    before = state_of(session)
    await session.prepare(used=10_000)
    await session.prepare(used=10_000)
    after = state_of(session)
    assert len(after.resources.counted.calls) == len(before.resources.counted.calls) == 1
    assert after.resources.files_read == ("src/1.py",)


async def test_each_request_notes_what_is_new(service: Service) -> None:
    session = await service.open()
    session.turn("Rename the parser.")
    await session.prepare(used=10_000)
    session.turn("Now write its tests.")
    await session.prepare(used=11_000)
    assert state_of(session).thread.topic == "Now write its tests."


async def test_arguments_of_any_shape_are_taken(service: Service) -> None:
    session = await service.open()
    for number, arguments in enumerate(["not json", [1, 2], 7, None, {"path": 9}]):
        event = READ | {"arguments": arguments, "callId": f"toolu_10000{number}"}
        assert (await session.event(event)).n_events == 1
