"""A session as a bundle, and a new session from one: what is in it is data, never a path."""

import hashlib
from pathlib import Path
from typing import cast
from uuid import uuid4

import msgspec

from ullage import __version__
from ullage.app.change.make import now_text, way_on_lines
from ullage.app.change.restore import write_session
from ullage.app.checkpoint.write import build_checkpoint
from ullage.app.sessions.load import Loaded, read
from ullage.app.transfer.branch import messages_of
from ullage.core.change.edit import NewHeader, NewSession
from ullage.core.checkpoint.bundle import (
    MAX_BUNDLE_BYTES,
    BadBundleError,
    Bundle,
    Origin,
    parse,
    render,
)
from ullage.core.checkpoint.checkpoint import Checkpoint
from ullage.core.secrets.redaction import Redaction, Redactor, copy_plain
from ullage.core.text.prose import plural
from ullage.core.transcript.entries import Agent, Header, JsonObject, MemoryLines
from ullage.errors import BadBundle, Refused, WriteNotSupported
from ullage.formats.agent_info import AgentInfo
from ullage.formats.examine import examine
from ullage.formats.registry import agent_info, recognize, records_of
from ullage.store.checkpoint.files import save
from ullage.store.files.atomic import create_named_file
from ullage.store.files.places import Places, session_folder
from ullage.store.transcript.reader import read_bounded

_PAIR_CODES = ("orphaned-result", "unanswered-call")
"""What an agent may have written itself does not keep its session from being taken over."""


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


class PlannedExport(msgspec.Struct, frozen=True, kw_only=True):
    """A bundle as it will be written."""

    path: Path
    bundle: Bundle
    data: bytes


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
    resume: str | None
    """The command that goes on with the session; null where none does."""


class PlannedImport(msgspec.Struct, frozen=True, kw_only=True):
    """A new session as it will be written."""

    path: Path
    session: NewSession
    bundle: Bundle
    resume: str | None


def plan_export(loaded: Loaded, out: Path, places: Places, *, is_redacted: bool) -> PlannedExport:
    """Make the bundle of a session in memory.

    Raises:
        Refused: it would be larger than an import takes.
    """
    redactor = Redactor(loaded.known_secrets, str(places.home)) if is_redacted else None
    session, context = loaded.session, loaded.context
    transfer = session.agent.transfer
    entries = None if transfer is None else transfer.list_records(session.lines, context)
    messages = None
    if transfer is not None and entries is not None:
        # What was masked in the records is masked in the messages that follow from them.
        entries = _fit(entries, redactor)
        new = transfer.make_session(entries, session.header.dialect, _new_header(places))
        messages = messages_of(session.agent, new.data)
    if messages is None:
        entries, messages = None, _fit(session.agent.messages(context), redactor)
    checkpoint = build_checkpoint(loaded, places, trigger="export")
    summary = None if context.boundary is None else context.boundary.summary
    rest = _fit([_builtins(_origin(loaded)), _builtins(checkpoint), {"it": summary}], redactor)
    bundle = Bundle(
        made_by=f"ullage {__version__}",
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
            f"the bundle of this session would have more than"
            f" {MAX_BUNDLE_BYTES // 2**20} MB, which no import takes: compact the session first"
        )
    return PlannedExport(path=places.cwd / out, bundle=bundle, data=data)


def write_export(export: PlannedExport) -> None:
    """Write a bundle where nothing stands yet, for the user's own eyes.

    Raises:
        FileExists: something does.
        StorageError: the disk does not take it.
    """
    create_named_file(export.path, export.data)


def report_export(export: PlannedExport, *, is_written: bool) -> ExportReport:
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
    lines = [
        f"{head} {plural(report.n_messages, 'message')}, {report.size_bytes:,} bytes: {report.path}"
    ]
    if report.n_unreadable_lines:
        lines.append(
            f"  Left out: {plural(report.n_unreadable_lines, 'line')} that could not be read."
        )
    if not report.is_redacted:
        lines.append("  Nothing is masked: every secret of the context is in it.")
    elif report.redactions:
        lines.append("  Masked, as far as it can be told:")
        lines += [f"  {row.count:>6,} × {row.kind:<14}{row.marker}" for row in report.redactions]
    else:
        lines.append("  No secret was found in it, as far as that can be told.")
    if not report.is_importable:
        lines.append("  It is there to be read: Ullage makes no sessions of this agent.")
    return "\n".join(lines)


