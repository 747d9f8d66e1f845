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
    DocumentKind,
    document_kind,
)
from ullage.lsp.convert import path_of
from ullage.lsp.documents.diagnostics import check_dependents, check_soon, forget
from ullage.lsp.error_edge import guarded, unattended
from ullage.lsp.follow import publish, refresh
from ullage.lsp.state import UllageServer
from ullage.lsp.views.gauge import show_gauge
from ullage.store.files.text_files import MAX_TEXT_BYTES

TYPED_PATTERNS = (
    f"**/{{{','.join((*INSTRUCTION_NAMES, MEMORY_NAME))}}}",
    f"**/{MEMORY_FOLDER}/*.md",
    "**/{.ullage.yaml,openclaw.json,clawdbot.json}",
    "**/.openclaw/config.yaml",
    "**/cp_*.yaml",
    f"**/{PREVIEW_FOLDER}/**/{PREVIEW_NAME}",
)
"""Of the documents whose typing is asked for; `document_kind` decides what each of them is."""
REGISTRATION_ID = "ullage-typing"
_FOLLOWED: tuple[DocumentKind | None, ...] = ("transcript", None)
"""A session's file may have any name; what is none is passed over when it is read."""

log = logging.getLogger(__name__)


def ask_for_typing(ls: UllageServer) -> None:
    """Ask the client to send what is typed into small documents, if it lets itself be asked."""
    capabilities = ls.client_capabilities.text_document
    sync = None if capabilities is None else capabilities.synchronization
    if sync is None or not sync.dynamic_registration:
        return
    # Set before the answer: a document that opens meanwhile must not lose its text.
    ls.documents.is_typing_sent = True
    ls.begin(_register(ls))


@unattended
async def _register(ls: UllageServer) -> None:
    options = types.TextDocumentChangeRegistrationOptions(
        sync_kind=types.TextDocumentSyncKind.Full,
        document_selector=[
            types.TextDocumentFilterPattern(pattern=pattern, scheme="file")
            for pattern in TYPED_PATTERNS
        ],
    )
    registration = types.Registration(
        id=REGISTRATION_ID, method=types.TEXT_DOCUMENT_DID_CHANGE, register_options=options
    )
    try:
        await ls.client_register_capability_async(types.RegistrationParams([registration]))
    except JsonRpcException:
        ls.documents.is_typing_sent = False
        ls.documents.texts.clear()
        ls.documents.versions.clear()
        ls.documents.too_long.clear()
        log.info("the client does not send what is typed: findings follow what is saved")


@guarded
async def did_open(ls: UllageServer, params: types.DidOpenTextDocumentParams) -> None:
    path = path_of(params.text_document.uri)
    if path is None:
        return
    kind = document_kind(path, ls.places, ls.workspace_folders())
    if kind not in _FOLLOWED:
        ls.documents.small_uris[path] = params.text_document.uri
        # A long text is taken out of its message (lsp/large_message.py): the disk has it.
        if params.text_document.text and ls.documents.is_typing_sent:
            opened = params.text_document
            _keep_text(ls, path, opened.text, opened.version)
        check_soon(ls, path, kind, delay_s=0.0)
        return
    ls.documents.open_uris.pop(path, None)
    ls.documents.open_uris[path] = params.text_document.uri
    if kind is None and path not in ls.sessions.followed:
        # It is not meant by anyone before it was read as a session.
        ls.sessions.refused.setdefault(path, None)
    if path in ls.sessions.followed:
        publish(ls, path)
    await refresh(ls, path)


@guarded
async def did_change(ls: UllageServer, params: types.DidChangeTextDocumentParams) -> None:
    """Take the whole text of a small document; a part of one cannot come, as we ask for all."""
    path = path_of(params.text_document.uri)
    kind = None if path is None else document_kind(path, ls.places, ls.workspace_folders())
    if path is None or kind in _FOLLOWED or not params.content_changes:
        return
    last = params.content_changes[-1]
    if isinstance(last, types.TextDocumentContentChangeWholeDocument):
        # What was found in the text before is no ground for a change of this one.
        ls.documents.findings.pop(path, None)
        _keep_text(ls, path, last.text, params.text_document.version)
        check_soon(ls, path, kind)
        check_dependents(ls, path)


@guarded
async def did_save(ls: UllageServer, params: types.DidSaveTextDocumentParams) -> None:
    path = path_of(params.text_document.uri)
    if path is None:
        return
    kind = document_kind(path, ls.places, ls.workspace_folders())
    if kind not in _FOLLOWED:
        check_soon(ls, path, kind, delay_s=0.0)
    check_dependents(ls, path)


@guarded
async def did_close(ls: UllageServer, params: types.DidCloseTextDocumentParams) -> None:
    path = path_of(params.text_document.uri)
    if path is None:
        return
    small_uri = ls.documents.small_uris.pop(path, None)
    if small_uri is not None:
        _drop_text(ls, path)
        ls.documents.materials.forget(path)
        forget(ls, path, small_uri)
        return
    uri = ls.documents.open_uris.pop(path, None)
    if uri is None:
        return
    ls.documents.outlines.pop(path, None)
    forget(ls, path, uri)
    if path not in ls.followed_paths():
        ls.sessions.followed.pop(path, None)
        ls.sessions.refused.pop(path, None)
    show_gauge(ls)


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
