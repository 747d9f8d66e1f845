"""Messages for tests: `user("…")`, `assistant("…", calls=[…])`; ids e1, e2, … by `numbered`."""

import json
from collections.abc import Iterable, Mapping

import msgspec

from ullage.core.checkpoint.checkpoint import Meta, measure_use
from ullage.core.transcript.context import Category, Context, ContextItem
from ullage.core.transcript.entries import Block, Header, Message, Role, Text, ToolCall, ToolResult
from ullage.formats.speech import COMMON_MARKS, attribute, is_harness

Call = tuple[str, str, Mapping[str, object]]
"""Call id, tool and arguments."""


def _item(role: Role, category: Category, blocks: Iterable[Block]) -> ContextItem:
    return ContextItem(
        entry_id="e0",
        message=Message(role=role, blocks=tuple(blocks)),
        category=category,
        native={},
        at_ms=1_770_000_000_000,
        is_after_boundary=True,
    )


def user(text: str) -> ContextItem:
    blocks = attribute([Text(text=text)], COMMON_MARKS)
    return _item("user", "injected" if is_harness(blocks) else "user", blocks)


def harness(text: str) -> ContextItem:
    return _item("user", "injected", [Text(text=text)])


def assistant(text: str, calls: Iterable[Call] = ()) -> ContextItem:
    blocks: list[Block] = [Text(text=text)] if text else []
    blocks += [
        ToolCall(call_id=call_id, name=name, arguments=json.dumps(arguments, ensure_ascii=False))
        for call_id, name, arguments in calls
    ]
    return _item("assistant", "assistant", blocks)


def tool_result(
    text: str, call_id: str = "c1", name: str = "bash", *, is_error: bool = False
) -> ContextItem:
    result = ToolResult(call_id=call_id, name=name, content=(Text(text=text),), is_error=is_error)
    return _item("tool", "tool results", [result])


def summary(text: str) -> ContextItem:
    return _item("user", "summary", [Text(text=text)])


def numbered(items: Iterable[ContextItem]) -> tuple[ContextItem, ...]:
    """Give the items their ids e1, e2, … and times a minute apart."""
    return tuple(
        msgspec.structs.replace(item, entry_id=f"e{n}", at_ms=1_770_000_000_000 + 60_000 * n)
        for n, item in enumerate(items, 1)
    )


def context_of(items: Iterable[ContextItem], header: Header | None = None) -> Context:
    numbered_items = numbered(items)
    return Context(
        header=header or Header(agent="openclaw", session_id="s1", version=3, cwd="/work/shop"),
        items=numbered_items,
        boundary=None,
        compactions=(),
        leaf_id=numbered_items[-1].entry_id if numbered_items else None,
        model=None,
        n_entries=len(numbered_items),
        size_bytes=0,
        problems=(),
    )


def meta(checkpoint_id: str = "cp_001", **more: object) -> Meta:
    """Say where a checkpoint comes from."""
    of = Meta(
        checkpoint_id=checkpoint_id,
        session_key="openclaw:s1",
        session_file="/work/shop/s1.jsonl",
        created_at="2026-02-03T10:00:00Z",
        trigger="manual",
        compaction_count=0,
        token_usage=measure_use(100, 1000),
        previous_checkpoint=None,
        channel="cli",
        agent_id="openclaw",
    )
    return msgspec.structs.replace(of, **more)
