"""Which commands are offered for a session: one answer for lenses and code actions."""

import asyncio

from ullage.app.change.make import Ability, abilities
from ullage.app.sessions.load import Loaded
from ullage.lsp import protocol
from ullage.lsp.state import UllageServer

NEEDED: dict[str, frozenset[Ability]] = {
    protocol.COMPACT_COMMAND: frozenset(("change",)),
    protocol.PREVIEW_COMMAND: frozenset(("change",)),
    protocol.PRUNE_COMMAND: frozenset(("change",)),
    protocol.CHECKPOINT_COMMAND: frozenset(("note",)),
    protocol.PIN_COMMAND: frozenset(("note",)),
    protocol.UNDO_COMMAND: frozenset(("undo",)),
    protocol.RESTORE_COMMAND: frozenset(("restore", "change")),
}


async def offered_commands(ls: UllageServer, loaded: Loaded) -> frozenset[str]:
    able = await asyncio.to_thread(abilities, loaded, ls.places, may_write=ls.may_write)
    shown = (protocol.SHOW_COMMAND,) if ls.can_show_text else ()
    return frozenset((*(name for name, needed in NEEDED.items() if needed <= able), *shown))
