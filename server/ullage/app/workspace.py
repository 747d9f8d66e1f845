"""How full each session of a workspace is, with its subagents."""

from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from pathlib import Path

import msgspec

from ullage.app.change.auto import is_automatic
from ullage.app.change.make import can_change
from ullage.app.gauge.status_text import title_text
from ullage.app.sessions import find
from ullage.app.sessions.load import Loaded, load
from ullage.app.sessions.session import Session
from ullage.core.config.settings import Config
from ullage.errors import UllageError
from ullage.store.files.places import Places
from ullage.store.gauge.token_counts import CountText

MAX_SUBAGENTS = 10


class SessionFamily(msgspec.Struct, frozen=True, kw_only=True):
    """A session and its subagents."""

    brief: find.SessionBrief
    is_live: bool
    is_automatic: bool
    """Whether it is compacted by itself."""
    subagents: tuple["SessionFamily", ...] = ()


def measure_all(
    seen: Iterable[find.SeenSession],
    briefs: Mapping[Path, find.SessionBrief],
    config: Config,
    places: Places,
    count_text: CountText,
) -> tuple[SessionFamily, ...]:
    """Measure sessions and their subagents; what is in `briefs` and unchanged is not read again."""
    running = find.find_running_ids(places)

    def family(session: Session, *, is_live: bool) -> SessionFamily | None:
        measured = briefs.get(session.path)
        # What is followed may be newer than what was seen in its folder.
        if measured is None or measured.written_ns < session.lines.written_ns:
            try:
                measured = make_brief(load(session, config, places, count_text))
            except UllageError:
                return None
        is_on = measured.can_change and is_automatic(
            session, is_configured=measured.is_auto_enabled, places=places
        )
        return SessionFamily(
            brief=measured,
            is_live=is_live,
            is_automatic=is_on,
            subagents=tuple(children(session)),
        )

    def children(session: Session) -> Iterator[SessionFamily]:
        for child in islice(find.list_subagents(session, places, []), MAX_SUBAGENTS):
            member = family(child, is_live=find.see_session(child, running, places).is_live)
            if member is not None:
                yield member

    families = (family(session.session, is_live=session.is_live) for session in seen)
    return tuple(measured for measured in families if measured is not None)


def make_brief(loaded: Loaded) -> find.SessionBrief:
    header, status = loaded.session.header, loaded.status
    return find.SessionBrief(
        agent=header.known_agent,
        session_id=header.session_id,
        title=title_text(loaded),
        path=loaded.path,
        written_ns=loaded.session.lines.written_ns,
        gauge=status.gauge,
        band=status.band,
        model=loaded.context.model,
        n_compactions=len(loaded.context.compactions),
        can_change=can_change(loaded),
        is_auto_enabled=loaded.policy.is_auto_enabled,
    )
