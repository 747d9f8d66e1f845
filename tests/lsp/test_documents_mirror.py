"""The patterns by which editors tell the server of files leave out none that it looks at."""

import re
from pathlib import Path
from typing import Final

import msgspec
import pytest

from ullage.app.documents.kind import ANYWHERE_NAMES, INSTRUCTION_NAMES, document_kind
from ullage.lsp.documents.sync import list_typed_patterns
from ullage.store.config.files import config_paths
from ullage.store.files.places import Places

SOURCE = Path(__file__).parents[2] / "vscode-extension" / "src" / "model" / "documents.ts"
EXTENSION_PATTERNS = tuple(re.findall(r'"(\*\*/[^"]+)"', SOURCE.read_text("utf-8")))
"""Of `DOCUMENTS`: what the extension's language client announces."""

ROOT = Path(Path.cwd().anchor)
HOME = ROOT / "home" / "me"
WORKSPACE = ROOT / "work" / "shop"
STATE = HOME / "state" / "ullage"
PLACES = Places(cwd=WORKSPACE, home=HOME, env={}, state_folder=STATE)
TYPED_PATTERNS = list_typed_patterns(PLACES)
TRANSCRIPTS = (
    ROOT / "anywhere" / "s.jsonl",
    HOME / ".gemini" / "tmp" / "shop" / "chats" / "session-2026-01-02T03-04.json",
)
SMALL: Final = (
    *(WORKSPACE / name for name in INSTRUCTION_NAMES),
    *(WORKSPACE / "sub" / name for name in ANYWHERE_NAMES),
    WORKSPACE / ".claude/skills/deploy/SKILL.md",
    WORKSPACE / ".mcp.json",
    WORKSPACE / ".codex" / "config.toml",
    HOME / ".codex" / "config.toml",
    WORKSPACE / "MEMORY.md",
    WORKSPACE / "DREAMS.md",
    WORKSPACE / "memory" / "2026-02-03.md",
    WORKSPACE / "memory" / "people" / "ada.md",
    STATE / "context" / "checkpoints" / "agent_s" / "cp_012.yaml",
    STATE / "previews" / "p1" / "proposed.md",
    *(path for _, path in config_paths(PLACES, WORKSPACE)),
    HOME / ".openclaw" / "clawdbot.json",
    HOME / ".clawdbot" / "clawdbot.json",
)
"""Of every kind whose text the server is told, each name and place that there is."""


def matches(patterns: tuple[str, ...], path: Path) -> bool:
    """Match as LSP defines it: `**/` any folders, `*` within a name, `{a,b}` one of them."""
    return any(re.fullmatch(expression(pattern), path.as_posix()) for pattern in patterns)


def expression(pattern: str) -> str:
    made = {"**/": "(?:.*/)?", "*": "[^/]*", "{": "(?:", "}": ")", ",": "|"}
    parts = re.findall(r"\*\*/|[*{},]|[^*{},]+", pattern)
    return "".join(made.get(part, re.escape(part)) for part in parts)


def test_the_samples_are_of_every_kind() -> None:
    kinds = {document_kind(path, PLACES, (WORKSPACE,)) for path in SMALL[:-2]}
    assert kinds == {
        "instructions",
        "skill",
        "tools",
        "memory",
        "inbox",
        "checkpoint",
        "config",
        "preview",
    }


@pytest.mark.parametrize("path", [*TRANSCRIPTS, *SMALL], ids=lambda path: Path(path).name)
def test_the_extension_announces_what_the_server_looks_at(path: Path) -> None:
    assert matches(EXTENSION_PATTERNS, path)


@pytest.mark.parametrize("path", SMALL, ids=lambda path: Path(path).name)
def test_what_is_typed_is_sent_of_small_documents(path: Path) -> None:
    assert matches(TYPED_PATTERNS, path)


def test_what_is_typed_is_sent_where_codex_is_told_to_keep_its_configuration() -> None:
    folder = ROOT / "elsewhere" / "own"
    places = msgspec.structs.replace(PLACES, env={"CODEX_HOME": str(folder)})
    assert matches(list_typed_patterns(places), folder / "config.toml")
    assert not matches(TYPED_PATTERNS, folder / "config.toml")


@pytest.mark.parametrize("path", TRANSCRIPTS, ids=lambda path: Path(path).name)
def test_what_is_typed_into_a_transcript_is_never_sent(path: Path) -> None:
    assert not matches(TYPED_PATTERNS, path)


@pytest.mark.parametrize("name", ["README.md", "config.yaml", "package.json", "notes/today.md"])
def test_other_files_are_left_alone(name: str) -> None:
    assert not matches((*EXTENSION_PATTERNS, *TYPED_PATTERNS), WORKSPACE / name)
