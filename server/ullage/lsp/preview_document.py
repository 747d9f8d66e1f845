"""A proposal in the editor: its lenses, its findings, and what can be done about them."""

import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from lsprotocol import types

from ullage.app.preview import tokens_text
from ullage.app.proposal import CheckedProposal, checked_proposal
from ullage.core.preview_check import (
    INVENTED,
    LOST_CODES,
    MARKER_MISSING,
    OUTDATED,
    STALE,
    Change,
    PreviewFinding,
)
from ullage.lsp.convert import SOURCE
from ullage.lsp.protocol import APPLY_COMMAND, DISCARD_COMMAND, REGENERATE_COMMAND
from ullage.lsp.state import UllageServer

_ERROR, _WARNING = types.DiagnosticSeverity.Error, types.DiagnosticSeverity.Warning
SEVERITIES: Final[dict[str, types.DiagnosticSeverity]] = {
    **dict.fromkeys(LOST_CODES.values(), types.DiagnosticSeverity.Information),
    LOST_CODES["pin"]: _ERROR,
    LOST_CODES["constraint"]: _WARNING,
    INVENTED: _WARNING,
    STALE: _WARNING,
    MARKER_MISSING: _ERROR,
    OUTDATED: _ERROR,
}
APPLY, REGENERATE, DISCARD = "Apply", "Regenerate with focus…", "Discard"


async def preview_lenses(ls: UllageServer, path: Path) -> list[types.CodeLens]:
    """Say above a proposal what it saves and keeps, and offer what can be done with it."""
    found = await checked_at(ls, path)
    if found is None:
        return []
    note, checked = found.preview.note, found.checked
    argument = {"preview": found.preview.preview_id}
    state = checked.kept_text if checked.n_found else "the session went on"
    commands = [
        types.Command(
            title=f"{APPLY} · {tokens_text(note.n_tokens_before, note.n_tokens_after)}",
            command=APPLY_COMMAND,
            arguments=[argument],
        ),
        types.Command(title=REGENERATE, command=REGENERATE_COMMAND, arguments=[argument]),
        types.Command(title=DISCARD, command=DISCARD_COMMAND, arguments=[argument]),
        types.Command(title=state, command=""),
    ]
    start = types.Position(0, 0)
    return [types.CodeLens(range=types.Range(start, start), command=one) for one in commands]


async def preview_diagnostics(ls: UllageServer, path: Path) -> list[types.Diagnostic]:
    found = await checked_at(ls, path)
    if found is None:
        return []
    return [_diagnostic(one, found.checked.text) for one in found.checked.findings]


async def preview_actions(
    ls: UllageServer, path: Path, params: types.CodeActionParams
) -> list[types.CodeAction]:
    """Offer the changes that settle the findings, and the one that puts in all that is lost."""
    found = await checked_at(ls, path)
    wanted = [one for one in params.context.diagnostics if one.code in SEVERITIES]
    if found is None or not wanted:
        return []
    return list(_actions(found, params.text_document.uri, wanted))


async def publish_proposal(ls: UllageServer, path: Path) -> None:
    """Show the findings of a proposal that is open."""
    uri = ls.open_uris.get(path)
    if uri is not None:
        ls.text_document_publish_diagnostics(
            types.PublishDiagnosticsParams(uri=uri, diagnostics=await preview_diagnostics(ls, path))
        )


async def checked_at(ls: UllageServer, path: Path) -> CheckedProposal | None:
    text = ls.texts.get(path)
    return await asyncio.to_thread(checked_proposal, path, text, ls.config, ls.places)


def _actions(
    found: CheckedProposal, uri: str, wanted: list[types.Diagnostic]
) -> Iterator[types.CodeAction]:
    text = found.checked.text
    for finding in found.checked.findings:
        same = _diagnostic(finding, text)
        shown = [
            one
            for one in wanted
            if (one.code, one.message, one.range) == (same.code, same.message, same.range)
        ]
        for fix in finding.fixes if shown else ():
            yield types.CodeAction(
                title=f"{fix.title}: {finding.message}" if fix.title == "Insert" else fix.title,
                kind=types.CodeActionKind.QuickFix,
                diagnostics=shown,
                is_preferred=True,
                edit=_edit(uri, text, fix),
            )
    lost = [one for one in wanted if one.code in LOST_CODES.values()]
    if lost and found.checked.insert_all is not None:
        yield types.CodeAction(
            title="Insert all that would be lost",
            kind=types.CodeActionKind.QuickFix,
            diagnostics=lost,
            edit=_edit(uri, text, found.checked.insert_all),
        )
    outdated = [one for one in wanted if one.code == OUTDATED]
    if outdated:
        yield types.CodeAction(
            title="Regenerate the proposal",
            kind=types.CodeActionKind.QuickFix,
            diagnostics=outdated,
            is_preferred=True,
            command=types.Command(
                title=REGENERATE,
                command=REGENERATE_COMMAND,
                arguments=[{"preview": found.preview.preview_id}],
            ),
        )


def _edit(uri: str, text: str, change: Change) -> types.WorkspaceEdit:
    place = _range(text, change.start, change.end)
    return types.WorkspaceEdit(
        changes={uri: [types.TextEdit(range=place, new_text=change.new_text)]}
    )


def _diagnostic(finding: PreviewFinding, text: str) -> types.Diagnostic:
    return types.Diagnostic(
        range=_range(text, finding.start, finding.end),
        severity=SEVERITIES[finding.code],
        code=finding.code,
        source=SOURCE,
        message=finding.message,
    )


def _range(text: str, start: int, end: int) -> types.Range:
    return types.Range(start=_position(text, start), end=_position(text, end))


def _position(text: str, offset: int) -> types.Position:
    """Give a place as the protocol counts it; the text has `\\n` alone as its line ends."""
    before = text[:offset]
    line_start = before.rfind("\n") + 1
    units = before[line_start:].encode("utf-16-le", "surrogatepass")
    return types.Position(line=before.count("\n"), character=len(units) // 2)
