"""What is exported, imported and branched reads as it did, in every format that Ullage writes."""

from collections.abc import Callable
from pathlib import Path
from random import Random

import pytest

from edits import applied
from pi_files import conversation
from profiles import examples
from reading import read_context
from seed_files import event_file, flat_file
from session_edit_files import random_claude, random_codex
from ullage.app.sessions.load import load, read
from ullage.app.sessions.open import open_session
from ullage.app.sessions.session import Session
from ullage.app.transfer.branch import plan_branch, write_branch
from ullage.app.transfer.bundle import plan_export, plan_import, write_export, write_import
from ullage.core.change.edit import CompactionEdit
from ullage.core.config.settings import Config
from ullage.core.transcript.entries import JsonObject, MemoryLines
from ullage.errors import BadBundle, Refused
from ullage.formats.agents.openclaw.truncate import truncate
from ullage.store.files.places import Places

SAMPLES = Path(__file__).parents[2] / "samples"
CODEX_SAMPLE = next((SAMPLES / "codex").glob("rollout-2026*.jsonl"))
FILES: dict[str, Callable[[], bytes]] = {
    "pi": lambda: conversation(8).data,
    "events": lambda: event_file(n_steps=6),
    "events, compacted": lambda: event_file(2, n_steps=6),
    "flat": lambda: flat_file(n_steps=6),
    "flat, compacted": lambda: flat_file(2, n_steps=6),
    "flat, truncated": lambda: _truncated(flat_file(n_steps=6)),
    "flat, of the first version": lambda: flat_file(2, n_steps=6, version=1),
    "Claude Code": lambda: random_claude(Random(3)),
    "Codex": CODEX_SAMPLE.read_bytes,
}


def _truncated(data: bytes) -> bytes:
    context = read_context(data)
    edit = CompactionEdit(
        entry_id="ours0001",
        timestamp="2030-01-01T00:00:00.000Z",
        summary="The summary",
        first_kept_id=context.items[9].entry_id,
        n_tokens_before=100,
        n_tokens_after=50,
        details={},
    )
    return applied(data, truncate(MemoryLines(data), context, edit))


def count(text: str, encoding: str) -> int:
    del encoding
    return len(text)


def written(places: Places, data: bytes) -> Session:
    path = places.cwd / "s.jsonl"
    path.write_bytes(data)
    return open_session(path)


def messages_in(session: Session, places: Places) -> list[JsonObject]:
    return session.agent.messages(read(session, places).context)


def taken_over(session: Session, places: Places, *, is_redacted: bool = False) -> Session:
    bundle = places.cwd / "b.json"
    bundle.unlink(missing_ok=True)
    loaded = load(session, Config(), places, count)
    write_export(plan_export(loaded, bundle, places, is_redacted=is_redacted))
    planned = plan_import(bundle, places)
    write_import(planned, places)
    return open_session(planned.path)


@pytest.mark.parametrize("name", FILES)
def test_an_imported_session_has_the_messages_of_the_exported(places: Places, name: str) -> None:
    session = written(places, FILES[name]())
    made = taken_over(session, places)
    assert messages_in(made, places) == messages_in(session, places)
    assert made.header.session_id != session.header.session_id
    assert (made.agent, made.header.dialect) == (session.agent, session.header.dialect)
    assert made.header.cwd in (str(places.cwd), None)
    boundary = read(session, places).context.boundary
    assert len(read(made, places).context.compactions) == (boundary is not None)


@pytest.mark.parametrize("name", ["events", "flat"])
def test_a_file_that_pi_would_damage_is_not_made_among_its_sessions(
    places: Places, name: str
) -> None:
    made = taken_over(written(places, FILES[name]()), places)
    assert made.path.parent == places.cwd
    assert made.agent.resume_command(made.header, made.path) is None


def test_an_imported_session_is_found_where_its_agent_keeps_them(places: Places) -> None:
    for name in ("pi", "Claude Code", "Codex"):
        made = taken_over(written(places, FILES[name]()), places)
        roots = made.agent.session_roots(places.env, places.home)
        assert any(made.path.is_relative_to(root) for root in roots)
        command = made.agent.resume_command(made.header, made.path)
        assert command is not None
        assert made.header.session_id in command or str(made.path) in command


@pytest.mark.parametrize("name", FILES)
def test_a_branch_reads_as_the_session_did_at_its_entry(places: Places, name: str) -> None:
    session = written(places, FILES[name]())
    whole = messages_in(session, places)
    for item in read(session, places).context.items:
        try:
            planned = plan_branch(session, item.entry_id, places)
        except Refused:
            continue
        write_branch(planned, places)
        messages = messages_in(open_session(planned.path), places)
        assert messages == session.agent.messages(planned.part.context)
    planned = plan_branch(session, None, places)
    assert session.agent.messages(planned.part.context) == whole


@pytest.mark.parametrize("name", ["events", "flat"])
def test_a_branch_takes_the_lines_as_they_are(places: Places, name: str) -> None:
    session = written(places, FILES[name]())
    lines = session.path.read_bytes().splitlines(keepends=True)
    call = next(i for i, line in enumerate(lines) if b'"toolCall"' in line)
    at = read(session, places).context.items[1].entry_id
    planned = plan_branch(session, at, places)
    write_branch(planned, places)
    head = 1 if name == "flat" else 0
    # The call that was asked for, and its result.
    assert planned.path.read_bytes().splitlines(keepends=True)[head:] == lines[head : call + 2]
    assert open_session(planned.path).header.dialect == session.header.dialect
    if name == "flat":
        assert f'"parentSession":"{session.header.session_id}"' in planned.path.read_text()


@pytest.mark.parametrize("make", [random_claude, random_codex])
def test_random_sessions_come_back_as_they_were(
    places: Places, make: Callable[[Random], bytes]
) -> None:
    n_made = 0
    for seed in range(examples(60)):
        session = written(places, make(Random(seed)))
        try:
            made = taken_over(session, places)
        except BadBundle:  # the agents themselves do not write all of what is drawn
            continue
        n_made += 1
        assert messages_in(made, places) == messages_in(session, places)
        try:
            planned = plan_branch(session, None, places)
        except Refused:  # it ends with a call
            continue
        write_branch(planned, places)
        branched = messages_in(open_session(planned.path), places)
        assert branched == messages_in(session, places)
    assert n_made > examples(60) / 2


def test_secrets_are_masked_in_the_records_of_every_format(places: Places) -> None:
    key = "sk-ant-api03-CANARY0123456789abcdefghijklmnop"
    for name in ("events", "flat", "Claude Code", "Codex"):
        data = FILES[name]()
        for word in (b"parcel", b"route", b"ynthetic answer"):
            data = data.replace(word, f" {key}".encode())
        session = written(places, data)
        made = taken_over(session, places, is_redacted=True)
        assert key in session.path.read_text()
        assert key not in made.path.read_text()
        assert key not in Path(places.cwd / "b.json").read_text()
