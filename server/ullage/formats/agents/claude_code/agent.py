"""Claude Code: the context as its next request would carry it, folders of sessions, its row."""

from collections.abc import Iterable, Sequence
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING
from uuid import UUID

import msgspec

from ullage.core.gauge.window import is_same_model
from ullage.core.transcript.context import PREFACE, Compaction, Context, ContextItem, Sketch
from ullage.core.transcript.entries import Entry, Header, JsonObject, Line, Lines, Problem
from ullage.core.transcript.lineage import CompactionRef, Index, Node, chain
from ullage.formats.agent_info import AgentInfo, Env, Home, SkillLoader, TitleField, ToolServers
from ullage.formats.agents.claude_code import records, settings
from ullage.formats.agents.claude_code.conversation import (
    cleared_calls,
    ends_in_queue,
    item_of,
    items_of,
    read_conversation,
    sent_entries,
)
from ullage.formats.agents.claude_code.edit import EDITOR
from ullage.formats.agents.claude_code.instructions import LOADER
from ullage.formats.agents.claude_code.messages import IN_MEMORY, prune_message
from ullage.formats.agents.claude_code.model import add_costs, follow_model
from ullage.formats.agents.claude_code.places import HOME, folder_name
from ullage.formats.agents.claude_code.transfer import TRANSFER
from ullage.formats.doctor import RecordRules
from ullage.formats.json_line import int_of, ms_of, object_of, objects_of, text_of, texts_of
from ullage.formats.notes import own_note
from ullage.formats.reading import Reading, Walk, calls_in, extend_reading, index_of

if TYPE_CHECKING:
    from ullage.core.assembly.parts import SentText

MAX_SUMMARY_DISTANCE = 20
"""Lines after a boundary among which its summary is looked for (it follows at once, or after
a few attachments: 2.1.329, seen)."""
_RECENT_ITEMS = 50
"""Where the call of a result that was just written is looked for (chosen)."""
_LIVE = Home(variable="CLAUDE_CONFIG_DIR", default=".claude", folders=("sessions",))
NO_RESULT = "[no result was recorded]"
_ENVELOPE = (
    "isSidechain agentId timestamp userType entrypoint cwd sessionId version gitBranch".split()
)


def _read_context(lines: Lines, header: Header, previous: Index) -> Reading:
    conversation = read_conversation(lines, header, previous)
    refs = {ref.entry_id: ref for ref in (*previous.compactions, *conversation.refs)}
    items = items_of(conversation)
    boundary = conversation.boundary
    costs = None if conversation.costs is None else conversation.costs.native
    before = () if conversation.before is None else (conversation.before,)
    name_before = follow_model(None, before)
    name = follow_model(name_before, sent_entries(conversation))
    model = add_costs(name, items, costs)
    is_same = bool(name and name_before and is_same_model(name, name_before))
    answer = item_of(before[0], {}) if before and is_same else None
    usage = None if answer is None else answer.message.usage
    context = Context(
        header=header,
        items=items,
        boundary=None if boundary is None else _to_compaction(boundary, items),
        compactions=chain(refs, None if boundary is None else boundary.entry_id),
        leaf_id=conversation.after[-1].entry_id if conversation.after else None,
        model=model.name,
        n_entries=conversation.n_entries,
        size_bytes=lines.size_bytes,
        problems=conversation.problems,
        window_tokens=model.window_tokens,
        n_sent_before=0 if usage is None else usage.n_sent,
        pruned=None
        if conversation.pruned is None
        else records.read_prune_note(conversation.pruned),
    )
    index = index_of(lines, conversation.n_entries, refs.values(), records.read_stub)
    return Reading(context=context, index=index, ends_in_note=ends_in_queue(conversation))


def _read_compaction(lines: Lines, ref: CompactionRef) -> Compaction | None:
    """Read a boundary and its summary, which follows in the thread, perhaps after attachments."""
    following = map(records.read_entry, islice(lines.forward(ref.offset), MAX_SUMMARY_DISTANCE))
    entries = [entry for entry in following if isinstance(entry, Entry)]
    if not entries or entries[0].entry_id != ref.entry_id:
        return None
    thread = {ref.entry_id}
    items: list[ContextItem] = []
    for entry in entries[1:]:
        if entry.parent_id in thread:
            thread.add(entry.entry_id)
            item = item_of(entry, {})
            items += [] if item is None else [item]
    return _to_compaction(entries[0], tuple(items))


def _messages(context: Context) -> list[JsonObject]:
    """List the messages, one for each answer: its blocks stand on several entries."""
    sent: list[JsonObject] = []
    last_answer_id: str | None = None
    for item in context.items:
        answer_id = item.message.answer_id
        if answer_id is not None and answer_id == last_answer_id:
            content = (*objects_of(sent[-1], "content"), *objects_of(item.native, "content"))
            sent[-1] = sent[-1] | {"content": list(content)}
        else:
            sent.append(
                {key: item.native[key] for key in ("role", "content") if key in item.native}
            )
        last_answer_id = answer_id
    return sent


