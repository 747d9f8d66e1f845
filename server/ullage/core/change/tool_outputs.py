"""Outputs of tools in a context: whose they are, their size, which are stale or out of reach."""

from collections import Counter
from collections.abc import Mapping, Sequence
from functools import lru_cache
from itertools import pairwise
from typing import Literal, TypeAlias

import msgspec

from ullage.core.change.edit import PRUNED_OUTPUT
from ullage.core.config.settings import Policy
from ullage.core.facts.tool_calls import read_call, read_file_read
from ullage.core.gauge.gauge import PROTECTED_TOOLS
from ullage.core.transcript.agent_lines import IMAGE_TOKENS
from ullage.core.transcript.context import ContextItem, list_rounds
from ullage.core.transcript.entries import Image, ToolCall, ToolResult, result_text
from ullage.core.transcript.tokens import Count

Exemption: TypeAlias = Literal["protected tool", "pinned", "placeholder", "ambiguous"]
"""Why an output never goes: its tool, or it was pinned, or it went before, or it is not to be told
from another."""
PLACEHOLDERS = frozenset((PRUNED_OUTPUT, "[Old tool result content cleared]"))
"""Outputs that went before: ours, and that of Claude Code, opencode and OpenClaw."""
_SEPARATORS = ("__", ".", "/", ":")
"""Between a server and its tool: `mcp__docs__search`, `docs.search`, `docs/search`."""


class Output(msgspec.Struct, frozen=True, kw_only=True):
    """One result of a tool and where it stands."""

    at: int
    """Position of its item in the context."""
    entry_id: str
    result: ToolResult
    call: ToolCall | None
    """The call that it answers; None where the context does not hold it any more."""
    n_tokens: int
    at_ms: int | None
    exemption: Exemption | None


def count_tool_output_tokens(items: Sequence[ContextItem], count: Count) -> int:
    """Count all output of tools in a context."""
    return sum(
        count_result_tokens(block, count)
        for item in items
        for block in item.message.blocks
        if isinstance(block, ToolResult)
    )


def count_result_tokens(result: ToolResult, count: Count) -> int:
    return sum(
        IMAGE_TOKENS if isinstance(part, Image) else count(part.text) for part in result.content
    )


def list_outputs(items: Sequence[ContextItem], policy: Policy, count: Count) -> tuple[Output, ...]:
    """List the outputs of a context in its order.

    A call id is a name only within its agent's habits: some count anew in each answer. So an
    output belongs to the last call of its id before it, and where one entry has two outputs of
    the same id, both are spared, since a replacement would strike both.
    """
    n_same = Counter(
        (item.entry_id, block.call_id)
        for item in items
        for block in item.message.blocks
        if isinstance(block, ToolResult)
    )
    protected = protected_names(policy)
    calls: dict[str, ToolCall] = {}
    outputs: list[Output] = []
    for at, item in enumerate(items):
        for block in item.message.blocks:
            if isinstance(block, ToolCall):
                calls[block.call_id] = block
            elif isinstance(block, ToolResult):
                call = calls.get(block.call_id)
                exemption: Exemption | None = None
                if is_placeholder(block):
                    exemption = "placeholder"
                elif is_protected(block.name or (call.name if call else ""), protected):
                    exemption = "protected tool"
                elif item.is_pinned:
                    exemption = "pinned"
                elif n_same[item.entry_id, block.call_id] > 1:
                    exemption = "ambiguous"
                outputs.append(
                    Output(
                        at=at,
                        entry_id=item.entry_id,
                        result=block,
                        call=call,
                        n_tokens=count_result_tokens(block, count),
                        at_ms=item.at_ms,
                        exemption=exemption,
                    )
                )
    return tuple(outputs)


def find_prunable(items: Sequence[ContextItem], n_turns: int, n_rounds: int) -> frozenset[int]:
    """Give the positions behind the last summary that the last user turns do not protect.

    The last turns begin with the `n_turns`-th user message from the end; where there are fewer,
    what stands before the first of them is a turn as well, which a summary cut or a program began.
    Each protects at most its last `n_rounds` rounds: an agent works for hours on one message.
    """
    asked = [at for at, item in enumerate(items) if item.category == "user"]
    turns = asked[-n_turns:] if len(asked) >= n_turns else [0, *asked]
    rounds = list_rounds(items)
    protected: set[int] = set()
    for start, end in pairwise((*turns, len(items))):
        starts = [at for at in rounds if start <= at < end]
        protected.update(range(starts[-n_rounds] if len(starts) > n_rounds else start, end))
    first = after_summary(items)
    return frozenset(at for at in range(first, len(items)) if at not in protected)


