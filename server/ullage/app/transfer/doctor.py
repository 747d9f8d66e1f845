"""Examine a session and our own state, and make a repaired copy of a session."""

from pathlib import Path
from uuid import UUID, uuid4

import msgspec
from msgspec.structs import asdict

from ullage.app.change.make import now_text
from ullage.app.sessions.named import find_session
from ullage.app.sessions.open import open_session
from ullage.app.sessions.session import Session
from ullage.core.secrets.scan import mask
from ullage.core.text.prose import plural
from ullage.core.transcript.doctor import TranscriptFinding, finding
from ullage.core.transcript.entries import Agent, Header, MemoryLines
from ullage.errors import NotATranscript, NotRepairable
from ullage.formats.agent_info import AgentInfo
from ullage.formats.doctor import RecordRules
from ullage.formats.examine import Examination, examine
from ullage.formats.registry import guess, recognize, records_of, repairable_sessions
from ullage.formats.repair import CopyIdentity, RepairResult, repair
from ullage.store.files.atomic import create_named_file
from ullage.store.files.places import Places
from ullage.store.state.leftovers import find_leftovers
from ullage.store.transcript.open import open_lines
from ullage.store.transcript.packed import PackedLines
from ullage.store.transcript.reader import FileLines, SessionLines

MAX_REPAIRED_BYTES = 256 * 1024 * 1024
"""A copy is put together in memory (chosen)."""


class ExaminedFile(msgspec.Struct, frozen=True, kw_only=True):
    """A transcript whose agent is known, if need be by its records alone."""

    lines: SessionLines
    info: AgentInfo
    header: Header
    is_recognized: bool


class DoctorResult(msgspec.Struct, frozen=True, kw_only=True):
    patient: ExaminedFile
    examination: Examination
    state: tuple[TranscriptFinding, ...]
    """What is wrong below our own state folder, and what writes of ours left beside sessions."""


class RepairedCopy(msgspec.Struct, frozen=True, kw_only=True):
    """A repaired copy, read back; not written yet."""

    path: Path
    session_id: str
    repaired: RepairResult
    examination: Examination


class FindingReport(msgspec.Struct, frozen=True, kw_only=True):
    code: str
    severity: str
    line: int | None
    offset: int | None
    entry_id: str | None
    message: str


class CopyReport(msgspec.Struct, frozen=True, kw_only=True):
    """The repaired copy."""

    path: str
    session_id: str
    is_written: bool
    n_kept: int
    n_changed: int
    n_dropped: int
    n_added: int


class DoctorReport(msgspec.Struct, frozen=True, kw_only=True):
    """The answer of `ullage doctor --json`."""

    agent: Agent
    session_id: str
    path: str
    n_lines: int
    n_records: int
    n_errors: int
    findings: list[FindingReport]
    state: list[FindingReport]
    repaired: CopyReport | None = None


def check_up(text: str | None, places: Places) -> DoctorResult:
    """Examine the session that a user means, and our own state.

    Raises:
        SessionNotFound, Unreadable: there is nothing to examine.
        NotATranscript: not even its records tell whose it is.
    """
    patient = _find(text, places)
    records = records_of(patient.header)
    header = patient.header if patient.is_recognized else None
    cwd = Path(patient.header.cwd) if patient.header.cwd else places.cwd
    beside = patient.info.workspace_folders(cwd, places.env, places.home)
    leftovers = find_leftovers(places, (patient.lines.path.parent, *beside))
    return DoctorResult(
        patient=patient,
        examination=examine(patient.lines, header, patient.info, records),
        state=tuple(finding(leftover.code, detail=str(leftover.path)) for leftover in leftovers),
    )


def check_lines(path: Path, max_bytes: int) -> tuple[TranscriptFinding, ...]:
    """Examine the lines of a transcript; none of one that is larger, or is a database.

    Raises:
        Unreadable, NotATranscript: it cannot be examined.
    """
    patient = _open_file(path)
    if not isinstance(patient.lines, FileLines) or patient.lines.size_bytes > max_bytes:
        return ()
    header = patient.header if patient.is_recognized else None
    return examine(patient.lines, header, patient.info, records_of(patient.header)).findings


