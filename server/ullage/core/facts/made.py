"""Things that a session made and others name: commits, and what got an address of its own."""

import re
from collections.abc import Iterator, Sequence

from ullage.core.facts.tool_calls import read_call
from ullage.core.text.prose import gist
from ullage.core.transcript.context import ContextItem
from ullage.core.transcript.entries import ToolCall, ToolResult, result_text

_MAX_CHARS = 200
_COMMIT = re.compile(r"\bgit\b[^\n;&|]{0,80}\bcommit\b")
_COMMITTED = re.compile(
    r"^\[[\w./#+-]{1,100}(?: [\w()-]{1,40})? (?P<id>[0-9a-f]{7,40})\] (?P<subject>[^\r\n]{1,300})",
    re.MULTILINE,
)
"""What git answers to a commit: `[main 3bb8701] Add the export`."""
_MESSAGE = re.compile(
    r"(?:\s-[a-z]{0,4}m|\s--message[= ])\s{0,2}(?:\"?\$\(cat <<-?\s?['\"]?\w+['\"]?\s*\n\s*)?"
    r"[\"']?(?P<subject>[^\n\"']{3,300})"
)
_CREATE = re.compile(r"\b(?:gh|glab|tea|az) \w{1,20} create\b")
_ADDRESS = re.compile(r"https?://[^\s\"'<>)\]]{4,200}")


def list_made(items: Sequence[ContextItem]) -> Iterator[tuple[int, str]]:
    """Give each commit and each created address as (number of the item, words), oldest first."""
    commands: dict[str, str] = {}
    for n_item, item in enumerate(items):
        for block in item.message.blocks:
            if isinstance(block, ToolCall):
                command = read_call(block).command
                if command and (_COMMIT.search(command) or _CREATE.search(command)):
                    commands[block.call_id] = command
            elif isinstance(block, ToolResult) and block.call_id in commands:
                command = commands.pop(block.call_id)
                if not block.is_error:
                    for made in _read_made(command, result_text(block)):
                        yield n_item, made


def _read_made(command: str, answer: str) -> Iterator[str]:
    if _COMMIT.search(command):
        commits = list(_COMMITTED.finditer(answer))
        for commit in commits:
            yield gist(f"committed {commit['id']}: {commit['subject']}", _MAX_CHARS)
        is_quiet = not answer.strip() or answer.lstrip().startswith("(no output")
        if not commits and is_quiet and (message := _MESSAGE.search(command)):
            yield gist(f"committed: {message['subject']}", _MAX_CHARS)
    if _CREATE.search(command):
        addresses = list(_ADDRESS.finditer(answer[-400:]))
        if addresses:
            yield f"created {addresses[-1][0]}"
