"""Checkpoints: the working state of a session as structured values, schema v1 (S1 §5.3)."""

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Literal, TypeAlias

import msgspec

from ullage.core.context import Context, ContextItem
from ullage.core.facts import Facts, gather
from ullage.core.prose import gist
from ullage.core.thread import Thread, find_thread
from ullage.core.wording import DEAD_ENDS, has_marker, worded

Status: TypeAlias = Literal["in_progress", "idle", "waiting_for_user"]

_TOPIC_CHARS = 100
_MAX_DECISIONS = 50
_MAX_TOOLS = 100
_MAX_FILES = 100
"""These are S1's (§11.1 and the caps of §12)."""
_MAX_POINTS = 20
"""Open items and learnings each; chosen."""


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


def build(
    context: Context,
    *,
    checkpoint_id: str,
    session_key: str,
    session_file: str,
    created_at: str,
    trigger: str,
    n_input_tokens: int,
    n_window_tokens: int,
    previous_checkpoint: str | None,
    channel: str,
    agent_id: str,
    is_split_turn: bool,
    pins: tuple[str, ...] = (),
) -> Checkpoint:
    """Build a checkpoint from the context alone, without a model.

    `created_at` is RFC 3339. Takes a few milliseconds for 300 messages.
    """
    facts = gather(context.items)
    thread = find_thread(context.items)
    share = n_input_tokens / n_window_tokens if n_window_tokens > 0 else 0.0
    return Checkpoint(
        meta=Meta(
            checkpoint_id=checkpoint_id,
            session_key=session_key,
            session_file=session_file,
            created_at=created_at,
            trigger=trigger,
            compaction_count=len(context.compactions),
            token_usage=TokenUsage(
                input_tokens=n_input_tokens,
                context_window=n_window_tokens,
                utilization=round(share, 4),
            ),
            previous_checkpoint=previous_checkpoint,
            channel=channel,
            agent_id=agent_id,
        ),
        working=_working(context.items, facts, is_split_turn=is_split_turn),
        decisions=_decisions(facts, created_at),
        resources=_resources(facts),
        thread=thread,
        open_items=_open_items(facts),
        learnings=_lasting(facts, are_dead_ends=False),
        pins=pins,
        dead_ends=_lasting(facts, are_dead_ends=True),
    )


def _working(items: Sequence[ContextItem], facts: Facts, *, is_split_turn: bool) -> Working:
    last_user = next((turn for turn in reversed(facts.turns) if turn.prose), None)
    last_call = None
    if is_split_turn and facts.last_call is not None:
        last_call = LastToolCall(name=facts.last_call[0], params_summary=facts.last_call[1])
    return Working(
        topic=last_user.prose[:_TOPIC_CHARS] if last_user else "",
        status=_status(items, facts),
        interrupted=is_split_turn,
        last_tool_call=last_call,
        next_action=_next_action(facts),
    )


def _status(items: Sequence[ContextItem], facts: Facts) -> Status:
    """Judge by the tail: open calls, results and questions are work; an answer awaits the user."""
    spoken = [item for item in items[-20:] if item.category not in ("system", "injected")]
    if not spoken or spoken[-1].category == "summary":
        return "idle"
    if facts.pending_calls or spoken[-1].category != "assistant":
        return "in_progress"
    return "waiting_for_user"


def _next_action(facts: Facts) -> str:
    """Name the next thing to do: the open request, else a planned step, else an open point."""
    for turn in reversed(facts.turns):
        if turn.ask and not turn.is_answered:
            return gist(turn.ask, 300)
    steps = [step for step, is_done in facts.plan if not is_done]
    return gist((steps or list(facts.open_points[-1:]) or [""])[0], 300)


def _decisions(facts: Facts, created_at: str) -> tuple[Decision, ...]:
    """Give rules and choices together: S1's schema has one list for what was settled."""
    carried = [
        (-1, None, line)
        for earlier in facts.carried
        for name in ("Constraints", "Decisions")
        for line in earlier.lines.get(name, ())
    ]
    rules = [(rule.n_item, facts.times[rule.n_item], rule.text) for rule in facts.rules]
    chosen = [(choice.n_item, choice.at_ms, choice.text) for choice in facts.choices]
    # A reply that is a rule stands here with its question; once is enough.
    rules = [one for one in rules if not any(text.startswith(one[2]) for _, _, text in chosen)]
    # Where not all fit, the agent's own choices go first, then the oldest.
    n_room = max(0, _MAX_DECISIONS - len(carried) - len(rules))
    chosen = chosen[len(chosen) - min(n_room, len(chosen)) :]
    settled = [*carried, *sorted([*rules, *chosen], key=lambda one: one[0])][-_MAX_DECISIONS:]
    return tuple(
        Decision(id=f"d{n}", what=text, when=created_at if at_ms is None else _rfc3339(at_ms))
        for n, (_, at_ms, text) in enumerate(settled, 1)
    )


def _rfc3339(at_ms: int) -> str:
    try:
        moment = datetime.fromtimestamp(at_ms / 1000, UTC)
    except (OverflowError, ValueError, OSError):
        moment = datetime.fromtimestamp(0, UTC)
    return moment.isoformat(timespec="seconds").replace("+00:00", "Z")


def _resources(facts: Facts) -> Resources:
    files = {line: None for earlier in facts.carried for line in earlier.lines.get("Files", ())}
    for touch in facts.files:
        files[f"{'modified' if touch.is_modified else 'read'} {touch.path}"] = None
    modified = [line[9:] for line in files if line.startswith("modified ")]
    changed = set(modified)
    read = [line[5:] for line in files if line.startswith("read ") and line[5:] not in changed]
    return Resources(
        files_read=tuple(read[-_MAX_FILES:]),
        files_modified=tuple(modified[-_MAX_FILES:]),
        tools_used=facts.tools[-_MAX_TOOLS:],
    )


def _open_items(facts: Facts) -> tuple[str, ...]:
    asked = [gist(turn.ask, 300) for turn in facts.turns if turn.ask and not turn.is_answered]
    steps = [gist(step, 200) for step, is_done in facts.plan if not is_done]
    failing = [
        gist(f"failing: {run.command} → {run.outcome}", 300)
        for run in facts.runs
        if run.is_failed and run.is_check and not run.is_passed_later
    ]
    points = [gist(point, 300) for point in facts.open_points]
    # The newest points are the likeliest to be open still.
    return tuple(dict.fromkeys([*asked, *steps, *failing, *reversed(points)]))[:_MAX_POINTS]


def _lasting(facts: Facts, *, are_dead_ends: bool) -> tuple[str, ...]:
    found = [
        gist(text, 300)
        for text in facts.findings
        if has_marker(worded(text), DEAD_ENDS) == are_dead_ends
    ]
    return tuple(found[-_MAX_POINTS:])
