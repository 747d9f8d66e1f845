"""Code lenses and inlay hints: how full a transcript is, what an entry or a file costs."""

import asyncio
from collections.abc import Iterator
from pathlib import Path

from lsprotocol import types
from lsprotocol.types import CodeLens, CodeLensParams, Command

from ullage.app.change.preview import saved_text
from ullage.app.documents.check import SmallFile
from ullage.app.documents.instruction_size import sent_text, size_text
from ullage.app.documents.instructions import is_index
from ullage.app.documents.outline import OutlinedSession, PlacedCompaction, place_compactions
from ullage.app.documents.outline_text import change_text, hint_text, hint_tooltip
from ullage.app.documents.proposal import CheckedProposal, read_checked_proposal
from ullage.app.sessions.load import Loaded
from ullage.core.documents.instructions import cut_text_sections, estimate_text
from ullage.core.documents.outline import list_rows_between
from ullage.core.documents.virtual_uri import VirtualUri, write_summary_uri, write_virtual_uri
from ullage.core.gauge.gauge import gauge_text
from ullage.core.text.positions import Positions
from ullage.errors import CorruptCheckpoint, NewerCheckpoint
from ullage.lsp import protocol
from ullage.lsp.convert import line_range, position_of
from ullage.lsp.documents.by_kind import answer_by_kind, of_outline, of_text
from ullage.lsp.documents.inbox import inbox_lenses
from ullage.lsp.documents.offered_commands import offered_commands
from ullage.lsp.documents.outline import read_outline
from ullage.lsp.documents.preview_sources import preview_hints
from ullage.lsp.state import UllageServer
from ullage.store.checkpoint.yaml_file import load

HEAD = (
    ("Compact…", protocol.COMPACT_COMMAND),
    ("Prune…", protocol.PRUNE_COMMAND),
    ("Write Checkpoint", protocol.CHECKPOINT_COMMAND),
)
AS_TEXT = (("as text", "text"),)
INTO_SESSIONS = (("into this session…", "session"), ("into a new one…", "new"))
MAX_HINTS = 500
"""Editors ask for what is visible; of one that asks for more, the last lines count (chosen)."""


async def transcript_lenses(ls: UllageServer, path: Path, _: CodeLensParams) -> list[CodeLens]:
    outlined = await read_outline(ls, path)
    followed = ls.sessions.followed.get(path)
    if followed is None:
        return []
    loaded = followed.loaded
    offered = await offered_commands(ls, loaded)
    head = [_lens(command) for command in _head(loaded, offered)]
    # Without an outline, as of a database, there are those of the first line alone.
    placed = () if outlined is None else await asyncio.to_thread(place_compactions, outlined)
    return head + [
        _lens(command, compaction.row.line)
        for compaction in placed
        for command in _offer_compaction(loaded, compaction, offered)
    ]


def _head(loaded: Loaded, offered: frozenset[str]) -> Iterator[Command]:
    yield Command(gauge_text(loaded.status.gauge), "")
    for title, command in HEAD:
        if command in offered:
            yield Command(title, command, arguments=[{"session": str(loaded.path)}])


def _offer_compaction(
    loaded: Loaded, placed: PlacedCompaction, offered: frozenset[str]
) -> Iterator[Command]:
    compaction = placed.compaction
    yield Command(change_text(compaction), "")
    if compaction.summary and protocol.SHOW_COMMAND in offered:
        uri = write_summary_uri(str(loaded.path), compaction.entry_id)
        yield Command("Show summary", protocol.SHOW_COMMAND, arguments=[{"uri": uri}])
    # A prune since then would be taken back first.
    if protocol.UNDO_COMMAND in offered and placed.is_last and loaded.context.pruned is None:
        yield Command("Undo", protocol.UNDO_COMMAND, arguments=[{"session": str(loaded.path)}])


async def checkpoint_lenses(ls: UllageServer, path: Path, params: CodeLensParams) -> list[CodeLens]:
    can_show, may_write = ls.can_show_text, ls.may_write

    def read(file: SmallFile, _: CodeLensParams) -> list[CodeLens]:
        commands = _offer_checkpoint(file, can_show=can_show, may_write=may_write)
        return [_lens(command) for command in commands]

    return await of_text(read, [])(ls, path, params)


def _offer_checkpoint(file: SmallFile, *, can_show: bool, may_write: bool) -> Iterator[Command]:
    """Offer what the command line does with a checkpoint; nothing on one that cannot be read."""
    try:
        meta = load(file.text.encode("utf-8", "replace")).meta
    except (CorruptCheckpoint, NewerCheckpoint):
        return
    session, checkpoint = meta.session_file, file.path.stem
    # A runtime that keeps no file restores by itself.
    if not session or not Path(session).exists():
        return
    ways = (*(AS_TEXT if can_show else ()), *(INTO_SESSIONS if may_write else ()))
    for at, (title, into) in enumerate(ways):
        argument = {"session": session, "checkpoint": checkpoint, "into": into}
        yield Command(
            title if at else f"Restore {title}", protocol.RESTORE_COMMAND, arguments=[argument]
        )
    previous = meta.previous_checkpoint
    if previous is not None and can_show:
        changes = VirtualUri(
            name="Checkpoint Changes", session=session, old=previous, new=checkpoint
        )
        uri = write_virtual_uri(changes)
        yield Command(f"Compare with {previous}", protocol.SHOW_COMMAND, arguments=[{"uri": uri}])


