"""Edits: what is done to a context, and what that changes in an agent's files.

A format turns an edit of the context into a change of files, and `store` alone makes it.
"""

from collections.abc import Iterable
from typing import Literal, TypeAlias

import msgspec

from ullage.core.transcript.context import ContextItem
from ullage.core.transcript.message import Image, JsonObject, ToolResult

PRUNED_OUTPUT = "[output pruned for context]"
"""Stands for a tool's output that was pruned (docs/design/prune.md, "The six rules")."""
PRUNED_IMAGE = "[image pruned for context]"


class Replacement(msgspec.Struct, frozen=True, kw_only=True):
    """Something old in a message that a placeholder stands for from now on."""

    entry_id: str
    what: Literal["output", "images"]
    """The whole output of a tool, or each image of the message."""
    call_id: str | None
    """The call whose result it is; None for the images of a message that is no result."""


def n_pruned(items: Iterable[ContextItem], replacements: Iterable[Replacement]) -> int:
    """Count the outputs and images that placeholders take the place of."""
    n_images: dict[tuple[str, str | None], int] = {}
    for item in items:
        for block in item.message.blocks:
            call_id = block.call_id if isinstance(block, ToolResult) else None
            parts = block.content if isinstance(block, ToolResult) else (block,)
            key = (item.entry_id, call_id)
            n_found = sum(isinstance(part, Image) for part in parts)
            n_images[key] = n_images.get(key, 0) + n_found
    return sum(
        n_images.get((one.entry_id, one.call_id), 0) if one.what == "images" else 1
        for one in replacements
    )


class CompactionEdit(msgspec.Struct, frozen=True, kw_only=True):
    """A summary takes the place of all items before `first_kept_id`."""

    entry_id: str
    timestamp: str
    """RFC 3339 in UTC, to the millisecond."""
    summary: str
    first_kept_id: str
    n_tokens_before: int
    n_tokens_after: int | None
    """None in the draft from which the figure is taken."""
    details: JsonObject
    """The fields of docs/design/sessions.md, "Compaction events", and what the audit found."""


class PruneEdit(msgspec.Struct, frozen=True, kw_only=True):
    """Placeholders take the place of old tool output and images."""

    entry_id: str
    timestamp: str
    replacements: tuple[Replacement, ...]
    n_tokens_before: int
    n_tokens_after: int | None
    """None in the draft from which the figure is taken."""


class RestoreEdit(msgspec.Struct, frozen=True, kw_only=True):
    """The working state of a checkpoint goes to the end of a session, or begins one."""

    entry_id: str
    timestamp: str
    """RFC 3339 in UTC, to the millisecond."""
    checkpoint_id: str
    text: str
    """As the agent reads it."""


class Append(msgspec.Struct, frozen=True, kw_only=True):
    """Lines go to the end of the transcript."""

    data: bytes
    """Whole lines; begins with a line end where the last line of the transcript has none."""


class LineChange(msgspec.Struct, frozen=True, kw_only=True):
    offset: int
    old: bytes
    """The line as it stands there, its end included."""
    new: bytes
    """What takes its place, its end included; empty where the line goes."""


class Rewrite(msgspec.Struct, frozen=True, kw_only=True):
    """Some lines change, all others are copied byte for byte; the old file is kept beside it."""

    changes: tuple[LineChange, ...]
    """In the order of their offsets."""
    appended: bytes


class NewSession(msgspec.Struct, frozen=True, kw_only=True):
    """The session goes on in a file of its own; the old one is not touched."""

    session_id: str
    name: str
    """Of the new file, which lies in the folder of the old one."""
    data: bytes


FileChange: TypeAlias = Append | Rewrite | NewSession
