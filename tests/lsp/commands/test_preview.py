"""The preview of a compaction over stdio: made, edited, applied, made anew, discarded."""

import asyncio
import os
import re
import stat
from contextlib import asynccontextmanager
from pathlib import Path
from types import SimpleNamespace

import pytest
from lsprotocol import types
from pygls.exceptions import JsonRpcException
from pygls.uris import to_fs_path

from model_server import ModelServer, head, serving
from pi_files import SESSION_ID, conversation
from running import WAIT_S, idle
from ullage.app.change.preview import make_preview
from ullage.app.sessions.load import load
from ullage.app.sessions.open import open_session
from ullage.app.summary.write import ModelUse
from ullage.core.config.settings import Config
from ullage.core.summary.preview import MARKER

SECRET = "AKIA" + "Z7Q2M4K9X1B3N5V8"

TITLE = "Please look at file number 0. It matters. It…"
NAME = f"{TITLE} · pi / OpenClaw · {SESSION_ID[-8:]}"
NAME_OF_LENS = f"pi / OpenClaw · {SESSION_ID[-8:]} · {TITLE}"


async def previewed(editor, path: Path, **wishes: object) -> SimpleNamespace:
    result = await editor.request("ullage/preview", {"session": str(path), **wishes})
    assert result.preview is not None, result.message
    return result.preview


def edit(preview: SimpleNamespace, summary: str) -> None:
    path = Path(preview.proposedPath)
    path.write_text(with_summary(path, summary), "utf-8")


def with_summary(path: Path, summary: str) -> str:
    _, _, kept = path.read_text("utf-8").partition(MARKER)
    return f"{summary}\n\n{MARKER}{kept}"


async def refused(asked) -> str:
    with pytest.raises(JsonRpcException) as caught:
        await asked
    assert caught.value.code == types.LSPErrorCodes.RequestFailed
    assert "\n" not in caught.value.message
    return caught.value.message


async def test_a_preview_is_two_files_and_nothing_else_changes(editor, full_session: Path) -> None:
    before = editor.place.files()
    await editor.start()
    preview = await previewed(editor, full_session)
    folder = Path(preview.proposedPath).parent
    assert folder.is_relative_to(editor.place.state / "previews")
    added = {
        name
        for name, data in editor.place.files().items()
        if before.get(name, b"?") != data and not name.startswith("state/previews")
    }
    assert added == {"state", "state/index", "state/index/tokens.sqlite"}
    assert full_session.read_bytes() == before[str(full_session.relative_to(editor.place.root))]
    assert preview.title == f"{NAME} · 116k → 64k (−45%)"
    assert (preview.session.path, preview.tokensBefore) == (str(full_session), 116_480)
    old, new = Path(preview.beforePath), Path(preview.proposedPath)
    above, _, below = new.read_text("utf-8").partition(MARKER)
    assert above.startswith("(as of ")
    assert old.read_text("utf-8").endswith(MARKER + below)
    assert "## 1. User" in old.read_text("utf-8")
    if os.name == "posix":
        assert stat.S_IMODE(old.stat().st_mode) == 0o400
        assert stat.S_IMODE(new.stat().st_mode) == 0o600
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700


async def test_an_edited_proposal_is_what_the_summary_becomes(editor, full_session: Path) -> None:
    await editor.start(options={"showsOutcomes": True})
    before = full_session.read_bytes()
    preview = await previewed(editor, full_session)
    edit(preview, "## Goal\n- Only this matters.")
    outcome = await editor.execute("ullage.apply", {"preview": preview.preview})
    assert outcome.outcome == "done"
    done, lost = outcome.message.split(" messages · ")
    assert done.startswith("Context compacted · 116k → ")
    assert lost.startswith("not in the summary: ")
    assert lost.endswith(f" and 6 more · {NAME}")
    assert outcome.change
    assert outcome.session.path == str(full_session)
    shown = await editor.execute("ullage.show", {"uri": outcome.uri})
    assert shown.text == "## Goal\n- Only this matters.\n"
    written = full_session.read_bytes()
    assert written.startswith(before)
    assert b'"summarizer":"user"' in written
    assert not Path(preview.proposedPath).exists()
    assert list((editor.place.state / "context" / "checkpoints").rglob("cp_*.yaml"))


async def test_a_proposal_that_was_left_alone_is_noted_as_its_author_wrote_it(
    editor, full_session: Path
) -> None:
    await editor.start()
    preview = await previewed(editor, full_session)
    path = Path(preview.proposedPath)
    path.write_bytes(path.read_bytes().replace(b"\n", b"\r\n"))
    await editor.execute("ullage.apply", {"preview": preview.preview})
    assert b'"summarizer":"extractive"' in full_session.read_bytes()