def instruction_lenses(file: SmallFile, _: CodeLensParams) -> list[CodeLens]:
    if not file.text:
        return []
    size = size_text(file.path, file.text, file.around)
    sent = sent_text(file.path, file.text, file.around)
    return [_lens(Command(f"{size} · {sent} tokens in every request", ""))]


def memory_lenses(file: SmallFile, params: CodeLensParams) -> list[CodeLens]:
    """Say what memory costs: the index in every request, other notes when they are read."""
    if is_index(file.path):
        return instruction_lenses(file, params)
    if not file.text:
        return []
    return [_lens(Command(f"~{estimate_text(file.text):,} tokens when it is read", ""))]


async def preview_lenses(ls: UllageServer, path: Path, _: CodeLensParams) -> list[CodeLens]:
    """Say above a proposal of which session it is and what is written where, then what it keeps."""
    proposal = await asyncio.to_thread(read_checked_proposal, path, ls.surroundings())
    if proposal is None:
        return []
    commands = tuple(_offer_proposal(ls, proposal, path))
    can_apply = commands[0].command == protocol.APPLY_COMMAND
    name, writes = proposal.preview.name_title_last, proposal.preview.note.writes
    says = (name, writes) if can_apply else (name,)
    # Each in a row: one is cut where the editor is half as wide as the window.
    told = [_lens(Command(words, ""), line) for line, words in enumerate(says)]
    return told + [_lens(command, 2) for command in commands]


def _offer_proposal(ls: UllageServer, proposal: CheckedProposal, path: Path) -> Iterator[Command]:
    """Offer what can be done, then what the proposal keeps; first why it cannot be applied."""
    note, checked = proposal.preview.note, proposal.checked
    is_too_long = path in ls.documents.too_long
    state = Command("the text is too long for a summary" if is_too_long else checked.state, "")
    arguments = [{"preview": proposal.preview.preview_id}]
    can_apply = ls.may_write and checked.can_apply and not is_too_long
    if can_apply:
        # Where the client does not send what is typed, the file is what is applied.
        apply = "Apply" if ls.documents.is_typing_known(path) else "Apply as saved"
        saved = saved_text(note.n_tokens_before, note.n_tokens_after)
        yield Command(f"{apply} ({saved})", protocol.APPLY_COMMAND, arguments=arguments)
    else:
        yield state
    if ls.may_write:
        yield Command("Regenerate…", protocol.REGENERATE_COMMAND, arguments=arguments)
        yield Command("Discard", protocol.DISCARD_COMMAND, arguments=arguments)
    if can_apply:
        # Where the end of the row is cut, what can be done is not.
        yield state


def _lens(command: Command, line: int = 0) -> CodeLens:
    """Make a lens; of a command without a name, editors show the title as plain text."""
    return CodeLens(range=line_range(line), command=command)


def transcript_hints(
    outlined: OutlinedSession, params: types.InlayHintParams
) -> list[types.InlayHint]:
    first, last = params.range.start.line, params.range.end.line
    # They stand before the line: an entry is longer than any screen is wide.
    return [
        types.InlayHint(
            position=types.Position(line=row.line, character=0),
            label=text,
            tooltip=hint_tooltip(outlined, row),
            padding_right=True,
        )
        for row in list_rows_between(outlined.outline, first, last)[-MAX_HINTS:]
        if (text := hint_text(outlined, row))
    ]


def section_hints(file: SmallFile, params: types.InlayHintParams) -> list[types.InlayHint]:
    """Give the tokens at the headings that are in sight."""
    positions = Positions(file.text)
    hints: list[types.InlayHint] = []
    for section in cut_text_sections(file.text):
        end = positions.position(section.heading_end)
        if params.range.start.line <= end.line <= params.range.end.line:
            label = f"~{section.n_tokens:,} tokens"
            hints.append(types.InlayHint(position=position_of(end), label=label, padding_left=True))
    return hints


answer_lenses = answer_by_kind(
    {
        "transcript": transcript_lenses,
        "checkpoint": checkpoint_lenses,
        "instructions": of_text(instruction_lenses, []),
        "memory": of_text(memory_lenses, []),
        "inbox": inbox_lenses,
        "preview": preview_lenses,
    },
    [],
)
answer_hints = answer_by_kind(
    {
        "transcript": of_outline(transcript_hints, []),
        "instructions": of_text(section_hints, []),
        "memory": of_text(section_hints, []),
        "preview": preview_hints,
    },
    [],
)
