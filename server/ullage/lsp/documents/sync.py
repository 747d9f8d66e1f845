"""Documents that open, change and close in the editor.

A transcript's text is read from disk, never from here. Of small documents (instructions, memory,
configuration, checkpoints, previews) clients that can are asked to send what is typed, so that
findings follow it; with others, findings follow what is saved.
"""

import logging
from pathlib import Path

from lsprotocol import types
from pygls.exceptions import JsonRpcException

from ullage.app.documents.kind import (
    INSTRUCTION_NAMES,
    MEMORY_FOLDER,
    MEMORY_NAME,
    PREVIEW_FOLDER,
    PREVIEW_NAME,
    SKILL_NAME,
    DocumentKind,
    list_server_files,
)
from ullage.lsp.convert import path_of
from ullage.lsp.documents import diagnostics
from ullage.lsp.follow import refresh
from ullage.lsp.state import UllageServer
from ullage.store.files.places import Places
from ullage.store.files.text_files import MAX_TEXT_BYTES
from ullage.store.memory.places import DREAMS

_FOLLOWED: tuple[DocumentKind | None, ...] = ("transcript", None)
"""A session's file may have any name; what is none is passed over when it is read."""

log = logging.getLogger(__name__)


def list_typed_patterns(places: Places) -> tuple[str, ...]:
    """List those of the documents whose typing is asked for; `document_kind` decides what each of
    them is."""
    return (
        f"**/{{{','.join((*INSTRUCTION_NAMES, SKILL_NAME, MEMORY_NAME, DREAMS))}}}",
        f"**/{MEMORY_FOLDER}/**/*.md",
        "**/{.ullage.yaml,openclaw.json,clawdbot.json}",
        "**/.openclaw/config.yaml",
        *dict.fromkeys(f"**/{name}" for name in list_server_files(places)),
        "**/cp_*.yaml",
        f"**/{PREVIEW_FOLDER}/**/{PREVIEW_NAME}",
    )


def ask_for_typing(ls: UllageServer) -> None:
    """Ask the client to send what is typed into small documents, if it lets itself be asked."""
    capabilities = ls.client_capabilities.text_document
    sync = None if capabilities is None else capabilities.synchronization
    if sync is None or not sync.dynamic_registration:
        return
    # Set before the answer: a document that opens meanwhile must not lose its text.
    ls.documents.is_typing_sent = True
    ls.begin(_ask_for_typing, ls)


async def _ask_for_typing(ls: UllageServer) -> None:
    selector = [
        types.TextDocumentFilterPattern(pattern=pattern, scheme="file")
        for pattern in list_typed_patterns(ls.places)
    ]
    options = types.TextDocumentChangeRegistrationOptions(
        sync_kind=types.TextDocumentSyncKind.Full, document_selector=selector
    )
    if not await register(ls, "ullage-typing", types.TEXT_DOCUMENT_DID_CHANGE, options):
        ls.documents.is_typing_sent = False
        ls.documents.texts.clear()
        ls.documents.versions.clear()
        ls.documents.too_long.clear()


async def register(ls: UllageServer, name: str, method: str, options: object) -> bool:
    """Ask the client for notifications; tell whether it sends them."""
    registration = types.Registration(id=name, method=method, register_options=options)
    try:
        await ls.client_register_capability_async(types.RegistrationParams([registration]))
    except JsonRpcException:
        log.info("the client does not register %s: findings follow what is saved", method)
        return False
    return True


async def did_open(ls: UllageServer, params: types.DidOpenTextDocumentParams) -> None:
    path = path_of(params.text_document.uri)
    if path is None:
        return
    kind = ls.kind_of(path)
    if kind not in _FOLLOWED:
        ls.documents.small_uris[path] = params.text_document.uri
        # A long text is taken out of its message (lsp/lifecycle.py): the disk has it.
        if params.text_document.text and ls.documents.is_typing_sent:
            opened = params.text_document
            _keep_text(ls, path, opened.text, opened.version)
        diagnostics.check_soon(ls, path, kind, delay_s=0.0)
        return
    ls.documents.open_uris.pop(path, None)
    ls.documents.open_uris[path] = params.text_document.uri
    if kind is None and path not in ls.sessions.followed:
        # It is not meant by anyone before it was read as a session.
        ls.sessions.refused.setdefault(path, None)
    if path in ls.sessions.followed:
        diagnostics.publish_transcript(ls, path)
    await refresh(ls, path)
    ls.look_again()


async def did_change(ls: UllageServer, params: types.DidChangeTextDocumentParams) -> None:
    """Take the whole text of a small document; a part of one cannot come, as we ask for all."""
    path = path_of(params.text_document.uri)
    kind = None if path is None else ls.kind_of(path)
    if path is None or kind in _FOLLOWED or not params.content_changes:
        return
    last = params.content_changes[-1]
    if isinstance(last, types.TextDocumentContentChangeWholeDocument):
        ls.documents.replaced.pop(path, None)
        # What was found in the text before is no ground for a change of this one.
        ls.documents.findings.pop(path, None)
        _keep_text(ls, path, last.text, params.text_document.version)
        diagnostics.check_soon(ls, path, kind)
        diagnostics.check_dependents(ls, path)


async def did_save(ls: UllageServer, params: types.DidSaveTextDocumentParams) -> None:
    path = path_of(params.text_document.uri)
    if path is None:
        return
    kind = ls.kind_of(path)
    if kind not in _FOLLOWED:
        diagnostics.check_soon(ls, path, kind, delay_s=0.0)
    diagnostics.check_dependents(ls, path)


async def did_close(ls: UllageServer, params: types.DidCloseTextDocumentParams) -> None:
    path = path_of(params.text_document.uri)
    if path is None:
        return
    small_uri = ls.documents.small_uris.pop(path, None)
    ls.documents.replaced.pop(path, None)
    if small_uri is not None:
        _drop_text(ls, path)
        ls.documents.materials.forget(path)
        diagnostics.forget(ls, path, small_uri)
        return
    uri = ls.documents.open_uris.pop(path, None)
    if uri is None:
        return
    ls.documents.outlines.pop(path, None)
    diagnostics.forget(ls, path, uri)
    if path not in ls.followed_paths():
        ls.sessions.followed.pop(path, None)
        ls.sessions.refused.pop(path, None)
    ls.show_gauge()


def _keep_text(ls: UllageServer, path: Path, text: str, version: int) -> None:
    """Keep a text as it is typed, or that it is too long for that.

    Some clients send it although they do not let themselves be asked to.
    """
    _drop_text(ls, path)
    if len(text) <= MAX_TEXT_BYTES:
        ls.documents.texts[path] = text
        ls.documents.versions[path] = version
    else:
        ls.documents.too_long.add(path)


def _drop_text(ls: UllageServer, path: Path) -> None:
    ls.documents.texts.pop(path, None)
    ls.documents.versions.pop(path, None)
    ls.documents.too_long.discard(path)