async def test_what_goes_into_memory_is_said_before_and_after(editor, full_session: Path) -> None:
    (editor.place.cwd / "MEMORY.md").write_text("# Memory\n", "utf-8")
    await editor.start()
    preview = await previewed(editor, full_session)
    _, _, below = Path(preview.proposedPath).read_text("utf-8").partition(MARKER)
    announced = re.search(r"also appends \d+ lines? to `(.+)`:\n\n((?:- .+\n)+)", below)
    assert announced is not None
    found = await editor.client.text_document_code_lens_async(
        types.CodeLensParams(types.TextDocumentIdentifier(Path(preview.proposedPath).as_uri()))
    )
    lenses = [one.command.title for one in found]
    n_lines = announced[2].count("\n")
    appended = f"appends {n_lines} line{'s' * (n_lines > 1)} to {announced[1]}"
    assert lenses[:2] == [NAME_OF_LENS, f"Written to this session: 116k → 64k tokens, {appended}"]
    assert MARKER not in below
    outcome = await editor.execute("ullage.apply", {"preview": preview.preview})
    told = re.search(r" messages · \d+ lines? of memory in (\S+)", outcome.message)
    assert told is not None
    assert told[1] == announced[1]
    (log,) = (editor.place.cwd / "memory").glob("*.md")
    assert all(line in log.read_text("utf-8") for line in announced[2].split("\n"))
    idle(full_session)
    editor.answer = "Undo"
    undone = await editor.execute("ullage.undo", {"session": str(full_session)})
    assert undone.message.endswith(
        f" of the window. What was written to {told[1]} stays there · {NAME}"
    )


async def test_a_secret_in_the_edited_text_does_not_reach_the_session(
    editor, full_session: Path
) -> None:
    await editor.start()
    preview = await previewed(editor, full_session)
    edit(preview, f"## Goal\n- The key is {SECRET}.")
    await editor.execute("ullage.apply", {"preview": preview.preview})
    assert SECRET.encode() not in full_session.read_bytes()
    assert b"[REDACTED:" in full_session.read_bytes()


async def test_secrets_of_the_session_are_in_no_file_of_its_preview(editor, place) -> None:
    data = conversation(12, chars=6000, usage=116_480, cwd=str(place.cwd)).data
    path = place.write("s.jsonl", data.replace(b"It matters. It", f"It {SECRET} it".encode()))
    await editor.start()
    preview = await previewed(editor, path)
    for file in Path(preview.proposedPath).parent.iterdir():
        assert SECRET not in file.read_text("utf-8")


async def test_a_session_that_went_on_is_told_of_and_the_text_is_kept(
    editor, full_session: Path
) -> None:
    await editor.start()
    preview = await previewed(editor, full_session)
    edit(preview, "## Goal\n- Mine.")
    with full_session.open("ab") as file:
        file.write(b"\n")
    idle(full_session)
    before = full_session.read_bytes()
    message = await refused(editor.execute("ullage.apply", {"preview": preview.preview}))
    assert message.startswith(f"{NAME}: the session went on since this was previewed")
    assert full_session.read_bytes() == before
    assert "- Mine." in Path(preview.proposedPath).read_text("utf-8")


async def test_without_the_marker_nothing_is_applied(editor, full_session: Path) -> None:
    await editor.start()
    before = full_session.read_bytes()
    preview = await previewed(editor, full_session)
    path = Path(preview.proposedPath)
    path.write_text(path.read_text("utf-8").replace(MARKER, ""), "utf-8")
    message = await refused(editor.execute("ullage.apply", {"preview": preview.preview}))
    assert message.startswith(f"{NAME}: the line that ends the summary is missing")
    assert full_session.read_bytes() == before


async def test_an_empty_summary_is_not_applied(editor, full_session: Path) -> None:
    await editor.start()
    preview = await previewed(editor, full_session)
    edit(preview, " ")
    outcome = await editor.execute("ullage.apply", {"preview": preview.preview})
    message = f"Nothing to do: the summary is empty · {NAME}"
    assert (outcome.outcome, outcome.message) == ("nothing", message)


async def test_two_applies_at_once_make_one_compaction(editor, full_session: Path) -> None:
    await editor.start()
    before = full_session.read_bytes()
    preview = await previewed(editor, full_session)
    results = await asyncio.gather(
        *(editor.execute("ullage.apply", {"preview": preview.preview}) for _ in range(2)),
        return_exceptions=True,
    )
    (done,) = [one for one in results if not isinstance(one, Exception)]
    (error,) = [one for one in results if isinstance(one, JsonRpcException)]
    assert done.outcome == "done"
    refusals = ("changed meanwhile", "written to", "gone", "went on since")
    assert any(words in error.message for words in refusals)
    assert full_session.read_bytes().count(b"\n") == before.count(b"\n") + 1


