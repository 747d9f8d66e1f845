"""Branch a session: a new one that goes on from any of its entries."""

import msgspec

from ullage.app.change.restore import NewFile, new_file_beside, write_session
from ullage.app.sessions.session import Session
from ullage.errors import Refused, WriteNotSupported
from ullage.formats.agents.openclaw.projection import VERSION, Branch, branch
from ullage.store.files.places import Places
from ullage.store.transcript.reader import FileLines

MAX_BRANCHED_BYTES = 256 * 1024 * 1024
"""The copy is put together in memory (chosen)."""


class BranchReport(msgspec.Struct, frozen=True, kw_only=True):
    """The answer of `ullage context branch --json`."""

    path: str
    session_id: str
    parent_path: str
    entry_id: str
    """The last entry that both sessions share."""
    n_entries: int
    is_written: bool
    resume: str
    """The command that goes on with the session."""


class PlannedBranch(msgspec.Struct, frozen=True, kw_only=True):
    session: Session
    file: NewFile
    branch: Branch


def plan_branch(session: Session, at: str | None, places: Places) -> PlannedBranch:
    """Copy the path to an entry in memory.

    Raises:
        WriteNotSupported: the agent has means of its own for that.
        Refused: there is no such entry, or no session could go on from it.
    """
    header, lines = session.header, session.lines
    is_plain = header.agent == "openclaw" and header.version == VERSION and not header.dialect
    if not is_plain or not isinstance(lines, FileLines):
        way = session.agent.fork_hint.format(session_id=header.session_id)
        raise WriteNotSupported(
            f"Ullage branches sessions of pi (version {VERSION}) only; for this one use: {way}"
        )
    if lines.size_bytes > MAX_BRANCHED_BYTES:
        raise Refused(
            f"{session.path.name} has more than {MAX_BRANCHED_BYTES // 2**20} MB: branch it in pi"
        )
    file = new_file_beside(session.path, header.cwd or str(places.cwd))
    made = branch(lines, at, file.header)
    if isinstance(made, str):
        raise Refused(f"{session.path.name} cannot be branched: {made}")
    return PlannedBranch(session=session, file=file, branch=made)


def write_branch(planned: PlannedBranch) -> None:
    """Write the new session; the old one is not touched.

    Raises:
        FileExists, StorageError: it was not written.
    """
    write_session(planned.file.path, planned.branch.data)


def report_branch(planned: PlannedBranch, *, is_written: bool) -> BranchReport:
    return BranchReport(
        path=str(planned.file.path),
        session_id=planned.file.header.session_id,
        parent_path=str(planned.session.path),
        entry_id=planned.branch.entry_id,
        n_entries=planned.branch.n_entries,
        is_written=is_written,
        resume=planned.file.resume,
    )


def branch_text(report: BranchReport) -> str:
    head = "✓ Branched off" if report.is_written else "Would branch off"
    return "\n".join(
        (
            f"{head} after entry {report.entry_id}, {report.n_entries:,} entries: {report.path}",
            f"  Go on with: {report.resume}",
        )
    )
