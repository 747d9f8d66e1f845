"""What every adapter for an agent's transcripts offers; a module is an adapter."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Protocol

import msgspec

from ullage.core.change.edit import (
    CompactionEdit,
    FileChange,
    LineChange,
    NewSession,
    PruneEdit,
    Replacement,
    RestoreEdit,
)
from ullage.core.transcript.context import Compaction, Context
from ullage.core.transcript.entries import Agent, Entry, Header, Line, Lines, Problem, Transcript
from ullage.core.transcript.index import CompactionRef, Index
from ullage.core.transcript.message import JsonObject


def index_of(
    lines: Lines, n_entries: int, refs: Iterable[CompactionRef], is_entry: Callable[[Line], bool]
) -> Index:
    """Make the index of what was read; a last line that is not finished is left out of it."""
    last = next(lines.backward(), None)
    if last is None or not last.is_torn:
        return Index(covered_bytes=lines.size_bytes, n_entries=n_entries, compactions=tuple(refs))
    return Index(
        covered_bytes=last.offset,
        n_entries=n_entries - is_entry(last),
        compactions=tuple(ref for ref in refs if ref.offset < last.offset),
    )


class Reading(msgspec.Struct, frozen=True, kw_only=True):
    """A context and what was learned of the transcript on the way."""

    context: Context
    index: Index


def shows_unfinished(reading: Reading) -> bool:
    """Whether an unfinished line is part of a reading; it must be read anew to take it out."""
    return reading.context.n_entries != reading.index.n_entries


def transcript_of(
    lines: Lines, header: Header | None, found: Iterable[Entry | Problem | None]
) -> Transcript:
    """Make a transcript of all its lines and what was found on them."""
    read = tuple(found)
    return Transcript(
        header=header,
        lines=tuple(lines.forward()),
        entries=tuple(one for one in read if isinstance(one, Entry)),
        problems=tuple(one for one in read if isinstance(one, Problem)),
    )


def extended(
    reading: Reading,
    context: Context,
    lines: Sequence[Line],
    size_bytes: int,
    *,
    n_new: int,
    problems: Iterable[Problem],
) -> Reading:
    """Make the reading that ends with appended lines.

    `context` has what those lines add; they have `n_new` entries and `problems`.
    """
    n_entries = reading.index.n_entries + n_new
    return Reading(
        context=msgspec.structs.replace(
            context,
            n_entries=n_entries,
            size_bytes=size_bytes,
            problems=(*_lasting_problems(reading), *problems),
        ),
        index=msgspec.structs.replace(
            reading.index,
            covered_bytes=lines[-1].offset + len(lines[-1].raw) if lines else size_bytes,
            n_entries=n_entries,
        ),
    )


class Format(Protocol):
    AGENT: Agent
    HAS_NESTED_FOLDERS: bool
    """Whether sessions lie in folders below those that `session_folders` names."""

    @staticmethod
    def session_roots(env: Mapping[str, str], home: Path) -> tuple[Path, ...]:
        """Give the folders below which all sessions are."""
        ...

    @staticmethod
    def session_folders(cwd: Path, env: Mapping[str, str], home: Path) -> tuple[Path, ...]:
        """Give the folders that may hold the sessions of a workspace."""
        ...

    @staticmethod
    def subagent_folders(path: Path) -> tuple[Path, ...]:
        """Give the folders that may hold the sessions of a session's subagents."""
        ...

    @staticmethod
    def live_folders(env: Mapping[str, str], home: Path) -> tuple[Path, ...]:
        """Give the folders where the agent notes the sessions that it has open, one file each."""
        ...

    @staticmethod
    def read_header(lines: Lines) -> Header | None:
        """Recognize a transcript by its first lines; None where it is none of ours."""
        ...

    @staticmethod
    def read_context(lines: Lines, header: Header, known: Index) -> Reading:
        """Read backwards until the context and its compactions are known."""
        ...

    @staticmethod
    def extend(reading: Reading, lines: Sequence[Line], size_bytes: int) -> Reading | None:
        """Add whole lines that were appended since; None where only a new reading can tell.

        `size_bytes` is the length of the transcript now, an unfinished line included.
        """
        ...

    @staticmethod
    def read_compaction(lines: Lines, ref: CompactionRef) -> Compaction | None:
        """Read a compaction from the place that an index points to."""
        ...

    @staticmethod
    def messages(context: Context) -> list[JsonObject]:
        """List the messages that would be sent, in the agent's own shape."""
        ...

    @staticmethod
    def prune_message(native: JsonObject, replacements: Sequence[Replacement]) -> JsonObject:
        """Put placeholders into a message in the agent's own shape; the rest stays as it is."""
        ...

    @staticmethod
    def parse(data: bytes) -> Transcript:
        """Parse a whole transcript without losing a byte."""
        ...


class Editor(Protocol):
    """Works edits of a context into an agent's files; a module is an editor."""

    @staticmethod
    def refuse_edit(header: Header) -> str | None:
        """Say why a session's files cannot be changed; None where they can."""
        ...

    @staticmethod
    def compact(lines: Lines, context: Context, edit: CompactionEdit) -> FileChange:
        """Put a summary in the place of what stands before the first kept message."""
        ...

    @staticmethod
    def prune(lines: Lines, context: Context, edit: PruneEdit) -> FileChange:
        """Put placeholders in the place of old output."""
        ...

    @staticmethod
    def restore(lines: Lines, context: Context, edit: RestoreEdit) -> FileChange:
        """Let the session go on with the text of a checkpoint at its end.

        Raises:
            WriteNotSupported: nothing can be put into a session of this kind.
        """
        ...

    @staticmethod
    def begin(lines: Lines, context: Context, edit: RestoreEdit) -> NewSession:
        """Begin a session with nothing but the text of a checkpoint.

        Raises:
            WriteNotSupported: no session of this kind can be made.
        """
        ...

    @staticmethod
    def undo_restore(
        lines: Lines, context: Context, *, entry_id: str, timestamp: str
    ) -> FileChange | None:
        """Take out the text of a checkpoint, if that was the last change; None where it was not."""
        ...

    @staticmethod
    def undo_compaction(
        lines: Lines, context: Context, compaction: Compaction, *, entry_id: str, timestamp: str
    ) -> FileChange:
        """Make the context from before the last compaction current again."""
        ...

    @staticmethod
    def undo_prune(lines: Lines, originals: Sequence[LineChange]) -> FileChange | None:
        """Put the original lines of a prune back; None where they are not in the file any more.

        `originals` are the changes that the prune made. What was written since stays.
        """
        ...

    @staticmethod
    def resume_command(header: Header, path: Path) -> str:
        """Give the command by which a user goes on with a session."""
        ...


def _lasting_problems(reading: Reading) -> tuple[Problem, ...]:
    """List the problems of finished lines; that of an unfinished one goes with its end."""
    covered = reading.index.covered_bytes
    return tuple(one for one in reading.context.problems if one.offset < covered)