async def test_a_newer_preview_takes_the_place_of_the_older(editor, full_session: Path) -> None:
    await editor.start()
    first = await previewed(editor, full_session)
    edit(first, "## Goal\n- Old.")
    second = await previewed(editor, full_session, focus="file number 3", layer="full")
    assert second.proposedPath == first.proposedPath
    assert "- Old." in Path(first.proposedPath).with_name("proposed.1.md").read_text("utf-8")
    text = Path(second.proposedPath).read_text("utf-8")
    assert "- Old." not in text
    assert "Focus: file number 3" in text
    assert second.tokensAfter < first.tokensAfter
    again = await editor.execute(
        "ullage.regenerate", {"preview": second.preview, "focus": "file number 5"}
    )
    assert again.preview.tokensAfter == pytest.approx(second.tokensAfter, rel=0.05)
    assert "Focus: file number 5" in Path(second.proposedPath).read_text("utf-8")
    kept = await editor.execute("ullage.regenerate", {"preview": second.preview})
    assert kept.preview.preview == second.preview
    assert "Focus: file number 5" in Path(second.proposedPath).read_text("utf-8")


async def test_a_preview_that_is_discarded_is_gone(editor, full_session: Path) -> None:
    await editor.start()
    editor.open(full_session)
    await editor.gauge(lambda gauge: gauge.title == NAME)
    preview = await previewed(editor, full_session)
    outcome = await editor.execute("ullage.discard", {"preview": preview.preview})
    assert outcome.outcome == "done"
    assert not Path(preview.proposedPath).parent.exists()
    for command in ("apply", "discard", "regenerate"):
        message = await refused(editor.execute(f"ullage.{command}", {"preview": preview.preview}))
        assert message == f"{NAME}: this preview is gone: make a new one"


async def test_a_refusal_names_a_session_that_is_not_followed(editor, place) -> None:
    data = conversation(12, chars=6000, usage=116_480, cwd=str(place.root / "elsewhere")).data
    path = place.write("s.jsonl", data)
    await editor.start()
    preview = await previewed(editor, path)
    path.unlink()
    for command in ("apply", "regenerate"):
        message = await refused(editor.execute(f"ullage.{command}", {"preview": preview.preview}))
        assert message.startswith(f"{NAME}: ")


@pytest.mark.parametrize("name", ["../../work/shop", "", "0" * 16, "x" * 200])
async def test_what_is_no_preview_is_refused(editor, name: str) -> None:
    await editor.start()
    for command in ("apply", "discard", "regenerate"):
        assert "make a new one" in await refused(
            editor.execute(f"ullage.{command}", {"preview": name})
        )


async def test_a_session_that_is_small_has_no_preview_but_a_reason(editor, place) -> None:
    path = place.write("s.jsonl", conversation(1).data)
    await editor.start()
    result = await editor.request("ullage/preview", {"session": str(path)})
    assert result.preview is None
    assert result.message.startswith("Nothing to do: the context beyond the summary")
    assert not (place.state / "previews").exists()


async def test_an_edited_proposal_is_given_back_until_its_session_goes_on(
    editor, full_session: Path
) -> None:
    await editor.start()
    asked = {"session": str(full_session)}
    preview = await previewed(editor, full_session)
    edit(preview, "## Goal\n- An hour of work.")
    path, aside = Path(preview.proposedPath), Path(preview.proposedPath).with_name("proposed.1.md")
    again = await editor.request("ullage/preview", asked)
    assert again.message.startswith(f"This is the proposal of {NAME} that you edited.")
    assert "An hour of work." in path.read_text("utf-8")
    with full_session.open("ab") as file:
        file.write(b"\n")
    after = await editor.request("ullage/preview", asked)
    assert (
        after.message == f"The proposal of {NAME} that you edited is kept beside this one: {aside}"
    )
    assert "An hour of work." in aside.read_text("utf-8")
    assert "An hour of work." not in path.read_text("utf-8")
    await editor.execute("ullage.discard", {"preview": preview.preview})
    assert [one.name for one in path.parent.iterdir()] == [aside.name]


async def test_a_proposal_whose_note_is_damaged_is_kept_beside_the_next(
    editor, full_session: Path
) -> None:
    await editor.start()
    path = Path((await previewed(editor, full_session)).proposedPath)
    path.with_name("preview.json").write_bytes(b"{")
    path.write_text("## Goal\n- Mine.", "utf-8")
    await previewed(editor, full_session)
    assert "- Mine." not in path.read_text("utf-8")
    assert "- Mine." in path.with_name("proposed.1.md").read_text("utf-8")


