"""Export a session's context and working state as a bundle."""

import hashlib
from importlib.metadata import version
from pathlib import Path
from typing import cast

import msgspec

from ullage.app.change.make import now_text
from ullage.app.checkpoint.write import build_checkpoint
from ullage.app.sessions.load import Loaded
from ullage.core.checkpoint.bundle import MAX_BUNDLE_BYTES, Bundle, Origin, render
from ullage.core.checkpoint.checkpoint import Checkpoint
from ullage.core.secrets.redaction import Redaction, Redactor, plain
from ullage.core.transcript.message import JsonObject
from ullage.errors import Refused
from ullage.formats.agents.openclaw.new_session import entries_of_context, messages_of
from ullage.store.files.new_files import create_named_file
from ullage.store.files.places import Places
from ullage.store.transcript.reader import FileLines


class ExportReport(msgspec.Struct, frozen=True, kw_only=True):
    """The answer of `ullage context export --json`."""

    path: str
    is_written: bool
    size_bytes: int
    n_messages: int
    is_importable: bool
    """Whether `ullage context import` can make a session of it."""
    is_redacted: bool
    redactions: list[Redaction]
    n_unreadable_lines: int


class Export(msgspec.Struct, frozen=True, kw_only=True):
    """A bundle as it will be written."""

    path: Path
    bundle: Bundle
    data: bytes


def plan_export(loaded: Loaded, out: Path, places: Places, *, is_redacted: bool) -> Export:
    """Make the bundle of a session in memory.

    Raises:
        Refused: it would be larger than an import takes.
    """
    redactor = Redactor(loaded.known_secrets, str(places.home)) if is_redacted else None
    session, context = loaded.session, loaded.context
    entries = None
    if session.header.agent == "openclaw" and isinstance(session.lines, FileLines):
        entries = entries_of_context(session.lines, session.header)
    if entries is None:
        messages = _fit(session.format.messages(context), redactor)
    else:
        # What was masked in the records is masked in the messages that follow from them.
        entries = _fit(entries, redactor)
        messages = messages_of(entries)
    checkpoint = build_checkpoint(loaded, places, trigger="export")
    summary = None if context.boundary is None else context.boundary.summary
    rest = _fit([_builtins(_origin(loaded)), _builtins(checkpoint), {"it": summary}], redactor)
    bundle = Bundle(
        made_by=f"ullage {version('ullage')}",
        created_at=now_text(),
        origin=msgspec.convert(rest[0], Origin),
        summary=cast(str | None, rest[2]["it"]),
        messages=messages,
        entries=entries,
        checkpoint=msgspec.convert(rest[1], Checkpoint),
        is_redacted=is_redacted,
        redactions=[] if redactor is None else list(redactor.redactions),
        n_unreadable_lines=len(context.problems),
    )
    data = render(bundle)
    if len(data) > MAX_BUNDLE_BYTES:
        raise Refused(
            f"the bundle of {session.path.name} would have more than"
            f" {MAX_BUNDLE_BYTES // 2**20} MB, which no import takes: compact the session first"
        )
    return Export(path=places.cwd / out, bundle=bundle, data=data)


def write_export(export: Export) -> None:
    """Write a bundle where nothing stands yet, for the user's own eyes.

    Raises:
        FileExists: something does.
        StorageError: the disk does not take it.
    """
    create_named_file(export.path, export.data)


def report_export(export: Export, *, is_written: bool) -> ExportReport:
    bundle = export.bundle
    return ExportReport(
        path=str(export.path),
        is_written=is_written,
        size_bytes=len(export.data),
        n_messages=len(bundle.messages),
        is_importable=bundle.entries is not None,
        is_redacted=bundle.is_redacted,
        redactions=bundle.redactions,
        n_unreadable_lines=bundle.n_unreadable_lines,
    )


def export_text(report: ExportReport) -> str:
    head = "✓ Exported" if report.is_written else "Would export"
    lines = [f"{head} {report.n_messages:,} messages, {report.size_bytes:,} bytes: {report.path}"]
    if report.n_unreadable_lines:
        lines.append(f"  {report.n_unreadable_lines:,} lines could not be read, and are left out.")
    if not report.is_redacted:
        lines.append("  Nothing is masked: every secret of the context is in it.")
    elif report.redactions:
        lines.append("  Masked, as far as it can be told:")
        lines += [f"  {one.count:>6,} × {one.kind:<14}{one.marker}" for one in report.redactions]
    else:
        lines.append("  No secret was found in it, as far as that can be told.")
    if not report.is_importable:
        lines.append("  It is there to be read: Ullage makes no sessions of this agent.")
    return "\n".join(lines)


def _fit(values: list[JsonObject], redactor: Redactor | None) -> list[JsonObject]:
    """Redact values where that is wanted, and leave out what JSON does not have."""
    plains = [cast(JsonObject, plain(value)) for value in values]
    return plains if redactor is None else [redactor.redact(value) for value in plains]


def _origin(loaded: Loaded) -> Origin:
    session, header = loaded.session, loaded.session.header
    digest = hashlib.sha256()
    for line in session.lines.forward():
        digest.update(line.raw)
    return Origin(
        agent=header.known_agent,
        session_id=header.session_id,
        format_version=header.version,
        dialect=header.dialect,
        cwd=header.cwd,
        model=loaded.context.model,
        file_name=session.path.name,
        size_bytes=session.lines.size_bytes,
        transcript_sha256=digest.hexdigest(),
    )


def _builtins(value: msgspec.Struct) -> JsonObject:
    return cast(JsonObject, msgspec.to_builtins(value))
