"""A session that the agent has left alone for a while."""

from pathlib import Path

import pytest

from claude_files import ClaudeFile, text
from ullage.store.files.demo import make_idle


@pytest.fixture
def claude_session(tmp_path: Path) -> Path:
    claude = ClaudeFile(cwd=str(tmp_path))
    for number in range(8):
        claude.user(f"please do number {number} " * 30)
        claude.assistant(text(f"did {number} " * 40))
    path = tmp_path / f"{claude.session_id}.jsonl"
    path.write_bytes(claude.data)
    make_idle(path)
    return path