async def test_an_edited_proposal_is_kept_when_another_is_regenerated(
    editor, full_session: Path
) -> None:
    await editor.start()
    preview = await previewed(editor, full_session)
    path = Path(preview.proposedPath)
    for number in (1, 2):
        edit(preview, f"## Goal\n- Mine {number}.")
        result = await editor.execute("ullage.regenerate", {"preview": preview.preview})
        aside = path.with_name(f"proposed.{number}.md")
        assert result.message.endswith(str(aside))
        assert result.message in editor.told
        assert f"- Mine {number}." in aside.read_text("utf-8")
    untouched = await editor.execute("ullage.regenerate", {"preview": preview.preview})
    assert untouched.message == ""
    assert not path.with_name("proposed.3.md").exists()


TYPING = types.ClientCapabilities(
    text_document=types.TextDocumentClientCapabilities(
        synchronization=types.TextDocumentSyncClientCapabilities(dynamic_registration=True)
    )
)


async def start_typing(editor) -> None:
    """Start with a client that sends what is typed."""

    @editor.client.feature(types.CLIENT_REGISTER_CAPABILITY)
    def on_registration(params: types.RegistrationParams) -> None:
        """Agree."""

    await editor.start(capabilities=TYPING)


def open_text(editor, path: Path) -> str:
    text = path.read_text("utf-8")
    opened = types.TextDocumentItem(uri=path.as_uri(), language_id="markdown", version=1, text=text)
    editor.client.text_document_did_open(types.DidOpenTextDocumentParams(opened))
    return text


def type_text(editor, path: Path, text: str) -> None:
    editor.client.text_document_did_change(
        types.DidChangeTextDocumentParams(
            types.VersionedTextDocumentIdentifier(version=2, uri=path.as_uri()),
            [types.TextDocumentContentChangeWholeDocument(text)],
        )
    )


async def test_what_was_typed_for_an_earlier_proposal_is_kept_and_not_applied(
    editor, full_session: Path
) -> None:
    await start_typing(editor)
    preview = await previewed(editor, full_session)
    path, named = Path(preview.proposedPath), {"preview": preview.preview}
    open_text(editor, path)
    type_text(editor, path, with_summary(path, "## Goal\n- Not saved."))
    longer = conversation(30, chars=6000, usage=150_000, cwd=str(editor.place.cwd))
    full_session.write_bytes(longer.data)
    idle(full_session)
    again = await editor.execute("ullage.regenerate", named)
    aside = path.with_name("proposed.1.md")
    assert (
        again.message == f"The proposal of {NAME} that you edited is kept beside this one: {aside}"
    )
    assert "- Not saved." in aside.read_text("utf-8")
    message = await refused(editor.execute("ullage.apply", named))
    assert message.startswith(f"{NAME}: another summary was proposed since this one, nothing was")
    assert full_session.read_bytes() == longer.data
    assert await lens_titles(editor, preview) == [
        NAME_OF_LENS,
        "another summary was proposed since",
        "Regenerate…",
        "Discard",
    ]
    type_text(editor, path, path.read_text("utf-8"))
    assert (await editor.execute("ullage.apply", named)).outcome == "done"
    assert b"- Not saved." not in full_session.read_bytes()


async def test_a_text_that_the_editor_has_not_reloaded_is_not_applied(
    editor, full_session: Path
) -> None:
    await start_typing(editor)
    preview = await previewed(editor, full_session)
    path, named = Path(preview.proposedPath), {"preview": preview.preview}
    before, old = full_session.read_bytes(), open_text(editor, path)
    result = await editor.execute("ullage.regenerate", {**named, "focus": "file number 3"})
    assert result.message == ""
    assert path.read_text("utf-8") != old
    assert "reload the document" in await refused(editor.execute("ullage.apply", named))
    assert full_session.read_bytes() == before
    (finding,) = await editor.diagnostics(path, count=1)
    assert finding.code == "preview-replaced"


async def test_a_text_that_is_too_long_is_not_applied_nor_is_the_saved_one(
    editor, full_session: Path
) -> None:
    await start_typing(editor)
    before = full_session.read_bytes()
    preview = await previewed(editor, full_session)
    path = Path(preview.proposedPath)
    open_text(editor, path)
    type_text(editor, path, with_summary(path, "x" * (2 * 1024 * 1024 + 1)))
    assert await lens_titles(editor, preview) == [
        NAME_OF_LENS,
        "the text is too long for a summary",
        "Regenerate…",
        "Discard",
    ]
    message = await refused(editor.execute("ullage.apply", {"preview": preview.preview}))
    assert message.startswith(f"{NAME}: the text in the editor is too long for a summary")
    assert full_session.read_bytes() == before
    type_text(editor, path, with_summary(path, "## Goal\n- Short."))
    assert (await lens_titles(editor, preview))[2] == "Apply (−45%)"


