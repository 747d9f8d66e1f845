"""Servers that fill the window are told where they are configured, with what turns them off."""

import json
import os
from pathlib import Path

import pytest

from claude_files import ClaudeFile, call, result
from codex_files import CodexFile
from ullage.app.documents.check import Surroundings, run_check
from ullage.app.documents.tool_servers import check_tool_servers
from ullage.core.config.settings import Config
from ullage.core.documents.finding import DocumentFinding
from ullage.store.files.places import Places


@pytest.fixture
def workspace(places: Places) -> Path:
    folder = places.home.parent / "shop"
    folder.mkdir()
    return folder


def check(path: Path, workspace: Path, places: Places) -> tuple[DocumentFinding, ...]:
    around = Surroundings(config=Config(), places=places, workspaces=(workspace,), texts={})
    return run_check(check_tool_servers, path, around)


def write_claude_session(workspace: Path, places: Places) -> Path:
    claude = ClaudeFile(cwd=str(workspace))
    claude.user("Begin.")
    claude.assistant(call("c1", "mcp__docs__search"))
    claude.user([result("c1", "word " * 3_000)])
    slug = "".join(letter if letter.isalnum() else "-" for letter in str(workspace))
    path = places.home / ".claude/projects" / slug / "33333333-4444-4555-8666-000000000001.jsonl"
    path.parent.mkdir(parents=True)
    path.write_bytes(claude.data)
    return path


def test_a_session_is_measured_once_until_it_changes(workspace: Path, places: Places) -> None:
    path = workspace / ".mcp.json"
    path.write_text(json.dumps({"mcpServers": {"docs": {}, "dogs": {}}}))
    session = write_claude_session(workspace, places)
    (finding,) = check(path, workspace, places)
    assert "docs takes about " in finding.message
    status = session.stat()
    with session.open("r+b") as file:
        data = file.read().replace(b"mcp__docs__", b"mcp__dogs__")
        file.seek(0)
        file.write(data)
    os.utime(session, ns=(status.st_atime_ns, status.st_mtime_ns))
    assert check(path, workspace, places) == (finding,)
    os.utime(session, ns=(status.st_atime_ns, status.st_mtime_ns + 1_000_000_000))
    (finding,) = check(path, workspace, places)
    assert "dogs takes about " in finding.message


def test_claude_codes_servers_are_told_until_the_user_turns_them_off(
    workspace: Path, places: Places
) -> None:
    path = workspace / ".mcp.json"
    path.write_text(json.dumps({"mcpServers": {"docs": {"command": "x"}, "other": {}}}))
    assert check(path, workspace, places) == ()
    write_claude_session(workspace, places)
    (finding,) = check(path, workspace, places)
    assert finding.code == "tools-large"
    assert "docs takes about " in finding.message
    own, removal = finding.fixes
    assert own.new_file is not None
    assert removal.title == "Remove docs for all who use this file"
    settings = Path(own.new_file.path)
    settings.parent.mkdir()
    settings.write_text(own.new_file.text)
    assert check(path, workspace, places) == ()
    settings.write_text("{}")
    (finding,) = check(path, workspace, places)
    assert finding.fixes == (removal,)


def test_codexs_own_file_is_told_of_by_the_sessions_of_the_open_folder(
    workspace: Path, places: Places
) -> None:
    codex = CodexFile(cwd=str(workspace))
    codex.turn()
    codex.item({"type": "function_call", "name": "mcp__db__q", "arguments": "{}", "call_id": "c"})
    codex.item({"type": "function_call_output", "call_id": "c", "output": "word " * 3_000})
    path = places.home / ".codex/sessions/2026/02/03/rollout-2026-02-03T15-00-00-a.jsonl"
    path.parent.mkdir(parents=True)
    path.write_bytes(codex.data)
    configuration = places.home / ".codex/config.toml"
    configuration.write_text('[mcp_servers.db]\ncommand = "x"\n')
    (finding,) = check(configuration, workspace, places)
    assert [fix.title for fix in finding.fixes] == ["Turn it off: enabled = false"]
