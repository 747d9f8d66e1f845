"""Findings of the core as diagnostics of the protocol."""

from collections.abc import Mapping
from pathlib import Path

from lsprotocol import types

from ullage.core.documents.diagnostic_codes import BY_CODE, Level
from ullage.core.documents.finding import DocumentFinding, Related
from ullage.core.text.positions import Extent, Position
from ullage.lsp.convert import SOURCE, uri_of
from ullage.store.documents.diagnostics_page import diagnostic_links

SEVERITIES: dict[Level, types.DiagnosticSeverity] = {
    "error": types.DiagnosticSeverity.Error,
    "warning": types.DiagnosticSeverity.Warning,
    "information": types.DiagnosticSeverity.Information,
    "hint": types.DiagnosticSeverity.Hint,
}


def diagnostic(finding: DocumentFinding, open_uris: Mapping[Path, str]) -> types.Diagnostic:
    """Make a diagnostic; what no agent sees is a hint, which editors gray out instead of mark."""
    level: Level = "information" if finding.is_notice else BY_CODE[finding.code].level
    return types.Diagnostic(
        range=range_of(finding.extent),
        severity=SEVERITIES["hint" if finding.is_unseen else level],
        code=finding.code,
        code_description=code_link(finding.code),
        source=SOURCE,
        message=finding.message,
        tags=[types.DiagnosticTag.Unnecessary] if finding.is_unseen else None,
        related_information=[_related(one, open_uris) for one in finding.related] or None,
    )


def code_link(code: str) -> types.CodeDescription | None:
    link = diagnostic_links().get(code)
    return None if link is None else types.CodeDescription(href=link)


def range_of(extent: Extent) -> types.Range:
    return types.Range(start=position_of(extent.start), end=position_of(extent.end))


def position_of(position: Position) -> types.Position:
    return types.Position(line=position.line, character=position.column)


def _related(related: Related, open_uris: Mapping[Path, str]) -> types.DiagnosticRelatedInformation:
    path = Path(related.path)
    uri = open_uris.get(path) or uri_of(path)
    return types.DiagnosticRelatedInformation(
        location=types.Location(uri=uri, range=range_of(related.extent)), message=related.message
    )