async def test_an_edited_proposal_that_is_discarded_is_kept(editor, full_session: Path) -> None:
    await start_typing(editor)
    for number, is_saved in enumerate((True, False), 1):
        preview = await previewed(editor, full_session)
        path = Path(preview.proposedPath)
        open_text(editor, path)
        if is_saved:
            edit(preview, "## Goal\n- Mine 1.")
        else:
            type_text(editor, path, with_summary(path, "## Goal\n- Mine 2."))
        outcome = await editor.execute("ullage.discard", {"preview": preview.preview})
        aside = path.with_name(f"proposed.{number}.md")
        assert outcome.message.endswith(f" The proposal that you edited is kept: {aside}")
        assert f"- Mine {number}." in aside.read_text("utf-8")
        assert not path.exists()
        editor.close(path)
    assert not path.with_name("proposed.3.md").exists()


async def test_previews_that_nobody_touched_for_a_week_go_at_the_start(
    editor, full_session: Path, place
) -> None:
    config, places = Config(), place.places()
    made = []
    for name in ("a.jsonl", "b.jsonl", "c.jsonl"):
        path = place.write(name, full_session.read_bytes())
        session = load(open_session(path), config, places)
        preview = await make_preview(session, None, None, config, places, ModelUse(), {})
        made.append(Path(preview.proposed_path))
    old, edited, _ = made
    for file in (*old.parent.iterdir(), old.parent, *edited.parent.iterdir(), edited.parent):
        idle(file, 8 * 24 * 3600)
    edited.write_text("## Goal\n- Mine.", "utf-8")
    (place.cwd / "c.jsonl").write_bytes(full_session.read_bytes() + b"\n")
    await editor.start()
    async with asyncio.timeout(WAIT_S):
        while old.parent.exists():
            await editor.request("ullage/sessions")
    assert [path.exists() for path in made] == [False, True, True]
    assert not old.parent.exists()


@pytest.mark.parametrize(
    ("configured", "options", "reason"),
    [
        (b"", {"isTrusted": False}, "The workspace is not trusted"),
        (b"sandbox:\n  readOnly: true\n", None, "The workspace is read-only"),
    ],
)
async def test_where_nothing_may_be_written_every_command_that_writes_is_refused(
    editor, full_session: Path, configured: bytes, options: object, reason: str
) -> None:
    editor.place.write(str(editor.place.home / ".openclaw/config.yaml"), configured)
    await editor.start(options=options)
    before = editor.place.files()
    arguments = {
        "preview": {"session": str(full_session)},
        "apply": {"preview": "0" * 16},
        "regenerate": {"preview": "0" * 16},
        "discard": {"preview": "0" * 16},
        "compact": {"session": str(full_session)},
        "prune": {"session": str(full_session), "isConfirmed": True},
        "undo": {"session": str(full_session)},
        "checkpoint": {"session": str(full_session)},
        "auto": {"session": str(full_session), "isOn": True},
        "snooze": {"session": str(full_session)},
        "pin": {"session": str(full_session), "text": "Never."},
        "flush": {"session": str(full_session)},
    }
    for command, argument in arguments.items():
        message = await refused(editor.execute(f"ullage.{command}", argument))
        assert message.startswith(reason), command
    assert reason in await refused(editor.request("ullage/preview", {}))
    assert editor.questions == []
    assert editor.place.files() == before


@asynccontextmanager
async def hanging_model(editor, full_session: Path, **capabilities: object):
    """Start the server with a model that begins to answer and never ends."""
    async with serving((head(), "hang")) as server:
        await editor.start(
            options={
                "compaction": {
                    "model": {
                        "provider": "custom",
                        "modelName": "m",
                        "baseUrl": server.base_url,
                    }
                }
            },
            capabilities=types.ClientCapabilities(
                window=types.WindowClientCapabilities(work_done_progress=True)
            ),
        )
        yield server


async def is_asked(server: ModelServer) -> None:
    await server.until(lambda: server.asked)


async def is_left(server: ModelServer) -> None:
    await server.until(lambda: not server.n_open)