def plan_copy(checkup: DoctorResult, out: Path, places: Places) -> RepairedCopy:
    """Make a repaired copy in memory, and examine it.

    Raises:
        NotRepairable: this kind of session is not ours to repair, or is beyond it.
    """
    patient = checkup.patient
    path, records = patient.lines.path, records_of(patient.header)
    if records is None or not isinstance(patient.lines, FileLines | PackedLines):
        raise NotRepairable(
            f"{path.name}: Ullage repairs sessions of {repairable_sessions()}; for others use their"
            " agent's own means"
        )
    if patient.lines.size_bytes > MAX_REPAIRED_BYTES:
        raise NotRepairable(
            f"{path.name} has more than {MAX_REPAIRED_BYTES // 2**20} MB: compact it first"
        )
    target = places.cwd / out
    identity = CopyIdentity(
        session_id=_new_id(patient.header, records, target),
        cwd=patient.header.cwd or str(places.cwd),
        timestamp=now_text(),
    )
    repaired = repair(patient.lines, patient.header, patient.info, records, identity)
    lines = MemoryLines(repaired.data)
    recognized = recognize(lines)
    if recognized is None or recognized[1].agent != patient.header.agent:
        raise NotRepairable(f"{path.name} has no record that can be kept: there is nothing to save")
    examination = examine(lines, recognized[1], recognized[0], records)
    if examination.has_errors:
        worst = next(finding for finding in examination.findings if finding.severity == "error")
        raise NotRepairable(
            f"{path.name} cannot be repaired ({worst.message}): nothing was written; please"
            " report it"
        )
    return RepairedCopy(
        path=target, session_id=identity.session_id, repaired=repaired, examination=examination
    )


def write_copy(copy: RepairedCopy) -> None:
    """Write a repaired copy where nothing stands yet.

    Raises:
        FileExists: something does.
        StorageError: the disk does not take it.
    """
    create_named_file(copy.path, copy.repaired.data)


def report_checkup(
    checkup: DoctorResult, copy: RepairedCopy | None = None, *, is_written: bool = False
) -> DoctorReport:
    examination = checkup.examination
    return DoctorReport(
        agent=checkup.patient.header.known_agent,
        session_id=checkup.patient.header.session_id,
        path=str(checkup.patient.lines.path),
        n_lines=examination.n_lines,
        n_records=examination.n_records,
        n_errors=sum(finding.severity == "error" for finding in examination.findings),
        findings=[_report(finding) for finding in examination.findings],
        state=[_report(finding) for finding in checkup.state],
        repaired=None
        if copy is None
        else CopyReport(
            path=str(copy.path),
            session_id=copy.session_id,
            is_written=is_written,
            n_kept=copy.repaired.n_kept,
            n_changed=copy.repaired.n_changed,
            n_dropped=copy.repaired.n_dropped,
            n_added=copy.repaired.n_added,
        ),
    )


def checkup_text(report: DoctorReport) -> str:
    """Write one line a finding, the most serious ones marked."""
    lines = [
        f"{report.path}: {plural(report.n_records, 'record')} on {plural(report.n_lines, 'line')}"
    ]
    marks = {"error": "✗", "warning": "!", "info": "·"}
    for row in (*report.findings, *report.state):
        place = "" if row.line is None else f"line {row.line}, byte {row.offset}: "
        lines.append(f"  {marks[row.severity]} {row.code:<20}{place}{row.message}")
    if not report.findings:
        lines.append("  ✓ nothing is wrong with it")
    copy = report.repaired
    if copy is not None:
        lines += [
            "",
            f"{'✓ Repaired copy' if copy.is_written else 'A repaired copy would be'}: {copy.path}",
            f"  {plural(copy.n_kept, 'record')} kept as before, {copy.n_changed:,} changed,"
            f" {plural(copy.n_dropped, 'line')} dropped, {plural(copy.n_added, 'record')} added",
            f"  session {copy.session_id}; the original is untouched",
        ]
    elif report.n_errors:
        lines.append(
            f"Make a repaired copy with: ullage doctor --session {report.path} --repair FILE"
        )
    return "\n".join(lines)


def _find(text: str | None, places: Places) -> ExaminedFile:
    try:
        session: Session = find_session(text, places.for_reading(is_read_only=True))
    except NotATranscript:
        if text is None:
            raise
        return _open_file(places.cwd / text)
    return _take_recognized(session)


def _open_file(path: Path) -> ExaminedFile:
    """Open a transcript by its path, one without its beginning by its records."""
    try:
        return _take_recognized(open_session(path))
    except NotATranscript:
        lines = open_lines(path)
        guessed = guess(lines)
        if guessed is None:
            raise
        info, header = guessed
        return ExaminedFile(lines=lines, info=info, header=header, is_recognized=False)


def _take_recognized(session: Session) -> ExaminedFile:
    return ExaminedFile(
        lines=session.lines, info=session.agent, header=session.header, is_recognized=True
    )


def _new_id(header: Header, records: RecordRules, target: Path) -> str:
    """Give the copy an id of its own, or that of its file's name where the agent goes by it."""
    if not records.is_named_by_file:
        return str(uuid4())
    try:
        return str(UUID(target.stem))
    except ValueError:
        return header.session_id or str(uuid4())


def _report(finding: TranscriptFinding) -> FindingReport:
    fields = {**asdict(finding), "message": mask(finding.message)}
    return msgspec.convert(fields, FindingReport)
