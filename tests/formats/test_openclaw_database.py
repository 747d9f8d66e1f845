"""Sessions of OpenClaw's version 4: navigation, resets, private messages, packed events."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from database_files import Json, openclaw_database
from pi_files import json_line
from reading import essence
from ullage.core.transcript.context import Context
from ullage.core.transcript.entries import Entry, Line, Lines, MemoryLines, plain_text, render
from ullage.core.transcript.lineage import EMPTY_INDEX
from ullage.formats.agents.openclaw.agent import OPENCLAW
from ullage.formats.agents.openclaw.navigation import active_path
from ullage.formats.reading import Reading
from ullage.store.transcript.openclaw_db import DatabaseLines

NO_PARENT = object()


class Session:
    """The events of a session; each call adds one and gives its id."""

    def __init__(self) -> None:
        header: Json = {"type": "session", "version": 4, "id": "s", "cwd": "/work/shop"}
        self.events: list[Json] = [header]
        self.leaf: object = None

    def add(self, kind: str, *, parent: object = ..., moves: bool = True, **fields: object) -> str:
        event_id = f"e{len(self.events)}"
        event: Json = {"type": kind, "id": event_id, "timestamp": "2026-11-01T10:00:00.000Z"}
        chosen = self.leaf if parent is ... else parent
        if chosen is not NO_PARENT:
            event["parentId"] = chosen
        self.events.append(event | fields)
        if moves:
            self.leaf = event_id
        return event_id

    def user(
        self, text: str, *, parent: object = ..., side: bool = False, **message: object
    ) -> str:
        mode: Json = {"appendMode": "side"} if side else {}
        body: Json = {"role": "user", "content": text, **message}
        return self.add("message", parent=parent, moves=not side, message=body, **mode)

    def select(self, target: object, **fields: object) -> str:
        found = self.add("leaf", moves=False, targetId=target, **fields)
        self.leaf = target
        return found

    @property
    def data(self) -> bytes:
        return b"".join(json_line(event) for event in self.events)


def read(lines: Lines) -> Reading:
    header = OPENCLAW.read_header(lines)
    assert header is not None
    return OPENCLAW.read_context(lines, header, EMPTY_INDEX)


def context_of(session: Session) -> Context:
    return read(MemoryLines(session.data)).context


def texts(context: Context) -> list[str]:
    return [plain_text(item.message).removesuffix("\n</summary>") for item in context.items]


def test_a_database_reads_like_the_same_events_in_a_file(tmp_path: Path) -> None:
    session = Session()
    session.user("hello " * 200)
    kept = session.user("kept")
    session.add("compaction", summary="done", firstKeptEntryId=kept, tokensBefore=9, tokensAfter=3)
    session.user("after")
    path = openclaw_database(tmp_path / "a.sqlite", {"s": session.events})
    lines = DatabaseLines(path, "s")
    context = read(lines).context
    in_file = context_of(session)
    assert context.items == in_file.items
    assert texts(context)[1:] == ["kept", "after"]
    assert context.boundary is not None
    assert (context.boundary.n_tokens_before, context.boundary.n_tokens_after) == (9, 3)
    (ref,) = context.compactions
    assert OPENCLAW.read_compaction(lines, ref) == context.boundary


def test_a_leaf_selects_an_earlier_entry() -> None:
    session = Session()
    first = session.user("one")
    session.user("abandoned")
    session.select(first)
    assert texts(context_of(session)) == ["one"]
    session.user("two")
    assert texts(context_of(session)) == ["one", "two"]


def test_a_leaf_that_selects_nothing_empties_the_context() -> None:
    session = Session()
    session.user("one")
    session.select(None)
    assert texts(context_of(session)) == []


def test_an_entry_below_a_leaf_control_follows_its_target() -> None:
    session = Session()
    first = session.user("one")
    session.user("abandoned")
    control = session.select(first)
    session.user("two", parent=control)
    assert texts(context_of(session)) == ["one", "two"]


def test_an_entry_at_the_cursor_follows_the_leaf() -> None:
    session = Session()
    first = session.user("one")
    cursor = session.add("plugin_note", moves=False)
    session.select(first, appendParentId=cursor)
    session.user("two", parent=cursor)
    assert texts(context_of(session)) == ["one", "two"]


@pytest.mark.parametrize(
    "fields",
    [
        {"targetId": "missing"},
        {"targetId": "e1", "appendParentId": "missing"},
        {"targetId": "e3"},
        {"targetId": 5},
        {"targetId": ""},
        {"targetId": "e1", "appendMode": "other"},
        {},
    ],
)
def test_a_leaf_that_cannot_be_followed_selects_nothing_new(fields: Json) -> None:
    session = Session()
    session.user("one")
    session.user("two")
    session.add("leaf", moves=False, **fields)
    assert texts(context_of(session)) == ["one", "two"]


def test_a_side_entry_does_not_become_the_leaf() -> None:
    session = Session()
    session.user("one")
    session.user("aside", side=True)
    assert texts(context_of(session)) == ["one"]
    session.user("two")
    assert texts(context_of(session)) == ["one", "two"]


def test_an_entry_without_a_parent_or_with_a_lost_one_follows_the_leaf() -> None:
    session = Session()
    session.user("one")
    session.user("two", parent=NO_PARENT)
    session.user("three", parent="lost")
    assert texts(context_of(session)) == ["one", "two", "three"]


def test_a_reset_keeps_what_it_names_and_has_no_summary() -> None:
    session = Session()
    session.user("old")
    session.add("compaction", summary="s", firstKeptEntryId="e9", tokensBefore=1)
    kept = session.user("kept")
    session.add("reset", reason="idle", firstKeptEntryId=kept)
    session.user("new")
    context = context_of(session)
    assert texts(context) == ["kept", "new"]
    assert [item.is_after_boundary for item in context.items] == [False, True]
    assert context.boundary is None
    assert context.compactions == ()


def test_a_reset_without_a_name_keeps_nothing_and_cannot_be_gone_behind() -> None:
    session = Session()
    first = session.user("old")
    session.add("reset", reason="new")
    session.user("new")
    assert texts(context_of(session)) == ["new"]
    session.select(first)
    assert texts(context_of(session)) == ["new"]
    session.user("newer", parent=first)
    assert texts(context_of(session)) == ["new", "newer"]


def test_a_compaction_after_a_reset_counts_from_the_reset() -> None:
    session = Session()
    session.user("old")
    session.add("compaction", summary="first", firstKeptEntryId="x", tokensBefore=1)
    session.add("reset", reason="new")
    session.user("new")
    last = session.add("compaction", summary="second", firstKeptEntryId="x", tokensBefore=1)
    context = context_of(session)
    assert [(ref.entry_id, ref.previous_id) for ref in context.compactions] == [(last, None)]


def test_a_boundary_that_the_path_does_not_reach_still_holds() -> None:
    session = Session()
    session.user("old")
    kept = session.user("kept")
    session.add("reset", reason="idle", firstKeptEntryId=kept)
    path = active_path(_entries(session)[:3] + _entries(session)[3:])
    assert [entry.entry_id for entry in path] == ["e1", "e2", "e3"]
    session = Session()
    session.user("old", parent=None)
    session.add("compaction", summary="done", firstKeptEntryId="x", tokensBefore=1)
    session.user("other root", parent=None)
    context = context_of(session)
    assert context.boundary is not None
    assert texts(context)[-1] == "other root"
    assert len(context.items) == 2


def test_private_messages_are_not_sent() -> None:
    session = Session()
    session.user("one")
    session.user("private", excludeFromContext=True)
    session.user("two")
    assert texts(context_of(session)) == ["one", "two"]


def test_entries_that_are_their_own_ancestors_end_the_reading() -> None:
    session = Session()
    session.user("one", parent="e2")
    session.user("two", parent="e1")
    context_of(session)


@st.composite
def sessions(draw: st.DrawFn) -> Session:
    session = Session()
    for at in range(draw(st.integers(0, 14))):
        ids = [None, "lost", *(f"e{n + 1}" for n in range(at))]
        match draw(st.integers(0, 9)):
            case 0:
                session.select(draw(st.sampled_from(ids)))
            case 1:
                session.user(f"side{at}", side=True)
            case 2:
                kept = draw(st.sampled_from(ids))
                session.add("compaction", summary=f"s{at}", firstKeptEntryId=kept, tokensBefore=1)
            case 3:
                session.add("reset", reason="r", firstKeptEntryId=draw(st.sampled_from(ids)))
            case 4:
                session.user(f"moved{at}", parent=draw(st.sampled_from([*ids, NO_PARENT])))
            case 5:
                session.add("plugin_note", moves=draw(st.booleans()))
            case _:
                session.user(f"user{at}")
    return session


def _entries(session: Session) -> list[Entry]:
    return list(OPENCLAW.parse(session.data).entries)


@given(sessions())
def test_the_upward_walk_equals_the_whole_reading(session: Session) -> None:
    context = context_of(session)
    path = active_path(_entries(session))
    kinds = ("compaction", "reset")
    at = max((i for i, entry in enumerate(path) if entry.kind in kinds), default=-1)
    after = [entry.entry_id for entry in path[at + 1 :] if entry.kind == "message"]
    found = [item.entry_id for item in context.items if item.is_after_boundary]
    assert [one for one in found if one != (path[at].entry_id if at >= 0 else "")] == after
    assert context.n_entries == len(session.events) - 1


@given(sessions(), st.floats(0, 1))
def test_an_index_of_an_earlier_reading_changes_nothing(session: Session, share: float) -> None:
    n_events = 1 + round((len(session.events) - 1) * share)
    prefix = b"".join(json_line(event) for event in session.events[:n_events])
    known = read(MemoryLines(prefix)).index
    lines = MemoryLines(session.data)
    header = OPENCLAW.read_header(lines)
    assert header is not None
    again = OPENCLAW.read_context(lines, header, known)
    assert essence(again.context) == essence(context_of(session))


@given(sessions(), st.floats(0, 1))
def test_reading_on_gives_what_reading_anew_gives(session: Session, share: float) -> None:
    n_events = 1 + round((len(session.events) - 1) * share)
    prefix = b"".join(json_line(event) for event in session.events[:n_events])
    rest = MemoryLines(session.data[len(prefix) :])
    appended = [Line(len(prefix) + line.offset, line.raw) for line in rest.forward()]
    after = OPENCLAW.extend(read(MemoryLines(prefix)), appended, len(session.data))
    if after is not None:
        assert essence(after.context) == essence(context_of(session))


@given(sessions())
def test_events_render_to_what_they_were_parsed_from(session: Session) -> None:
    assert render(OPENCLAW.parse(session.data)) == session.data


def test_databases_stand_below_the_folder_of_each_agent(tmp_path: Path) -> None:
    pattern = "*/agent/openclaw-agent.sqlite"
    assert OPENCLAW.database_patterns({}, tmp_path) == (
        (tmp_path / ".openclaw" / "agents", pattern),
    )
    assert OPENCLAW.database_patterns({"OPENCLAW_STATE_DIR": "/s"}, tmp_path) == (
        (Path("/s/agents"), pattern),
    )
