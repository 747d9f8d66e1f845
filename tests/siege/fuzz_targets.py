"""What is fuzzed: each reader of what others wrote, with whole inputs to damage.

A reader is given bytes, and may refuse them in one of our own errors; anything else is a fault.
"""

import json
import tarfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import msgspec

from hook_inputs import claude, codex, copilot, data, tool_call
from packing import zstd
from siege.fuzz_databases import list_caches, list_databases, read_caches
from siege.fuzz_servers import AGENT_SEEDS, EDITOR_SEEDS, AgentServer, EditorServer
from siege.fuzz_sessions import (
    SAMPLES,
    TRANSCRIPTS,
    Take,
    decode_loosely,
    import_bundles,
    list_bundles,
    read_databases,
    read_packed,
    read_transcripts,
    repair_transcripts,
    summarize_transcripts,
)
from store.checkpoint.test_files import checkpoint
from ullage.agent.hook_agents import HOOK_AGENTS
from ullage.agent.hook_answer import answer
from ullage.agent.hook_event import parse_event
from ullage.app.change.prepared_file import PREPARED_FILE
from ullage.app.checkpoint.resume import restore_text
from ullage.app.config.load import check_source, load_config
from ullage.app.documents.check import Surroundings
from ullage.app.install.agents import TARGETS, find_target
from ullage.app.install.plan import install, take_back
from ullage.app.memory.origins import list_outside_changes
from ullage.core.config.settings import Config
from ullage.core.memory.chunks import read_chunks
from ullage.core.memory.inbox import cut_items, place_items, read_items
from ullage.core.memory.words import read_query, read_words
from ullage.core.secrets.scan import mask
from ullage.core.summary.model_output import clean_answer, merge_sections, write_in_sections
from ullage.lsp.server import CHECKS
from ullage.store.change.journal import read_entry
from ullage.store.change.receipts import list_receipts, receipts_folder
from ullage.store.checkpoint import yaml_file
from ullage.store.checkpoint.files import read_latest
from ullage.store.checkpoint.working_state import read_working_state
from ullage.store.config.agent_settings import read_settings_files
from ullage.store.config.files import parse_config
from ullage.store.files.places import Places, session_folder
from ullage.store.install.agent_files import read_agent_file, read_receipt
from ullage.store.memory.journal import journal_path, read_journal
from ullage.store.state.auto_state import read_auto_state
from ullage.store.state.flush_state import read_flush_state
from ullage.store.state.pins import pins_path, read_pins
from ullage.store.state.runtime_state import read_runtime_state
from ullage.store.state.told_turn import TOLD_FILE

CORPUS = Path(__file__).parent / "corpus"
"""By reader: whole inputs, and each that ever was a fault."""
KEY = "openclaw:s1"


class Target(NamedTuple):
    name: str
    share: int
    """Of all inputs, beside the shares of the others."""
    seeds: tuple[bytes, ...]
    make: Callable[[Places], Take]
    """Makes what is given each input, in a process with folders of its own."""


def _read_corpus(*names: str) -> tuple[bytes, ...]:
    folders = (CORPUS / name for name in names)
    return tuple(path.read_bytes() for folder in folders for path in sorted(folder.iterdir()))


def _read_configurations(places: Places) -> Take:
    def take(given: bytes) -> None:
        for name, place in ((".ullage.yaml", "workspace file"), ("openclaw.json", "openclaw")):
            check_source(parse_config(place, name, given))
        (places.cwd / ".ullage.yaml").write_bytes(given)
        editor = decode_loosely(given)
        env = {"ULLAGE_COMPACTION_MODE": given[:40].decode("latin-1").replace("\0", "")}
        around = msgspec.structs.replace(places, env=env)
        load_config(around, workspace=places.cwd, editor=(editor,), is_trusted=bool(len(given) % 2))

    return take


def _edit_settings(places: Places) -> Take:
    """Read an agent's settings; what is put into them must come out to the byte."""
    targets = [find_target(target.name, places) for target in TARGETS if target.settings]

    def take(given: bytes) -> None:
        for name in ("settings.json", "config.toml"):
            (places.home / name).write_bytes(given)
        read_settings_files([places.home / "settings.json", places.home / "config.toml"])
        target = targets[len(given) % len(targets)]
        file = read_agent_file(places.home / "settings.json")
        edited = install(target, file, None)
        added = msgspec.structs.replace(file, data=edited.text.encode())
        if take_back(target, added, edited.before).encode() != given:
            raise AssertionError("what was put in did not come out to the byte")

    return take


CHECKPOINTS = (
    yaml_file.dump(checkpoint("cp_001")),
    json.dumps(msgspec.to_builtins(checkpoint("cp_001"))).encode(),
)
"""The second in the part of YAML that is JSON too, of which values can be damaged one by one."""


def _read_checkpoints(_: Places) -> Take:
    def take(given: bytes) -> None:
        loaded = yaml_file.load(given)
        restore_text(loaded, Config().checkpoint, ())
        if yaml_file.load(yaml_file.dump(loaded)) != loaded:
            raise AssertionError("a checkpoint is not read as it was written")

    return take


def _list_state() -> Iterator[bytes]:
    """Give our own files as an earlier release left them."""
    with tarfile.open(SAMPLES / "state-0.1.0.tar.gz") as archive:
        for member in archive:
            if member.name.startswith("state/") and (file := archive.extractfile(member)):
                yield file.read()


