"""pi and OpenClaw: the context exactly as pi builds it (0.87.1), folders of sessions, the row.

pi 0.73.1 builds the same from every file that it can write itself: what differs is new in
0.84 to 0.87 (`context_edit`, system messages, `compaction.systemMessage`).
"""

from collections.abc import Iterable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from ullage.core.transcript.context import Compaction, Context, ContextItem, Sketch
from ullage.core.transcript.entries import Entry, Header, JsonObject, Line, Lines, Problem
from ullage.core.transcript.lineage import CompactionRef, Index, Node, chain, chain_in_order
from ullage.formats.agent_info import (
    AgentInfo,
    Env,
    Home,
    InstructionLoader,
    SkillLoader,
    TitleField,
    first_paths,
)
from ullage.formats.agents.openclaw import entries, projection, settings
from ullage.formats.agents.openclaw.edit import EDITOR
from ullage.formats.agents.openclaw.entries import FLAT, is_flat, is_note, notes_of
from ullage.formats.agents.openclaw.messages import IN_MEMORY, prune_message, read_usage
from ullage.formats.agents.openclaw.navigation import NAVIGATED_VERSION, is_plain
from ullage.formats.agents.openclaw.path import names_model, read_path
from ullage.formats.agents.openclaw.transfer import TRANSFER, make_header
from ullage.formats.doctor import RecordRules
from ullage.formats.json_line import int_of, iso_ms, ms_of, object_of, text_of
from ullage.formats.reading import Reading, Walk, extend_reading, index_of

if TYPE_CHECKING:
    from ullage.core.assembly.parts import SentText

PLAIN_KINDS = frozenset({"message", "custom_message", "branch_summary"})
"""Entries that only add to the end of the context."""
CHANGING_KINDS = frozenset({"compaction", "context_edit", "leaf", "reset"})
"""Entries that change what stands before them."""
_SESSION_DIR = "PI_CODING_AGENT_SESSION_DIR"
_HOMES = (
    Home(variable=_SESSION_DIR, default=None, folders=("",)),
    settings.HOME,
)
_PI_NAMES = ("AGENTS.override.md", "AGENTS.md", "AGENTS.MD", "CLAUDE.md", "CLAUDE.MD")
PI_LOADER = InstructionLoader(
    reader="pi",
    choices=(_PI_NAMES,),
    folder=".pi",
    home=settings.HOME,
    home_choices=(_PI_NAMES,),
    reach="everywhere",
    prompts=(("system prompt", "SYSTEM.md"), ("appended prompt", "APPEND_SYSTEM.md")),
    later_names=frozenset({"AGENTS.override.md"}),
)
"""docs/design/agents.md, "What an agent loads"."""
LOADER = InstructionLoader(
    reader="OpenClaw",
    choices=(
        ("AGENTS.md", "CLAUDE.md"),
        ("SOUL.md",),
        ("TOOLS.md",),
        ("IDENTITY.md",),
        ("USER.md",),
        ("HEARTBEAT.md",),
        ("BOOTSTRAP.md",),
        ("MEMORY.md",),
    ),
    folder=".openclaw",
    reach="folder",
    has_databases=True,
)
"""The identity files are OpenClaw's own (docs/design/assembly.md, "Bootstrap files")."""
NO_RESULT = "[no result was recorded]"


def _read_context(lines: Lines, header: Header, previous: Index) -> Reading:
    is_linear = header.dialect == entries.EVENTS
    path = read_path(lines, header, previous)
    boundary = None
    if path.boundary is not None and path.boundary.kind == "compaction":
        boundary = _to_compaction(path.boundary)
    notes = notes_of(path.after)
    if boundary is not None and notes.is_figure_stale:
        boundary = msgspec.structs.replace(boundary, n_tokens_after=None)
    refs = (*previous.compactions, *path.refs)
    by_id = {ref.entry_id: ref for ref in refs}
    last_id = None if boundary is None else boundary.entry_id
    model, provider = projection.model_of(path)
    context = Context(
        header=header,
        items=projection.project(path, header.dialect),
        boundary=boundary,
        compactions=chain_in_order(refs) if is_linear else chain(by_id, last_id),
        leaf_id=None if path.leaf is None else path.leaf.entry_id,
        model=model,
        n_entries=path.n_entries,
        size_bytes=lines.size_bytes,
        problems=path.problems,
        provider=provider,
        pruned=notes.pruned,
    )
    known_refs = context.compactions if is_linear else by_id.values()
    index = index_of(lines, path.n_entries, known_refs, entries.read_stub, path.title_offset)
    return Reading(context=context, index=index)