def _extend(reading: Reading, lines: Sequence[Line], size_bytes: int) -> Reading | None:
    """Follow the thread as long as each record continues the one before it."""
    context = reading.context
    if reading.shows_unfinished or reading.ends_in_note:
        return None
    is_sidechain = context.header.parent_session_id is not None
    items: list[ContextItem] = []
    entries: list[Entry] = []
    leaf_id = context.leaf_id
    tool_names: dict[str, str] = {}
    for item in context.items[-_RECENT_ITEMS:]:
        tool_names |= calls_in(item.message)
    walk = Walk(lines, records.read_stub)
    for line, stub in walk:
        if stub.is_prune_note or stub.is_costs or stub.is_given:
            return None
        if stub.uuid is None or stub.is_sidechain != is_sidechain:
            continue
        entry = records.read_entry(line)
        if stub.parent_uuid != leaf_id or stub.is_boundary or not isinstance(entry, Entry):
            return None
        if cleared_calls(entry):
            return None
        leaf_id = stub.uuid
        entries.append(entry)
        item = item_of(entry, tool_names)
        if item is None:
            continue
        if item.category == "summary":
            return None
        items.append(item)
        tool_names |= calls_in(item.message)
    if follow_model(context.model, entries) != context.model:
        # What was paid for it and what was sent to it before stand further up.
        return None
    context = msgspec.structs.replace(context, items=(*context.items, *items), leaf_id=leaf_id)
    return extend_reading(reading, context, walk, lines, size_bytes)


def _sketch(line: Line, header: Header) -> Sketch | Problem | None:
    """Read one record; those of another thread in the same file send nothing."""
    entry = records.read_entry(line)
    if not isinstance(entry, Entry):
        return entry
    is_boundary = records.is_boundary_entry(entry)
    is_sidechain = entry.native.get("isSidechain") is True
    is_of_thread = is_sidechain == (header.parent_session_id is not None)
    return Sketch(
        entry_id=entry.entry_id,
        # A boundary has no parent; what it replaced is in another field.
        parent_id=text_of(entry.native, "logicalParentUuid") if is_boundary else entry.parent_id,
        item=item_of(entry, {}) if is_of_thread else None,
        is_compaction=is_boundary,
        at_ms=ms_of(entry.native),
    )


def _to_compaction(boundary: Entry, items: tuple[ContextItem, ...]) -> Compaction:
    metadata = records.metadata_of(boundary)
    own = own_note(metadata)
    details = own or metadata
    summary = next((item for item in items if item.category == "summary"), None)
    text = "" if summary is None else text_of(summary.native, "content") or ""
    return Compaction(
        entry_id=boundary.entry_id,
        parent_id=boundary.parent_id,
        at_ms=ms_of(boundary.native),
        summary=text.removeprefix(PREFACE),
        n_tokens_before=int_of(metadata, "preTokens"),
        n_tokens_after=int_of(metadata, "postTokens"),
        is_after_of_messages=own is None,
        trigger=text_of(details, "trigger"),
        layer=text_of(details, "layer"),
        n_messages=int_of(details, "messagesCompacted") or int_of(metadata, "messagesSummarized"),
        details=details,
    )


def _session_folders(cwd: Path, env: Env, home: Path) -> tuple[Path, ...]:
    return tuple(root / folder_name(str(cwd)) for root in HOME.paths(env, home))


def _subagent_folders(path: Path) -> tuple[Path, ...]:
    """Give the folder beside a transcript that is named as it."""
    return (path.with_suffix("") / "subagents",)


def _is_record(native: JsonObject) -> bool:
    is_threaded = text_of(native, "uuid") is not None and "parentUuid" in native
    return text_of(native, "type") is not None and (
        is_threaded or text_of(native, "sessionId") is not None
    )


def _is_header(native: JsonObject) -> bool:
    """Any record will do: this format has no header."""
    return text_of(native, "type") is not None


def _session_id_field(native: JsonObject) -> tuple[str, ...]:
    return () if text_of(native, "sessionId") is None else ("sessionId",)


def _find_fault(native: JsonObject) -> str | None:
    if text_of(native, "type") is None:
        return "type"
    if "parentUuid" not in native and "uuid" not in native:
        return None
    if not text_of(native, "uuid"):
        return "uuid"
    parent_id = native.get("parentUuid")
    if parent_id is not None and not isinstance(parent_id, str):
        return "parentUuid"
    if native["type"] in ("user", "assistant"):
        message = object_of(native, "message")
        if message is None:
            return "message"
        if not isinstance(message.get("content"), str | list):
            return "message.content"
    return None


