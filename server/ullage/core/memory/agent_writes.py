"""What a session's agent wrote into memory by its own tools, line by line."""

import re
from collections.abc import Iterator, Sequence

from ullage.core.facts.kept_arguments import SHELLS
from ullage.core.facts.tool_calls import list_new_texts, read_call
from ullage.core.memory.origin import Origin, digest_line, is_memory_path, normalize_line
from ullage.core.transcript.context import ContextItem
from ullage.core.transcript.entries import ToolCall, ToolResult, result_text

_IN_QUOTES = re.compile(r"'([^']*)'|\"((?:[^\"\\]|\\.)*)\"", re.DOTALL)
_NUMBER = re.compile(r"\s*\d{1,7}(?:→|\t|\|| {2})")
"""What tools put before the lines of a file that they show."""


def list_agent_lines(items: Sequence[ContextItem], workspace: str) -> dict[str, Origin]:
    """Give the lines that calls wrote into memory files, by their digests.

    A line that a tool's result held before is the tool's: the agent only copied it.
    """
    origins: dict[str, Origin] = {}
    written_at = [
        n
        for n, item in enumerate(items)
        for block in item.message.blocks
        if isinstance(block, ToolCall) and _writes_memory(block, workspace)
    ]
    if not written_at:
        return origins
    shown: set[str] = set()
    for item in items[: written_at[-1] + 1]:
        for block in item.message.blocks:
            if isinstance(block, ToolResult):
                for line in result_text(block).split("\n"):
                    shown.add(normalize_line(_NUMBER.sub("", line, count=1)))
            elif isinstance(block, ToolCall) and _writes_memory(block, workspace):
                for line in _list_lines(block):
                    origin: Origin = "tool" if normalize_line(line) in shown else "agent"
                    origins.setdefault(digest_line(line), origin)
    return origins


def _writes_memory(call: ToolCall, workspace: str) -> bool:
    if "memory" not in call.arguments.lower():
        return False
    root = workspace.replace("\\", "/").rstrip("/") + "/"
    return any(
        touch.is_modified
        and is_memory_path(touch.path.replace("\\", "/").removeprefix(root).removeprefix("./"))
        for touch in read_call(call).touches
    )


def _list_lines(call: ToolCall) -> Iterator[str]:
    """Give the lines of a call's new texts, those of a patch without their mark."""
    is_shell = call.name.rsplit("__", 1)[-1].lower() in SHELLS
    for text in list_new_texts(call):
        parts = [text]
        if is_shell:
            parts += (match[1] or match[2] or "" for match in _IN_QUOTES.finditer(text))
        for part in parts:
            for line in part.split("\n"):
                yield line
                if line.startswith("+"):
                    yield line[1:]
