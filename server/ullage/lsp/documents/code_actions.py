"""Code actions: what can be done about a finding, and about the transcript that is open."""

from collections.abc import Sequence
from pathlib import Path

from lsprotocol import types

from ullage.core.documents.outline import find_row_at_line
from ullage.lsp.convert import SOURCE, UTILIZATION_CODE, path_of
from ullage.lsp.documents.edit import fix_action
from ullage.lsp.documents.finding import range_of
from ullage.lsp.documents.outline import outlined
from ullage.lsp.documents.possible import possible_commands
from ullage.lsp.documents.proposal import proposal_actions
from ullage.lsp.error_edge import guarded
from ullage.lsp.protocol import (
    CHECKPOINT_COMMAND,
    COMPACT_COMMAND,
    PIN_COMMAND,
    PREVIEW_COMMAND,
    PRUNE_COMMAND,
    RESTORE_COMMAND,
    UNDO_COMMAND,
)
from ullage.lsp.state import UllageServer

RELIEF = (
    ("Compact this session…", COMPACT_COMMAND),
    ("Preview the compaction…", PREVIEW_COMMAND),
    ("Prune old tool output…", PRUNE_COMMAND),
    ("Write a checkpoint", CHECKPOINT_COMMAND),
)
"""Against a full context; the first is preferred."""
ALWAYS = (
    *RELIEF[1:],
    ("Undo the last change…", UNDO_COMMAND),
    ("Restore the latest checkpoint…", RESTORE_COMMAND),
)
"""What is offered anywhere in a transcript, with or without a finding."""


@guarded
async def code_actions(ls: UllageServer, params: types.CodeActionParams) -> list[types.CodeAction]:
    path = path_of(params.text_document.uri)
    if path is None:
        return []
    only = params.context.only
    found: list[types.CodeAction] = []
    async with ls.lock_of(path):
        # A transcript that was just opened may still be read.
        followed = ls.sessions.followed.get(path)
    possible = (
        frozenset[str]() if followed is None else await possible_commands(ls, followed.loaded)
    )
    if _is_wanted(types.CodeActionKind.QuickFix, only):
        ours = [one for one in params.context.diagnostics if one.source == SOURCE]
        for diagnostic in ours:
            if diagnostic.code == UTILIZATION_CODE:
                found += _relief(path, possible, diagnostic)
            else:
                found += _text_fixes(ls, path, diagnostic)
        found += await proposal_actions(ls, path, ours)
    if possible and _is_wanted(types.CodeActionKind.Refactor, only):
        taken = {action.command.command for action in found if action.command is not None}
        found += [
            _action(title, command, path, types.CodeActionKind.Refactor)
            for title, command in ALWAYS
            if command in possible and command not in taken
        ]
        if PIN_COMMAND in possible:
            found += await _pinning(ls, path, params)
    return found


async def _pinning(
    ls: UllageServer, path: Path, params: types.CodeActionParams
) -> list[types.CodeAction]:
    """Offer to pin what the user said in this line."""
    is_asked_for = params.context.trigger_kind == types.CodeActionTriggerKind.Invoked
    # Editors ask at every move of the cursor, many without saying so: nothing is read for that.
    known = await outlined(ls, path) if is_asked_for else ls.documents.outlines.get(path)
    row = None if known is None else find_row_at_line(known.outline, params.range.start.line)
    if row is None or row.kind != "user":
        return []
    title = "Pin this message"
    arguments = [{"session": str(path), "entry": row.entry_id}]
    return [
        types.CodeAction(
            title=title,
            kind=types.CodeActionKind.Refactor,
            command=types.Command(title=title, command=PIN_COMMAND, arguments=arguments),
        )
    ]


def _relief(
    path: Path, possible: frozenset[str], diagnostic: types.Diagnostic
) -> list[types.CodeAction]:
    actions = [
        _action(title, command, path, types.CodeActionKind.QuickFix, [diagnostic])
        for title, command in RELIEF
        if command in possible
    ]
    if actions and COMPACT_COMMAND in possible:
        actions[0].is_preferred = True
    return actions


def _text_fixes(
    ls: UllageServer, path: Path, diagnostic: types.Diagnostic
) -> list[types.CodeAction]:
    """Offer the changes that the last check knows for exactly this place of this text."""
    uri = ls.documents.open_uri(path)
    if uri is None:
        return []
    fixes = [
        fix
        for finding in ls.documents.findings.get(path, ())
        if finding.code == diagnostic.code
        and range_of(finding.extent) == diagnostic.range
        and finding.message == diagnostic.message
        for fix in finding.fixes
    ]
    is_only, version = len(fixes) == 1, ls.documents.versions.get(path)
    return [
        fix_action(ls, uri, fix, version, [diagnostic], is_preferred=is_only and fix.is_sure)
        for fix in fixes
    ]


def _action(
    title: str,
    command: str,
    path: Path,
    kind: types.CodeActionKind,
    diagnostics: list[types.Diagnostic] | None = None,
) -> types.CodeAction:
    argument = {"session": str(path)}
    if command == RESTORE_COMMAND:
        argument["into"] = "session"
    return types.CodeAction(
        title=title,
        kind=kind,
        diagnostics=diagnostics,
        command=types.Command(title=title, command=command, arguments=[argument]),
    )


def _is_wanted(
    kind: types.CodeActionKind, only: Sequence[types.CodeActionKind | str] | None
) -> bool:
    """Whether an editor that asks for some kinds takes one; `quickfix` means all below it."""
    return only is None or any(
        kind.value == wanted or kind.value.startswith(f"{wanted}.") for wanted in only
    )