def _node(native: JsonObject) -> Node | None:
    entry_id = text_of(native, "uuid")
    if not entry_id:
        return None
    return Node(
        entry_id=entry_id,
        parent_id=text_of(native, "parentUuid") or None,
        is_main=native.get("isSidechain") is not True,
    )


def _fresh_id(digest: str) -> str:
    return str(UUID(hex=digest[:32], version=4))


def _make_result(call: JsonObject, call_id: str, name: str, entry_id: str) -> JsonObject:
    del name
    result = {
        "type": "tool_result",
        "tool_use_id": call_id,
        "content": NO_RESULT,
        "is_error": True,
    }
    return {
        "parentUuid": text_of(call, "uuid"),
        **{key: call[key] for key in _ENVELOPE if key in call},
        "type": "user",
        "message": {"role": "user", "content": [result]},
        "uuid": entry_id,
    }


def _is_compaction(native: JsonObject) -> bool:
    return native.get("subtype") == "compact_boundary"


def _keep_result(native: JsonObject, call_id: str, result_id: str) -> JsonObject | None:
    metadata = object_of(native, "compactMetadata") or {}
    preserved = object_of(metadata, "preservedMessages") or {}
    if call_id not in texts_of(preserved, "uuids"):
        return None
    longer: JsonObject = {
        key: _with_next(texts_of(preserved, key), call_id, result_id)
        for key in ("uuids", "allUuids")
        if key in preserved
    }
    return native | {"compactMetadata": metadata | {"preservedMessages": preserved | longer}}


def _with_next(uuids: tuple[str, ...], before: str, added: str) -> list[str]:
    return [listed for uuid in uuids for listed in ((uuid, added) if uuid == before else (uuid,))]


def _drop_result(native: JsonObject, call_id: str) -> JsonObject | None:
    message = object_of(native, "message") or {}
    kept = [b for b in objects_of(message, "content") if b.get("tool_use_id") != call_id]
    return native | {"message": message | {"content": kept}} if kept else None


def _follows_same_answer(native: JsonObject, child: JsonObject) -> bool:
    """Whether both are blocks of one answer, which stand on records of their own."""
    answer_ids = [text_of(object_of(record, "message") or {}, "id") for record in (native, child)]
    return answer_ids[0] is not None and answer_ids[0] == answer_ids[1]


RECORDS = RecordRules(
    sessions="Claude Code",
    is_named_by_file=True,
    id_field="uuid",
    parent_field="parentUuid",
    is_record=_is_record,
    is_header=_is_header,
    session_id_field=_session_id_field,
    find_fault=_find_fault,
    node=_node,
    fresh_id=_fresh_id,
    make_result=_make_result,
    is_compaction=_is_compaction,
    keep_result=_keep_result,
    drop_result=_drop_result,
    follows_same_answer=_follows_same_answer,
)


def _list_sent_texts(lines: Lines, context: Context) -> "Iterable[SentText]":
    from ullage.formats.agents.claude_code.parts import list_sent_texts

    return list_sent_texts(lines, context)


def _import_skills() -> tuple[SkillLoader, ...]:
    from ullage.formats.agents.claude_code.skills import SKILLS

    return (SKILLS,)


def _import_tool_servers() -> ToolServers:
    from ullage.formats.agents.claude_code.tool_servers import SERVERS

    return SERVERS


CLAUDE_CODE = AgentInfo(
    agent="claude-code",
    name="Claude Code",
    way_out="use /compact in Claude Code",
    fork_hint="claude --resume {session_id} --fork-session",
    resume="claude --resume {session_id}",
    shell_variables=("CLAUDECODE",),
    homes=(HOME,),
    session_folders=_session_folders,
    subagent_folders=_subagent_folders,
    # Titles are written again at the end whenever a session is resumed or left.
    titles=(
        TitleField(kind="custom-title", keys=("customTitle",)),
        TitleField(kind="ai-title", keys=("aiTitle",)),
        TitleField(kind="summary", keys=("summary",), leaf_key="leafUuid"),
    ),
    # A file for each process (docs/design/agents.md, "Claude Code: places").
    live_folders=_LIVE.paths,
    setting_files=settings.list_setting_files,
    setting_keys=settings.KEYS,
    find_compaction_point=settings.find_compaction_point,
    asking_tools=("AskUserQuestion", "ExitPlanMode"),
    read_header=records.read_header,
    read_branch=records.read_branch,
    read_entries=lambda lines, _: map(records.read_entry, lines.forward()),
    read_context=_read_context,
    extend=_extend,
    read_compaction=_read_compaction,
    read_prune=records.read_prune,
    messages=_messages,
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
