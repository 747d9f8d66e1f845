"""What changes outside of the editor: files that the client tells of, and folders."""

import asyncio
from pathlib import Path

from lsprotocol import types

from pi_files import MODEL, PiFile, conversation
from running import WAIT_S, Place

CAPABILITIES = types.ClientCapabilities(
    workspace=types.WorkspaceClientCapabilities(
        did_change_watched_files=types.DidChangeWatchedFilesClientCapabilities(
            dynamic_registration=True, relative_pattern_support=True
        )
    )
)


async def test_findings_follow_a_file_that_another_program_changes(editor, place: Place) -> None:
    registered: asyncio.Queue[types.Registration] = asyncio.Queue()

    @editor.client.feature(types.CLIENT_REGISTER_CAPABILITY)
    def on_register(params: types.RegistrationParams) -> None:
        for one in params.registrations:
            registered.put_nowait(one)

    path = place.write("AGENTS.md", b"Use spaces.\n")
    await editor.start(place.cwd, capabilities=CAPABILITIES)
    one = await asyncio.wait_for(registered.get(), WAIT_S)
    assert one.method == types.WORKSPACE_DID_CHANGE_WATCHED_FILES
    assert "jsonl" not in str(one.register_options)
    editor.open(path)
    await editor.diagnostics(path, count=0)
    place.write(str(place.home / ".openclaw/agents/main/sessions/sessions.json"), b"{}")
    place.write("AGENTS.md", b"x" * 30_000)
    editor.client.workspace_did_change_watched_files(
        types.DidChangeWatchedFilesParams(
            [types.FileEvent(uri=path.as_uri(), type=types.FileChangeType.Changed)]
        )
    )
    await editor.changed("memory")
    found = await editor.diagnostics(path, count=2)
    assert [one.code for one in found] == ["instructions-cut"] * 2


async def test_a_folder_that_is_added_brings_its_sessions(
    editor, workspace_session: tuple[PiFile, Path], tmp_path: Path
) -> None:
    _, path = workspace_session
    folder = tmp_path / "second"
    folder.mkdir()
    pi = conversation(2, usage=20_000, cwd=str(folder), model=MODEL, session_id="second-1")
    name = f"--{str(folder).lstrip('/').replace('/', '-')}--"
    editor.place.write(str(path.parent.parent / name / "t.jsonl"), pi.data)
    second = types.WorkspaceFolder(uri=folder.as_uri(), name="second")
    await editor.start(editor.place.cwd)
    await editor.gauge(lambda gauge: gauge.text == "42%")
    assert await gauges(editor) == {"42%"}
    change(editor, added=[second])
    await editor.gauge(lambda gauge: gauge.text == "10%")
    assert await gauges(editor) == {"42%", "10%"}
    change(editor, removed=[second])
    await editor.gauge(lambda gauge: gauge.text == "42%")
    assert await gauges(editor) == {"42%"}


def change(
    editor,
    *,
    added: list[types.WorkspaceFolder] | None = None,
    removed: list[types.WorkspaceFolder] | None = None,
) -> None:
    event = types.WorkspaceFoldersChangeEvent(added=added or [], removed=removed or [])
    editor.client.workspace_did_change_workspace_folders(
        types.DidChangeWorkspaceFoldersParams(event)
    )


async def gauges(editor) -> set[str]:
    return {row.gauge for row in (await editor.request("ullage/sessions")).sessions}
