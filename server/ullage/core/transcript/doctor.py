"""What can be wrong with a transcript: findings with stable codes and advice."""

from collections.abc import Callable, Sequence
from typing import Literal, TypeAlias

import msgspec

from ullage.core.transcript.context import ContextItem
from ullage.core.transcript.entries import ToolCall, ToolResult

Severity: TypeAlias = Literal["info", "warning", "error"]
"""A repaired copy has no error."""


class TranscriptFinding(msgspec.Struct, frozen=True, kw_only=True):
    """Something wrong at a place, or in the session as a whole."""

    code: str
    severity: Severity
    line: int | None
    """Counted from 1."""
    offset: int | None
    """Of the line's first byte."""
    entry_id: str | None
    message: str
    """What it means, and what to do."""


MEANINGS: dict[str, tuple[Severity, str]] = {
    "byte-order-mark": ("error", "the file begins with a byte order mark, which agents refuse"),
    "header-missing": ("error", "the first line is not the session's header: the agent refuses it"),
    "unknown-session": (
        "error",
        "none of its first records names a session as its agent does: the agent does not list it",
    ),
    "nul-padding": ("error", "NUL bytes, which a crash left, hide what stands on the line"),
    "joined-lines": ("error", "two records stand on one line, and the agent reads neither"),
    "torn-line": ("error", "a record was cut off in the middle of the file; its rest is lost"),
    "unparseable-line": ("error", "the line is no JSON: the agent passes over it, or stops"),
    "not-an-object": ("error", "the line is JSON, but no record"),
    "wrong-field": ("error", "a field of the record has a type that the agent cannot use"),
    "long-line": ("warning", "the record is larger than Ullage reads; it is left as it is"),
    "invalid-utf8": ("warning", "some bytes are no UTF-8: the agent shows a mark in their place"),
    "unfinished-line": ("info", "the last line is not finished: normal while it is written"),
    "duplicate-id": ("error", "another record has the same id: the agent takes the later for both"),
    "missing-parent": ("error", "the record follows one that is not there: all before it is lost"),
    "parent-loop": ("error", "the record is its own ancestor: the agent hangs"),
    "lost-branch": ("info", "a record off the active path follows one that is not there"),
    "orphaned-result": ("error", "a tool's result has no call before it: the API refuses it"),
    "unanswered-call": ("error", "a call has no result, and the session went on after it"),
    "open-call": ("info", "the last call has no result yet, which is normal while the tool runs"),
    "missing-first-kept": (
        "warning",
        "the compaction names a first kept entry that is not before it: nothing was kept",
    ),
    "leftover-temporary": ("info", "a write of Ullage was interrupted; the file may be deleted"),
    "leftover-journal": ("warning", "a change was interrupted; the next one settles it"),
    "corrupt-checkpoint": ("warning", "the checkpoint cannot be read; an earlier one is used"),
    "unreadable-state": ("error", "Ullage cannot read its own folder: check its permissions"),
}
"""By code: how bad it is, and what it means."""


def finding(
    code: str,
    *,
    line: int | None = None,
    offset: int | None = None,
    entry_id: str | None = None,
    detail: str = "",
) -> TranscriptFinding:
    severity, meaning = MEANINGS[code]
    return TranscriptFinding(
        code=code,
        severity=severity,
        line=line,
        offset=offset,
        entry_id=entry_id or None,
        message=f"{meaning} ({detail})" if detail else meaning,
    )


class PairFault(msgspec.Struct, frozen=True, kw_only=True):
    """A call or a result without the other."""

    code: Literal["orphaned-result", "unanswered-call", "open-call"]
    at: int
    """Position of its message in the context."""
    call_id: str
    name: str
    """Of the tool."""


def pair_faults(
    items: Sequence[ContextItem], is_answer_sent: Callable[[ContextItem], bool]
) -> tuple[PairFault, ...]:
    """Find the calls and results of a context that are not in pairs.

    `is_answer_sent` tells of an answer whether its agent sends it; failed ones may not be.
    """
    faults: list[PairFault] = []
    waiting: dict[str, PairFault] = {}
    excused: set[str] = set()
    last_said = max((at for at, item in enumerate(items) if _says(item)), default=-1)
    for at, item in enumerate(items):
        for block in item.message.blocks:
            if isinstance(block, ToolCall):
                if not is_answer_sent(item):
                    excused.add(block.call_id)
                    continue
                code = "unanswered-call" if at < last_said else "open-call"
                waiting[block.call_id] = PairFault(
                    code=code, at=at, call_id=block.call_id, name=block.name
                )
            elif isinstance(block, ToolResult):
                if block.call_id in waiting:
                    del waiting[block.call_id]
                elif block.call_id in excused:
                    excused.discard(block.call_id)
                else:
                    faults.append(
                        PairFault(
                            code="orphaned-result", at=at, call_id=block.call_id, name=block.name
                        )
                    )
    return tuple(sorted((*faults, *waiting.values()), key=lambda fault: fault.at))


def _says(item: ContextItem) -> bool:
    """Whether a message is neither a result nor part of a summary."""
    return item.category in ("user", "assistant") and not any(
        isinstance(block, ToolResult) for block in item.message.blocks
    )