async def test_a_preview_is_cancelled_in_the_middle_of_a_model(editor, full_session: Path) -> None:
    async with hanging_model(editor, full_session) as server:
        asked = editor.client.protocol.send_request_async(
            "ullage/preview", {"session": str(full_session)}, msg_id="slow"
        )
        waiting = asyncio.ensure_future(asked)
        await is_asked(server)
        editor.client.cancel_request(types.CancelParams(id="slow"))
        with pytest.raises(JsonRpcException) as caught:
            await asyncio.wait_for(waiting, WAIT_S)
        assert caught.value.code == types.LSPErrorCodes.RequestCancelled
        await is_left(server)
        begun, told, *_, ended = [dict(value) for _, value in editor.progress]
        assert (begun["kind"], ended["kind"]) == ("begin", "end")
        assert begun["cancellable"]
        assert begun["title"] == "Asking m for a summary"
        assert told["message"].startswith("Summarizing: call 1 of ")
        assert len({token for token, _ in editor.progress}) == 1
    assert not (editor.place.state / "previews").exists()


async def test_a_preview_is_cancelled_by_its_progress(editor, full_session: Path) -> None:
    async with hanging_model(editor, full_session) as server:
        asked = asyncio.ensure_future(
            editor.request(
                "ullage/preview", {"session": str(full_session), "workDoneToken": "mine"}
            )
        )
        await is_asked(server)
        editor.client.window_work_done_progress_cancel(
            types.WorkDoneProgressCancelParams(token="mine")
        )
        result = await asked
        assert (result.preview, result.message) == (
            None,
            f"Preview cancelled · {NAME}",
        )
        assert {token for token, _ in editor.progress} == {"mine"}
        await is_left(server)
    assert not (editor.place.state / "previews").exists()


async def test_a_command_that_is_cancelled_ends(editor, full_session: Path) -> None:
    async with hanging_model(editor, full_session) as server:
        asked = editor.client.protocol.send_request_async(
            types.WORKSPACE_EXECUTE_COMMAND,
            types.ExecuteCommandParams(
                command="ullage.compact",
                arguments=[{"session": str(full_session)}],
                work_done_token="theirs",
            ),
            msg_id="slow",
        )
        waiting = asyncio.ensure_future(asked)
        await is_asked(server)
        editor.client.cancel_request(types.CancelParams(id="slow"))
        with pytest.raises(JsonRpcException):
            await asyncio.wait_for(waiting, WAIT_S)
        await is_left(server)
        assert {token for token, _ in editor.progress} == {"theirs"}
    assert editor.questions == []


async def test_a_client_that_can_is_shown_the_proposal(editor, full_session: Path) -> None:
    await editor.start(
        capabilities=types.ClientCapabilities(
            window=types.WindowClientCapabilities(
                show_document=types.ShowDocumentClientCapabilities(support=True)
            )
        )
    )
    result = await editor.execute("ullage.preview", {"session": str(full_session)})
    assert editor.shown == [Path(result.preview.proposedPath).as_uri()]
    assert editor.told == []


async def test_a_client_that_shows_no_documents_is_told_where_the_proposal_is(
    editor, full_session: Path
) -> None:
    await editor.start()
    result = await editor.execute("ullage.preview", {"session": str(full_session)})
    told = f"Compaction of {NAME} · 116k → 64k (−45%): {result.preview.proposedPath}"
    assert editor.told == [told]
    again = await editor.execute("ullage.regenerate", {"preview": result.preview.preview})
    assert editor.told == [
        told,
        f"Compaction of {again.preview.title}: {again.preview.proposedPath}",
    ]


async def opened(editor, preview: SimpleNamespace, *, count: int) -> list[types.Diagnostic]:
    path = Path(preview.proposedPath)
    editor.open(path)
    return await editor.diagnostics(path, count=count)


async def fixes(editor, preview: SimpleNamespace, findings: list[types.Diagnostic]):
    return await editor.client.text_document_code_action_async(
        types.CodeActionParams(
            text_document=types.TextDocumentIdentifier(Path(preview.proposedPath).as_uri()),
            range=findings[0].range,
            context=types.CodeActionContext(diagnostics=findings),
        )
    )


async def test_lenses_of_a_proposal_say_what_it_saves_and_keeps(editor, full_session: Path) -> None:
    await editor.start()
    preview = await previewed(editor, full_session)
    found = await editor.client.text_document_code_lens_async(
        types.CodeLensParams(types.TextDocumentIdentifier(Path(preview.proposedPath).as_uri()))
    )
    assert [(one.command.title, one.command.command) for one in found] == [
        (NAME_OF_LENS, ""),
        ("Written to this session: 116k → 64k tokens", ""),
        ("Apply as saved (−45%)", "ullage.apply"),
        ("Regenerate…", "ullage.regenerate"),
        ("Discard", "ullage.discard"),
        ("no loss found", ""),
    ]
    assert found[2].command.arguments[0]["preview"] == preview.preview


