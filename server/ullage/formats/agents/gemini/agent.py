"""The Gemini CLI: the context as its next request would carry it, folders of sessions, its row."""

import os
import re
from collections.abc import Sequence
from pathlib import Path

import msgspec

from ullage.core.text.digest import sha256
from ullage.core.transcript.context import Compaction, Context, ContextItem
from ullage.core.transcript.entries import Entry, Header, JsonObject, Line, Lines
from ullage.core.transcript.lineage import EMPTY_INDEX, CompactionRef, Index, chain
from ullage.formats.agent_info import AgentInfo, Env, InstructionLoader, TitleField
from ullage.formats.agents.gemini import records, settings
from ullage.formats.agents.gemini.history import (
    Snapshot,
    is_user,
    items_of,
    items_of_record,
    read_history,
    read_snapshot,
)
from ullage.formats.agents.gemini.messages import answered_ids, list_parts, parts_of, prune_message
from ullage.formats.json_line import text_of
from ullage.formats.reading import Reading, Walk, extend_reading, index_of

MAX_NAMESAKES = 4
"""Folders of the same name whose sessions are looked at (chosen)."""
_NOT_PLAIN = re.compile(r"[^a-z0-9]+")


def _read_context(lines: Lines, header: Header, previous: Index) -> Reading:
    history = read_history(lines, previous)
    items, has_snapshot = items_of(history.records, history.snapshot)
    boundary = history.snapshot if has_snapshot else None
    refs = {ref.entry_id: ref for ref in history.refs}
    context = Context(
        header=header,
        items=items,
        boundary=None if boundary is None else _to_compaction(boundary),
        compactions=chain(refs, None if boundary is None else boundary.message_id),
        leaf_id=items[-1].entry_id if items else None,
        model=history.last_model,
        n_entries=history.n_entries,
        size_bytes=lines.size_bytes,
        problems=history.problems,
    )
    index = index_of(lines, history.n_entries, history.refs, records.read_stub)
    return Reading(context=context, index=EMPTY_INDEX if records.is_document(lines) else index)


def _read_compaction(lines: Lines, ref: CompactionRef) -> Compaction | None:
    snapshot = read_snapshot(lines, ref)
    return None if snapshot is None else _to_compaction(snapshot)


def _messages(context: Context) -> list[JsonObject]:
    """List the contents; an answer that has nothing yet is not sent."""
    return [item.native for item in context.items if item.message.blocks]


def _extend(reading: Reading, lines: Sequence[Line], size_bytes: int) -> Reading | None:
    """Add messages and new versions of the last one; all else changes what stands before it."""
    context = reading.context
    if reading.shows_unfinished:
        # So is a single document, which is rewritten as a whole.
        return None
    items = list(context.items)
    model = context.model
    walk = Walk(lines, records.read_stub)
    for line, stub in walk:
        if stub.is_base or stub.rewind_to is not None:
            return None
        entry = records.read_entry(line) if stub.is_message else None
        if isinstance(entry, Entry):
            if not _add(items, entry):
                return None
            model = text_of(entry.native, "model") or model
        elif entry is not None:
            walk.problems.append(entry)
    leaf_id = items[-1].entry_id if items else None
    context = msgspec.structs.replace(context, items=tuple(items), leaf_id=leaf_id, model=model)
    return extend_reading(reading, context, walk, lines, size_bytes)


def _add(items: list[ContextItem], entry: Entry) -> bool:
    """Add a message; False where it changes more than the end."""
    record = entry.native
    is_new = not any(item.entry_id == entry.entry_id for item in items)
    if is_user(record):
        if not is_new or not _give_way(items, answered_ids(parts_of(record))):
            return False
        items += items_of_record(record, set())
        return True
    while items and items[-1].entry_id == entry.entry_id:
        if not items.pop().is_after_boundary:
            return False
    if any(item.entry_id == entry.entry_id for item in items):
        return False
    own = (item for item in items if item.category == "tool results")
    items += items_of_record(record, {i for item in own for i in _answered(item)})
    return True


def _give_way(items: list[ContextItem], answered: set[str]) -> bool:
    """Take away the results beside the last calls, which now have a message of their own."""
    beside = [at for at in range(1, len(items)) if items[at].entry_id == items[at - 1].entry_id]
    changed = [at for at in beside if _answered(items[at]) & answered]
    if not changed:
        return True
    if changed != [len(items) - 1] or not _answered(items[-1]) <= answered:
        return False
    items.pop()
    return True


def _answered(item: ContextItem) -> set[str]:
    return answered_ids(list_parts(item.native.get("parts")))


def _to_compaction(snapshot: Snapshot) -> Compaction:
    """Make the compaction of a compression, which notes no figures."""
    return Compaction(entry_id=snapshot.message_id, at_ms=snapshot.at_ms, summary=snapshot.text)


def _session_folders(cwd: Path, env: Env, home: Path) -> tuple[Path, ...]:
    """Give the folders that may hold the sessions of a workspace.

    Which of several namesakes is meant stands in `.project_root` beside `chats`, and in
    `projects.json`. The last folder is where older versions kept a workspace.
    """
    slug = folder_name(cwd)
    namesakes = (slug, *(f"{slug}-{number}" for number in range(1, MAX_NAMESAKES)))
    names = (*namesakes, sha256(os.fsencode(cwd)).hexdigest())
    return tuple(root / name / "chats" for root in settings.HOME.paths(env, home) for name in names)


def folder_name(cwd: Path) -> str:
    """Shorten a working folder as the Gemini CLI does: `/home/me/My app!` becomes `my-app`."""
    return _NOT_PLAIN.sub("-", cwd.name.lower()).strip("-") or "project"


LOADER = InstructionLoader(
    reader="Gemini CLI", choices=(("GEMINI.md",),), folder=".gemini", import_hops=5
)

GEMINI = AgentInfo(
    agent="gemini",
    name="Gemini CLI",
    way_out="use /compress in Gemini CLI",
    fork_hint="/chat save in Gemini CLI",
    shell_variables=("GEMINI_CLI",),
    homes=(settings.HOME,),
    # Not of subagents: their folder has the session's whole id, which its file's name has not, and
    # they do not name their parent.
    session_folders=_session_folders,
    setting_files=settings.list_setting_files,
    find_compaction_point=settings.find_compaction_point,
    # Written by the agent's own model when a session ends.
    titles=(TitleField(keys=("$set", "summary")), TitleField(keys=("summary",))),
    read_header=records.read_header,
    read_entries=lambda lines, _: map(records.read_entry, records.lines_downwards(lines)),
    read_context=_read_context,
    extend=_extend,
    read_compaction=_read_compaction,
    messages=_messages,
    prune_message=prune_message,
    loaders=(LOADER,),
)
