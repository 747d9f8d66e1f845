"""What a checkpoint takes over from the one before it, and from what was captured since.

A context shows what was said after a moment, and a summary of the rest. Decisions from before
that moment are carried, and go where something said since replaces them. Later ones are found
again where they still hold: what is not found was replaced, or belongs to a branch that was left.
"""

import itertools
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime

import msgspec

from ullage.core.checkpoint.checkpoint import Checkpoint, Decision, Resources
from ullage.core.checkpoint.working_state import MAX_DECISIONS, MAX_FILES, MAX_TOOLS, WorkingState
from ullage.core.facts.command_runs import run_key
from ullage.core.facts.facts import Facts
from ullage.core.facts.previous_summary import SECTIONS, PreviousSummary
from ullage.core.facts.replaced_values import OLD_VALUE
from ullage.core.facts.thread import SpokenMessage
from ullage.core.text.prose import gist
from ullage.core.text.sentences import Sentence, find_open_points
from ullage.core.text.wording import read_wording, reads_as_rule
from ullage.core.transcript.context import ContextItem
from ullage.core.transcript.injected import RESTORE_OPENING
from ullage.core.transcript.message import plain_text

_MAX_ERRORS = 5
"""Failed calls out of sight that are told of; chosen."""
_MIN_SAME_CHARS = 24
"""So many characters that begin two decisions alike make them the same one; chosen."""


class Settled(msgspec.Struct, frozen=True, kw_only=True):
    """Something decided, with the id that it had before, if any."""

    what: str
    when: str
    id: str = ""
    is_rule: bool


def first_visible_ms(items: Sequence[ContextItem]) -> int | None:
    """Give the time from which on a context shows everything; None where it has no times."""
    return next((item.at_ms for item in items if item.category != "summary" and item.at_ms), None)


def told_ms(items: Sequence[ContextItem]) -> int | None:
    """Give the latest time of what the first summary tells; None where there are no times.

    Agents keep messages that are older than their summary of what was before these: what it
    tells is no later than the message that follows.
    """
    summarized = itertools.dropwhile(lambda item: item.category != "summary", items)
    told = next(summarized, None)
    shown = next((item.at_ms for item in summarized if item.category != "summary"), None)
    times = [at_ms for at_ms in (told and told.at_ms, shown) if at_ms]
    return min(times, default=None)


def begins_in_summary(items: Sequence[ContextItem]) -> bool:
    """Whether a context stands for more than it shows: a summary or a checkpoint comes first."""
    for item in items:
        if item.category == "summary" or _is_restored(item):
            return True
        if item.category not in ("system", "injected"):
            break
    return False


def _is_restored(item: ContextItem) -> bool:
    return item.category == "injected" and plain_text(item.message).startswith(RESTORE_OPENING)


def hidden_decisions(
    previous: Checkpoint | None, state: WorkingState, first_ms: int | None
) -> tuple[Settled, ...]:
    """List what was decided before the context begins, oldest first.

    Times of checkpoints are in seconds: what was decided in the first of them may be out of sight,
    and stands once in any case.
    """
    begin = None if first_ms is None else rfc3339(first_ms)
    found = [
        Settled(what=one.what, when=one.when, id=one.id, is_rule=reads_as_rule(one.what))
        for one in (previous.decisions if previous else ())
        if begin is None or one.when <= begin
    ]
    for one in state.decisions.made:
        is_hidden = first_ms is None or one.at_ms < first_ms
        if is_hidden and not _has(found, one.what):
            found.append(Settled(what=one.what, when=rfc3339(one.at_ms), is_rule=False))
    return tuple(found)


def as_earlier(hidden: Sequence[Settled]) -> PreviousSummary | None:
    """Give decisions the form of an earlier summary, which later values replace."""
    if not hidden:
        return None
    lines: dict[str, tuple[str, ...]] = dict.fromkeys(SECTIONS, ())
    lines["Constraints"] = tuple(one.what for one in hidden if one.is_rule)
    lines["Decisions"] = tuple(one.what for one in hidden if not one.is_rule)
    return PreviousSummary(is_ours=True, lines=lines)


def still_settled(hidden: Sequence[Settled], resolved: PreviousSummary) -> tuple[Settled, ...]:
    """Give the hidden decisions that hold, with their words as they are by now."""
    kept: list[tuple[int, Settled]] = []
    for section, is_rule in (("Constraints", True), ("Decisions", False)):
        left = [(at, one) for at, one in enumerate(hidden) if one.is_rule is is_rule]
        for text in resolved.lines[section]:
            # Lines keep their order; those that were replaced as a whole are gone.
            while left and not left[0][1].what.startswith(text.split(OLD_VALUE, 1)[0]):
                left.pop(0)
            if left:
                at, one = left.pop(0)
                kept.append((at, msgspec.structs.replace(one, what=text)))
    return tuple(one for _, one in sorted(kept, key=lambda pair: pair[0]))


def with_ids(settled: Sequence[Settled], previous: Checkpoint | None) -> tuple[Decision, ...]:
    """Keep as many decisions as may be; one that has an id already keeps it, and its time.

    Where not all fit, choices go before rules, and the oldest first.
    """
    rules = [at for at, one in enumerate(settled) if one.is_rule][-MAX_DECISIONS:]
    choices = [at for at, one in enumerate(settled) if not one.is_rule]
    n_room = MAX_DECISIONS - len(rules)
    kept = sorted([*rules, *choices[len(choices) - min(n_room, len(choices)) :]])
    known = list(previous.decisions) if previous else []
    n_last = max((int(one.id[1:]) for one in known if one.id[1:].isdecimal()), default=0)
    decisions: list[Decision] = []
    taken: set[str] = set()
    for one in (settled[at] for at in kept):
        same = next((k for k in known if k.id not in taken and is_same(k.what, one.what)), None)
        known_id = one.id or (same.id if same else "")
        if not known_id or known_id in taken:
            n_last += 1
            known_id = f"d{n_last}"
        taken.add(known_id)
        when = same.when if same and not one.id else one.when
        decisions.append(Decision(id=known_id, what=one.what, when=when))
    return tuple(decisions)


