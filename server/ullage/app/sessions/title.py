"""What a session is called, by the beginning and the end of its transcript.

Its agent's own title comes first, else the gist of the first request that a person typed.
"""

from collections.abc import Iterable, Iterator
from functools import reduce
from itertools import chain, islice, takewhile
from pathlib import Path

import msgspec

from ullage.app.sessions.session import Session
from ullage.core.secrets.scan import mask
from ullage.core.text.prose import gist
from ullage.core.text.quotations import mark_pasted, read_own_words
from ullage.core.transcript.context import ContextItem
from ullage.core.transcript.entries import Line, Lines, MemoryLines
from ullage.core.transcript.lineage import EMPTY_INDEX, Index
from ullage.core.transcript.speech import read_speech
from ullage.errors import InputError
from ullage.formats.agent_info import TitleField
from ullage.formats.json_line import as_object, decode_object, text_of
from ullage.store.transcript.database import SessionRows
from ullage.store.transcript.reader import FileLines

HEAD_LINES = (1, 2, 4, 8, 16, 64, 512)
"""First lines that are read for the first request, as long as there is none: a compaction that
follows would hide it (chosen)."""
N_TITLE_LINES = 8
"""First lines among which a title is looked for (chosen)."""
HEAD_BYTES = 256 * 1024
"""Codex begins with some 50 KB of instructions (chosen)."""
WHOLE_BYTES = 4 * 1024 * 1024
"""A transcript of one document, as older Gemini chats are, is read whole up to here (chosen)."""
TAIL_BYTES = 64 * 1024
"""Within the last 64 KB Claude Code writes its titles again, and looks for them (2.1)."""
SEARCHED_BYTES = 16 * 1024 * 1024
"""How far back a title is looked for that may stand anywhere (chosen)."""
SEARCH_BLOCK_BYTES = 256 * 1024
"""Read at once for that (chosen)."""
MAX_TITLE_CHARS = 80
MAX_REQUEST_CHARS = 16_000
"""Of a request, to find the person's own words in it (chosen)."""
MAX_NAME_CHARS = 48
"""In a sentence, where the agent and the id stand beside it (chosen)."""
MAX_OVERVIEWS = 1024
"""Sessions whose beginning is remembered (chosen)."""
UNTITLED = "No request yet"
N_ID_CHARS = 8
"""The last ones: ids that begin with the time share the first."""


class Overview(msgspec.Struct, frozen=True, kw_only=True):
    """What the beginning and the end of a transcript say of its session."""

    own_title: str | None
    """Given by the agent, or by its user there."""
    request: str | None
    """The first that a person typed; of a subagent the task that it was given."""
    has_messages: bool
    """Whether a person or the model said anything; a file without that is no session."""


class _Remembered(msgspec.Struct, frozen=True, kw_only=True):
    inode: int
    size_bytes: int
    overview: Overview


_remembered: dict[Path, _Remembered] = {}
"""By path; what was appended to a file changes neither its first request nor an older title."""


def title_of(
    session: Session, known_secrets: tuple[str, ...] = (), index: Index = EMPTY_INDEX
) -> str:
    """Give a session's title on one line, without secrets."""
    return find_title(session, known_secrets, index) or UNTITLED


def find_title(
    session: Session, known_secrets: tuple[str, ...] = (), index: Index = EMPTY_INDEX
) -> str | None:
    """Find a session's title; None where nobody asked for anything yet."""
    overview = overview_of(session, index)
    if overview.own_title or not overview.request:
        title = overview.own_title
    else:
        request = mask(overview.request[:MAX_REQUEST_CHARS], known_secrets)
        title = read_own_words(request) or mark_pasted(request, MAX_TITLE_CHARS)
    return mask(gist(title, MAX_TITLE_CHARS), known_secrets) if title else None


def name_of(
    session: Session, known_secrets: tuple[str, ...] = (), index: Index = EMPTY_INDEX
) -> str:
    """Name a session where it stands among others: its title, its agent, the end of its id."""
    title = gist(title_of(session, known_secrets, index), MAX_NAME_CHARS)
    return f"{title} · {session.agent.name} · {short_id(session.header.session_id)}"


def short_id(session_id: str) -> str:
    return session_id[-N_ID_CHARS:]


def overview_of(session: Session, index: Index = EMPTY_INDEX) -> Overview:
    """Look at the beginning and the end of a transcript; of one that grew, at what is new.

    An index of it may know where the title stands, so that it is not looked for.
    """
    lines = session.lines
    if not isinstance(lines, FileLines):
        return _look_at(session, 0, None, index)
    inode, size_bytes = lines.fingerprint.inode, lines.size_bytes
    before = _remembered.get(session.path)
    try:
        if before is not None and before.size_bytes > size_bytes and not lines.is_current():
            # It grew since it was opened here, and the title may stand beyond what is looked at.
            return before.overview
        if before is None or before.inode != inode or before.size_bytes > size_bytes:
            overview = _look_at(session, 0, None, index)
        elif before.size_bytes == size_bytes:
            return before.overview
        else:
            overview = _look_at(session, before.size_bytes, before.overview, index)
    except InputError:
        # It was rewritten since it was read; what it is called is no reason to fail.
        if before is None:
            return Overview(own_title=None, request=None, has_messages=True)
        return before.overview
    if len(_remembered) >= MAX_OVERVIEWS:
        _remembered.clear()
    _remembered[session.path] = _Remembered(inode=inode, size_bytes=size_bytes, overview=overview)
    return overview


