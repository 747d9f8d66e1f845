"""The files that a session is to begin with, and which were not read after a compaction.

Their rules: docs/design/checkpoints.md, "After a compaction".
"""

import re
from collections.abc import Iterator, Sequence
from datetime import date, timedelta
from itertools import pairwise

from ullage.core.checkpoint.startup_rules import AGENTS_NAME, StartupRules, put_in_day
from ullage.core.facts.tool_calls import read_call
from ullage.core.gauge.status import last_compaction_ms
from ullage.core.text.lazy_pattern import lazy_pattern
from ullage.core.transcript.context import Context, ContextItem, list_rounds
from ullage.core.transcript.entries import ToolCall

_FILE = lazy_pattern(
    r"(?<![\w./@+-])(?:\./)?"
    r"(?P<path>(?:(?!\.\.?/)[\w@.+-]+/){0,9}[\w@+-][\w@.+-]{0,99}\.[A-Za-z]\w{0,9})(?![\w/])"
)
_CONDITION = lazy_pattern(
    r"\b(?:if|unless|when|optional(?:ly)?|don't|do not|never)\b", re.IGNORECASE
)
"""A line with such a word asks for its files in some sessions, or in none."""


def list_startup_files(rules: Sequence[StartupRules], day: date) -> tuple[str, ...]:
    """List the files that a session is to begin with by reading; of daily logs that of the day.

    Where a line speaks of yesterday, that of the day before too. Whether they exist is not known.
    """
    lines = [line for part in rules if part.kind == "startup" for line in part.text.split("\n")]
    files = (path for line in lines if not _CONDITION.search(line) for path in _files_of(line, day))
    return tuple(path for path in dict.fromkeys(files) if path != AGENTS_NAME)


def find_unread_files(
    context: Context, files: Sequence[str], folder: str
) -> tuple[str, ...] | None:
    """List the files of a folder that no call touched since the last compaction.

    None as long as no answer since was one without a call: the agent may read them still.
    """
    since = _list_since(context)
    answers = pairwise((*list_rounds(since), len(since)))
    if all(_calls_of(since[start:end]) for start, end in answers):
        return None
    cwd = context.header.cwd or folder
    touched = {
        _resolve(cwd, touch.path) for call in _calls_of(since) for touch in read_call(call).touches
    }
    return tuple(file for file in files if _resolve(folder, file) not in touched)


def _resolve(folder: str, path: str) -> str:
    """Give a path as it is known from everywhere; on Windows capitals say nothing."""
    path = path.replace("\\", "/")
    is_absolute = path.startswith("/") or path[1:2] == ":"
    parts: list[str] = []
    for part in (path if is_absolute else f"{folder.replace(chr(92), '/')}/{path}").split("/"):
        if part == "..":
            parts = parts[:-1]
        elif part not in ("", "."):
            parts.append(part)
    whole = "/".join(parts)
    return whole.casefold() if whole[1:2] == ":" else whole


def _files_of(line: str, day: date) -> Iterator[str]:
    days = (day, day - timedelta(days=1)) if "yesterday" in line.casefold() else (day,)
    for match in _FILE.finditer(line):
        yield from (put_in_day(match["path"], each) for each in days)


def _list_since(context: Context) -> list[ContextItem]:
    """List the messages since the last compaction; a prune rewrites some and leaves their times."""
    begun_ms = last_compaction_ms(context)
    return [
        item
        for item in context.items
        if item.category != "summary"
        and (
            item.is_after_boundary
            or (begun_ms is not None and item.at_ms is not None and item.at_ms > begun_ms)
        )
    ]


def _calls_of(items: Sequence[ContextItem]) -> list[ToolCall]:
    return [b for item in items for b in item.message.blocks if isinstance(b, ToolCall)]
