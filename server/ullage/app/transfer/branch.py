"""Branch a session: a new one that goes on from any of its entries."""

from pathlib import Path
from uuid import uuid4

import msgspec

from ullage.app.change.make import now_text, way_on_lines
from ullage.app.change.restore import write_session
from ullage.app.sessions.session import ChangeTarget, Session
from ullage.core.change.edit import NewHeader, NewSession
from ullage.core.text.prose import plural
from ullage.core.transcript.entries import JsonObject, MemoryLines
from ullage.core.transcript.lineage import EMPTY_INDEX
from ullage.errors import Refused, WriteNotSupported
from ullage.formats.agent_info import AgentInfo
from ullage.formats.branching import Part, part_at
from ullage.store.files.places import Places

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
    resume: str | None
    """The command that goes on with the session; null where none does."""


class PlannedBranch(msgspec.Struct, frozen=True, kw_only=True):
    session: Session
    part: Part
    branch: NewSession

    @property
    def path(self) -> Path:
        return self.session.path.with_name(self.branch.name)


def plan_branch(session: Session, at: str | None, places: Places) -> PlannedBranch:
    """Copy a session up to an entry in memory.

    Raises:
        WriteNotSupported: the agent has means of its own for that.
        Refused: there is no such entry, or no session could go on from it.
    """
    agent, header, lines = session.agent, session.header, session.lines
    target = session.find_change_target()
    if agent.transfer is None:
        way = agent.fork_command(header)
        raise WriteNotSupported(f"Ullage only reads sessions of {agent.name}: branch with {way}")
    if not isinstance(target, ChangeTarget):
        raise WriteNotSupported(target)
    if lines.size_bytes > MAX_BRANCHED_BYTES:
        raise Refused(
            f"the session has more than {MAX_BRANCHED_BYTES // 2**20} MB: compact it first"
        )
    part = part_at(agent, header, lines, at)
    if isinstance(part, str):
        raise Refused(f"it cannot be branched: {part}")
    new_header = NewHeader(
        session_id=str(uuid4()),
        timestamp=now_text(),
        cwd=header.cwd or str(places.cwd),
        parent_path=str(session.path.absolute()),
    )
    branch = agent.transfer.branch(part.lines, part.context, new_header)
    if messages_of(agent, branch.data) != agent.messages(part.context):
        raise Refused("it cannot be branched: the copy would read otherwise")
    return PlannedBranch(session=session, part=part, branch=branch)


def messages_of(agent: AgentInfo, data: bytes) -> list[JsonObject] | None:
    """Build the messages that an agent sends of a session; None where it is none of its own."""
    lines = MemoryLines(data)
    header = agent.read_header(lines)
    if header is None:
        return None
    return agent.messages(agent.read_context(lines, header, EMPTY_INDEX).context)


def write_branch(planned: PlannedBranch, places: Places) -> None:
    """Write the new session; the old one is not touched.

    Raises:
        WriteNotSupported, StorageError: it was not written.
    """
    write_session(planned.path, planned.branch.data, places)


def report_branch(planned: PlannedBranch, *, is_written: bool) -> BranchReport:
    session, branch = planned.session, planned.branch
    header = msgspec.structs.replace(session.header, session_id=branch.session_id)
    return BranchReport(
        path=str(planned.path),
        session_id=branch.session_id,
        parent_path=str(session.path),
        entry_id=planned.part.entry_id,
        n_entries=len(session.agent.parse(branch.data).entries),
        is_written=is_written,
        resume=session.agent.resume_command(header, planned.path),
    )


def branch_text(report: BranchReport) -> str:
    head = "✓ Branched off" if report.is_written else "Would branch off"
    return "\n".join(
        (
            f"{head} after entry {report.entry_id}, {plural(report.n_entries, 'entry', 'entries')}:"
            f" {report.path}",
            *way_on_lines(report.resume if report.is_written else None),
        )
    )