def _read_compaction(lines: Lines, ref: CompactionRef) -> Compaction | None:
    line = next(lines.forward(ref.offset), None)
    entry = None if line is None else entries.read_entry(line, entries.EVENTS_VERSION)
    if not isinstance(entry, Entry) or entry.kind != "compaction":
        return None
    return msgspec.structs.replace(_to_compaction(entry), entry_id=ref.entry_id)


def _to_compaction(entry: Entry) -> Compaction:
    native = entry.native
    details = object_of(native, "details") or {}
    n_after = int_of(native, "tokensAfter")
    return Compaction(
        entry_id=entry.entry_id,
        parent_id=entry.parent_id,
        at_ms=ms_of(native) or ms_of(details),
        summary=text_of(native, "summary") or "",
        first_kept_id=text_of(native, "firstKeptEntryId"),
        n_tokens_before=int_of(native, "tokensBefore"),
        n_tokens_after=int_of(details, "tokensAfter") if n_after is None else n_after,
        trigger=text_of(details, "trigger"),
        layer=text_of(details, "layer"),
        n_messages=int_of(details, "messagesCompacted"),
        usage=read_usage(native),
        details=details,
    )


def _read_entries(lines: Lines, header: Header | None) -> Iterable[Entry | Problem | None]:
    version = 3 if header is None else header.version
    if version == 1:
        return entries.linear_entries(lines)
    return (entries.read_entry(line, version) for line in lines.forward())


def _extend(reading: Reading, lines: Sequence[Line], size_bytes: int) -> Reading | None:
    """Follow the path as long as each line continues the one before it."""
    context = reading.context
    version = context.header.version
    is_linear = context.header.dialect == entries.EVENTS
    if (version < 2 and not is_linear) or reading.shows_unfinished:
        return None
    items: list[ContextItem] = []
    leaf_id, model, provider = context.leaf_id, context.model, context.provider
    known_ids = {item.entry_id for item in context.items}
    walk = Walk(
        lines,
        partial(entries.read_entry, version=version),
        is_title=lambda entry: entry.kind == entries.TITLE_KIND,
    )
    for _, entry in walk:
        # The last line of an id stands for it, also where it is the parent of another.
        if entry.entry_id in known_ids and not is_linear:
            return None
        if entry.kind in CHANGING_KINDS or is_note(entry) or not entry.entry_id:
            return None
        if entry.parent_id != leaf_id and not is_linear:
            return None
        if version >= NAVIGATED_VERSION and (leaf_id is None or not is_plain(entry)):
            return None
        leaf_id = entry.entry_id
        if names_model(entry):
            model, provider = projection.model_named_by(entry)
        item = projection.item_of(entry) if entry.kind in PLAIN_KINDS else None
        if item is not None and projection.changes_sections(item):
            return None
        if item is not None:
            items.append(item)
    context = msgspec.structs.replace(
        context,
        items=(*context.items, *items),
        leaf_id=leaf_id,
        model=model,
        provider=provider,
    )
    return extend_reading(reading, context, walk, lines, size_bytes)


def _sketch(line: Line, header: Header) -> Sketch | Problem | None:
    """Read one line; a file of version 1 has no ids, so that its lines have none."""
    entry = entries.read_entry(line, header.version)
    if not isinstance(entry, Entry):
        return entry
    return Sketch(
        entry_id=entry.entry_id,
        parent_id=entry.parent_id,
        item=projection.item_of(entry) if entry.kind in PLAIN_KINDS else None,
        is_compaction=entry.kind == "compaction",
        at_ms=ms_of(entry.native),
    )


def _session_folders(cwd: Path, env: Env, home: Path) -> tuple[Path, ...]:
    roots = first_paths(_HOMES, env, home)
    if env.get(_SESSION_DIR):
        return roots
    return tuple(root / folder_name(str(cwd)) for root in roots)


def folder_name(cwd: str) -> str:
    """Encode a working folder as pi does: `/home/me/a b` becomes `--home-me-a b--`."""
    trimmed = cwd[1:] if cwd[:1] in ("/", "\\") else cwd
    return f"--{trimmed.replace('/', '-').replace(chr(92), '-').replace(':', '-')}--"


def _database_patterns(env: Env, home: Path) -> tuple[tuple[Path, str], ...]:
    """Give the folder below which OpenClaw (2026.8 and later) has a database for each agent."""
    folders = settings.STATE_HOME.paths(env, home)
    return tuple((folder, "*/agent/openclaw-agent.sqlite") for folder in folders)


def _is_record(native: JsonObject) -> bool:
    return _is_header(native) or (
        text_of(native, "type") is not None
        and text_of(native, "id") is not None
        and "parentId" in native
    )


