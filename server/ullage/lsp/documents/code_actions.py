"""Code actions: what can be done about a finding, and about the transcript that is open."""

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import cast

from lsprotocol import types

from ullage.app.documents.outside_changes import OUTSIDE_CODE, write_changes_uri
from ullage.app.documents.proposal import CheckedProposal, read_checked_proposal, text_fix
from ullage.core.documents.finding import NewFile, TextFix
from ullage.core.documents.outline import find_row_at_line
from ullage.core.summary.preview import LOST_CODES, OUTDATED
from ullage.core.text.positions import Positions
from ullage.lsp import protocol
from ullage.lsp.convert import SOURCE, path_of, range_of, uri_of
from ullage.lsp.documents.diagnostics import UTILIZATION_CODE
from ullage.lsp.documents.inbox import inbox_actions
from ullage.lsp.documents.offered_commands import offered_commands
from ullage.lsp.documents.outline import read_outline
from ullage.lsp.state import UllageServer

RELIEF = (
    ("Compact this session…", protocol.COMPACT_COMMAND),
    ("Preview the compaction…", protocol.PREVIEW_COMMAND),
    ("Prune old tool output…", protocol.PRUNE_COMMAND),
    ("Write a checkpoint", protocol.CHECKPOINT_COMMAND),
)
"""Against a full context; the first is preferred."""
ALWAYS = (
    *RELIEF[1:],
    ("Undo the last change…", protocol.UNDO_COMMAND),
    ("Restore the latest checkpoint…", protocol.RESTORE_COMMAND),
)
"""What is offered anywhere in a transcript, with or without a finding."""
SETTLED_CODES = frozenset((*LOST_CODES.values(), OUTDATED))
"""Of findings in a proposal, those that an action for all of them settles."""


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
                actions += _memory_actions(ls, path, finding)
        actions += await _proposal_actions(ls, path, findings)
    is_refactor_wanted = _is_wanted(types.CodeActionKind.Refactor, only)
    if is_refactor_wanted and ls.kind_of(path) == "inbox":
        actions += await inbox_actions(ls, path, params)
    if offered and is_refactor_wanted:
        taken = {action.command.command for action in actions if action.command is not None}
        actions += [
            _action(title, command, path)
            for title, command in ALWAYS
            if command in offered and command not in taken
        ]
        if protocol.PIN_COMMAND in offered:
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
    return [_action("Pin this message", protocol.PIN_COMMAND, path, entry=row.entry_id)]


def _relief(
    path: Path, offered: frozenset[str], finding: types.Diagnostic
) -> list[types.CodeAction]:
    actions = [
        _action(title, command, path, finding) for title, command in RELIEF if command in offered
    ]
    if actions and protocol.COMPACT_COMMAND in offered:
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
        if fix.new_file is None or _creates_files(ls)
    ]
    is_only, version = len(fixes) == 1, ls.documents.versions.get(path)
    return [
        _fix_action(ls, uri, fix, version, [diagnostic], is_preferred=is_only and fix.is_sure)
        for fix in fixes
    ]


def _memory_actions(
    ls: UllageServer, path: Path, diagnostic: types.Diagnostic
) -> list[types.CodeAction]:
    """Offer to look at a change of memory from outside, and to accept what was found then."""
    workspace, sha256 = ls.surroundings().workspace_of(path), cast(object, diagnostic.data)
    if diagnostic.code != OUTSIDE_CODE or workspace is None or not isinstance(sha256, str):
        return []
    actions: list[types.CodeAction] = []
    if ls.can_show_text:
        uri = write_changes_uri(workspace, path.relative_to(workspace).as_posix())
        actions.append(_offer("Show what changed", protocol.SHOW_COMMAND, {"uri": uri}, diagnostic))
    if ls.may_write:
        argument = {"path": str(path), "sha256": sha256}
        title = "Accept this change of memory"
        actions.append(_offer(title, protocol.ACCEPT_MEMORY_COMMAND, argument, diagnostic))
    return actions


