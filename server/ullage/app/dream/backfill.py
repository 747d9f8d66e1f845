"""Backfill: what old sessions of a workspace said that lasts is proposed in `DREAMS.md`.

Newest first, a session at a time: what was read is noted, so that a backfill that was stopped goes
on where it ended, and one that is run again finds nothing new.
"""

import asyncio
from collections.abc import Callable, Iterable, Iterator
from datetime import date, datetime
from itertools import chain
from pathlib import Path

import msgspec

from ullage.app.config.load import refuse_read_only, refuse_without_memory
from ullage.app.dream.material import read_known
from ullage.app.dream.write import add_items, write_item
from ullage.app.sessions.find import list_sessions
from ullage.app.sessions.load import read
from ullage.app.sessions.past import list_all_items
from ullage.app.sessions.secrets import add_named, secrets_for
from ullage.app.sessions.session import Session
from ullage.app.sessions.title import name_of
from ullage.core.config.settings import Config
from ullage.core.dream.lasting import cut_to_statement
from ullage.core.dream.propose import Known, Statement, propose
from ullage.core.memory.inbox import InboxItem
from ullage.core.memory.quoted import quote_memory
from ullage.core.secrets.redaction import list_named_in
from ullage.core.text.prose import plural
from ullage.core.text.quotations import read_own_words
from ullage.core.text.sentences import read_user_sentences
from ullage.core.transcript.context import ContextItem
from ullage.core.transcript.recalled import cut_recalled, list_recalled
from ullage.core.transcript.speech import read_speech
from ullage.errors import InputError
from ullage.store.files.local_time import day_of
from ullage.store.files.places import Places
from ullage.store.memory.changes import recover_memory_changes
from ullage.store.memory.dream_state import (
    append_dream_log,
    dream_lock,
    read_backfilled,
    record_backfilled,
)
from ullage.store.transcript.reader import FileLines

TITLE = "Session Replay"
SECONDS_A_MB = 0.1
"""Chosen to estimate by: some 10 MB of transcript a second of one processor, measured on recorded
sessions (`python benchmarks/memory/backfill.py`)."""


class BackfillSession(msgspec.Struct, frozen=True, kw_only=True):
    """A session that was not read yet, or went on since."""

    session: Session
    name: str
    size_bytes: int
    written_day: str
    fingerprint: str


class BackfillPlan(msgspec.Struct, frozen=True, kw_only=True):
    """What a backfill will read."""

    sessions: tuple[BackfillSession, ...]
    n_read_before: int
    """Sessions that were read, and did not change since."""

    @property
    def size_bytes(self) -> int:
        return sum(each.size_bytes for each in self.sessions)

    @property
    def text(self) -> str:
        """Say what it will take, in one line."""
        if not self.sessions:
            before = f"{self.n_read_before:,} read before, none since"
            return before if self.n_read_before else "there is no such session"
        size_mb = self.size_bytes / 1_000_000
        before = f", {self.n_read_before:,} read before" if self.n_read_before else ""
        return (
            f"{plural(len(self.sessions), 'session')} to read, {size_mb:.1f} MB, about"
            f" {max(1, round(size_mb * SECONDS_A_MB)):,} s{before}; nothing is sent anywhere"
        )


class BackfillResult(msgspec.Struct, frozen=True, kw_only=True):
    n_sessions: int
    items: tuple[InboxItem, ...]
    unreadable: tuple[str, ...]
    """Sessions that could not be read, each with why, a line each."""


Report = Callable[[int, int, str], None]
"""Hears how many sessions are through, of how many, and which comes next."""


def plan_backfill(
    workspace: Path, config: Config, places: Places, *, since: date | None = None
) -> BackfillPlan:
    """Find the sessions of a workspace that a backfill will read, newest first.

    Raises:
        Refused: memory is switched off, or the workspace is read-only.
        StorageError: what was read before is not known.
    """
    refuse_without_memory(config)
    refuse_read_only(config.policy)
    known = read_backfilled(workspace.resolve(), places)
    waiting: list[BackfillSession] = []
    n_read_before = 0
    for session in list_sessions(workspace, places):
        each = look_at_session(session, places)
        if since is not None and each.written_day < since.isoformat():
            continue
        if known.get(session.state_key) == each.fingerprint:
            n_read_before += 1
        else:
            waiting.append(each)
    return BackfillPlan(sessions=tuple(waiting), n_read_before=n_read_before)