def _is_header(native: JsonObject) -> bool:
    return native.get("type") == "session" and text_of(native, "id") is not None


def _session_id_field(native: JsonObject) -> tuple[str, ...]:
    return ("id",) if _is_header(native) else ()


def _find_fault(native: JsonObject) -> str | None:
    if text_of(native, "type") is None:
        return "type"
    if _is_header(native):
        return None
    if not text_of(native, "id"):
        return "id"
    parent_id = native.get("parentId")
    if parent_id is not None and not isinstance(parent_id, str):
        return "parentId"
    if native["type"] == "message":
        message = native if is_flat(native) else object_of(native, "message")
        if message is None:
            return "message"
        if text_of(message, "role") is None:
            return "message.role"
        content = message.get("content")
        if content is not None and not isinstance(content, str | list):
            return "message.content"
    return None


def _node(native: JsonObject) -> Node | None:
    entry_id = text_of(native, "id")
    if _is_header(native) or not entry_id:
        return None
    return Node(entry_id=entry_id, parent_id=text_of(native, "parentId") or None)


def _fresh_id(digest: str) -> str:
    return digest[:8]


def _is_answer_sent(item: ContextItem) -> bool:
    """Whether an answer is sent: pi leaves out those that failed."""
    return item.native.get("stopReason") not in ("error", "aborted")


def _make_result(call: JsonObject, call_id: str, name: str, entry_id: str) -> JsonObject:
    timestamp = text_of(call, "timestamp") or ""
    return {
        "type": "message",
        "id": entry_id,
        "parentId": text_of(call, "id"),
        "timestamp": timestamp,
        "message": {
            "role": "toolResult",
            "toolCallId": call_id,
            "toolName": name,
            "content": [{"type": "text", "text": NO_RESULT}],
            "isError": True,
            "timestamp": iso_ms(timestamp) or 0,
        },
    }


def _is_compaction(native: JsonObject) -> bool:
    return native.get("type") == "compaction"


def _covers(header: Header) -> bool:
    """Of pi's sessions the first version has no ids, and in OpenClaw's it takes more than parents
    to tell the path; events have no parents."""
    return header.version in (2, 3) and header.dialect in ("", FLAT)


RECORDS = RecordRules(
    sessions="pi (versions 2 and 3)",
    covers=_covers,
    id_field="id",
    parent_field="parentId",
    kept_field="firstKeptEntryId",
    is_record=_is_record,
    is_header=_is_header,
    make_header=make_header,
    session_id_field=_session_id_field,
    find_fault=_find_fault,
    node=_node,
    fresh_id=_fresh_id,
    is_answer_sent=_is_answer_sent,
    make_result=_make_result,
    is_compaction=_is_compaction,
)


def _list_sent_texts(lines: Lines, context: Context) -> "Iterable[SentText]":
    from ullage.formats.agents.openclaw.parts import list_sent_texts

    return list_sent_texts(lines, context)


def _import_skills() -> tuple[SkillLoader, ...]:
    from ullage.formats.agents.openclaw.skills import OPENCLAW_SKILLS, PI_SKILLS

    return PI_SKILLS, OPENCLAW_SKILLS


OPENCLAW = AgentInfo(
    agent="openclaw",
    name="pi / OpenClaw",
    way_out="use /compact in OpenClaw",
    fork_hint="/fork in pi",
    resume="pi --session {path}",
    shell_variables=("PI_CODING_AGENT", "OPENCLAW_SHELL"),
    homes=_HOMES,
    other_homes=(settings.STATE_HOME,),
    # pi's subagents are sessions of their own, in folders of their own.
    session_folders=_session_folders,
    database_patterns=_database_patterns,
    has_chats=True,
    setting_files=settings.list_setting_files,
    find_window=settings.find_window,
    find_compaction_point=settings.find_compaction_point,
    titles=(TitleField(kind=entries.TITLE_KIND, keys=("name",)),),
    has_titles_anywhere=True,
    read_header=entries.read_header,
    read_entries=_read_entries,
    read_context=_read_context,
    extend=_extend,
    read_compaction=_read_compaction,
    read_prune=entries.read_prune,
    prune_message=prune_message,
    list_sent_texts=_list_sent_texts,
    sketch=_sketch,
    read_flush_epoch=entries.read_flush_epoch,
    editor=EDITOR,
    transfer=TRANSFER,
    doctor=RECORDS,
    in_memory=IN_MEMORY,
    loaders=(PI_LOADER, LOADER),
    import_skills=_import_skills,
)
