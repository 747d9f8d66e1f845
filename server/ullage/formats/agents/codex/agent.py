"""Codex: the context as its next request would carry it, folders of sessions, its row."""

from collections.abc import Iterable, Sequence
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from ullage.core.transcript.context import Compaction, Context, Sketch
from ullage.core.transcript.entries import Entry, Header, JsonObject, Line, Lines, Problem
from ullage.core.transcript.lineage import CompactionRef, Index, chain
from ullage.formats.agent_info import (
    AgentInfo,
    Env,
    InstructionLoader,
    SkillLoader,
    TitleField,
    ToolServers,
)
from ullage.formats.agents.codex import records, settings
from ullage.formats.agents.codex.assembly import (
    Assembly,
    item_of,
    items_of_boundary,
    last_usage,
    to_compaction,
)
from ullage.formats.agents.codex.edit import EDITOR
from ullage.formats.agents.codex.history import names_session, read_history, tells
from ullage.formats.agents.codex.messages import IN_MEMORY, is_sent, prune_message
from ullage.formats.agents.codex.transfer import TRANSFER
from ullage.formats.doctor import RecordRules
from ullage.formats.json_line import ms_of, object_of, text_of
from ullage.formats.reading import Reading, Walk, extend_reading, index_of

if TYPE_CHECKING:
    from ullage.core.assembly.parts import SentText

MAX_ESTIMATE_DISTANCE = 20
"""Lines after a compaction among which its estimate is looked for (the fourth, seen)."""
_NAMES = ("AGENTS.override.md", "AGENTS.md")
LOADER = InstructionLoader(
    reader="Codex",
    choices=(_NAMES,),
    folder=".codex",
    home=settings.HOME,
    home_choices=(_NAMES,),
    reach="repository",
    max_bytes=settings.MAX_INSTRUCTION_BYTES,
    find_memory=lambda _, env, home: settings.HOME.root(env, home) / "memories/memory_summary.md",
    configure=settings.configure_loader,
)
"""docs/design/agents.md, "What an agent loads"."""


def _read_context(lines: Lines, header: Header, previous: Index) -> Reading:
    history = read_history(lines, previous)
    refs = {ref.entry_id: ref for ref in (*previous.compactions, *history.refs)}
    entry = history.boundary
    assembly = Assembly(
        () if entry is None else items_of_boundary(entry), has_boundary=entry is not None
    )
    for above in history.above:
        assembly.add_above(above)
    for after in history.after:
        assembly.add(after)
    items = tuple(assembly.items)
    boundary = None if entry is None else to_compaction(entry, items, assembly.n_tokens_after)
    context = Context(
        header=header,
        items=items,
        boundary=boundary,
        compactions=chain(refs, None if boundary is None else boundary.entry_id),
        leaf_id=history.leaf_id,
        model=assembly.model,
        n_entries=history.n_entries,
        size_bytes=lines.size_bytes,
        problems=history.problems,
        window_tokens=assembly.window_tokens,
        limits=assembly.limits,
        pruned=assembly.pruned,
    )
    index = index_of(
        lines, history.n_entries, refs.values(), records.read_stub, history.title_offset
    )
    return Reading(context=context, index=index)


def _read_compaction(lines: Lines, ref: CompactionRef) -> Compaction | None:
    """Read a compaction and, from the lines after it, Codex's estimate of what it left."""
    following = map(records.read_entry, islice(lines.forward(ref.offset), MAX_ESTIMATE_DISTANCE))
    entries = [entry for entry in following if isinstance(entry, Entry)]
    if not entries or (entries[0].entry_id, entries[0].kind) != (ref.entry_id, "compacted"):
        return None
    assembly = Assembly(items_of_boundary(entries[0]), has_boundary=True)
    for entry in entries[1:]:
        if entry.kind == "compacted":
            break
        assembly.add(entry)
    return to_compaction(entries[0], assembly.items, assembly.n_tokens_after)


def _extend(reading: Reading, lines: Sequence[Line], size_bytes: int) -> Reading | None:
    """Add items and figures, until a line changes what stands before it.

    Right after a compaction, only the lines above it tell whether a figure is a stale one.
    """
    context = reading.context
    if reading.shows_unfinished:
        return None
    assembly = Assembly.resumed(context)
    is_figure_open = context.boundary is not None and last_usage(context) is None
    leaf_id = context.leaf_id
    walk = Walk(lines, records.read_stub, is_title=names_session)
    for line, stub in walk:
        leaf_id = records.entry_id_of(line)
        if stub.type == "compacted" or stub.is_event("thread_rolled_back"):
            return None
        if is_figure_open and stub.is_event("token_count"):
            return None
        entry = records.read_entry(line) if tells(stub) else None
        if isinstance(entry, Entry):
            if records.is_prune(entry):
                return None
            assembly.add(entry)
        elif entry is not None:
            walk.problems.append(entry)
    boundary = context.boundary
    if boundary is not None:
        boundary = msgspec.structs.replace(boundary, n_tokens_after=assembly.n_tokens_after)
    context = msgspec.structs.replace(
        context,
        items=tuple(assembly.items),
        boundary=boundary,
        leaf_id=leaf_id,
        model=assembly.model,
        window_tokens=assembly.window_tokens,
        limits=assembly.limits,
    )
    return extend_reading(reading, context, walk, lines, size_bytes)


