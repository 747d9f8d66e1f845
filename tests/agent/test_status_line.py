"""The line of the short way is that of the long way, or there is none."""

import json
import sys
import tempfile
from io import BytesIO, TextIOWrapper
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from claude_files import SESSION_ID, claude_files
from profiles import examples
from ullage.agent import status_line
from ullage.agent.status_line import encode_line, find_line, print_quickly
from ullage.core.gauge.status_line import DEFAULT_FORMAT, FIELDS
from ullage.errors import InputError

TEMPLATES = (DEFAULT_FORMAT, "{percent}", " | ".join(f"{{{name}}}" for name in FIELDS))


class Lab:
    """A session of Claude Code, and two states: one for the long way alone."""

    def __init__(self, root: Path, env: pytest.MonkeyPatch) -> None:
        self._root, self._env = root, env
        self.path = root / "session.jsonl"
        for name in ("HOME", "USERPROFILE"):
            env.setenv(name, str(root))
        env.setenv("COLUMNS", "200")
        for name in ("CLAUDE_PROJECT_DIR", "NO_COLOR"):
            env.delenv(name, raising=False)

    def append(self, lines: bytes) -> None:
        with self.path.open("ab") as file:
            file.write(lines)

    def compare(self, template: str, n_window: int) -> bool:
        """Write the line in both ways; tell whether the short one could."""
        expected = self._long("long", template, n_window)
        found = self._short(template, n_window)
        if found is None:
            self._long("short", template, n_window)
        else:
            assert found == expected
        return found is not None

    def _long(self, state: str, template: str, n_window: int) -> bytes:
        self._enter(state, n_window)
        try:
            return encode_line(find_line(template))
        except InputError:
            return b""

    def _short(self, template: str, n_window: int) -> bytes | None:
        self._enter("short", n_window)
        printed: list[bytes] = []
        self._env.setattr(status_line, "end", printed.append)
        print_quickly(("--format", template))
        return printed[0] if printed else None

    def _enter(self, state: str, n_window: int) -> None:
        told = {
            "session_id": SESSION_ID,
            "transcript_path": str(self.path),
            "cwd": str(self._root),
            "model": {"id": "claude-sonnet-4-5"},
            "context_window": {"context_window_size": n_window},
            "cost": {"total_cost_usd": 0.5},
        }
        self._env.setenv("ULLAGE_STATE_DIR", str(self._root / state))
        self._env.setattr(sys, "stdin", TextIOWrapper(BytesIO(json.dumps(told).encode())))


@settings(max_examples=examples(100))
@given(claude_files(), st.data(), st.sampled_from(TEMPLATES))
def test_random_sessions_are_told_of_alike(file, drawn: st.DataObject, template: str) -> None:
    cuts = drawn.draw(st.sets(st.integers(1, len(file.lines)), min_size=1, max_size=6))
    windows = st.sampled_from((200, 1_000, 200_000))
    with tempfile.TemporaryDirectory() as name, pytest.MonkeyPatch.context() as env:
        lab, done = Lab(Path(name), env), 0
        for cut in sorted(cuts):
            lab.append(b"".join(file.lines[done:cut]))
            done = cut
            lab.compare(template, drawn.draw(windows))
