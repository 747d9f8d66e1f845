"""Findings on a configuration file, from its text in the editor."""

from collections.abc import Iterator
from pathlib import Path

from ullage.app.config.load import check_source
from ullage.app.documents.check import Surroundings
from ullage.core.config.lookup import spelled_at
from ullage.core.config.tree import Finding, Node, Span
from ullage.core.documents.finding import DocumentFinding, TextFix
from ullage.core.secrets.scan import known_secrets, mask
from ullage.core.text.positions import Positions
from ullage.store.config.files import parse_config, place_of


def check_config_file(path: Path, text: str, around: Surroundings) -> Iterator[DocumentFinding]:
    positions = Positions(text)
    source = parse_config(place_of(path), str(path), text.encode("utf-8", "replace"))
    secrets = known_secrets(around.places.env)
    for finding in check_source(source).findings:
        yield _document_finding(finding, source.root, positions, secrets)


def _document_finding(
    finding: Finding, root: Node | None, positions: Positions, secrets: tuple[str, ...]
) -> DocumentFinding:
    span = finding.origin.span or Span(
        start=0, end=len(positions.line_text(0)), line=1, column=1, end_line=1, end_column=1
    )
    extent = positions.extent(span.start, span.end)
    new = finding.replacement
    if new is not None and finding.code == "config-unknown":
        new = None if root is None else spelled_at(root, span.start, new)
    fixes = () if new is None else (TextFix(title=f"Change to {new}", extent=extent, new_text=new),)
    return DocumentFinding(
        code=finding.code,
        extent=extent,
        message=mask(f"{_sentence(finding.message)} {_sentence(finding.fix)}", secrets),
        fixes=fixes,
    )


def _sentence(text: str) -> str:
    end = "" if text.endswith(("?", ".")) else "."
    return f"{text[:1].upper()}{text[1:]}{end}"
