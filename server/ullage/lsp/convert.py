"""The one place where values of the core become types of the protocol."""

from pathlib import Path
from typing import Final

from lsprotocol import types
from pygls.uris import from_fs_path, to_fs_path

from ullage.app.change.make import can_change
from ullage.app.gauge.inspect import Filling
from ullage.app.gauge.status_text import session_title, total_text
from ullage.app.sessions.load import Loaded
from ullage.core.documents.virtual_uri import write_summary_uri
from ullage.core.gauge.gauge import gauge_text
from ullage.core.gauge.policy import Band
from ullage.core.gauge.status import Status
from ullage.lsp.protocol import GaugeParams, Level, SessionRef
from ullage.lsp.views.tooltip import gauge_tooltip

SOURCE: Final = "ullage"
UTILIZATION_CODE = "context-utilization"
MARKED_CHARS = 120
"""How much of the first line is underlined; a shorter one is to its end (LSP 3.18, Position)."""

_SEVERITIES: dict[Band, types.DiagnosticSeverity] = {
    "notice": types.DiagnosticSeverity.Information,
    "warning": types.DiagnosticSeverity.Warning,
    "critical": types.DiagnosticSeverity.Error,
}
LEVELS: dict[Band, Level] = {
    "normal": "normal",
    "notice": "normal",
    "warning": "warning",
    "critical": "error",
}
NO_GAUGE = GaugeParams(session=None, text="?", tooltip="", level="normal", label="No session")


def path_of(uri: str) -> Path | None:
    """Give the file that a URI names; None where it names none, or one that cannot be."""
    path = to_fs_path(uri)
    return None if path is None or "\0" in path else Path(path)


def uri_of(path: Path) -> str:
    return from_fs_path(str(path)) or path.as_uri()


def last_summary_uri(loaded: Loaded) -> str:
    """Name the summary of a session's last compaction."""
    boundary = loaded.context.boundary
    return write_summary_uri(str(loaded.path), None if boundary is None else boundary.entry_id)


def session_ref(loaded: Loaded) -> SessionRef:
    header = loaded.session.header
    return SessionRef(agent=header.known_agent, sessionId=header.session_id, path=str(loaded.path))


def gauge_params(
    loaded: Loaded,
    filling: Filling | None = None,
    *,
    is_automatic: bool = False,
    is_restricted: bool = False,
) -> GaugeParams:
    header, status = loaded.session.header, loaded.status
    return GaugeParams(
        session=session_ref(loaded),
        text=gauge_text(status.gauge),
        tooltip=gauge_tooltip(
            loaded, filling, is_automatic=is_automatic, is_restricted=is_restricted
        ),
        level=LEVELS[status.band],
        label=_label(status),
        title=session_title(header.known_agent, header.session_id),
        canWrite=can_change(loaded),
        canNote=not (is_restricted or loaded.policy.is_read_only),
        isAutomatic=is_automatic,
    )


def utilization(loaded: Loaded) -> list[types.Diagnostic]:
    """Give the finding on how full the context is, once it is worth a line."""
    status = loaded.status
    severity = _SEVERITIES.get(status.band)
    if severity is None:
        return []
    return [
        types.Diagnostic(
            range=types.Range(
                start=types.Position(line=0, character=0),
                end=types.Position(line=0, character=MARKED_CHARS),
            ),
            severity=severity,
            code=UTILIZATION_CODE,
            source=SOURCE,
            message=_finding_text(status),
        )
    ]


def _finding_text(status: Status) -> str:
    gauge = status.gauge
    approximately = "" if gauge.used_source == "reported" else "about "
    text = (
        f"Context is {approximately}{gauge.utilization or 0:.0%} full: {total_text(gauge)} tokens."
    )
    trigger, used = status.next_trigger, gauge.used_tokens
    if trigger is None or used is None:
        return f"{text} Compact it now."
    return f"{text} Next: {trigger.name} in {trigger.at_tokens - used:,} tokens."


def _label(status: Status) -> str:
    gauge = status.gauge
    if gauge.used_tokens is None:
        return "Context use unknown"
    return (
        f"Context {gauge.utilization or 0:.0%} used,"
        f" {gauge.used_tokens:,} of {gauge.window.n_tokens:,} tokens, {status.band}"
    )
