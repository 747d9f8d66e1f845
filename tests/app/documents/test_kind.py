"""What a file is to us is told by its path."""

from pathlib import Path

import msgspec
import pytest

from ullage.app.documents.kind import DocumentKind, document_kind, find_loaded_name
from ullage.store.files.places import Places

ROOT = Path(Path.cwd().anchor)
WORKSPACE = ROOT / "work" / "shop"
STATE = ROOT / "home" / "me" / "state"
PLACES = Places(cwd=WORKSPACE, home=ROOT / "home" / "me", env={}, state_folder=STATE)


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        (ROOT / "anywhere/s.jsonl", "transcript"),
        (ROOT / "anywhere/s.jsonl.zst", "transcript"),
        (ROOT / "home/me/.gemini/tmp/shop/chats/session-1.json", "transcript"),
        (WORKSPACE / "chats/data.json", None),
        (WORKSPACE / "package.json", None),
        (WORKSPACE / "AGENTS.md", "instructions"),
        (WORKSPACE / "packages/core/CLAUDE.md", "instructions"),
        (ROOT / "home/me/.codex/AGENTS.override.md", "instructions"),
        (WORKSPACE / "SOUL.md", "instructions"),
        (WORKSPACE / "docs/USER.md", None),
        (WORKSPACE / ".openclaw/workspace/USER.md", "instructions"),
        (ROOT / "elsewhere/USER.md", "instructions"),
        (WORKSPACE / "README.md", None),
        (WORKSPACE / ".claude/skills/deploy/SKILL.md", "skill"),
        (WORKSPACE / "MEMORY.md", "memory"),
        (WORKSPACE / "memory/2026-02-03.md", "memory"),
        (WORKSPACE / "memory/deep/note.md", "memory"),
        (WORKSPACE / "docs/memory/paging.md", None),
        (ROOT / "elsewhere/memory/deep/note.md", None),
        (WORKSPACE / "docs/MEMORY.md", None),
        (WORKSPACE / "DREAMS.md", "inbox"),
        (WORKSPACE / "docs/DREAMS.md", None),
        (ROOT / "elsewhere/DREAMS.md", None),
        (WORKSPACE / ".claude/agent-memory/tester/MEMORY.md", "memory"),
        (ROOT / "home/me/.claude/projects/-work-shop/memory/MEMORY.md", "memory"),
        (STATE / "context/checkpoints/agent_s/cp_012.yaml", "checkpoint"),
        (STATE / "context/checkpoints/agent_s/other.yaml", None),
        (WORKSPACE / "cp_012.yaml", None),
        (STATE / "previews/p1/proposed.md", "preview"),
        (STATE / "previews/p1/before.md", None),
        (WORKSPACE / "proposed.md", None),
        (WORKSPACE / ".ullage.yaml", "config"),
        (WORKSPACE / "sub/.ullage.yaml", None),
        (ROOT / "home/me/.openclaw/config.yaml", "config"),
        (ROOT / "home/me/.openclaw/openclaw.json", "config"),
        (WORKSPACE / "config.yaml", None),
        (WORKSPACE / ".mcp.json", "tools"),
        (WORKSPACE / "sub/.mcp.json", None),
        (WORKSPACE / "sub/.codex/config.toml", "tools"),
        (WORKSPACE / "config.toml", None),
    ],
)
def test_a_file_is_what_its_path_says(path: Path, kind: DocumentKind | None) -> None:
    assert document_kind(path, PLACES, (WORKSPACE,)) == kind


def test_a_workspace_file_is_one_only_in_a_workspace_that_is_open() -> None:
    assert document_kind(WORKSPACE / ".ullage.yaml", PLACES, ()) is None


def test_the_folder_that_codex_is_told_to_use_has_its_configuration() -> None:
    folder = ROOT / "elsewhere" / "codex"
    places = msgspec.structs.replace(PLACES, env={"CODEX_HOME": str(folder)})
    assert document_kind(folder / "config.toml", places, ()) == "tools"
    assert document_kind(folder / "config.toml", PLACES, ()) is None


def test_where_the_system_ignores_case_so_does_a_name() -> None:
    assert find_loaded_name("agents.MD", is_case_kept=False) == "AGENTS.md"
    assert find_loaded_name("agents.MD", is_case_kept=True) == "agents.MD"
    assert find_loaded_name("readme.md", is_case_kept=False) == "readme.md"
