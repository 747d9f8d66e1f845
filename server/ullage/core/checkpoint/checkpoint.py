"""Checkpoints: the working state of a session as structured values, schema v1.

Its fields: docs/design/checkpoints.md, "Schema".
"""

import re
from collections.abc import Callable
from typing import Literal, TypeAlias, cast

import msgspec

from ullage.core.facts.thread import Thread
from ullage.core.secrets.scan import list_texts, mask, may_hold_secret

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


def measure_use(n_input_tokens: int, n_window_tokens: int) -> TokenUsage:
    share = n_input_tokens / n_window_tokens if n_window_tokens > 0 else 0.0
    return TokenUsage(
        input_tokens=n_input_tokens, context_window=n_window_tokens, utilization=round(share, 4)
    )


def storable(text: str) -> str:
    """Replace lone surrogates, which UTF-8 cannot hold, by U+FFFD."""
    return _SURROGATE.sub("\ufffd", text)


def clean(checkpoint: Checkpoint, known_secrets: tuple[str, ...]) -> Checkpoint:
    """Mask the secrets in every text but the metadata, which is ours; replace lone surrogates."""
    fields = cast("dict[str, object]", msgspec.to_builtins(checkpoint))
    meta = fields.pop("meta")
    # One look over all texts spares one for each.
    is_masked = may_hold_secret("\0".join(list_texts(fields)), known_secrets)

    def mask_text(text: str) -> str:
        return mask(storable(text), known_secrets) if is_masked else storable(text)

    changed = _with_texts(fields, mask_text)
    return msgspec.convert(
        {"meta": _with_texts(meta, storable), **cast("dict[str, object]", changed)}, Checkpoint
    )


def _with_texts(value: object, change: Callable[[str], str]) -> object:
    match value:
        case str():
            return change(value)
        case dict():
            pairs = cast("dict[str, object]", value).items()
            return {key: _with_texts(item, change) for key, item in pairs}
        case list() | tuple():
            return [_with_texts(item, change) for item in cast("list[object]", value)]
        case _:
            return value
