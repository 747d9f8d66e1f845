"""What each request holds without need: what is said twice, and tools that fill the window."""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence

import msgspec

from ullage.core.assembly.parts import SYSTEM_PROMPT, SYSTEM_PROMPT_AND_TOOLS, TOOLS, Part, SentText
from ullage.core.change.tool_outputs import count_result_tokens
from ullage.core.documents.duplicates import Duplicate, find_duplicates, read_statements
from ullage.core.gauge.breakdown import MIN_GAIN_TOKENS, Advice
from ullage.core.text.prose import plural
from ullage.core.transcript.context import ContextItem
from ullage.core.transcript.entries import ToolCall, ToolResult
from ullage.core.transcript.tokens import Count

LARGE_BASE_RATIO = 0.2
"""A system prompt and tools above this share of the window are worth a look (chosen)."""
LARGE_RESULTS_RATIO = 0.05
"""Of the window; results of one tool that take less are what the work needed (chosen)."""
MIN_CALLS = 10
"""Fewer do not tell which tools the work does without (chosen)."""
NAMED_TOOLS = 4
"""Of those that were not called, as many as are told by name (chosen)."""
_MCP_TOOL = re.compile(r"mcp__(.+?)__.+", re.DOTALL)
_SEPARATOR = re.compile(r"[/\\]")


class ToolTokens(msgspec.Struct, frozen=True, kw_only=True):
    """What a tool, or a server of tools, takes of each request."""

    name: str
    is_server: bool
    """Whether it is an MCP server, which can be turned off by its name."""
    n_described: int
    """Tools whose descriptions the transcript holds."""
    n_description_tokens: int
    n_results: int
    n_result_tokens: int

    @property
    def n_tokens(self) -> int:
        return self.n_description_tokens + self.n_result_tokens


def advise_on_files(texts: Sequence[SentText], count: Count) -> Iterator[Advice]:
    """Tell for each file what it says that one before it has said, with the tokens of that."""
    files: dict[str, str] = {}
    for text in texts:
        if text.is_file:
            files.setdefault(text.source, text.text)
    paths = list(files)
    statements = [read_statements(text) for text in files.values()]
    for at, path in enumerate(paths):
        duplicates = find_duplicates(statements[at], statements[:at])
        for source in dict.fromkeys(duplicate.source for duplicate in duplicates):
            same = [duplicate for duplicate in duplicates if duplicate.source == source]
            other = paths[source - 1] if source else path
            n_tokens = sum(count(text) for text in _list_repeated(same, files[path]))
            yield Advice(text=_tell_repeated(path, other, same), n_tokens=n_tokens, path=path)


def _list_repeated(duplicates: Iterable[Duplicate], text: str) -> Iterator[str]:
    """Give the stretches that are said again; what stands below an item is part of it."""
    end = 0
    for duplicate in duplicates:
        statement = duplicate.statement
        if statement.part.start >= end:
            end = statement.end
            yield text[statement.part.start : end]


def _tell_repeated(path: str, other: str, duplicates: Sequence[Duplicate]) -> str:
    said = "says" if all(duplicate.is_exact for duplicate in duplicates) else "nearly says"
    things = plural(len(duplicates), "thing")
    if path == other:
        return f"{_shorten(path, '')} {said} {things} twice: remove one of the two"
    name, other_name = _shorten(path, other), _shorten(other, path)
    return f"{name} {said} {things} that {other_name} said before: remove one of the two"


def _shorten(path: str, other: str) -> str:
    """Leave out of a path what it shares with another, but for its last folder and name."""
    names, others = _SEPARATOR.split(path), _SEPARATOR.split(other)
    pairs = zip(names, others, strict=False)
    n_shared = next((at for at, (name, same) in enumerate(pairs) if name != same), len(others))
    return "/".join(names[max(min(n_shared, len(names) - 1), len(names) - 3) :])


