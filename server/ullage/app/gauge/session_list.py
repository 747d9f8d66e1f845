"""Sessions of a folder with their gauges: live or idle, and their subagents."""

import time
from itertools import islice
from typing import Literal

import msgspec

from ullage.app.sessions.find import list_sessions, list_subagents
from ullage.app.sessions.load import load
from ullage.app.sessions.open import is_running
from ullage.app.sessions.session import Session
from ullage.core.config.settings import Config
from ullage.core.gauge.gauge import UsedSource, gauge_text, short_tokens
from ullage.core.gauge.status import rfc3339
from ullage.core.transcript.entries import Agent
from ullage.store.change.session_lock import QUIET_S
from ullage.store.files.places import Places

SHORT_ID_CHARS = 13
"""Enough to tell sessions apart and to name one by, few enough for 80 columns (chosen)."""


class SessionReport(msgspec.Struct, frozen=True, kw_only=True):
    """One session in the answer of `ullage sessions --json`."""

    agent: Agent
    session_id: str
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
    """The one written to last first."""


def report_sessions(config: Config, places: Places, limit: int) -> SessionsReport:
    """Measure the newest sessions of the current folder and their subagents."""
    newest = islice(list_sessions(places.cwd, places), limit)
    reports = [_report(session, config, places) for session in newest]
    return SessionsReport(cwd=str(places.cwd), sessions=reports)


def sessions_text(report: SessionsReport) -> str:
    """Write one line a session, subagents below the session that they work for."""
    if not report.sessions:
        return f"No session of an agent in {report.cwd}."
    lines = [f"{'Used':>6}  {'Tokens':>11}  {'Agent':<12}{'State':<6}{'Written (UTC)':<18}Session"]
    for session in report.sessions:
        lines.append(_line(session, session.session_id[:SHORT_ID_CHARS]))
        lines += [
            _line(child, f"└ {child.session_id[:SHORT_ID_CHARS]}") for child in session.subagents
        ]
    return "\n".join(lines)


def _line(session: SessionReport, name: str) -> str:
    used = "?" if session.used_tokens is None else short_tokens(session.used_tokens)
    tokens = f"{used}/{short_tokens(session.window_tokens)}"
    written = (session.written_at or "")[:16].replace("T", " ")
    about = f"{session.agent:<12}{session.activity:<6}{written:<18}{name}"
    return f"{session.gauge:>6}  {tokens:>11}  {about}"


def _report(session: Session, config: Config, places: Places) -> SessionReport:
    loaded = load(session, config, places)
    gauge = loaded.status.gauge
    written_ns = session.lines.written_ns
    children = list_subagents(session, places)
    is_live = is_running(session, places) or time.time() - written_ns / 1e9 < QUIET_S
    return SessionReport(
        agent=session.header.known_agent,
        session_id=session.header.session_id,
        path=str(session.path),
        activity="live" if is_live else "idle",
        written_at=rfc3339(written_ns // 1_000_000),
        model=loaded.context.model,
        used_tokens=gauge.used_tokens,
        used_source=gauge.used_source,
        window_tokens=gauge.window.n_tokens,
        utilization=None if gauge.utilization is None else round(gauge.utilization, 6),
        compaction_count=len(loaded.context.compactions),
        gauge=gauge_text(gauge),
        subagents=[_report(child, config, places) for child in children],
    )
