"""Which commands can work on a session: one answer for lenses and code actions."""

import asyncio

from ullage.app.change.make import Ability, abilities
from ullage.app.sessions.load import Loaded
from ullage.lsp.permission import may_write
from ullage.lsp.protocol import (
    CHECKPOINT_COMMAND,
    COMPACT_COMMAND,
    PIN_COMMAND,
    PREVIEW_COMMAND,
    PRUNE_COMMAND,
    RESTORE_COMMAND,
    SHOW_COMMAND,
    UNDO_COMMAND,
)
from ullage.lsp.state import UllageServer

NEEDED: dict[str, frozenset[Ability]] = {
    COMPACT_COMMAND: frozenset(("change",)),
    PREVIEW_COMMAND: frozenset(("change",)),
    PRUNE_COMMAND: frozenset(("change",)),
    CHECKPOINT_COMMAND: frozenset(("note",)),
    PIN_COMMAND: frozenset(("note",)),
    UNDO_COMMAND: frozenset(("undo",)),
    RESTORE_COMMAND: frozenset(("restore", "change")),
}


async def possible_commands(ls: UllageServer, loaded: Loaded) -> frozenset[str]:
    able = await asyncio.to_thread(abilities, loaded, ls.places, may_write=may_write(ls))
    shown = (SHOW_COMMAND,) if ls.can_show_text else ()
    return frozenset((*(one for one, needed in NEEDED.items() if needed <= able), *shown))
