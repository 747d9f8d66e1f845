"""What is told of files that repeat each other, and of tools that fill the window."""

from ullage.core.assembly.advice import (
    advise_on_base,
    advise_on_files,
    advise_on_tools,
    count_tools,
)
from ullage.core.assembly.parts import UNREAD, Part, SentText
from ullage.core.transcript.context import UNSEEN, ContextItem
from ullage.core.transcript.entries import Block, Message, Text, ToolCall, ToolResult

RULE = "Never push to the main branch without a review by a second person."
OTHER = "All times in the data base are stored as UTC, without any exception."


def file(path: str, text: str, name: str = "instructions") -> SentText:
    return SentText(name=name, text=text, source=path)


def tool(name: str, n_chars: int) -> SentText:
    return SentText(name="tools", text="d" * n_chars, tool=name)


def run(name: str, output: str) -> ContextItem:
    blocks: tuple[Block, ...] = (
        ToolCall(call_id=name, name=name, arguments="{}"),
        ToolResult(call_id=name, name="", content=(Text(text=output),), is_error=False),
    )
    message = Message(role="assistant", blocks=blocks)
    return ContextItem(entry_id=name, message=message, category="assistant", native={}, at_ms=None)


def part(name: str, n_tokens: int) -> Part:
    return Part(
        name=name,
        source=UNREAD,
        n_tokens=n_tokens,
        is_exact=True,
        category=UNSEEN,
        cut="",
        place="every request",
    )


def test_a_large_system_prompt_is_told_without_what_files_say() -> None:
    instructions = part("instructions", 500)
    assert not list(advise_on_base([part("system prompt and tools", 199), instructions], 1_000))
    (tip,) = advise_on_base([part("system prompt", 150), part("tools", 50), instructions], 1_000)
    assert tip.n_tokens == 200
    assert tip.text.startswith("20% of the window is not in the messages")


def test_a_rule_in_two_files_is_told_at_the_later_with_its_tokens() -> None:
    texts = (
        file("/home/ada/.claude/CLAUDE.md", f"# Mine\n\n- {RULE}\n"),
        file("/work/shop/CLAUDE.md", f"# Shop\n\n{OTHER}\n\n- {RULE}\n"),
    )
    (tip,) = advise_on_files(texts, len)
    assert tip.path == "/work/shop/CLAUDE.md"
    assert tip.n_tokens == len(f"- {RULE}")
    assert tip.text == (
        "work/shop/CLAUDE.md says 1 thing that ada/.claude/CLAUDE.md said before: remove one of the"
        " two"
    )


def test_what_stands_below_a_repeated_item_is_counted_once() -> None:
    item = f"- {RULE}\n  - {OTHER}\n"
    (tip,) = advise_on_files((file("/w/AGENTS.md", item), file("/w/sub/AGENTS.md", item)), len)
    assert tip.n_tokens == len(item.strip())
    assert tip.text.startswith("sub/AGENTS.md says 2 things that AGENTS.md said before")


def test_a_file_that_is_sent_again_does_not_repeat_itself() -> None:
    texts = (file("/w/CLAUDE.md", RULE), file("/w/CLAUDE.md", RULE))
    assert not list(advise_on_files(texts, len))


def test_a_file_may_say_a_thing_twice() -> None:
    (tip,) = advise_on_files((file("/w/CLAUDE.md", f"{RULE}\n\n{OTHER}\n\n{RULE}\n"),), len)
    assert tip.text == "w/CLAUDE.md says 1 thing twice: remove one of the two"


def test_tools_of_one_server_are_one_and_the_largest_comes_first() -> None:
    texts = (tool("mcp__docs__search", 300), tool("mcp__docs__fetch", 200), tool("Bash", 400))
    tools = count_tools(texts, [run("mcp__docs__search", "r" * 1_000)], len)
    assert [(tool.name, tool.is_server, tool.n_tokens) for tool in tools] == [
        ("docs", True, 1_500),
        ("Bash", False, 400),
    ]


def test_a_server_is_named_with_what_it_takes() -> None:
    texts = (tool("mcp__docs__search", 1_300), tool("mcp__docs__fetch", 200))
    (tip,) = advise_on_tools(count_tools(texts, [run("mcp__docs__fetch", "r" * 20)], len), 1_000)
    assert tip.n_tokens == 1_520
    assert tip.text == (
        "MCP server docs, 2 tools described in 1,500 tokens and 1 result in 20 tokens: turn it off"
        " where this work does not need it"
    )


def test_results_are_told_that_take_a_twentieth_of_the_window() -> None:
    tools = count_tools((), [run("Read", "r" * 500), run("Bash", "r" * 499)], len)
    (tip,) = advise_on_tools(tools, 10_000)
    assert tip.text == "1 result of Read: ask it for less at a time"


def test_tools_are_called_idle_only_after_some_calls() -> None:
    texts = (*(tool(f"Tool{at}", 400) for at in range(6)), tool("Bash", 10))
    calls = [run("Bash", "")] * 10
    assert not list(advise_on_tools(count_tools(texts, calls[:9], len), 10_000))
    (tip,) = advise_on_tools(count_tools(texts, calls, len), 10_000)
    assert tip.n_tokens == 2_400
    assert tip.text == (
        "6 tools not called in this context, Tool0, Tool1, Tool2, Tool3 and 2 more: turn off what"
        " this work does not need"
    )
