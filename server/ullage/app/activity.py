"""Sessions of a folder with their gauges: live or idle, and their subagents."""

import time
from pathlib import Path
from typing import Literal

import msgspec

from ullage.app.load import Settings, load
from ullage.app.sessions import Session, open_session, workspace_sessions
from ullage.core.gauge import UsedSource, gauge_text
from ullage.core.status import rfc3339
from ullage.core.transcript import Agent
from ullage.errors import InputError
from ullage.store.append import QUIET_S
from ullage.store.folders import newest_first, transcripts_below
from ullage.store.places import Places


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


def report_sessions(settings: Settings, places: Places, limit: int) -> SessionsReport:
    """Measure the newest sessions of the current folder and their subagents."""
    found: list[SessionReport] = []
    for session in workspace_sessions(places.cwd, places):
        if len(found) == limit:
            break
        if session.header.parent_session_id is None:
            found.append(_report(session, settings, places))
    return SessionsReport(cwd=str(places.cwd), sessions=found)
