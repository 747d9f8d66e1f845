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
from ullage.lsp.documents.diagnostics import surroundings
from ullage.lsp.documents.edit import fix_action
from ullage.lsp.permission import may_write
from ullage.lsp.protocol import APPLY_COMMAND, DISCARD_COMMAND, REGENERATE_COMMAND
from ullage.lsp.state import UllageServer

SETTLED: Final = frozenset((*LOST_CODES.values(), OUTDATED))
APPLY, APPLY_SAVED = "Apply", "Apply as saved"
"""The second where the client does not send what is typed: the file is what is applied."""
TOO_LONG: Final = "the text is too long for a summary"
REGENERATE, DISCARD = "Regenerate…", "Discard"


async def preview_lenses(ls: UllageServer, path: Path) -> list[types.CodeLens]:
    """Say above a proposal what it saves and keeps, and offer what can be done with it."""
    found = await checked_at(ls, path)
    if found is None:
        return []
    is_too_long = path in ls.documents.too_long
    commands = [
        *(_offers(ls, found, path) if may_write(ls) else ()),
        types.Command(title=TOO_LONG if is_too_long else found.checked.state, command=""),
    ]
    memory = found.preview.note.memory
    if memory is not None:
        commands.append(types.Command(title=memory, command=""))
    start = types.Position(0, 0)
    return [types.CodeLens(range=types.Range(start, start), command=one) for one in commands]


def _offers(ls: UllageServer, found: CheckedProposal, path: Path) -> Iterator[types.Command]:
    note, argument = found.preview.note, {"preview": found.preview.preview_id}
    apply = APPLY if ls.documents.is_typing_known(path) else APPLY_SAVED
    saved = saved_text(note.n_tokens_before, note.n_tokens_after)
    if found.checked.can_apply and path not in ls.documents.too_long:
        yield types.Command(f"{apply} ({saved})", APPLY_COMMAND, arguments=[argument])
    yield types.Command(REGENERATE, REGENERATE_COMMAND, arguments=[argument])
    yield types.Command(DISCARD, DISCARD_COMMAND, arguments=[argument])


async def proposal_actions(
    ls: UllageServer, path: Path, diagnostics: list[types.Diagnostic]
) -> list[types.CodeAction]:
    """Offer what settles several findings of a proposal at once, or needs a command."""
    uri = ls.documents.open_uri(path)
    if uri is None or all(one.code not in SETTLED for one in diagnostics):
        return []
    version = ls.documents.versions.get(path)
    found = await checked_at(ls, path)
    if found is None:
        return []
    insertions = list(_insertions(ls, found, uri, diagnostics, version))
    return [*insertions, *_regenerations(found, diagnostics)] if may_write(ls) else insertions


async def checked_at(ls: UllageServer, path: Path) -> CheckedProposal | None:
    return await asyncio.to_thread(checked_proposal, path, surroundings(ls))


def _insertions(
    ls: UllageServer,
    found: CheckedProposal,
    uri: str,
    wanted: list[types.Diagnostic],
    version: int | None,
) -> Iterator[types.CodeAction]:
    lost = [one for one in wanted if one.code in LOST_CODES.values()]
    if lost and found.checked.insert_all is not None:
        fix = text_fix(found.checked.insert_all, Positions(found.checked.text))
        yield fix_action(ls, uri, fix, version, lost)


def _regenerations(
    found: CheckedProposal, wanted: list[types.Diagnostic]
) -> Iterator[types.CodeAction]:
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