def _fit(values: list[JsonObject], redactor: Redactor | None) -> list[JsonObject]:
    """Redact values where that is wanted, and leave out what JSON does not have."""
    plains = [cast(JsonObject, copy_plain(value)) for value in values]
    return plains if redactor is None else redactor.redact(plains)


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


def plan_import(path: Path, places: Places) -> PlannedImport:
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
    agent = agent_info(bundle.origin.agent)
    if bundle.entries is None or agent.transfer is None:
        raise WriteNotSupported(
            f"{path} comes from {agent.name}, or from a form of it, whose sessions Ullage does not"
            " make: give a new session its `summary` or `checkpoint` as text"
        )
    new = agent.transfer.make_session(bundle.entries, bundle.origin.dialect, _new_header(places))
    header = _check(agent, new.data, bundle)
    if isinstance(header, str):
        raise BadBundle(f"{path} {header}: repair the session with `ullage doctor`, export it anew")
    place = _folder_of(agent, header, places) / new.name
    return PlannedImport(
        path=place, session=new, bundle=bundle, resume=agent.resume_command(header, place)
    )


def _new_header(places: Places) -> NewHeader:
    return NewHeader(session_id=str(uuid4()), timestamp=now_text(), cwd=str(places.cwd))


def _folder_of(agent: AgentInfo, header: Header, places: Places) -> Path:
    """Give the folder where an agent keeps sessions of the current one.

    That is the current one itself for a form that is not the agent's own, which would damage such
    a file among its sessions.
    """
    if header.dialect:
        return places.cwd
    return agent.workspace_folders(places.cwd, places.env, places.home)[0]


def write_import(planned: PlannedImport, places: Places) -> str | None:
    """Write the new session, read it back, keep the checkpoint that came with it; give its id.

    Raises:
        WriteNotSupported, StorageError: the session was not written.
        Refused: it was, but does not read as it should.
    """
    path, checkpoint = planned.path, planned.bundle.checkpoint
    session = write_session(path, planned.session.data, places)
    if session.agent.messages(read(session, places).context) != planned.bundle.messages:
        raise Refused(
            f"{path} was written, but does not read as its bundle: delete it and report it"
        )
    if checkpoint is None:
        return None
    key = f"{session.header.agent}:{session.header.session_id}"
    meta = msgspec.structs.replace(
        checkpoint.meta,
        checkpoint_id="cp_001",
        session_key=key,
        session_file=str(path),
        trigger="import",
        previous_checkpoint=None,
    )
    folder = session_folder("checkpoints", key, places)
    save(msgspec.structs.replace(checkpoint, meta=meta), folder, n_kept=1)
    return meta.checkpoint_id


def report_import(
    planned: PlannedImport, checkpoint_id: str | None, *, is_written: bool
) -> ImportReport:
    return ImportReport(
        path=str(planned.path),
        session_id=planned.session.session_id,
        is_written=is_written,
        agent=planned.bundle.origin.agent,
        n_messages=len(planned.bundle.messages),
        is_redacted=planned.bundle.is_redacted,
        checkpoint_id=checkpoint_id,
        resume=planned.resume,
    )


def import_text(report: ImportReport) -> str:
    head = "✓ New session of" if report.is_written else "Would make a session of"
    lines = [f"{head} {plural(report.n_messages, 'message')}: {report.path}"]
    if report.checkpoint_id is not None:
        lines.append(f"  Checkpoint {report.checkpoint_id} holds its working state.")
    return "\n".join((*lines, *way_on_lines(report.resume if report.is_written else None)))


def _check(agent: AgentInfo, data: bytes, bundle: Bundle) -> Header | str:
    """Give the header of a session that entries make.

    Or say why they make none, a damaged one, or another one than the messages tell.
    """
    if not bundle.messages:
        return "has no messages"
    lines = MemoryLines(data)
    recognized = recognize(lines)
    if recognized is None or recognized[0] is not agent:
        return "has entries that make no session"
    header = recognized[1]
    findings = examine(lines, header, agent, records_of(header)).findings
    damage = [f for f in findings if f.severity == "error" and f.code not in _PAIR_CODES]
    if damage:
        return f"would make a damaged session ({damage[0].message})"
    if messages_of(agent, data) != bundle.messages:
        return "has entries that do not make its messages"
    return header
