"""The sessions of a workspace's folders: which there are, which live, how full each is."""

import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path

import msgspec

from ullage.app.change.auto import is_automatic
from ullage.app.change.make import can_change
from ullage.app.sessions.find import subagent_sessions, workspace_sessions
from ullage.app.sessions.load import Loaded, load
from ullage.app.sessions.session import Session
from ullage.core.config.settings import Config
from ullage.core.gauge.gauge import Gauge
from ullage.core.gauge.policy import Band
from ullage.core.transcript.entries import Agent
from ullage.errors import UllageError
from ullage.formats.registry import AGENTS
from ullage.store.change.session_lock import QUIET_S
from ullage.store.files.places import Places
from ullage.store.files.processes import running_sessions
from ullage.store.gauge.token_counts import CountText

MAX_SESSIONS = 20
"""Of a folder, the newest: what is older nobody watches (chosen)."""
MAX_SUBAGENTS = 10
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


class Family(msgspec.Struct, frozen=True, kw_only=True):
    """A session and its subagents."""

    brief: Brief
    is_live: bool
    is_automatic: bool
    """Whether it is compacted by itself."""
    subagents: tuple["Family", ...] = ()


def look(folders: Iterable[Path], places: Places) -> tuple[Seen, ...]:
    """List the newest sessions of some folders: the live ones first, then by time."""
    running = running_ids(places)
    found: dict[Path, Seen] = {}
    for folder in folders:
        for session in islice(workspace_sessions(folder, places), MAX_SESSIONS):
            # Of a database, the session that was written to last stands for it.
            found.setdefault(session.path, _seen(session, running))
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


def measure_all(
    seen: Iterable[Seen],
    known: Mapping[Path, Brief],
    config: Config,
    places: Places,
    count_text: CountText,
) -> tuple[Family, ...]:
    """Measure sessions and their subagents; what is `known` and unchanged is not read again."""
    running = running_ids(places)

    def family(session: Session, *, is_live: bool) -> Family | None:
        found = known.get(session.path)
        # What is followed may be newer than what was seen in its folder.
        if found is None or found.written_ns < session.lines.written_ns:
            try:
                found = brief(load(session, config, places, count_text))
            except UllageError:
                return None
        is_on = found.can_change and is_automatic(
            session, is_configured=found.is_auto_enabled, places=places
        )
        return Family(
            brief=found,
            is_live=is_live,
            is_automatic=is_on,
            subagents=tuple(children(session)),
        )

    def children(session: Session) -> Iterator[Family]:
        for child in islice(subagent_sessions(session, places), MAX_SUBAGENTS):
            found = family(child, is_live=_seen(child, running).is_live)
            if found is not None:
                yield found

    measured = (family(one.session, is_live=one.is_live) for one in seen)
    return tuple(one for one in measured if one is not None)


def brief(loaded: Loaded) -> Brief:
    header, status = loaded.session.header, loaded.status
    return Brief(
        agent=header.known_agent,
        session_id=header.session_id,
        path=loaded.path,
        written_ns=loaded.session.lines.written_ns,
        gauge=status.gauge,
        band=status.band,
        model=loaded.context.model,
        n_compactions=len(loaded.context.compactions),
        can_change=can_change(loaded),
        is_auto_enabled=loaded.policy.is_auto_enabled,
    )


def running_ids(places: Places) -> frozenset[str]:
    """List the sessions that agents themselves say they have open."""
    folders = {path for info in AGENTS for path in info.live_folders(places.env, places.home)}
    return running_sessions(folders)


def _seen(session: Session, running: frozenset[str]) -> Seen:
    is_recent = time.time() - session.lines.written_ns / 1e9 < QUIET_S
    return Seen(session=session, is_live=is_recent or session.header.session_id in running)