@pytest.mark.parametrize("is_pulled", [False, True])
async def test_the_lenses_of_a_proposal_are_renewed_when_its_findings_change(
    editor, full_session: Path, *, is_pulled: bool
) -> None:
    renewed = asyncio.Event()

    @editor.client.feature(types.WORKSPACE_CODE_LENS_REFRESH)
    def on_lenses(params: None) -> None:
        renewed.set()

    supported = types.CodeLensWorkspaceClientCapabilities(refresh_support=True)
    await editor.start(
        capabilities=types.ClientCapabilities(
            workspace=types.WorkspaceClientCapabilities(
                code_lens=supported,
                diagnostics=types.DiagnosticWorkspaceClientCapabilities(refresh_support=True),
            ),
            text_document=types.TextDocumentClientCapabilities(
                diagnostic=types.DiagnosticClientCapabilities() if is_pulled else None
            ),
        )
    )
    preview = await previewed(editor, full_session)
    path = Path(preview.proposedPath)
    document = types.TextDocumentIdentifier(path.as_uri())

    async def checked(*, count: int) -> None:
        if not is_pulled:
            await editor.diagnostics(path, count=count)
            return
        pulled = types.DocumentDiagnosticParams(document)
        report = await editor.client.text_document_diagnostic_async(pulled)
        assert len(report.items) == count

    editor.open(path)
    await checked(count=0)
    assert not renewed.is_set()
    edit(preview, "## Goal")
    editor.client.text_document_did_save(types.DidSaveTextDocumentParams(document))
    await checked(count=9)
    await asyncio.wait_for(renewed.wait(), WAIT_S)


async def test_what_is_typed_counts_even_where_the_client_was_not_asked_to_send_it(
    editor, full_session: Path
) -> None:
    await editor.start()
    preview = await previewed(editor, full_session)
    path = Path(preview.proposedPath)
    editor.open(path)
    editor.client.text_document_did_change(
        types.DidChangeTextDocumentParams(
            types.VersionedTextDocumentIdentifier(version=2, uri=path.as_uri()),
            [
                types.TextDocumentContentChangeWholeDocument(
                    with_summary(path, "## Goal\n- Not saved.")
                )
            ],
        )
    )
    found = await editor.client.text_document_code_lens_async(
        types.CodeLensParams(types.TextDocumentIdentifier(path.as_uri()))
    )
    assert found[2].command.title == "Apply (−45%)"
    await editor.execute("ullage.apply", {"preview": preview.preview})
    assert b"- Not saved." in full_session.read_bytes()


async def test_what_would_be_lost_is_found_and_can_be_put_back(editor, full_session: Path) -> None:
    await editor.start()
    await editor.execute(
        "ullage.pin", {"session": str(full_session), "text": "Never touch production 😀."}
    )
    preview = await previewed(editor, full_session)
    edit(preview, "## Goal\n- 😀 Port 48213 is free.\n\n## Files\n- read src/file1.py")
    findings = await opened(editor, preview, count=10)
    by_code = {one.code: one for one in findings}
    pin = by_code["preview-lost-pin"]
    assert pin.severity == types.DiagnosticSeverity.Error
    assert pin.message == "The pin would be lost: Never touch production 😀."
    assert by_code["preview-lost-file"].range.start == types.Position(3, 0)
    assert by_code["preview-lost-file"].range.end == types.Position(3, 8)
    invented = by_code["preview-invented"]
    assert (invented.severity, invented.range) == (
        types.DiagnosticSeverity.Warning,
        types.Range(types.Position(1, 10), types.Position(1, 15)),
    )
    one, every = await fixes(editor, preview, [pin])
    assert (one.title, one.is_preferred) == (
        "Insert “Never touch production 😀.” (as saved)",
        False,
    )
    ((change,),) = one.edit.changes.values()
    assert change.range.start == types.Position(0, 0)
    assert change.new_text == "## Pinned\n- Never touch production 😀.\n\n"
    assert every.title == "Insert all that would be lost (as saved)"


async def test_a_pin_that_is_set_later_is_missed_by_the_next_check(
    editor, full_session: Path
) -> None:
    await editor.start()
    preview = await previewed(editor, full_session)
    assert await opened(editor, preview, count=0) == []
    for number, text in enumerate(("Never on Friday.", "Nor on Monday."), 1):
        await editor.execute("ullage.pin", {"session": str(full_session), "text": text})
        findings = await editor.diagnostics(Path(preview.proposedPath), count=number)
        assert f"The pin would be lost: {text}" in [one.message for one in findings]


