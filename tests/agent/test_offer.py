"""`context/offer`: what a runtime tells a session without a past."""

import pytest

from claude_files import ClaudeFile
from planning import loaded
from running import Place
from service import RuntimeSession, Service
from ullage.agent.protocol import OFFER
from ullage.app.checkpoint.write import write_checkpoint
from ullage.core.config.settings import CheckpointSettings
from ullage.store.files.places import Places


def leave_work(places: Places) -> None:
    file = ClaudeFile(cwd=str(places.cwd), session_id="5e55")
    file.user("Fix the parcel router.")
    path = places.cwd / "5e55.jsonl"
    path.write_bytes(file.data)
    write_checkpoint(loaded(path, places), CheckpointSettings(), places, trigger="manual")


async def leave_open(session: RuntimeSession) -> None:
    """Have a checkpoint written while the user waits for an answer."""
    session.say({"role": "user", "content": "Keep the parcels in SQLite."})
    await session.prepare(used=170_000)


async def test_the_work_of_the_last_session_is_offered_once(
    service: Service, places: Places
) -> None:
    session = await service.open()
    nothing = await session.ask(OFFER.name)
    assert (nothing.text, nothing.note, nothing.checkpoint_id) == (None, None, None)
    leave_work(places)
    offered = await session.ask(OFFER.name)
    assert offered.text.startswith("[Context offer] An earlier session of Claude Code")
    assert "Fix the parcel router." in offered.note
    assert offered.checkpoint_id == "cp_001"
    again = await service.open()
    assert (await again.ask(OFFER.name)).text is None


async def test_a_new_session_of_a_chat_is_given_the_state_of_its_last_one(
    service: Service, places: Places
) -> None:
    leave_work(places)
    chat = {"agent": "openclaw", "sessionKey": "agent:main:telegram:direct:7"}
    session = await service.open(**chat, sessionId="one")
    # What others did in the workspace is not for every chat.
    assert (await session.ask(OFFER.name)).text is None
    session.turn("Keep the parcels in SQLite.")
    await session.prepare(used=170_000)
    offered = await (await service.open(**chat, sessionId="two")).ask(OFFER.name)
    assert "Its state follows, quoted." in offered.text
    assert "SQLite" in offered.text


@pytest.mark.parametrize(
    "chat",
    [
        {"agent": "pi", "sessionKey": "telegram:user123"},
        {"agent": "openclaw", "sessionKey": "slack:C1"},
        {"agent": "openclaw", "sessionKey": "openclaw:user123"},
        {"agent": "pi", "channel": "telegram"},
    ],
)
async def test_a_chat_is_not_told_of_others_nor_others_of_it(
    service: Service, places: Places, chat: dict[str, str]
) -> None:
    session = await service.open(**chat, sessionId="one")
    await leave_open(session)
    other = await service.open(sessionId="another")
    assert (await other.ask(OFFER.name)).text is None
    leave_work(places)
    fresh = await service.open(**(chat | {"sessionKey": "telegram:user456"}), sessionId="two")
    assert (await fresh.ask(OFFER.name)).text is None
    assert (await other.ask(OFFER.name)).text is not None


async def test_a_runtimes_session_without_a_chat_is_offered(service: Service) -> None:
    session = await service.open(sessionKey="openclaw:one", sessionId="one")
    await leave_open(session)
    offered = await (await service.open(sessionId="two")).ask(OFFER.name)
    assert "SQLite" in offered.text


async def test_what_an_offer_names_is_found_without_a_transcript(
    service: Service, place: Place
) -> None:
    session = await service.open(sessionId="0199-aa")
    await leave_open(session)
    for session_id, is_found in (("0199-aa", True), ("0199-a", False)):
        done = place.run("checkpoint", "show", "--text", "--session", session_id)
        assert ("SQLite" in done.stdout) is is_found