def advise_on_base(parts: Iterable[Part], window_tokens: int) -> Iterator[Advice]:
    """Tell of a system prompt and tools that take much of the window, without what is named."""
    base = [part for part in parts if part.name in (SYSTEM_PROMPT, TOOLS, SYSTEM_PROMPT_AND_TOOLS)]
    n_tokens = sum(part.n_tokens for part in base)
    if n_tokens >= LARGE_BASE_RATIO * window_tokens:
        ratio = n_tokens / window_tokens
        yield Advice(
            text=f"{ratio:.0%} of the window is not in the messages, most of it the system prompt"
            " and the tools: turn off MCP servers and skills that this work does not need",
            n_tokens=n_tokens,
        )


def count_tools(
    texts: Iterable[SentText], items: Iterable[ContextItem], count: Count
) -> tuple[ToolTokens, ...]:
    """Count what tools take by their descriptions and their results, the largest first.

    Tools of one MCP server are one.
    """
    described: defaultdict[tuple[str, bool], list[int]] = defaultdict(list)
    results: defaultdict[tuple[str, bool], list[int]] = defaultdict(list)
    names: dict[str, str] = {}
    for text in texts:
        if text.tool:
            described[_find_provider(text.tool)].append(count(text.text))
    for block in (block for item in items for block in item.message.blocks):
        if isinstance(block, ToolCall):
            names[block.call_id] = block.name
        elif isinstance(block, ToolResult):
            name = block.name or names.get(block.call_id, "")
            results[_find_provider(name)].append(count_result_tokens(block, count))
    tools = (
        ToolTokens(
            name=name,
            is_server=is_server,
            n_described=len(described[name, is_server]),
            n_description_tokens=sum(described[name, is_server]),
            n_results=len(results[name, is_server]),
            n_result_tokens=sum(results[name, is_server]),
        )
        for name, is_server in {**described, **results}
        if name
    )
    return tuple(sorted(tools, key=lambda tool: tool.n_tokens, reverse=True))


def _find_provider(tool: str) -> tuple[str, bool]:
    """Give the MCP server that a tool is of, else the tool itself."""
    match = _MCP_TOOL.fullmatch(tool)
    return (match[1], True) if match else (tool, False)


def advise_on_tools(tools: Sequence[ToolTokens], window_tokens: int) -> Iterator[Advice]:
    """Tell which tools fill the window, and what of them can be turned off."""
    for server in (tool for tool in tools if tool.is_server):
        if server.n_tokens >= MIN_GAIN_TOKENS:
            yield _advise_on_server(server)
    own = [tool for tool in tools if not tool.is_server]
    for tool in own:
        if tool.n_result_tokens >= LARGE_RESULTS_RATIO * window_tokens:
            results = plural(tool.n_results, "result")
            text = f"{results} of {tool.name}: ask it for less at a time"
            yield Advice(text=text, n_tokens=tool.n_result_tokens)
    idle = [tool for tool in own if not tool.n_results]
    n_tokens = sum(tool.n_tokens for tool in idle)
    if n_tokens >= MIN_GAIN_TOKENS and sum(tool.n_results for tool in tools) >= MIN_CALLS:
        names = ", ".join(tool.name for tool in idle[:NAMED_TOOLS])
        more = f" and {len(idle) - NAMED_TOOLS} more" if len(idle) > NAMED_TOOLS else ""
        told = f"{plural(len(idle), 'tool')} not called in this context, {names}{more}"
        text = f"{told}: turn off what this work does not need"
        yield Advice(text=text, n_tokens=n_tokens)


def _advise_on_server(server: ToolTokens) -> Advice:
    told = [f"{plural(server.n_results, 'result')} in {server.n_result_tokens:,} tokens"]
    if server.n_described:
        described = plural(server.n_described, "tool")
        told.insert(0, f"{described} described in {server.n_description_tokens:,} tokens")
    return Advice(
        text=f"MCP server {server.name}, {' and '.join(told)}: turn it off where this work does"
        " not need it",
        n_tokens=server.n_tokens,
    )
