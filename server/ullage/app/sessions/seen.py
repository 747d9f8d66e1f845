"""The sessions of a workspace's folders: which there are, which live, which one is shown."""

import time
from collections.abc import Iterable, Sequence
from itertools import islice
from pathlib import Path

import msgspec

from ullage.app.sessions.find import workspace_sessions
from ullage.app.sessions.session import Session
from ullage.core.gauge.gauge import Band, Gauge
from ullage.core.transcript.entries import Agent
from ullage.formats.registry import AGENTS
from ullage.store.change.session_lock import QUIET_S
from ullage.store.files.places import Places
from ullage.store.files.processes import running_sessions

MAX_SESSIONS = 20
"""Of a folder, the newest: what is older nobody watches (chosen)."""
MAX_LIVE = 10
N_NEWEST = 3
"""Followed though none of them lives, as the user may go on with one of them (chosen)."""
STAY_S = 30.0
"""How long another session goes on before the gauge leaves a live one that does not (chosen)."""


class Seen(msgspec.Struct, frozen=True, kw_only=True):
    """A session that was looked at, not read."""

    session: Session
    is_live: bool

    @property
    def path(self) -> Path:
        return self.session.path

    @property
    def written_ns(self) -> int:
        return self.session.lines.written_ns


class Brief(msgspec.Struct, frozen=True, kw_only=True):
    """What is kept of a session that is measured but not followed."""

    agent: Agent
    session_id: str
    path: Path
    written_ns: int
    gauge: Gauge
    band: Band
    model: str | None
    n_compactions: int
    can_change: bool
    is_auto_enabled: bool
    """By the configuration; the session's own switch may say otherwise."""


def look(folders: Iterable[Path], places: Places) -> tuple[Seen, ...]:
    """List the newest sessions of some folders: the live ones first, then by time."""
    running = running_ids(places)
    found: dict[Path, Seen] = {}
    for folder in folders:
        for session in islice(workspace_sessions(folder, places), MAX_SESSIONS):
            # Of a database, the session that was written to last stands for it.
            found.setdefault(session.path, see_session(session, running))
    return tuple(sorted(found.values(), key=lambda one: (not one.is_live, -one.written_ns)))


def to_follow(seen: Sequence[Seen]) -> tuple[Path, ...]:
    """Choose the sessions that are worth following: the live ones and the newest."""
    live = [one for one in seen if one.is_live][:MAX_LIVE]
    newest = sorted(seen, key=lambda one: one.written_ns, reverse=True)[:N_NEWEST]
    return tuple(dict.fromkeys(one.path for one in (*live, *newest)))


def to_show(seen: Sequence[Seen], shown: Path | None) -> Path | None:
    """Choose the session of the gauge: the first, but of two that both go on the one `shown`."""
    first = next(iter(seen), None)
    stays = next((one for one in seen if one.path == shown and one.is_live), first)
    if first is None or stays is None:
        return None
    return (first if first.written_ns - stays.written_ns > STAY_S * 1e9 else stays).path


def running_ids(places: Places) -> frozenset[str]:
    """List the sessions that agents themselves say they have open."""
    folders = {path for info in AGENTS for path in info.live_folders(places.env, places.home)}
    return running_sessions(folders)


def see_session(session: Session, running: frozenset[str]) -> Seen:
    is_recent = time.time() - session.lines.written_ns / 1e9 < QUIET_S
    return Seen(session=session, is_live=is_recent or session.header.session_id in running)