async def backfill(
    plan: BackfillPlan,
    workspace: Path,
    places: Places,
    *,
    report: Report | None = None,
    now: datetime | None = None,
) -> BackfillResult:
    """Read the sessions of a plan, and propose what lasts.

    Cancelled between two sessions, it keeps what it has.

    Raises:
        Refused: `DREAMS.md` cannot be added to.
        StateBusy: a dream of the workspace is under way.
        StorageError: the disk or the state folder does not take it.
    """
    workspace = await asyncio.to_thread(workspace.resolve)
    now = now or datetime.now().astimezone()
    items: list[InboxItem] = []
    unreadable: list[str] = []
    with dream_lock(workspace, places):
        known = await asyncio.to_thread(_read_known, workspace, places)
        for at, each in enumerate(plan.sessions):
            if report is not None:
                report(at, len(plan.sessions), each.name)
            try:
                added = await asyncio.to_thread(_replay, each, known, workspace, places, now.date())
            except InputError as error:
                # One session that cannot be read keeps none of the others back.
                unreadable.append(f"{each.name}: {error}")
                continue
            items += added
            for item in added:
                known.standing[item.finding] = "user"
                known.said_on[item.finding] = item.day
        line = (
            f"{now:%Y-%m-%d %H:%M} · backfill · {plural(len(plan.sessions), 'session')} read ·"
            f" {plural(len(items), 'item')} proposed"
        )
        await asyncio.to_thread(append_dream_log, line, workspace, places)
    return BackfillResult(
        n_sessions=len(plan.sessions), items=tuple(items), unreadable=tuple(unreadable)
    )


def list_statements(session: Session, places: Places) -> Iterator[Statement]:
    """List what a person typed in a session, sentence by sentence, without secrets.

    What memory handed out there before a sentence is no news in it.

    Raises:
        InputError: it cannot be read.
    """
    reading = read(session, places.for_reading(is_read_only=True))
    named = list_named_in(list_all_items(session, reading))
    secrets = add_named(secrets_for(session.header, places), named)
    name = name_of(session, secrets)
    handed_out: list[str] = []
    for number, item in enumerate(list_all_items(session, reading), 1):
        handed_out += chain.from_iterable(text.split("\n") for text in list_recalled(item))
        for text in _list_sentences(item):
            if any(text in line for line in handed_out):
                continue
            yield Statement(
                text=" ".join(quote_memory(cut_to_statement(text), secrets).split()),
                origin="user",
                day=f"{day_of(item.at_ms) or _written_day(session)}",
                place=f"{name}, message {number}",
                is_picked=False,
            )


def _read_known(workspace: Path, places: Places) -> Known:
    # A part of an item, by a killed process, would pass for one that waits.
    recover_memory_changes(workspace, places)
    return read_known(workspace, places)


def _replay(
    each: BackfillSession, known: Known, workspace: Path, places: Places, today: date
) -> tuple[InboxItem, ...]:
    proposals = propose(
        list_statements(each.session, places),
        known=known,
        today=today,
    )
    items = [(proposal, write_item(proposal, TITLE)) for proposal in proposals]
    added = add_items(items, workspace, places)
    # Last: a kill before it has the session read again, which finds its items waiting.
    record_backfilled(each.session.state_key, each.fingerprint, workspace, places)
    return added


def _list_sentences(item: ContextItem) -> Iterable[str]:
    own = read_own_words(cut_recalled(read_speech(item, "typed")))
    for sentence in read_user_sentences(own, 0):
        if not sentence.is_bulk:
            yield sentence.text


def look_at_session(session: Session, places: Places) -> BackfillSession:
    return BackfillSession(
        session=session,
        name=name_of(session, secrets_for(session.header, places)),
        size_bytes=session.lines.size_bytes,
        written_day=_written_day(session),
        fingerprint=_fingerprint(session),
    )


def _written_day(session: Session) -> str:
    return f"{datetime.fromtimestamp(session.lines.written_ns / 1e9):%Y-%m-%d}"


def _fingerprint(session: Session) -> str:
    lines = session.lines
    inode = lines.fingerprint.inode if isinstance(lines, FileLines) else 0
    return f"{inode}:{lines.size_bytes}:{lines.written_ns}"
