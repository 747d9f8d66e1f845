"""The two texts of a compaction that is previewed: what goes, and what is proposed for it."""

import re
from collections.abc import Callable, Iterator, Sequence
from hashlib import sha256
from typing import Final, TypeAlias

import msgspec

from ullage.core.change.tool_outputs import describe
from ullage.core.text.prose import gist, one_line
from ullage.core.transcript.context import ContextItem
from ullage.core.transcript.message import Image, Text, Thinking, ToolCall, ToolResult, result_text

MARKER: Final = "<!-- Ullage: what follows stays as it is; only the text above is the summary"
"""How the line begins that ends the summary; its end names the proposal, by what that said."""
MAX_MESSAGE_CHARS: Final = 4_000
"""Shown of one message; a reader wants to know what it was, not to read a log (chosen)."""
MAX_WHOLE_CHARS: Final = 400_000
"""Beyond these, messages have a line each: editors turn off folding and diffs (chosen)."""
MAX_GIST_CHARS: Final = 160

Age: TypeAlias = Callable[[int | None], str]
"""Says how long ago something was, by its milliseconds."""

_LINE_BREAK = re.compile(r"\r\n|\r|\n")
_MARKER_LINE = re.compile(
    rf"^[ \t]*({re.escape(MARKER)} \([0-9a-f]{{12}}\) -->)[ \t]*$", re.MULTILINE
)


class Proposal(msgspec.Struct, frozen=True, kw_only=True):
    """A proposal as the user left it."""

    summary: str
    """What stands above the marker; all of it where there is none."""
    marker: str | None
    """The line that ends the summary; None where there is none."""
    is_edited: bool
    """Whether it says something else than when it was proposed."""
    text: str
    """The whole, with `\\n` alone as its line ends."""
    n_above: int
    """Characters of it above the marker."""


def write_before(
    replaced: Sequence[ContextItem], kept: Sequence[ContextItem], age: Age, marker: str
) -> str:
    """Write the messages that go, in their order, and below the marker those that stay.

    The messages are without secrets.
    """
    return "\n".join((write_messages(replaced, age), "", marker, "", *_list_kept(kept, age), ""))


def write_messages(items: Sequence[ContextItem], age: Age) -> str:
    """Write messages one below the other, the last of very many in a line each.

    What they say is quoted, so that no line of theirs can be taken for one of ours.
    """
    parts: list[str] = []
    n_chars = 0
    for number, item in enumerate(items, 1):
        part = (
            _write_message(number, item, age)
            if n_chars < MAX_WHOLE_CHARS
            else _write_line(item, age)
        )
        n_chars += len(part)
        parts.append(part)
    return "\n".join(parts)


def write_proposal(
    summary: str, kept: Sequence[ContextItem], age: Age, memory: Sequence[str] = ()
) -> str:
    """Write the summary, the marker, and what stays, which is the same as in `write_before`.

    `memory` tells what is added to the daily log before the compaction, if anything is.
    """
    told = (*(one_line(line) for line in memory), "") if memory else ()
    above = summary.strip("\n") + "\n\n"
    below = "\n".join(("\n", *told, *_list_kept(kept, age), ""))
    return above + _write_marker(above + below) + below


def read_proposal(text: str) -> Proposal:
    """Part what the user left of a proposal at the marker.

    The last one counts: none can stand in what follows, where each line is a point of ours.
    """
    text = _LINE_BREAK.sub("\n", text)
    found = list(_MARKER_LINE.finditer(text))
    start, end = found[-1].span() if found else (len(text), len(text))
    marker = found[-1][1] if found else None
    return Proposal(
        summary=text[:start].strip("\n"),
        marker=marker,
        is_edited=marker != _write_marker(text[:start] + text[end:]),
        text=text,
        n_above=start,
    )


def write_kept_heading(n_kept: int) -> str:
    return f"## Kept as it is: {_count_messages(n_kept)}"


def _write_marker(rest: str) -> str:
    """Write the line for the text around it, whatever line ends an editor writes there."""
    data = _LINE_BREAK.sub("\n", rest).encode("utf-8", "replace")
    return f"{MARKER} ({sha256(data).hexdigest()[:12]}) -->"


def _count_messages(n_messages: int) -> str:
    return "1 message" if n_messages == 1 else f"{n_messages:,} messages"


def _list_kept(kept: Sequence[ContextItem], age: Age) -> Iterator[str]:
    yield write_kept_heading(len(kept))
    yield ""
    for item in kept:
        yield _write_line(item, age)


def _write_line(item: ContextItem, age: Age) -> str:
    told = " ".join(_describe_blocks(item))
    return f"- {_write_head(item, age)}: {one_line(gist(told, MAX_GIST_CHARS)) or '(nothing)'}"


def _write_head(item: ContextItem, age: Age) -> str:
    return f"{item.category.capitalize()} · {age(item.at_ms)}"


def _write_message(number: int, item: ContextItem, age: Age) -> str:
    lines = [f"## {number}. {_write_head(item, age)}", ""]
    for told in _describe_blocks(item, MAX_MESSAGE_CHARS):
        lines += (f"> {one_line(line)}".rstrip() for line in _LINE_BREAK.split(told))
        lines.append("")
    return "\n".join(lines)


def _describe_blocks(item: ContextItem, max_chars: int = MAX_GIST_CHARS) -> Iterator[str]:
    """Tell what each part of a message is: words as they are, calls and outputs in one line."""
    for block in item.message.blocks:
        match block:
            case Text():
                if block.text.strip():
                    yield _shorten(block.text.strip("\r\n"), max_chars)
            case Thinking():
                yield f"(thinking, {len(block.text):,} characters)"
            case Image():
                yield f"(image, {block.media_type})"
            case ToolCall():
                yield f"`{block.name}` {describe(block)}".rstrip()
            case ToolResult():
                yield _describe_output(block)


def _describe_output(result: ToolResult) -> str:
    text = result_text(result)
    n_images = sum(isinstance(part, Image) for part in result.content)
    name = f"`{result.name}` " if result.name else ""
    what = "error" if result.is_error else "output"
    images = f", {n_images} images" if n_images else ""
    shown = gist(text, MAX_GIST_CHARS)
    return f"{name}{what}, {len(text):,} characters{images}{f': {shown}' if shown else ''}"


def _shorten(text: str, n_chars: int) -> str:
    if len(text) <= n_chars:
        return text
    return f"{text[:n_chars]}…\n(and {len(text) - n_chars:,} characters more)"
