"""Code actions: what can be done about a finding, and about the transcript that is open."""

from collections.abc import Sequence
from pathlib import Path

from lsprotocol import types

from ullage.core.documents.outline import find_row_at_line
from ullage.lsp.convert import SOURCE, path_of, range_of
from ullage.lsp.documents.diagnostics import UTILIZATION_CODE
from ullage.lsp.documents.edit import fix_action
from ullage.lsp.documents.offered_commands import offered_commands
from ullage.lsp.documents.outline import read_outline
from ullage.lsp.documents.proposal import proposal_actions
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


async def answer_code_actions(
    ls: UllageServer, params: types.CodeActionParams
) -> list[types.CodeAction]:
    path = path_of(params.text_document.uri)
    if path is None:
        return []
    only = params.context.only
    async with ls.read_locks[path]:
        # A transcript that was just opened may still be read.
        followed = ls.sessions.followed.get(path)
    offered = frozenset[str]() if followed is None else await offered_commands(ls, followed.loaded)
    actions: list[types.CodeAction] = []
    if _is_wanted(types.CodeActionKind.QuickFix, only):
        findings = [finding for finding in params.context.diagnostics if finding.source == SOURCE]
        for finding in findings:
            if finding.code == UTILIZATION_CODE:
                actions += _relief(path, offered, finding)
            else:
                actions += _text_fixes(ls, path, finding)
        actions += await proposal_actions(ls, path, findings)
    if offered and _is_wanted(types.CodeActionKind.Refactor, only):
        taken = {action.command.command for action in actions if action.command is not None}
        actions += [
            _action(title, command, path)
            for title, command in ALWAYS
            if command in offered and command not in taken
        ]
        if PIN_COMMAND in offered:
            actions += await _pinning(ls, path, params)
    return actions


async def _pinning(
    ls: UllageServer, path: Path, params: types.CodeActionParams
) -> list[types.CodeAction]:
    """Offer to pin what the user said in this line."""
    is_asked_for = params.context.trigger_kind == types.CodeActionTriggerKind.Invoked
    # Editors ask at every move of the cursor, many without saying so: nothing is read for that.
    outlines = ls.documents.outlines
    outlined = await read_outline(ls, path) if is_asked_for else outlines.get(path)
    row = None if outlined is None else find_row_at_line(outlined.outline, params.range.start.line)
    if row is None or row.kind != "user":
        return []
    return [_action("Pin this message", PIN_COMMAND, path, entry=row.entry_id)]


def _relief(
    path: Path, offered: frozenset[str], finding: types.Diagnostic
) -> list[types.CodeAction]:
    actions = [
        _action(title, command, path, finding) for title, command in RELIEF if command in offered
    ]
    if actions and COMPACT_COMMAND in offered:
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
    finding: types.Diagnostic | None = None,
    *,
    entry: str | None = None,
) -> types.CodeAction:
    """Offer a command; without a finding, as what may be done at any time."""
    argument = {"session": str(path)}
    if entry is not None:
        argument["entry"] = entry
    if command == RESTORE_COMMAND:
        argument["into"] = "session"
    is_fix = finding is not None
    return types.CodeAction(
        title=title,
        kind=types.CodeActionKind.QuickFix if is_fix else types.CodeActionKind.Refactor,
        diagnostics=None if finding is None else [finding],
        command=types.Command(title=title, command=command, arguments=[argument]),
    )


def _is_wanted(
    kind: types.CodeActionKind, only: Sequence[types.CodeActionKind | str] | None
) -> bool:
    """Whether an editor that asks for some kinds takes one; `quickfix` means all below it."""
    return only is None or any(
        kind.value == wanted or kind.value.startswith(f"{wanted}.") for wanted in only
    )