async def test_all_that_is_lost_is_put_back_at_once(editor, full_session: Path) -> None:
    await editor.start()
    preview = await previewed(editor, full_session)
    edit(preview, "## Goal\n- Nothing.")
    findings = await opened(editor, preview, count=9)
    *_, every = await fixes(editor, preview, findings)
    ((change,),) = every.edit.changes.values()
    path = Path(preview.proposedPath)
    lines = path.read_text("utf-8").split("\n")
    start, end = change.range.start, change.range.end
    offset = len("\n".join(lines[: start.line])) + bool(start.line) + start.character
    last = len("\n".join(lines[: end.line])) + bool(end.line) + end.character
    text = "\n".join(lines)
    path.write_text(text[:offset] + change.new_text + text[last:], "utf-8")
    editor.close(path)
    assert await opened(editor, preview, count=0) == []


async def test_a_proposal_of_a_session_that_went_on_is_outdated(editor, full_session: Path) -> None:
    await editor.start()
    preview = await previewed(editor, full_session)
    with full_session.open("ab") as file:
        file.write(b"\n")
    (finding,) = await opened(editor, preview, count=1)
    assert (finding.code, finding.severity) == ("preview-outdated", types.DiagnosticSeverity.Error)
    (action,) = await fixes(editor, preview, [finding])
    assert action.title == "Regenerate the proposal"
    assert await lens_titles(editor, preview) == [
        NAME_OF_LENS,
        "the session went on",
        "Regenerate…",
        "Discard",
    ]


async def test_a_proposal_is_only_looked_at_where_nothing_may_be_written(
    editor, other_editor, full_session: Path
) -> None:
    await editor.start()
    preview = await previewed(editor, full_session)
    await other_editor.start(options={"isTrusted": False})
    assert await lens_titles(other_editor, preview) == [
        NAME_OF_LENS,
        "no loss found",
    ]


async def lens_titles(editor, preview: SimpleNamespace) -> list[str]:
    found = await editor.client.text_document_code_lens_async(
        types.CodeLensParams(types.TextDocumentIdentifier(Path(preview.proposedPath).as_uri()))
    )
    return [one.command.title for one in found]


async def test_a_marker_that_is_missing_can_be_put_back(editor, full_session: Path) -> None:
    await editor.start()
    preview = await previewed(editor, full_session)
    path = Path(preview.proposedPath)
    whole = path.read_text("utf-8")
    path.write_text(re.sub(f"{MARKER}.*\n\n", "", whole), "utf-8")
    findings = await opened(editor, preview, count=1)
    assert findings[0].code == "preview-marker-missing"
    (action,) = await fixes(editor, preview, findings)
    ((change,),) = action.edit.changes.values()
    lines = path.read_text("utf-8").split("\n")
    lines.insert(change.range.start.line, change.new_text.removesuffix("\n"))
    assert "\n".join(lines) == whole


def message_at(location: types.Location) -> str:
    lines = Path(to_fs_path(location.uri) or "").read_text("utf-8").split("\n")
    return "\n".join(lines[location.range.start.line :]).split("\n## ")[0]


async def test_each_line_of_a_proposal_leads_to_the_message_that_it_comes_from(
    editor, full_session: Path
) -> None:
    await editor.start()
    preview = await previewed(editor, full_session, focus="file number 3")
    path = Path(preview.proposedPath)
    edit(
        preview,
        "## Goal\n- Please look at file number 3.\n- Focus: file number 3\n\n## Files\n(none)",
    )
    document = types.TextDocumentIdentifier(path.as_uri())
    whole = types.Range(types.Position(0, 0), types.Position(9, 0))
    hints = await editor.client.text_document_inlay_hint_async(
        types.InlayHintParams(document, whole)
    )
    assert [(hint.position.line, hint.position.character, hint.label) for hint in hints] == [
        (1, 31, "focus ← 13")
    ]
    at = types.Position(1, 5)
    location = await editor.client.text_document_definition_async(
        types.DefinitionParams(document, at)
    )
    assert Path(to_fs_path(location.uri) or "") == Path(preview.beforePath)
    assert message_at(location).startswith("## 13. User")
    assert "> Please look at file number 3." in message_at(location)
    for line in (0, 2, 5, 99):
        nowhere = types.DefinitionParams(document, types.Position(line, 0))
        assert await editor.client.text_document_definition_async(nowhere) is None


async def test_a_line_of_a_session_that_went_on_leads_nowhere(editor, full_session: Path) -> None:
    await editor.start()
    preview = await previewed(editor, full_session)
    with full_session.open("ab") as file:
        file.write(b"\n")
    document = types.TextDocumentIdentifier(Path(preview.proposedPath).as_uri())
    whole = types.Range(types.Position(0, 0), types.Position(99, 0))
    params = types.InlayHintParams(document, whole)
    assert not await editor.client.text_document_inlay_hint_async(params)
