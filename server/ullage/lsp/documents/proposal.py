"""A proposal in the editor: its lenses, its findings, and what can be done about them."""

import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from lsprotocol import types

from ullage.app.change.preview import saved_text
from ullage.app.documents.proposal import CheckedProposal, checked_proposal, text_fix
from ullage.core.summary.preview_check import LOST_CODES, OUTDATED
from ullage.core.text.positions import Positions
from ullage.lsp.convert import line_range
from ullage.lsp.documents.edit import fix_action
from ullage.lsp.protocol import APPLY_COMMAND, DISCARD_COMMAND, REGENERATE_COMMAND
from ullage.lsp.state import UllageServer

SETTLED: Final = frozenset((*LOST_CODES.values(), OUTDATED))
APPLY, APPLY_SAVED = "Apply", "Apply as saved"
"""The second where the client does not send what is typed: the file is what is applied."""
TOO_LONG: Final = "the text is too long for a summary"
REGENERATE, DISCARD = "Regenerate…", "Discard"


async def preview_lenses(
    ls: UllageServer, path: Path, _: types.CodeLensParams
) -> list[types.CodeLens]:
    """Say above a proposal what it saves and keeps, and offer what can be done with it."""
    proposal = await asyncio.to_thread(checked_proposal, path, ls.surroundings())
    if proposal is None:
        return []
    commands = list(_offers(ls, proposal, path))
    return [types.CodeLens(range=line_range(0), command=command) for command in commands]


def _offers(ls: UllageServer, proposal: CheckedProposal, path: Path) -> Iterator[types.Command]:
    note, checked = proposal.preview.note, proposal.checked
    is_too_long = path in ls.documents.too_long
    if ls.may_write:
        arguments = [{"preview": proposal.preview.preview_id}]
        apply = APPLY if ls.documents.is_typing_known(path) else APPLY_SAVED
        saved = saved_text(note.n_tokens_before, note.n_tokens_after)
        if checked.can_apply and not is_too_long:
            yield types.Command(f"{apply} ({saved})", APPLY_COMMAND, arguments=arguments)
        yield types.Command(REGENERATE, REGENERATE_COMMAND, arguments=arguments)
        yield types.Command(DISCARD, DISCARD_COMMAND, arguments=arguments)
    yield types.Command(TOO_LONG if is_too_long else checked.state, "")
    if note.memory is not None:
        yield types.Command(note.memory, "")


async def proposal_actions(
    ls: UllageServer, path: Path, diagnostics: list[types.Diagnostic]
) -> list[types.CodeAction]:
    """Offer what settles several findings of a proposal at once, or needs a command."""
    uri = ls.documents.open_uri(path)
    if uri is None or all(diagnostic.code not in SETTLED for diagnostic in diagnostics):
        return []
    # Of the text that is checked now, whatever is typed meanwhile.
    version = ls.documents.versions.get(path)
    proposal = await asyncio.to_thread(checked_proposal, path, ls.surroundings())
    if proposal is None:
        return []
    actions: list[types.CodeAction] = []
    checked = proposal.checked
    lost = [diagnostic for diagnostic in diagnostics if diagnostic.code in LOST_CODES.values()]
    if lost and checked.insert_all is not None:
        fix = text_fix(checked.insert_all, Positions(checked.text))
        actions.append(fix_action(ls, uri, fix, version, lost))
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
        command=types.Command(REGENERATE, REGENERATE_COMMAND, arguments=arguments),
    )
