"""The last session's work is offered once when an editor opens its folder."""

import pytest
from lsprotocol import types

from claude_files import ClaudeFile
from planning import loaded
from running import Place
from small_documents import SYNC
from ullage.app.checkpoint.write import write_checkpoint
from ullage.core.config.settings import CheckpointSettings
from ullage.lsp.auto.offer import offer_last_work

SHOWING = types.ClientCapabilities(
    text_document=types.TextDocumentClientCapabilities(synchronization=SYNC),
    window=types.WindowClientCapabilities(
        show_document=types.ShowDocumentClientCapabilities(support=True)
    ),
)
OFFER = "You can go on with earlier work, 1 hour ago (Claude Code): Fix the parcel router."


def leave_work(place: Place) -> None:
    file = ClaudeFile(cwd=str(place.cwd), session_id="5e55")
    file.user("Fix the parcel router.")
    session = loaded(place.write("5e55.jsonl", file.data), place.places())
    write_checkpoint(session, CheckpointSettings(), place.places(), trigger="manual")


async def test_work_is_offered_once_and_shown_by_the_button(editor, place: Place) -> None:
    leave_work(place)
    editor.answer = "Resume"
    await editor.start(place.cwd, options={"showsOutcomes": True}, capabilities=SHOWING)
    await editor.showed(lambda uri: "Resume.md" in uri)
    assert "Fix the parcel router." in await editor.copied()
    await editor.said(lambda message: message.startswith("cp_001 is copied: paste it"))
    assert editor.questions == [OFFER]
    await offer_last_work(editor.server)
    # By then a second question would be there.
    await editor.request("ullage/sessions")
    assert editor.questions == [OFFER]


async def test_a_client_that_shows_no_documents_is_told_the_same(editor, place: Place) -> None:
    leave_work(place)
    await editor.start(place.cwd)
    await editor.said(lambda message: message == OFFER)
    assert editor.questions == []


@pytest.mark.parametrize("config", [b"resume:\n  offer: never\n", b"sandbox:\n  readOnly: true\n"])
async def test_nothing_is_offered_where_the_setting_says_so_or_nothing_is_written(
    editor, place: Place, config: bytes
) -> None:
    leave_work(place)
    (place.home / ".openclaw").mkdir()
    (place.home / ".openclaw" / "config.yaml").write_bytes(config)
    await editor.start(place.cwd, capabilities=SHOWING)
    await offer_last_work(editor.server)
    assert editor.questions == []
    assert not list(place.state.rglob("offered"))
