"""Proposals as items of the inbox: worded, and added to `DREAMS.md` with their origins noted."""

from collections.abc import Iterable, Sequence
from pathlib import Path

from ullage.app.dream.material import JOINED
from ullage.app.memory.origins import begin_memory, record_lines
from ullage.core.dream.propose import Proposal, Statement
from ullage.core.memory.inbox import TITLE, InboxItem, format_item, propose_item, read_items
from ullage.core.memory.likeness import KnownTexts
from ullage.core.memory.origin import ORIGIN_WORDS, Origin, digest_line
from ullage.core.text.prose import plural
from ullage.store.files.places import Places
from ullage.store.memory.daily_log import append_text
from ullage.store.memory.dream_state import append_lines
from ullage.store.memory.places import DREAMS

MAX_PLACES = 3
"""Of those where a statement stands, that are named in an item (chosen)."""


def write_item(proposal: Proposal, title: str) -> InboxItem:
    """Word a proposal as it waits in the inbox."""
    judgment, statement = proposal.judgment, proposal.statement
    said = f"; said on {plural(len(days), 'day')}" if len(days := _list_days(proposal)) > 1 else ""
    n_recalls = proposal.support.n_recalls
    recalled = f"; recalled {n_recalls}×" if n_recalls else ""
    return propose_item(
        judgment.kind,
        statement.text,
        day=statement.day,
        title=title,
        source=_write_source(proposal.said),
        score=f"{proposal.score:.2f}",
        reason=f"{judgment.reason}{said}{recalled}",
        replaces=proposal.replaces,
    )


def add_items(
    proposed: Sequence[tuple[Proposal, InboxItem]], workspace: Path, places: Places
) -> tuple[InboxItem, ...]:
    """Add items to the inbox that it does not have by then, with their origins; give those.

    What a line stands for beside its own words is noted, while `dream_lock` is held.

    Raises:
        LogRefused: `DREAMS.md` must not be added to.
        SessionLive: another Ullage is writing to it.
        StorageError: the disk or the state folder does not take it.
    """
    if not proposed:
        return ()
    begin_memory(workspace, places)
    origins: dict[str, Origin] = {
        name: each.statement.origin
        for each, item in proposed
        for name in (digest_line(item.finding), item.item_id)
    }
    record_lines(origins, "", workspace, places)
    added: list[InboxItem] = []

    def compose(before: str) -> str:
        added.clear()
        waiting = KnownTexts(item.finding for item in read_items(before))
        text = ""
        for _, item in proposed:
            if not waiting.say(item.finding):
                text += ("\n" if text else "") + format_item(item, before + text)
                added.append(item)
        return text

    append_text(workspace, DREAMS, TITLE, compose, places)
    joined = [
        f"{item.finding}\t{said.text}"
        for proposal, item in proposed
        if item in added
        for said in proposal.said
        if said.text != item.finding
    ]
    if joined:
        append_lines(JOINED, joined, workspace, places)
    return tuple(added)


def _list_days(proposal: Proposal) -> set[str]:
    return {statement.day for statement in proposal.said}


def _write_source(said: Iterable[Statement]) -> str:
    places = [f"{each.place} ({ORIGIN_WORDS[each.origin]})" for each in said]
    rest = len(places) - MAX_PLACES
    return ", ".join(places[:MAX_PLACES]) + (f" and {rest} more" if rest > 0 else "")
