"""Sessions of every format that say, answer, print and pass on every kind of secret."""

import json
from collections.abc import Callable
from pathlib import Path

from claude_files import ClaudeFile, call, result
from claude_files import text as claude_text
from codex_files import CodexFile
from database_files import OpencodeSession, tool_part
from gemini_files import GeminiFile, tool_call
from pi_files import PiFile
from running import Place
from secret_samples import SAMPLES

TEXTS = [sample.text for sample in SAMPLES.values()]


def said(text: str, number: int) -> tuple[str, str, str, str]:
    """Give what a user, an answer, a command and its output say with a secret."""
    return (
        f"Never forget rule {number}: always deploy with {text} and nothing else.",
        f"We decided to use {text}.",
        f"cd x\n{text}\nmake deploy",
        f"Error: {text}\n{'x' * 50} was refused at step {number}",
    )


def pi_session(place: Place) -> Path:
    pi = PiFile(cwd=str(place.cwd))
    for n, text in enumerate(TEXTS):
        asked, answered, command, output = said(text, n)
        pi.user(asked)
        pi.assistant(answered, calls=[(f"c{n}", "bash", {"command": command})], usage=None)
        pi.result(f"c{n}", output, is_error=True)
    return place.write("pi.jsonl", pi.data)


def claude_session(place: Place) -> Path:
    file = ClaudeFile(cwd=str(place.cwd))
    for n, text in enumerate(TEXTS):
        asked, answered, command, output = said(text, n)
        file.user(asked)
        file.assistant(claude_text(answered), call(f"c{n}", command=command))
        file.user([result(f"c{n}", output, is_error=True)])
    return place.write("claude.jsonl", file.data)


def codex_session(place: Place) -> Path:
    file = CodexFile(cwd=str(place.cwd))
    file.turn()
    for n, text in enumerate(TEXTS):
        asked, answered, command, output = said(text, n)
        file.user(asked)
        file.assistant(answered)
        arguments = json.dumps({"cmd": command})
        made = {"name": "exec_command", "arguments": arguments, "call_id": f"c{n}"}
        file.item({"type": "function_call", **made})
        file.item({"type": "function_call_output", "call_id": f"c{n}", "output": output})
    return place.write("rollout.jsonl", file.data)


def gemini_session(place: Place) -> Path:
    file = GeminiFile()
    for n, text in enumerate(TEXTS):
        asked, answered, command, output = said(text, n)
        file.user(asked)
        file.model(answered, calls=(tool_call(f"c{n}", output, command=command),))
    return place.write("session-gemini.jsonl", file.data)


def opencode_session(place: Place) -> Path:
    path = place.cwd / "opencode.db"
    session = OpencodeSession(path)
    for n, text in enumerate(TEXTS):
        asked, answered, command, output = said(text, n)
        part = tool_part(f"c{n}", output)
        session.user(asked)
        session.assistant(
            answered, part | {"state": part["state"] | {"input": {"command": command}}}
        )
    return path


MAKERS: dict[str, Callable[[Place], Path]] = {
    "pi": pi_session,
    "claude-code": claude_session,
    "codex": codex_session,
    "gemini": gemini_session,
    "opencode": opencode_session,
}


def leaks(text: str) -> list[str]:
    """Name the secrets in a text, also where JSON and YAML broke or escaped it."""
    flat = " ".join(text.split()).replace("\\n", "\n").replace('\\"', '"')
    return [n for n, sample in SAMPLES.items() if sample.secret in text or sample.secret in flat]