def _read_state(places: Places) -> Take:
    """Read one content as each of our small files."""
    state = session_folder("state", KEY, places)
    checkpoints = session_folder("checkpoints", KEY, places)
    receipts = receipts_folder(KEY, places)
    names = (
        "pins.json",
        "autocompact.json",
        "flush.json",
        "held.json",
        "prepared.json",
        "decisions.json",
    )
    parts = ("thread.json", "resources.json", "open_items.json")
    paths = (
        *(state / name for name in (*names, *parts, TOLD_FILE.name)),
        *(checkpoints / name for name in ("_latest.json", "cp_001.yaml")),
        receipts / "0001.json",
        places.state_folder / "receipt.json",
    )
    for path in paths:
        path.parent.mkdir(parents=True, exist_ok=True)

    def take(given: bytes) -> None:
        for path in paths:
            path.write_bytes(given)
        read_pins(pins_path(KEY, places))
        read_auto_state(KEY, places)
        read_flush_state(KEY, places)
        PREPARED_FILE.read(KEY, places)
        read_runtime_state(KEY, places)
        TOLD_FILE.read(KEY, places)
        read_working_state(KEY, places)
        read_latest(checkpoints)
        list_receipts(KEY, places)
        read_receipt(paths[-1])
        read_entry(paths[-1])

    return take


def _read_memory(places: Places) -> Take:
    journal = journal_path(places.cwd, places)
    journal.parent.mkdir(parents=True, exist_ok=True)

    def take(given: bytes) -> None:
        written = given.decode("utf-8", "replace")
        read_chunks(written)
        items = list(read_items(written))
        list(place_items(written))
        cut_items(written, [item.item_id for item in items])
        read_query(written[:2000])
        read_words(written[:2000])
        journal.write_bytes(given)
        read_journal(places.cwd, places)
        (places.cwd / "MEMORY.md").write_bytes(given)
        list_outside_changes(places.cwd, places)

    return take


PATHS = {
    "instructions": "AGENTS.md",
    "skill": ".claude/skills/deploy/SKILL.md",
    "tools": ".mcp.json",
    "memory": "MEMORY.md",
    "config": ".ullage.yaml",
    "checkpoint": "cp_001.yaml",
    "preview": "proposal.md",
}


def _check_documents(places: Places) -> Take:
    """Check a document in the editor as a kind of those that there are."""
    kinds = tuple(CHECKS)

    def take(given: bytes) -> None:
        kind = kinds[len(given) % len(kinds)]
        path = places.cwd / PATHS[kind]
        texts = {path: given.decode("utf-8", "replace")}
        around = Surroundings(config=Config(), places=places, workspaces=(places.cwd,), texts=texts)
        list(CHECKS[kind](path, texts[path], around))

    return take


TRANSCRIPT = "session.jsonl"
HOOK_INPUTS = tuple(
    data({**each, "transcript_path": TRANSCRIPT, "cwd": "."})
    for make in (claude, codex, copilot)
    for each in (
        make("PostToolUse", **tool_call()),
        make("PostToolUseFailure", **tool_call(error="Error: x")),
        make("UserPromptSubmit", prompt="do it"),
        make("PreCompact", trigger="auto"),
        make("SessionStart", source="compact"),
        make("SessionStart", source="startup"),
    )
)


def _answer_hooks(places: Places) -> Take:
    (places.cwd / TRANSCRIPT).write_bytes(TRANSCRIPTS[-5])

    def take(given: bytes) -> None:
        agent = HOOK_AGENTS[len(given) % len(HOOK_AGENTS)]
        event = parse_event(given, agent)
        if event is not None:
            answer(event)

    return take


def _parse_hooks(_: Places) -> Take:
    def take(given: bytes) -> None:
        for agent in HOOK_AGENTS:
            parse_event(given, agent)

    return take


def _read_answers(_: Places) -> Take:
    def take(given: bytes) -> None:
        written = given.decode("utf-8", "replace")
        cleaned = clean_answer(written, ("secret-value",))
        write_in_sections(cleaned)
        merge_sections([cleaned, written])

    return take


def _mask(_: Places) -> Take:
    def take(given: bytes) -> None:
        mask(given.decode("utf-8", "replace"), ("hunter2hunter2",))

    return take


def _serve_agents(places: Places) -> Take:
    return AgentServer(places).take


def _serve_editors(places: Places) -> Take:
    return EditorServer(places).take


TARGETS_BY_NAME = {
    target.name: target
    for target in (
        Target("transcripts", 220, TRANSCRIPTS, read_transcripts),
        Target("summaries", 30, TRANSCRIPTS, summarize_transcripts),
        Target("repairs", 30, TRANSCRIPTS, repair_transcripts),
        Target("packed", 20, (*map(zstd.compress, TRANSCRIPTS), *TRANSCRIPTS), read_packed),
        Target("databases", 20, list_databases(), read_databases),
        Target("caches", 10, list_caches(), read_caches),
        Target("configuration", 80, _read_corpus("configuration"), _read_configurations),
        Target("settings", 100, _read_corpus("settings"), _edit_settings),
        Target("checkpoints", 140, CHECKPOINTS, _read_checkpoints),
        Target("state", 25, (*_list_state(), *_read_corpus("state")), _read_state),
        Target("memory", 50, _read_corpus("memory"), _read_memory),
        Target(
            "documents", 30, _read_corpus("documents", "configuration", "memory"), _check_documents
        ),
        Target("hooks", 60, HOOK_INPUTS, _answer_hooks),
        Target("hook-inputs", 140, HOOK_INPUTS, _parse_hooks),
        Target("bundles", 80, list_bundles(), import_bundles),
        Target("answers", 100, _read_corpus("answers"), _read_answers),
        Target("secrets", 15, _read_corpus("secrets"), _mask),
        Target("agent-protocol", 60, AGENT_SEEDS, _serve_agents),
        Target("editor-protocol", 60, EDITOR_SEEDS, _serve_editors),
    )
}