def _sketch(line: Line, header: Header) -> Sketch | Problem | None:
    del header
    entry = records.read_entry(line)
    if not isinstance(entry, Entry):
        return entry
    native = records.payload_of(entry)
    is_message = entry.kind == "response_item" and is_sent(native)
    return Sketch(
        entry_id=entry.entry_id,
        parent_id=None,
        item=item_of(entry, native, {}) if is_message else None,
        is_compaction=entry.kind == "compacted",
        at_ms=ms_of(entry.native),
    )


def _session_folders(cwd: Path, env: Env, home: Path) -> tuple[Path, ...]:
    """Give the roots: rollouts lie in `YYYY/MM/DD`, and only their headers name the workspace."""
    del cwd
    return settings.HOME.paths(env, home)


def _subagent_folders(path: Path) -> tuple[Path, ...]:
    """Give the folder of the day: a subagent has a rollout of its own, mostly of the same day.

    One that a later day's resume started is not found; to look for it would read every header.
    """
    return (path.parent,)


def _is_record(native: JsonObject) -> bool:
    has_payload = object_of(native, "payload") is not None
    return text_of(native, "type") is not None and has_payload and "timestamp" in native


def _is_header(native: JsonObject) -> bool:
    meta = object_of(native, "payload") or {}
    return native.get("type") == "session_meta" and bool(
        text_of(meta, "id") or text_of(meta, "session_id")
    )


def _make_header(session_id: str, cwd: str, timestamp: str) -> JsonObject | None:
    meta = {
        "id": session_id,
        "timestamp": timestamp,
        "cwd": cwd,
        "originator": "codex_cli_rs",
        "cli_version": "0.0.0",
        "source": "cli",
    }
    return {"timestamp": timestamp, "type": "session_meta", "payload": meta}


def _session_id_field(native: JsonObject) -> tuple[str, ...]:
    if not _is_header(native):
        return ()
    meta = object_of(native, "payload") or {}
    return ("payload", "id") if "id" in meta else ("payload", "session_id")


def _find_fault(native: JsonObject) -> str | None:
    if text_of(native, "type") is None:
        return "type"
    return "payload" if object_of(native, "payload") is None else None


def _is_compaction(native: JsonObject) -> bool:
    return native.get("type") == "compacted"


RECORDS = RecordRules(
    sessions="Codex",
    # Codex itself closes calls and drops results when it reads a rollout (0.169).
    mends_pairs=False,
    is_record=_is_record,
    is_header=_is_header,
    make_header=_make_header,
    session_id_field=_session_id_field,
    find_fault=_find_fault,
    is_compaction=_is_compaction,
)


def _list_sent_texts(lines: Lines, context: Context) -> "Iterable[SentText]":
    from ullage.formats.agents.codex.parts import list_sent_texts

    return list_sent_texts(lines, context)


def _import_skills() -> tuple[SkillLoader, ...]:
    from ullage.formats.agents.codex.skills import SKILLS

    return (SKILLS,)


def _import_tool_servers() -> ToolServers:
    from ullage.formats.agents.codex.tool_servers import SERVERS

    return SERVERS


CODEX = AgentInfo(
    agent="codex",
    name="Codex",
    way_out="unpack the session, or use /compact in Codex",
    fork_hint="codex fork {session_id}",
    resume="codex resume {session_id}",
    shell_variables=("CODEX_THREAD_ID", "CODEX_CI"),
    homes=(settings.HOME,),
    session_folders=_session_folders,
    has_nested_folders=True,
    subagent_folders=_subagent_folders,
    setting_files=settings.list_setting_files,
    find_compaction_point=settings.find_compaction_point,
    titles=(TitleField(kind="event_msg", keys=("payload", "thread_name")),),
    has_titles_anywhere=True,
    read_header=records.read_header,
    read_entries=lambda lines, _: map(records.read_entry, lines.forward()),
    read_context=_read_context,
    extend=_extend,
    read_compaction=_read_compaction,
    read_prune=records.read_prune,
    prune_message=prune_message,
    list_sent_texts=_list_sent_texts,
    sketch=_sketch,
    editor=EDITOR,
    transfer=TRANSFER,
    doctor=RECORDS,
    in_memory=IN_MEMORY,
    loaders=(LOADER,),
    import_skills=_import_skills,
    import_tool_servers=_import_tool_servers,
)
