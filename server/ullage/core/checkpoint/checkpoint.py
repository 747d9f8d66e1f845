"""Checkpoints: the working state of a session as structured values, schema v1.

Its fields: docs/design/checkpoints.md, "Schema".
"""

import re
from typing import Literal, TypeAlias

import msgspec

from ullage.core.facts.thread import Thread

_SURROGATE = re.compile("[\ud800-\udfff]")
Status: TypeAlias = Literal["in_progress", "idle", "waiting_for_user"]


class TokenUsage(msgspec.Struct, frozen=True, kw_only=True):
    input_tokens: int
    context_window: int
    utilization: float


class Meta(msgspec.Struct, frozen=True, kw_only=True):
    checkpoint_id: str
    session_key: str
    session_file: str
    created_at: str
    trigger: str
    compaction_count: int
    token_usage: TokenUsage
    previous_checkpoint: str | None
    channel: str
    agent_id: str


class LastToolCall(msgspec.Struct, frozen=True, kw_only=True):
    name: str
    params_summary: str


class Working(msgspec.Struct, frozen=True, kw_only=True):
    topic: str
    status: Status
    interrupted: bool
    last_tool_call: LastToolCall | None
    next_action: str


class Decision(msgspec.Struct, frozen=True, kw_only=True):
    id: str
    what: str
    when: str


class Resources(msgspec.Struct, frozen=True, kw_only=True):
    files_read: tuple[str, ...]
    files_modified: tuple[str, ...]
    tools_used: tuple[str, ...]


class Checkpoint(msgspec.Struct, frozen=True, kw_only=True):
    schema: Literal["openclaw/checkpoint"] = "openclaw/checkpoint"
    schema_version: Literal[1] = 1
    meta: Meta
    working: Working
    decisions: tuple[Decision, ...]
    resources: Resources
    thread: Thread
    open_items: tuple[str, ...]
    learnings: tuple[str, ...]
    pins: tuple[str, ...] = ()
    dead_ends: tuple[str, ...] = ()
    trust_anchors: tuple[str, ...] = ()


def storable(text: str) -> str:
    """Replace lone surrogates, which UTF-8 cannot hold, by U+FFFD."""
    return _SURROGATE.sub("\ufffd", text)
