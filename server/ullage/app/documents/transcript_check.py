"""Findings on a transcript's lines: what `ullage doctor` says of them."""

from collections.abc import Iterator
from pathlib import Path

from ullage.app.documents.check import CheckedTranscript, Surroundings
from ullage.app.transfer.doctor import check_lines
from ullage.core.documents.diagnostic_codes import BY_CODE
from ullage.core.documents.finding import DocumentFinding
from ullage.core.secrets.scan import list_known_secrets, mask
from ullage.core.text.positions import Extent, Position
from ullage.errors import UllageError
from ullage.store.transcript.reader import Fingerprint, look_at

MAX_CHECKED_BYTES = 64 * 1024 * 1024
"""A larger transcript is examined by the command alone: it is read whole (chosen)."""
MAX_FOLLOWED_BYTES = 4 * 1024 * 1024
"""Up to here it is examined again when it grows, which takes 0.1 s; a larger one once (chosen)."""
MAX_FINDINGS = 500
MARKED_CHARS = 120


def check_transcript(
    path: Path, around: Surroundings, before: CheckedTranscript | None
) -> CheckedTranscript | None:
    """Examine a transcript whole, unless what was found before will do.

    None where there is none, or one that is too large or unknown.
    """
    try:
        now = look_at(path)
        if before is not None and _will_do(before.fingerprint, now):
            return before
        return CheckedTranscript(fingerprint=now, findings=tuple(_findings(path, around)))
    except UllageError:
        return None


def _will_do(then: Fingerprint, now: Fingerprint) -> bool:
    is_same_file = (then.device, then.inode) == (now.device, now.inode)
    return then == now or (is_same_file and now.size_bytes > MAX_FOLLOWED_BYTES)


def _findings(path: Path, around: Surroundings) -> Iterator[DocumentFinding]:
    secrets = list_known_secrets(around.places.env)
    findings = check_lines(path, MAX_CHECKED_BYTES)
    shown = [
        finding for finding in findings if finding.line is not None and finding.code in BY_CODE
    ]
    for finding in shown[:MAX_FINDINGS]:
        line = (finding.line or 1) - 1
        yield DocumentFinding(
            code=finding.code,
            extent=Extent(Position(line, 0), Position(line, MARKED_CHARS)),
            message=mask(f"{finding.message[:1].upper()}{finding.message[1:]}.", secrets),
        )
