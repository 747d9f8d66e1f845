"""Make a new session from a bundle. What is in a bundle is data: checked, and never a path."""

from pathlib import Path

import msgspec

from ullage.app.change.new_session import NewFile, new_file, write_session
from ullage.app.sessions.load import read
from ullage.app.sessions.open import open_session
from ullage.core.checkpoint.bundle import MAX_BUNDLE_BYTES, BadBundleError, Bundle, parse
from ullage.core.transcript.entries import Agent, MemoryLines
from ullage.core.transcript.index import EMPTY_INDEX
from ullage.errors import BadBundle, Refused, WriteNotSupported
from ullage.formats.agents.openclaw.new_session import session_of
from ullage.formats.examine import examine
from ullage.formats.registry import recognize, records_of
from ullage.store.checkpoint.files import checkpoint_folder, save
from ullage.store.files.places import Places
from ullage.store.transcript.reader import read_bounded

_PAIR_CODES = ("orphaned-result", "unanswered-call")
"""What an agent may have written itself does not keep its session from being taken over."""


class ImportReport(msgspec.Struct, frozen=True, kw_only=True):
    """The answer of `ullage context import --json`."""

    path: str
    session_id: str
    is_written: bool
    agent: Agent
    n_messages: int
    is_redacted: bool
    checkpoint_id: str | None
    """Of the working state that came with it; null where none did, or nothing is written."""
    resume: str
    """The command that goes on with the session."""


class Import(msgspec.Struct, frozen=True, kw_only=True):
    """A new session as it will be written."""

    file: NewFile
    data: bytes
    bundle: Bundle


def plan_import(path: Path, places: Places) -> Import:
    """Check a bundle and render the session that it makes.

    Raises:
        Unreadable: the file cannot be read.
        BadBundle: it is no bundle, or its session would be damaged.
        WriteNotSupported: it is of an agent whose sessions we do not make.
    """
    content = read_bounded(places.cwd / path, MAX_BUNDLE_BYTES + 1)
    try:
        bundle = parse(content)
    except BadBundleError as error:
        raise BadBundle(f"{path} {error}: export the session anew") from None
    if bundle.entries is None:
        raise WriteNotSupported(
            f"{path} comes from {bundle.origin.agent}, or from a version of it, whose sessions"
            " Ullage does not make: give a new session its `summary` or `checkpoint` as text"
        )
    file = new_file(places)
    data = session_of(bundle.entries, file.header)
    reason = _refusal(data, bundle)
    if reason is not None:
        raise BadBundle(f"{path} {reason}: repair the session with `ullage doctor`, export it anew")
    return Import(file=file, data=data, bundle=bundle)


def write_import(planned: Import, places: Places) -> str | None:
    """Write the new session, read it back, keep the checkpoint that came with it; give its id.

    Raises:
        FileExists, StorageError: the session was not written.
        Refused: it was, but does not read as it should.
    """
    file, checkpoint = planned.file, planned.bundle.checkpoint
    write_session(file.path, planned.data)
    session = open_session(file.path)
    if session.format.messages(read(session, places).context) != planned.bundle.messages:
        raise Refused(
            f"{file.path} was written, but does not read as its bundle: delete it and report it"
        )
    if checkpoint is None:
        return None
    key = f"{session.header.agent}:{session.header.session_id}"
    meta = msgspec.structs.replace(
        checkpoint.meta,
        checkpoint_id="cp_001",
        session_key=key,
        session_file=str(file.path),
        trigger="import",
        previous_checkpoint=None,
    )
    folder = checkpoint_folder(key, places)
    save(msgspec.structs.replace(checkpoint, meta=meta), folder, n_kept=1)
    return meta.checkpoint_id


def report_import(planned: Import, checkpoint_id: str | None, *, is_written: bool) -> ImportReport:
    return ImportReport(
        path=str(planned.file.path),
        session_id=planned.file.header.session_id,
        is_written=is_written,
        agent=planned.bundle.origin.agent,
        n_messages=len(planned.bundle.messages),
        is_redacted=planned.bundle.is_redacted,
        checkpoint_id=checkpoint_id,
        resume=planned.file.resume,
    )


def import_text(report: ImportReport) -> str:
    head = "✓ New session of" if report.is_written else "Would make a session of"
    lines = [f"{head} {report.n_messages:,} messages: {report.path}"]
    if report.checkpoint_id is not None:
        lines.append(f"  Checkpoint {report.checkpoint_id} holds its working state.")
    lines.append(f"  Go on with: {report.resume}")
    return "\n".join(lines)


def _refusal(data: bytes, bundle: Bundle) -> str | None:
    """Say why entries make no session, a damaged one, or another one than the messages tell."""
    if not bundle.messages:
        return "has no messages"
    lines = MemoryLines(data)
    found = recognize(lines)
    records = None if found is None else records_of(found[1])
    if found is None or records is None:
        return "has entries that make no session"
    known, header = found
    findings = examine(lines, header, known, records).findings
    damage = [f for f in findings if f.severity == "error" and f.code not in _PAIR_CODES]
    if damage:
        return f"would make a damaged session ({damage[0].message})"
    messages = known.messages(known.read_context(lines, header, EMPTY_INDEX).context)
    if messages != bundle.messages:
        return "has entries that do not make its messages"
    return None
