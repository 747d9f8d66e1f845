"""Sessions of a folder with their gauges: live or idle, and their subagents."""

from collections.abc import Iterable, Iterator
from typing import Literal

import msgspec

from ullage.app.gauge.status_text import local_time, title_text
from ullage.app.sessions import find
from ullage.app.sessions.load import Loaded, load
from ullage.app.sessions.title import short_id
from ullage.core.config.settings import Config
from ullage.core.gauge.gauge import UsedSource, gauge_text
from ullage.core.gauge.status import rfc3339
from ullage.core.text.prose import gist
from ullage.core.transcript.agent_lines import short_tokens
from ullage.core.transcript.entries import Agent
from ullage.errors import InputError
from ullage.formats.json_line import iso_ms
from ullage.formats.registry import agent_info
from ullage.store.files.places import Places

MAX_AGENT_CHARS = 13
MIN_TITLE_CHARS = 16
"""On a terminal too narrow for the table, of which this is the last column (chosen)."""


class SessionReport(msgspec.Struct, frozen=True, kw_only=True):
    """One session in the answer of `ullage sessions --json`."""

    agent: Agent
    session_id: str
    title: str
    """The agent's own, else the gist of the first request."""
    path: str
    activity: Literal["live", "idle"]
    written_at: str | None
    model: str | None
    used_tokens: int | None
    used_source: UsedSource
    window_tokens: int
    utilization: float | None
    compaction_count: int
    gauge: str
    subagents: list["SessionReport"]


class SessionsReport(msgspec.Struct, frozen=True, kw_only=True):
    """The answer of `ullage sessions --json`."""

    cwd: str
    sessions: list[SessionReport]
    """Live ones first, then the one written to last."""
    problems: list[str]
    """What of all agents could not be read, a line each; there may be more sessions in it."""


def report_sessions(config: Config, places: Places, limit: int) -> SessionsReport:
    """Measure the newest sessions of the current folder and their subagents."""
    places = places.for_reading(is_read_only=config.policy.is_read_only)
    running = find.find_running_ids(places)
    problems: list[str] = []

    def report(sessions: Iterable[find.SeenSession]) -> Iterator[SessionReport]:
        for seen in sessions:
            children = find.list_subagents(seen.session, places, problems)
            below = (find.see_session(child, running, places) for child in children)
            try:
                loaded = load(seen.session, config, places)
                yield _report(loaded, seen, subagents=list(report(below)))
            except InputError as error:
                problems.append(str(error))

    sessions = list(report(find.look((places.cwd,), places, limit, problems)))
    return SessionsReport(
        cwd=str(places.cwd), sessions=sessions, problems=list(dict.fromkeys(problems))
    )


def sessions_text(report: SessionsReport, n_columns: int) -> str:
    """Write one line a session, subagents below the session that they work for.

    The title takes what is left of a line.
    """
    head = f"{'Used':>6}  {'Tokens':>11}  {'Agent':<{MAX_AGENT_CHARS}}  {'Written':<11}  Session   "
    n_chars = max(MIN_TITLE_CHARS, n_columns - len(head))
    lines = [f"{head}Title"]
    for session in report.sessions:
        lines.append(_line(session, gist(session.title, n_chars)))
        lines += [
            _line(child, f"└ {gist(child.title, n_chars - 2)}") for child in session.subagents
        ]
    if report.problems:
        lines += ("", *(f"Not listed: {problem}." for problem in report.problems))
    return "\n".join(lines)


def _line(session: SessionReport, title: str) -> str:
    used = "?" if session.used_tokens is None else short_tokens(session.used_tokens)
    tokens = f"{used}/{short_tokens(session.window_tokens)}"
    written = local_time(iso_ms(session.written_at))
    when = "live" if session.activity == "live" else written
    agent = f"{agent_info(session.agent).name:<{MAX_AGENT_CHARS}}"
    about = f"{agent}  {when:<11}  {short_id(session.session_id):<8}  {title}"
    return f"{session.gauge:>6}  {tokens:>11}  {about}"


def _report(
    loaded: Loaded, seen: find.SeenSession, subagents: list[SessionReport]
) -> SessionReport:
    session, gauge = loaded.session, loaded.status.gauge
    return SessionReport(
        agent=session.header.known_agent,
        session_id=session.header.session_id,
        title=title_text(loaded),
        path=str(session.path),
        activity="live" if seen.is_live else "idle",
        written_at=rfc3339(seen.written_ns // 1_000_000),
        model=loaded.context.model,
        used_tokens=gauge.used_tokens,
        used_source=gauge.used_source,
        window_tokens=gauge.window.n_tokens,
        utilization=None if gauge.utilization is None else round(gauge.utilization, 6),
        compaction_count=len(loaded.context.compactions),
        gauge=gauge_text(gauge),
        subagents=subagents,
    )
