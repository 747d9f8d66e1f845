"""The real Claude Code and Codex, each in a home of its own, with a model on loopback.

No login is needed; a proxy that nobody answers at keeps everything else from leaving the machine.
"""

import json
import os
import subprocess
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple, cast

from loopback_model import Json, LoopbackModel
from running import WAIT_S

PACKAGES = Path(__file__).parent / "peer" / "agents" / "node_modules"
PROGRAMS = {
    "claude": PACKAGES / "@anthropic-ai" / "claude-code" / "cli-wrapper.cjs",
    "codex": PACKAGES / "@openai" / "codex" / "bin" / "codex.js",
}
ARE_INSTALLED = all(program.exists() for program in PROGRAMS.values())
HOW_TO_INSTALL = "needs `npm --prefix tests/peer/agents ci --ignore-scripts`"

SESSION_ID = "6f1c7f0e-5a0b-4a53-9f0c-2f6b8e1d9a77"
N_FULL = 160_000
"""What the model reports of the second turn."""
COMPACT_AT = 100_000
"""Where an agent that believed the old figures would compact; no less is taken by Claude Code."""


class Lab(NamedTuple):
    """An agent with a home of its own, and the model that it asks."""

    agent: str
    home: Path
    model: LoopbackModel
    variables: Mapping[str, str] = MappingProxyType({})

    def ask(
        self,
        prompt: str,
        *,
        resume: str | None = None,
        session_id: str = SESSION_ID,
        model: str = "claude-sonnet-4-5",
    ) -> list[Json]:
        """Run one turn; give the requests that reached the model in it. Codex has one model."""
        before = len(self.model.requests)
        is_claude = self.agent == "claude"
        session = ["--session-id", session_id] if resume is None else ["--resume", resume]
        command = _claude(prompt, session, model) if is_claude else _codex(prompt, resume)
        subprocess.run(
            ["node", str(PROGRAMS[self.agent]), *command],
            env=self.environment(),
            cwd=self.home / "project",
            stdin=subprocess.DEVNULL,
            capture_output=True,
            check=True,
            timeout=WAIT_S,
        )
        return self.model.requests[before:]

    def configure(self, *, compact_at: int = 10**6) -> None:
        """Tell the agents from which size they compact, and Codex where its model is."""
        settings = {"env": {"CLAUDE_CODE_AUTO_COMPACT_WINDOW": str(compact_at)}}
        (self.home / ".claude").mkdir(exist_ok=True)
        (self.home / ".claude" / "settings.json").write_text(json.dumps(settings))
        (self.home / ".codex").mkdir(exist_ok=True)
        (self.home / ".codex" / "config.toml").write_text(
            f"""
            model = "gpt-5.5"
            model_provider = "loopback"
            model_auto_compact_token_limit = {compact_at}
            approval_policy = "never"
            sandbox_mode = "danger-full-access"
            check_for_update_on_startup = false
            [analytics]
            enabled = false
            [model_providers.loopback]
            name = "loopback"
            base_url = "{self.model.url}/v1"
            wire_api = "responses"
            requires_openai_auth = false
            """
        )

    def transcript(self) -> Path:
        found = sorted(self.home.glob(".cl*/projects/*/*.jsonl"))
        found += sorted(self.home.glob(".codex/sessions/*/*/*/*.jsonl"))
        return found[0]

    def environment(self) -> dict[str, str]:
        nobody = "http://127.0.0.1:9"
        return {
            "HOME": str(self.home),
            "PATH": os.environ["PATH"],
            "HTTPS_PROXY": nobody,
            "HTTP_PROXY": nobody,
            "NO_PROXY": "127.0.0.1",
            "ANTHROPIC_BASE_URL": self.model.url,
            "ANTHROPIC_API_KEY": "not-a-key",
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
            "DISABLE_AUTOUPDATER": "1",
            **self.variables,
        }


def _claude(prompt: str, session: list[str], model: str) -> list[str]:
    return ["-p", prompt, *session, "--allowedTools", "Bash,mcp__ullage", "--model", model]


def _codex(prompt: str, resume: str | None) -> list[str]:
    session = [] if resume is None else ["resume", resume]
    return ["exec", "--skip-git-repo-check", "--dangerously-bypass-hook-trust", *session, prompt]


def texts(value: object) -> Iterator[str]:
    """Go through all texts of a request."""
    match value:
        case str():
            yield value
        case dict():
            for part in cast(Json, value).values():
                yield from texts(part)
        case list():
            for part in cast(list[object], value):
                yield from texts(part)
        case _:
            pass