def after_summary(items: Sequence[ContextItem]) -> int:
    """Give the position behind the last summary, before which nothing is looked at.

    A summary of a branch counts like that of a compaction: what it stands for is gone.
    """
    summaries = (at for at in range(len(items) - 1, -1, -1) if items[at].category == "summary")
    return next(summaries, -1) + 1


def protected_names(policy: Policy) -> frozenset[str]:
    return frozenset(_plain(name) for name in (*PROTECTED_TOOLS, *policy.protected_tools))


@lru_cache(maxsize=256)
def is_protected(tool: str, protected: frozenset[str]) -> bool:
    """Whether a tool is protected, by any name that its agent gives it.

    Case, `_` and `-` do not count, nor does the server before the name: `Skill`,
    `mcp__x__memory_search` and `MemorySearch` are protected by default. Where in doubt this
    protects too much, which costs tokens; the other mistake costs what a user wanted to keep.
    A configured name with its server, `mcp__x__search`, protects only that server's tool.
    """
    bare = tool
    for separator in _SEPARATORS:
        bare = bare.rpartition(separator)[2]
    return _plain(tool) in protected or _plain(bare) in protected


def _plain(name: str) -> str:
    return name.replace("_", "").replace("-", "").strip().casefold()


def is_placeholder(result: ToolResult) -> bool:
    has_image = any(isinstance(part, Image) for part in result.content)
    return not has_image and result_text(result).strip() in PLACEHOLDERS


def tool_name(output: Output) -> str:
    return output.result.name or (output.call.name if output.call else "")


def find_repeats(outputs: Sequence[Output], start: int = 0) -> set[int]:
    """Find outputs that a later run of the same call repeated to the letter, by position.

    The last of them is never among these, nor is what stands before `start`.
    """
    last: dict[tuple[str, str, tuple[str, ...]], int] = {}
    older: set[int] = set()
    for n in range(len(outputs) - 1, start - 1, -1):
        output = outputs[n]
        if output.call is None or not output.n_tokens:
            continue
        key = (output.call.name, output.call.arguments, _content_key(output.result))
        if key in last:
            older.add(n)
        else:
            last[key] = n
    return older


def find_stale_reads(outputs: Sequence[Output], start: int = 0) -> set[int]:
    """Find reads from `start` on that do not tell their file's content any more, by position.

    Such a file was read again, the same part of it or all of it with the old text in it, or the
    agent changed it after the read. A read of several files is stale when it is for each. What
    failed supersedes nothing, nor does a second answer of less than half the length: agents
    answer "unchanged since the last read" in place of the content.
    """
    later_texts: dict[tuple[str, str], str] = {}
    changed: set[str] = set()
    superseded: set[int] = set()
    for n in range(len(outputs) - 1, start - 1, -1):
        output = outputs[n]
        if output.call is None or output.result.is_error or is_placeholder(output.result):
            continue
        read = read_file_read(output.call)
        text = result_text(output.result)
        if read is None:
            changed |= _changed_paths(output.call)
            continue
        if all(
            path in changed or _is_repeated(path, read.part, text, later_texts)
            for path in read.paths
        ):
            superseded.add(n)
        for path in read.paths:
            longest = max(text, later_texts.get((path, read.part), ""), key=len)
            later_texts[path, read.part] = longest
    return superseded


def _changed_paths(call: ToolCall) -> set[str]:
    return {touch.path for touch in read_call(call).touches if touch.is_modified}


def _is_repeated(
    path: str, part: str, text: str, later_texts: Mapping[tuple[str, str], str]
) -> bool:
    same_part, whole = later_texts.get((path, part)), later_texts.get((path, ""))
    is_same_told = same_part is not None and 2 * len(same_part) >= len(text)
    return is_same_told or (whole is not None and text in whole)


def _content_key(result: ToolResult) -> tuple[str, ...]:
    return tuple(
        f"image {part.media_type} {part.size_bytes}" if isinstance(part, Image) else part.text
        for part in result.content
    )