def _offer(
    title: str, command: str, argument: dict[str, str], diagnostic: types.Diagnostic
) -> types.CodeAction:
    return types.CodeAction(
        title=title,
        kind=types.CodeActionKind.QuickFix,
        diagnostics=[diagnostic],
        command=types.Command(title=title, command=command, arguments=[argument]),
    )


async def _proposal_actions(
    ls: UllageServer, path: Path, diagnostics: list[types.Diagnostic]
) -> list[types.CodeAction]:
    """Offer what settles several findings of a proposal at once, or needs a command."""
    uri = ls.documents.open_uri(path)
    if uri is None or all(diagnostic.code not in SETTLED_CODES for diagnostic in diagnostics):
        return []
    # Of the text that is checked now, whatever is typed meanwhile.
    version = ls.documents.versions.get(path)
    proposal = await asyncio.to_thread(read_checked_proposal, path, ls.surroundings())
    if proposal is None:
        return []
    actions: list[types.CodeAction] = []
    checked = proposal.checked
    lost = [diagnostic for diagnostic in diagnostics if diagnostic.code in LOST_CODES.values()]
    if lost and checked.insert_all is not None:
        fix = text_fix(checked.insert_all, Positions(checked.text))
        actions.append(_fix_action(ls, uri, fix, version, lost))
    outdated = [diagnostic for diagnostic in diagnostics if diagnostic.code == OUTDATED]
    if outdated and ls.may_write:
        actions.append(_regeneration(proposal, outdated))
    return actions


def _regeneration(proposal: CheckedProposal, outdated: list[types.Diagnostic]) -> types.CodeAction:
    arguments = [{"preview": proposal.preview.preview_id}]
    return types.CodeAction(
        title="Regenerate the proposal",
        kind=types.CodeActionKind.QuickFix,
        diagnostics=outdated,
        is_preferred=True,
        command=types.Command("Regenerate…", protocol.REGENERATE_COMMAND, arguments=arguments),
    )


def _fix_action(
    ls: UllageServer,
    uri: str,
    fix: TextFix,
    version: int | None,
    diagnostics: list[types.Diagnostic],
    *,
    is_preferred: bool = False,
) -> types.CodeAction:
    """Offer a change; of the file as it was saved where nobody knows what was typed since.

    The version is that of the text that was checked: a client refuses the change for a later one.
    It is known of clients that send what is typed.
    """
    path = path_of(uri)
    is_known = path is not None and ls.documents.is_typing_known(path)
    edit = types.TextEdit(range=range_of(fix.extent), new_text=fix.new_text)
    if fix.new_file is None and (version is None or not _takes_versions(ls)):
        workspace_edit = types.WorkspaceEdit(changes={uri: [edit]})
    else:
        made = () if fix.new_file is None else _make_file(fix.new_file)
        workspace_edit = types.WorkspaceEdit(
            document_changes=[*made, _edit_document(uri, version, edit)]
        )
    return types.CodeAction(
        title=fix.title if is_known else f"{fix.title} (as saved)",
        kind=types.CodeActionKind.QuickFix,
        diagnostics=diagnostics,
        is_preferred=is_preferred and is_known,
        edit=workspace_edit,
    )


def _make_file(file: NewFile) -> tuple[types.CreateFile, types.TextDocumentEdit]:
    """Make a file with its text; the edit fails where there is one by then."""
    uri = uri_of(Path(file.path))
    begin = types.Position(0, 0)
    edit = types.TextEdit(types.Range(begin, begin), file.text)
    return types.CreateFile(uri=uri), _edit_document(uri, None, edit)


def _edit_document(uri: str, version: int | None, edit: types.TextEdit) -> types.TextDocumentEdit:
    document = types.OptionalVersionedTextDocumentIdentifier(uri=uri, version=version)
    return types.TextDocumentEdit(text_document=document, edits=[edit])


def _creates_files(ls: UllageServer) -> bool:
    edits = ls.client_workspace.workspace_edit
    operations = () if edits is None else edits.resource_operations or ()
    return _takes_versions(ls) and types.ResourceOperationKind.Create in operations


def _takes_versions(ls: UllageServer) -> bool:
    edits = ls.client_workspace.workspace_edit
    return edits is not None and edits.document_changes is True


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
    if command == protocol.RESTORE_COMMAND:
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
