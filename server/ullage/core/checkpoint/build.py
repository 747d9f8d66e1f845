"""A checkpoint built from what the context shows, and from what it does not show any more."""

from collections.abc import Callable, Iterable, Sequence

from ullage.core.checkpoint.checkpoint import (
    Checkpoint,
    Decision,
    LastToolCall,
    Meta,
    Status,
    TokenUsage,
    Working,
)
from ullage.core.checkpoint.merge_previous import (
    Settled,
    as_earlier,
    begins_in_summary,
    first_visible_ms,
    hidden_decisions,
    hidden_errors,
    hidden_words,
    is_same,
    left_open,
    merged_resources,
    rfc3339,
    still_settled,
    told_ms,
    united,
    with_ids,
)
from ullage.core.checkpoint.working_state import WorkingState
from ullage.core.facts.facts import Facts, collect_facts
from ullage.core.facts.previous_summary import PreviousSummary
from ullage.core.facts.thread import TOPIC_CHARS, cut_text, find_thread
from ullage.core.text.prose import gist
from ullage.core.text.wording import DEAD_ENDS, has_marker, read_wording
from ullage.core.transcript.context import Context, ContextItem

_MAX_POINTS = 20
"""Open items and learnings each; chosen."""


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
    previous: Checkpoint | None = None,
    state: WorkingState | None = None,
    collect_facts: Callable[[Sequence[ContextItem], PreviousSummary | None], Facts] = collect_facts,
) -> Checkpoint:
    """Build a checkpoint without a model.

    `created_at` is RFC 3339. What `previous` and `state` hold is taken over where the context
    does not show it any more. `collect_facts` collects the facts of the messages.
    """
    state = WorkingState() if state is None else state
    first_ms = first_visible_ms(context.items)
    hidden = hidden_decisions(previous, state, first_ms)
    facts = collect_facts(context.items, as_earlier(hidden))
    said = facts.said
    if begins_in_summary(context.items):
        said = (*hidden_words(previous, state, facts, first_ms), *said)
    working = _working(
        context.items,
        facts,
        state.thread.topic or (previous.working.topic if previous else ""),
        is_split_turn=is_split_turn,
    )
    left = left_open(previous, facts, is_idle=working.status == "waiting_for_user")
    share = n_input_tokens / n_window_tokens if n_window_tokens > 0 else 0.0
    dead_ends = (*hidden_errors(state, first_ms), *_lasting(facts, are_dead_ends=True))
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
        working=working,
        decisions=_decisions(facts, hidden, previous, created_at, told_ms(context.items)),
        resources=merged_resources(facts, previous, state),
        thread=find_thread(said),
        open_items=_open_items(facts, left),
        learnings=united(
            previous.learnings if previous else (),
            _lasting(facts, are_dead_ends=False),
            _MAX_POINTS,
        ),
        pins=pins,
        dead_ends=united(previous.dead_ends if previous else (), dead_ends, _MAX_POINTS),
        trust_anchors=previous.trust_anchors if previous else (),
    )


def _working(
    items: Sequence[ContextItem], facts: Facts, earlier_topic: str, *, is_split_turn: bool
) -> Working:
    last_user = next((turn for turn in reversed(facts.turns) if turn.prose), None)
    last_call = None
    if is_split_turn and facts.last_call is not None:
        last_call = LastToolCall(name=facts.last_call[0], params_summary=facts.last_call[1])
    return Working(
        topic=cut_text(last_user.prose if last_user else earlier_topic, TOPIC_CHARS),
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


def _decisions(
    facts: Facts,
    hidden: Sequence[Settled],
    previous: Checkpoint | None,
    created_at: str,
    told_at_ms: int | None,
) -> tuple[Decision, ...]:
    """Give rules and choices together: the schema has one list for what was settled."""
    told_at = created_at if told_at_ms is None else rfc3339(told_at_ms)
    earlier, carried = (facts.carried[0], facts.carried[1:]) if hidden else (None, facts.carried)
    settled = list(still_settled(hidden, earlier)) if earlier else []
    for one in carried:
        settled += [
            Settled(what=line, when=told_at, is_rule=name == "Constraints")
            for name in ("Constraints", "Decisions")
            for line in one.lines.get(name, ())
            if not any(is_same(line, known.what) for known in settled)
        ]
    rules = [(rule.n_item, facts.times[rule.n_item], rule.text, True) for rule in facts.rules]
    chosen = [(one.n_item, one.at_ms, one.text, False) for one in facts.choices]
    # A reply that is a rule stands here with its question; once is enough.
    rules = [one for one in rules if not any(text.startswith(one[2]) for _, _, text, _ in chosen)]
    known = {one.what for one in settled}
    settled += [
        Settled(what=text, when=created_at if at_ms is None else rfc3339(at_ms), is_rule=is_rule)
        for _, at_ms, text, is_rule in sorted([*rules, *chosen], key=lambda one: one[0])
        if text not in known
    ]
    return with_ids(settled, previous)


def _open_items(facts: Facts, left: Iterable[str]) -> tuple[str, ...]:
    asked = [gist(turn.ask, 300) for turn in facts.turns if turn.ask and not turn.is_answered]
    steps = [gist(step, 200) for step, is_done in facts.plan if not is_done]
    failing = [
        gist(f"failing: {run.command} → {run.outcome}", 300)
        for run in facts.runs
        if run.is_failed and run.is_check and not run.is_passed_later
    ]
    points = [gist(point, 300) for point in facts.open_points]
    # The newest points are the likeliest to be open still.
    found = dict.fromkeys([*asked, *steps, *failing, *reversed(points), *left])
    return tuple(found)[:_MAX_POINTS]


def _lasting(facts: Facts, *, are_dead_ends: bool) -> tuple[str, ...]:
    found = [
        gist(text, 300)
        for text in facts.findings
        if has_marker(read_wording(text), DEAD_ENDS) == are_dead_ends
    ]
    return tuple(found[-_MAX_POINTS:])