def is_same(one: str, other: str) -> bool:
    """Tell whether two decisions are one, of which a summary may have the beginning only."""
    if one == other:
        return True
    short, long = sorted((one.rstrip("…"), other.rstrip("…")), key=len)
    return len(short) >= _MIN_SAME_CHARS and long.startswith(short)


def _has(settled: Sequence[Settled], what: str) -> bool:
    return any(is_same(one.what, what) for one in settled)


def merged_resources(facts: Facts, previous: Checkpoint | None, state: WorkingState) -> Resources:
    """Unite files and tools of all sources, those used last at the end."""
    files: dict[str, bool] = {}
    before = (
        previous.resources
        if previous
        else Resources(files_read=(), files_modified=(), tools_used=())
    )
    told = [line for earlier in facts.carried for line in earlier.lines.get("Files", ())]
    touched = [
        *((path, False) for path in before.files_read),
        *((path, True) for path in before.files_modified),
        *((line[5:], False) for line in told if line.startswith("read ")),
        *((line[9:], True) for line in told if line.startswith("modified ")),
        *((path, False) for path in state.resources.files_read),
        *((path, True) for path in state.resources.files_modified),
        *((touch.path, touch.is_modified) for touch in facts.files),
    ]
    for path, is_modified in touched:
        files[path] = files.pop(path, False) or is_modified
    tools = dict.fromkeys(before.tools_used)
    for name in (*state.resources.tools_used, *facts.tools):
        tools.pop(name, None)
        tools[name] = None
    read = [path for path, is_modified in files.items() if not is_modified]
    modified = [path for path, is_modified in files.items() if is_modified]
    return Resources(
        files_read=tuple(read[-MAX_FILES:]),
        files_modified=tuple(modified[-MAX_FILES:]),
        tools_used=tuple(tools)[-MAX_TOOLS:],
    )


def hidden_words(
    previous: Checkpoint | None, state: WorkingState, facts: Facts, first_ms: int | None
) -> tuple[SpokenMessage, ...]:
    """Give what was said before a context that begins in a summary, in short, oldest first."""
    told = [*previous.thread.key_exchanges] if previous else []
    words = [SpokenMessage(is_user=one.role == "user", text=one.gist) for one in told]
    words += [
        SpokenMessage(is_user=one.role == "user", text=one.gist)
        for one in state.thread.exchanges
        if first_ms is None or one.at_ms < first_ms
    ]
    hidden = [one for one in words if one.text and not _is_said(one, facts.said)]
    # A user says "yes" more than once; what two sources tell stands side by side.
    return tuple(one for one, _ in itertools.groupby(hidden))


def _is_said(words: SpokenMessage, said: Sequence[SpokenMessage]) -> bool:
    head = words.text.rstrip("…")
    return any(one.is_user is words.is_user and one.text.startswith(head) for one in said)


def left_open(previous: Checkpoint | None, facts: Facts, *, is_idle: bool) -> Iterator[str]:
    """Give the open items of before that the context neither shows nor reports as done.

    `is_idle` tells that the agent answered and waits: what it was to do next then is done.
    """
    if previous is None or not previous.open_items:
        return
    shown = [" ".join(one.text.split()) for one in facts.said]
    planned = {gist(step, 200) for step, _ in facts.plan}
    ran = {run.key for run in facts.runs}
    hidden = [
        item
        for item in previous.open_items
        if item not in planned
        and not any(item.rstrip("…") in text for text in shown)
        and not (is_idle and item == previous.working.next_action)
        and _command_key(item) not in ran
    ]
    sentences = [
        Sentence(
            text=item,
            kind="open",
            n_item=-1,
            is_user=False,
            is_bulk=False,
            wording=read_wording(item),
        )
        for item in hidden
    ]
    done = [sentence for sentence in facts.sentences if sentence.kind == "done"]
    changed = {touch.path: touch.n_item for touch in facts.files if touch.is_modified}
    yield from (sentence.text for sentence in find_open_points([*sentences, *done], changed))


def _command_key(item: str) -> str | None:
    """Name the command of an open item that tells of a failure, as runs are named."""
    if not item.startswith("failing: "):
        return None
    return run_key(item.removeprefix("failing: ").split(" → ", 1)[0], is_check=True)


def hidden_errors(state: WorkingState, first_ms: int | None) -> tuple[str, ...]:
    """List the newest failures that were captured before the context begins."""
    errors = state.thread.errors
    hidden = [f"failed: {one.text}" for one in errors if first_ms is None or one.at_ms < first_ms]
    return tuple(hidden[-_MAX_ERRORS:])


def united(before: Sequence[str], now: Sequence[str], n_max: int) -> tuple[str, ...]:
    """Join two lists, those that are there again at their new place, and keep the last."""
    again = set(now)
    return tuple([*(one for one in before if one not in again), *dict.fromkeys(now)][-n_max:])


def rfc3339(at_ms: int) -> str:
    try:
        moment = datetime.fromtimestamp(at_ms / 1000, UTC)
    except (OverflowError, ValueError, OSError):
        moment = datetime.fromtimestamp(0, UTC)
    return moment.isoformat(timespec="seconds").replace("+00:00", "Z")
