"""Findings on a configuration file, from its text in the editor."""

from collections.abc import Iterator
from pathlib import Path

from ullage.app.config.load import check_source
from ullage.app.documents.check import Surroundings
from ullage.core.documents.finding import DocumentFinding, TextFix
from ullage.core.secrets.scan import list_known_secrets, mask
from ullage.core.text.positions import Positions
from ullage.store.config.files import guess_place, parse_config


def check_config_file(path: Path, text: str, around: Surroundings) -> Iterator[DocumentFinding]:
    positions = Positions(text)
    source = parse_config(guess_place(path), str(path), text.encode("utf-8", "replace"))
    secrets = list_known_secrets(around.places.env)
    for finding in check_source(source).findings:
        origin, new = finding.origin, finding.new_text
        end = len(positions.line_text(0)) if origin.line is None else origin.end
        extent = positions.extent(origin.start, end)
        fix = TextFix(title=f"Change to {new}", extent=extent, new_text=new) if new else None
        yield DocumentFinding(
            code=finding.code,
            extent=extent,
            message=mask(f"{_sentence(finding.message)} {_sentence(finding.fix)}", secrets),
            fixes=(fix,) if fix else (),
        )


def _sentence(text: str) -> str:
    end = "" if text.endswith(("?", ".")) else "."
    return f"{text[:1].upper()}{text[1:]}{end}"