def _look_at(session: Session, start: int, before: Overview | None, index: Index) -> Overview:
    """Look at a transcript, of whose lines up to `start` the title is known."""
    lines = session.lines
    agent = session.agent
    n_bytes = SEARCHED_BYTES if agent.has_titles_anywhere else TAIL_BYTES
    # A database has titles on its first line, and no bytes to count.
    last = () if isinstance(lines, SessionRows) else lines.backward()
    # Which of several titles counts, the new lines alone do not tell.
    first_offset = max(start if len(agent.titles) == 1 else 0, lines.size_bytes - n_bytes)
    new: Iterable[Line] = takewhile(lambda line: line.offset >= first_offset, last)
    if agent.has_titles_anywhere and isinstance(lines, FileLines):
        if index.title_offset:
            new = islice(lines.forward(index.title_offset), 1)
        elif index.title_offset == 0 or not _may_hold_title(lines, first_offset, agent.titles):
            new = ()
    if before is not None and before.request is not None:
        title = _find_title(new, agent.titles)
        own_title = before.own_title if title is None else title
        return msgspec.structs.replace(before, own_title=own_title or None)
    head = _read_head(lines, N_TITLE_LINES)
    title = _find_title(chain(new, reversed(head)), agent.titles)
    request, has_messages = _find_request(session)
    return Overview(own_title=title or None, request=request, has_messages=has_messages)


def _read_head(lines: Lines, n_lines: int) -> list[Line]:
    fitting = takewhile(lambda line: line.offset < HEAD_BYTES, lines.forward())
    return list(islice(fitting, n_lines))


def _may_hold_title(lines: FileLines, start: int, fields: tuple[TitleField, ...]) -> bool:
    """Tell whether a place on has what stands in each title, in half the time of reading lines."""
    marks = {_marks_of(field)[0] for field in fields}
    n_more = max(map(len, marks), default=0)
    end = lines.size_bytes
    blocks = (
        lines.read_line(at, min(SEARCH_BLOCK_BYTES + n_more, end - at)).raw
        for at in range(start, end, SEARCH_BLOCK_BYTES)
    )
    return any(mark in block for block in blocks for mark in marks)


def _find_title(backward: Iterable[Line], fields: tuple[TitleField, ...]) -> str | None:
    """Find the strongest title among lines, given the last one first; empty where it was taken
    back, None where there is none."""
    lines = tuple(backward) if any(field.leaf_key for field in fields) else backward
    marks = {field: _marks_of(field) for field in fields}
    titles: dict[TitleField, str] = {}
    for line in lines if fields else ():
        for field in fields:
            if field in titles or not all(mark in line.raw for mark in marks[field]):
                continue
            text = _read_title(line, field)
            if text is not None and _has_leaf(line, field, lines):
                titles[field] = text
        if fields[0] in titles:
            break
    return next((titles[field] for field in fields if titles.get(field)), "" if titles else None)


def _marks_of(field: TitleField) -> tuple[bytes, ...]:
    """Give what stands in each line that has a title: most lines have one of the two."""
    return tuple(f'"{word}"'.encode() for word in (field.kind, field.keys[-1]) if word)


def _read_title(line: Line, field: TitleField) -> str | None:
    native = decode_object(line)
    if isinstance(native, str) or (field.kind and native.get("type") != field.kind):
        return None
    *outer, last = field.keys
    holder = reduce(lambda inner, key: as_object(inner.get(key)) or {}, outer, native)
    text = text_of(holder, last)
    if text is not None and field.defaults and text.startswith(field.defaults):
        return ""
    return text


def _has_leaf(line: Line, field: TitleField, lines: Iterable[Line]) -> bool:
    """Whether the entry that a title names is of this transcript, if it must be."""
    if not field.leaf_key:
        return True
    native = decode_object(line)
    leaf = "" if isinstance(native, str) else text_of(native, field.leaf_key)
    mark = f'"uuid":"{leaf}"'.encode("utf-8", "replace")
    return any(mark in other.raw for other in lines)


def _find_request(session: Session) -> tuple[str | None, bool]:
    """Find the first request, and whether anyone said anything."""
    header, has_messages = session.header, False
    items: tuple[ContextItem, ...] = ()
    for lines in _heads(session.lines):
        if lines is None:
            # Too long to be read to its end without need.
            has_messages = True
            break
        items = session.agent.read_context(lines, header, EMPTY_INDEX).context.items
        has_messages = any(item.category in ("user", "assistant") for item in items)
        typed = (read_speech(item, "typed").strip() for item in items)
        if request := next(filter(None, typed), None):
            return request, True
    if header.parent_session_id is None:
        return None, has_messages
    # No person asks a summarizer for anything.
    given = (read_speech(item, "harness").strip() for item in items if item.category == "injected")
    return next(filter(None, given), None), has_messages


def _heads(lines: Lines) -> Iterator[Lines | None]:
    """Give more and more of the beginning of a transcript, at last all; None where that is long."""
    for n_lines in HEAD_LINES:
        head = _read_head(lines, n_lines + 1)
        yield MemoryLines(b"".join(line.raw for line in head[:n_lines]))
        if len(head) <= n_lines:
            end = head[-1].offset + len(head[-1].raw) if head else 0
            if end >= lines.size_bytes:
                return
            break
    yield lines if lines.size_bytes <= WHOLE_BYTES else None
