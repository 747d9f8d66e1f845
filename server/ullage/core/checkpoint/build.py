"""A checkpoint built from what the context shows, and from what it does not show any more.

The latter comes from the checkpoint before, and from what was captured since.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import dropwhile, groupby

import msgspec

from ullage.core.checkpoint import checkpoint
from ullage.core.checkpoint.decisions import find_hidden_decisions, list_decisions
from ullage.core.checkpoint.working_state import MAX_FILES, MAX_TOOLS, WorkingState
from ullage.core.facts.collect import collect_facts
from ullage.core.facts.command_runs import run_key
from ullage.core.facts.facts import Facts
from ullage.core.facts.learnings import find_dead_ends, find_learnings
from ullage.core.facts.task_state import FAILING, WAITING, TaskState, cut_clauses, read_task_state
from ullage.core.facts.thread import TOPIC_CHARS, SpokenMessage, find_thread
from ullage.core.text.prose import gist
from ullage.core.text.sentences import Sentence, find_open_points
from ullage.core.text.wording import read_wording
from ullage.core.transcript.context import RESTORE_OPENING, Context, ContextItem
from ullage.core.transcript.entries import plain_text

_MAX_POINTS = 20
"""Open items and learnings each; chosen."""
_MAX_REQUEST_CHARS = 120
"""Of the request that a next step is for; chosen."""
_MAX_ERRORS = 5
"""Failed calls out of sight that are listed; chosen."""


class PriorState(msgspec.Struct, frozen=True, kw_only=True):
    """What is known from before the context."""

    previous: checkpoint.Checkpoint | None = None
    state: WorkingState = WorkingState()
    """What was captured since."""


NO_PAST = PriorState()


def build(
    context: Context,
    meta: checkpoint.Meta,
    *,
    past: PriorState = NO_PAST,
    pins: tuple[str, ...] = (),
    is_split_turn: bool = False,
    collect_facts: Callable[[Sequence[ContextItem]], Facts] = collect_facts,
) -> checkpoint.Checkpoint:
    """Build a checkpoint without a model.

    What the past holds is taken over where the context does not show it any more.
    `collect_facts` collects the facts of the messages.
    """
    items, previous = context.items, past.previous
    first_ms = _first_shown_ms(items)
    hidden = find_hidden_decisions(previous, past.state, first_ms)
    facts = collect_facts(items)
    task = read_task_state(facts)
    messages = facts.messages
    if _begins_in_summary(items):
        messages = (*_find_hidden_messages(past, facts, first_ms), *messages)
    working = _describe_work(items, facts, task, past, is_split_turn=is_split_turn)
    errors = _find_hidden_errors(past.state, first_ms)
    return checkpoint.Checkpoint(
        meta=meta,
        working=working,
        decisions=list_decisions(
            facts,
            hidden,
            previous,
            created_at=meta.created_at,
            summarized_ms=_last_summarized_ms(items),
        ),
        resources=_merge_resources(facts, past),
        thread=find_thread(messages),
        open_items=_list_open_items(facts, task, previous, working.status),
        learnings=_join(previous.learnings if previous else (), find_learnings(facts)),
        pins=pins,
        dead_ends=_join(
            previous.dead_ends if previous else (),
            (*errors, *find_dead_ends(facts)),
        ),
        trust_anchors=previous.trust_anchors if previous else (),
    )


def _first_shown_ms(items: Sequence[ContextItem]) -> int | None:
    """Give the time from which on a context shows everything; None where it has no times."""
    return next((item.at_ms for item in items if item.category != "summary" and item.at_ms), None)


def _last_summarized_ms(items: Sequence[ContextItem]) -> int | None:
    """Give the latest time of what the first summary tells; None where there are no times.

    Agents keep messages that are older than their summary of what was before these: what it
    tells is no later than the message that follows.
    """
    rest = dropwhile(lambda item: item.category != "summary", items)
    summary = next(rest, None)
    shown = next((item.at_ms for item in rest if item.category != "summary"), None)
    times = [at_ms for at_ms in (summary and summary.at_ms, shown) if at_ms]
    return min(times, default=None)


def _begins_in_summary(items: Sequence[ContextItem]) -> bool:
    """Whether a context stands for more than it shows: a summary or a checkpoint comes first."""
    for item in items:
        is_injected = item.category == "injected"
        is_restored = is_injected and plain_text(item.message).startswith(RESTORE_OPENING)
        if item.category == "summary" or is_restored:
            return True
        if not is_injected and item.category != "system":
            break
    return False


def _describe_work(
    items: Sequence[ContextItem],
    facts: Facts,
    task: TaskState,
    past: PriorState,
    *,
    is_split_turn: bool,
) -> checkpoint.Working:
    before = past.state.thread.topic or (past.previous.working.topic if past.previous else "")
    call = facts.last_call if is_split_turn else None
    return checkpoint.Working(
        topic=task.topic or gist(before, TOPIC_CHARS),
        status=_judge_status(items, facts),
        interrupted=is_split_turn,
        last_tool_call=checkpoint.LastToolCall(name=call[0], params_summary=call[1])
        if call
        else None,
        next_action=_write_next_action(task),
    )


def _judge_status(items: Sequence[ContextItem], facts: Facts) -> checkpoint.Status:
    """Judge by the tail: an answer that ends the turn awaits the user, all else is work."""
    spoken = [item for item in items[-20:] if item.category not in ("system", "injected")]
    if not spoken or spoken[-1].category == "summary":
        return "idle"
    return "waiting_for_user" if facts.is_turn_ended else "in_progress"


def _write_next_action(task: TaskState) -> str:
    """Write what comes next, with the request that it is for."""
    step = task.next_step
    if step is None:
        return f"{WAITING}{task.question}" if task.question else ""
    if step.by == "user" or not task.request:
        return step.text
    return f"{step.text} (for: {cut_clauses(task.request, _MAX_REQUEST_CHARS)})"


def _merge_resources(facts: Facts, past: PriorState) -> checkpoint.Resources:
    """Unite files and tools of all sources, those used last at the end."""
    before = past.previous.resources if past.previous else None
    captured = past.state.resources
    summarized = facts.previous_lines("Files")
    touched = [
        *((path, False) for path in (before.files_read if before else ())),
        *((path, True) for path in (before.files_modified if before else ())),
        *((line[5:], False) for line in summarized if line.startswith("read ")),
        *((line[9:], True) for line in summarized if line.startswith("modified ")),
        *((path, False) for path in captured.files_read),
        *((path, True) for path in captured.files_modified),
        *((touch.path, touch.is_modified) for touch in facts.files),
    ]
    files: dict[str, bool] = {}
    for path, is_modified in touched:
        files[path] = files.pop(path, False) or is_modified
    read = [path for path, is_modified in files.items() if not is_modified]
    modified = [path for path, is_modified in files.items() if is_modified]
    tools = _join(before.tools_used if before else (), captured.tools_used, MAX_TOOLS)
    return checkpoint.Resources(
        files_read=tuple(read[-MAX_FILES:]),
        files_modified=tuple(modified[-MAX_FILES:]),
        tools_used=_join(tools, facts.tools, MAX_TOOLS),
    )


def _find_hidden_messages(
    past: PriorState, facts: Facts, first_ms: int | None
) -> Iterator[SpokenMessage]:
    """Give what was said before a context that begins in a summary, in short, oldest first."""
    before = past.previous.thread.key_exchanges if past.previous else ()
    since = [
        exchange
        for exchange in past.state.thread.exchanges
        if first_ms is None or exchange.at_ms < first_ms
    ]
    earlier = [SpokenMessage(is_user=e.role == "user", text=e.gist) for e in (*before, *since)]
    hidden = [message for message in earlier if message.text and not _is_shown(message, facts)]
    # A user says "yes" more than once; what two sources tell stands side by side.
    return (message for message, _ in groupby(hidden))


def _is_shown(message: SpokenMessage, facts: Facts) -> bool:
    head = message.text.rstrip("…")
    return any(
        shown.is_user is message.is_user and shown.text.startswith(head) for shown in facts.messages
    )


def _list_open_items(
    facts: Facts,
    task: TaskState,
    previous: checkpoint.Checkpoint | None,
    status: checkpoint.Status,
) -> tuple[str, ...]:
    now = [item.text for item in task.open_items]
    before = _find_still_open(previous, facts, status) if previous else ()
    return tuple(dict.fromkeys([*now, *before]))[:_MAX_POINTS]


def _find_still_open(
    previous: checkpoint.Checkpoint, facts: Facts, status: checkpoint.Status
) -> Iterator[str]:
    """Give earlier open items that the context neither shows nor reports as done."""
    shown = [" ".join(message.text.split()) for message in facts.messages]
    planned = {gist(step.text, 300) for step in facts.plan}
    ran = {run.key for run in facts.runs}
    # The agent answered and waits: what it was to do next is done.
    answered = previous.working.next_action if status == "waiting_for_user" else None
    hidden = [
        Sentence(
            text=item,
            kind="open",
            n_item=-1,
            is_user=False,
            is_bulk=False,
            wording=read_wording(item),
        )
        for item in previous.open_items
        if item not in planned
        and not any(item.rstrip("…") in text for text in shown)
        and item != answered
        and _command_key(item) not in ran
    ]
    done = [sentence for sentence in facts.sentences if sentence.kind == "done"]
    changed = {touch.path: touch.n_item for touch in facts.files if touch.is_modified}
    return (sentence.text for sentence in find_open_points([*hidden, *done], changed))


def _command_key(item: str) -> str | None:
    """Name the command of an open item that tells of a failure, as runs are named."""
    command = item.removeprefix(FAILING).split(" → ", 1)[0]
    return run_key(command, is_check=True) if item.startswith(FAILING) else None


def _find_hidden_errors(state: WorkingState, first_ms: int | None) -> list[str]:
    """List the newest failures that were captured before the context begins."""
    errors = state.thread.errors
    hidden = [f"failed: {e.text}" for e in errors if first_ms is None or e.at_ms < first_ms]
    return hidden[-_MAX_ERRORS:]


def _join(before: Iterable[str], now: Iterable[str], n_max: int = _MAX_POINTS) -> tuple[str, ...]:
    """Join two lists, those that are there again at their new place, and keep the last."""
    again = dict.fromkeys(now)
    return tuple([*(item for item in before if item not in again), *again][-n_max:])
