"""The one place where values of the core become types of the protocol."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Final

from lsprotocol import types
from pygls.uris import from_fs_path, to_fs_path

from ullage.app.change.make import ChangeResult
from ullage.app.sessions.session import Session
from ullage.core.documents.diagnostic_codes import BY_CODE
from ullage.core.documents.diagnostic_codes import Level as FindingLevel
from ullage.core.documents.finding import DocumentFinding, Related
from ullage.core.documents.virtual_uri import write_summary_uri
from ullage.core.gauge.gauge import Band
from ullage.core.text.positions import Extent, Position
from ullage.core.text.quoting import replace_steering
from ullage.lsp.protocol import Level, ResumeParams, SessionRef
from ullage.store.documents.diagnostics_page import diagnostic_links

SOURCE: Final = "ullage"
LEVELS: dict[Band, Level] = {
    "normal": "normal",
    "notice": "normal",
    "warning": "warning",
    "critical": "error",
}
_SEVERITIES: dict[FindingLevel, types.DiagnosticSeverity] = {
    "error": types.DiagnosticSeverity.Error,
    "warning": types.DiagnosticSeverity.Warning,
    "information": types.DiagnosticSeverity.Information,
    "hint": types.DiagnosticSeverity.Hint,
}
_ESCAPED = str.maketrans({char: f"\\{char}" for char in r"\`*_{}[]<>()#+!|~$&"})


def path_of(uri: str) -> Path | None:
    """Give the file that a URI names; None where it names none, or one that cannot be."""
    path = to_fs_path(uri)
    return None if path is None or "\0" in path else Path(path)


def uri_of(path: Path) -> str:
    return from_fs_path(str(path)) or path.as_uri()


def last_summary_uri(made: ChangeResult) -> str:
    """Name the summary of a compaction that was made."""
    boundary = made.context.boundary
    return write_summary_uri(
        str(made.session.path), None if boundary is None else boundary.entry_id
    )


def session_ref(session: Session) -> SessionRef:
    header = session.header
    return SessionRef(agent=header.known_agent, sessionId=header.session_id, path=str(session.path))


def resume_of(session: Session, command: str | None) -> ResumeParams | None:
    """Give what goes on with a session; None where no command does."""
    return None if command is None else ResumeParams(command=command, folder=session.header.cwd)


def range_of(extent: Extent) -> types.Range:
    return types.Range(start=position_of(extent.start), end=position_of(extent.end))


def position_of(position: Position) -> types.Position:
    return types.Position(line=position.line, character=position.column)


def line_range(line: int, n_columns: int = 0) -> types.Range:
    """Give the beginning of a line, from 0; an editor takes what is beyond a line for its end."""
    return types.Range(types.Position(line, 0), types.Position(line, n_columns))


def hover_of(parts: Iterable[str], where: types.Range | None = None) -> types.Hover:
    """Make a hover of paragraphs of Markdown."""
    content = types.MarkupContent(kind=types.MarkupKind.Markdown, value="\n\n".join(parts))
    return types.Hover(contents=content, range=where)


def diagnostic_of(finding: DocumentFinding, open_uris: Mapping[Path, str]) -> types.Diagnostic:
    """Make a diagnostic; what no agent sees is a hint, which editors gray out instead of mark."""
    level: FindingLevel = "information" if finding.is_notice else BY_CODE[finding.code].level
    link = diagnostic_links().get(finding.code)
    return types.Diagnostic(
        range=range_of(finding.extent),
        severity=_SEVERITIES["hint" if finding.is_unseen else level],
        code=finding.code,
        code_description=None if link is None else types.CodeDescription(href=link),
        source=SOURCE,
        message=replace_steering(finding.message),
        data=finding.sha256,
        tags=[types.DiagnosticTag.Unnecessary] if finding.is_unseen else None,
        related_information=[_related(related, open_uris) for related in finding.related] or None,
    )


def _related(related: Related, open_uris: Mapping[Path, str]) -> types.DiagnosticRelatedInformation:
    path = Path(related.path)
    location = types.Location(open_uris.get(path) or uri_of(path), range_of(related.extent))
    message = replace_steering(related.message)
    return types.DiagnosticRelatedInformation(location=location, message=message)


def escape_markdown(text: str) -> str:
    """Write a text of a session on one line so that Markdown shows it as it is."""
    return replace_steering(" ".join(text.split())).translate(_ESCAPED)
