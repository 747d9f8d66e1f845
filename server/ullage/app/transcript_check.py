"""Findings on a transcript's lines: what `ullage doctor` says of them."""

from collections.abc import Iterator
from pathlib import Path

from ullage.app.doctor import check_lines
from ullage.app.document_check import Surroundings
from ullage.core.diagnostic_codes import BY_CODE
from ullage.core.document_finding import DocumentFinding
from ullage.core.positions import Extent, Position
from ullage.core.secrets import known_secrets, mask
from ullage.errors import UllageError

MAX_CHECKED_BYTES = 64 * 1024 * 1024
"""A larger transcript is examined by the command alone: it is read whole (chosen)."""
MAX_FOLLOWED_BYTES = 4 * 1024 * 1024
"""Up to here it is examined again when it grows, which takes 0.1 s (chosen)."""
MAX_FINDINGS = 500
MARKED_CHARS = 120


def check_transcript(path: Path, around: Surroundings) -> tuple[DocumentFinding, ...]:
    """Examine a transcript whole; nothing is found in one that is too large or unknown."""
    off = around.config.diagnostics.off
    try:
        return tuple(one for one in _findings(path, around) if one.code not in off)
    except UllageError:
        return ()


def _findings(path: Path, around: Surroundings) -> Iterator[DocumentFinding]:
    secrets = known_secrets(around.places.env)
    found = check_lines(path, MAX_CHECKED_BYTES)
    told = [one for one in found if one.line is not None and one.code in BY_CODE]
    for one in told[:MAX_FINDINGS]:
        line = (one.line or 1) - 1
        yield DocumentFinding(
            code=one.code,
            extent=Extent(Position(line, 0), Position(line, MARKED_CHARS)),
            message=mask(f"{one.message[:1].upper()}{one.message[1:]}.", secrets),
        )
