"""The decisions of a checkpoint: those that the context shows, and those from before it begins.

A context shows what was said after a moment, and a summary of the rest. Decisions from before
that moment are carried. Later ones are found again: what is not found belongs to a branch that was
left.
"""

from collections.abc import Sequence
from datetime import UTC, datetime

import msgspec

from ullage.core.checkpoint.checkpoint import Checkpoint, Decision
from ullage.core.checkpoint.working_state import MAX_DECISIONS, WorkingState
from ullage.core.facts.facts import Facts
from ullage.core.facts.replaced import Replacement, apply_replaced
from ullage.core.text.wording import reads_as_rule

_MIN_SAME_CHARS = 24
"""So many characters that begin two decisions alike make them the same one; chosen."""


class DraftDecision(msgspec.Struct, frozen=True, kw_only=True):
    """A decision on its way into a checkpoint."""

    what: str
    when: str
    is_rule: bool
    id: str = ""
    """That of the checkpoint before, if any."""


def find_hidden_decisions(
    previous: Checkpoint | None, state: WorkingState, first_ms: int | None
) -> list[DraftDecision]:
    """List what was decided before the context begins, oldest first.

    Times of checkpoints are in seconds: what was decided in the first of them may be out of sight,
    and stands once in any case.
    """
    begin = None if first_ms is None else _write_time(first_ms)
    hidden = [
        DraftDecision(
            what=decision.what,
            when=decision.when,
            is_rule=reads_as_rule(decision.what),
            id=decision.id,
        )
        for decision in (previous.decisions if previous else ())
        if begin is None or decision.when <= begin
    ]
    for captured in state.decisions.made:
        is_hidden = first_ms is None or captured.at_ms < first_ms
        if is_hidden and not _holds(hidden, captured.what):
            when = _write_time(captured.at_ms)
            hidden.append(DraftDecision(what=captured.what, when=when, is_rule=False))
    return hidden


def list_decisions(
    facts: Facts,
    hidden: Sequence[DraftDecision],
    previous: Checkpoint | None,
    *,
    created_at: str,
    summarized_ms: int | None,
) -> tuple[Decision, ...]:
    """Give rules and choices together: the schema has one list for what was settled.

    `hidden` are from before the messages of the facts; `summarized_ms` is the latest time of what
    the summaries among these tell.
    """

    def written(at_ms: int | None) -> str:
        return created_at if at_ms is None else _write_time(at_ms)

    decisions = list(hidden)
    for summary in facts.previous:
        decisions += [
            DraftDecision(what=line, when=written(summarized_ms), is_rule=name == "Constraints")
            for name in ("Constraints", "Decisions")
            for line in summary.lines.get(name, ())
            if not _holds(decisions, line)
        ]
    choices = [(choice.n_item, choice.at_ms, choice.text, False) for choice in facts.choices]
    # A reply that is a rule stands here with its question; once is enough.
    rules = [
        (rule.n_item, facts.times[rule.n_item], rule.text, True)
        for rule in facts.rules
        if not any(choice.text.startswith(rule.text) for choice in facts.choices)
    ]
    settled = sorted([*rules, *choices], key=lambda each: each[0])
    # What is said again is as new as that: it keeps its id, and not its place.
    said = {what for _, _, what, _ in settled}
    decisions = [decision for decision in decisions if decision.what not in said]
    decisions += [
        DraftDecision(what=what, when=written(at_ms), is_rule=is_rule)
        for _, at_ms, what, is_rule in settled
    ]
    marked = _mark_replaced(decisions, facts.replaced)
    return _number(_newest(marked), previous.decisions if previous else ())


def _mark_replaced(
    decisions: Sequence[DraftDecision], replaced: Sequence[Replacement]
) -> list[DraftDecision]:
    """Mark choices that a later statement may stand for, and leave out what one corrects.

    Rules keep their words: an id is given for them.
    """
    marked = [
        decision
        if decision.is_rule
        else msgspec.structs.replace(decision, what=apply_replaced(decision.what, replaced))
        for decision in decisions
    ]
    return [decision for decision in marked if decision.what]


def _newest(decisions: Sequence[DraftDecision]) -> list[DraftDecision]:
    """Keep at most `MAX_DECISIONS`: choices are dropped before rules, the oldest first."""
    rules = [at for at, decision in enumerate(decisions) if decision.is_rule][-MAX_DECISIONS:]
    choices = [at for at, decision in enumerate(decisions) if not decision.is_rule]
    n_room = min(MAX_DECISIONS - len(rules), len(choices))
    return [decisions[at] for at in sorted([*rules, *choices[len(choices) - n_room :]])]


def _number(decisions: Sequence[DraftDecision], before: Sequence[Decision]) -> tuple[Decision, ...]:
    """Give each an id; one that the checkpoint before has keeps its id and its time."""
    n_last = max((int(d.id[1:]) for d in before if d.id[1:].isdecimal()), default=0)
    numbered: dict[str, Decision] = {}
    for draft in decisions:
        same = next(
            (d for d in before if d.id not in numbered and _is_same(d.what, draft.what)), None
        )
        number = draft.id or (same.id if same else "")
        if not number or number in numbered:
            n_last += 1
            number = f"d{n_last}"
        when = same.when if same and not draft.id else draft.when
        numbered[number] = Decision(id=number, what=draft.what, when=when)
    return tuple(numbered.values())


def _holds(decisions: Sequence[DraftDecision], what: str) -> bool:
    return any(_is_same(decision.what, what) for decision in decisions)


def _is_same(first: str, second: str) -> bool:
    """Whether two decisions are the same.

    A summary may hold only the beginning; a reply may stand with what it answers, or without.
    """
    if first == second:
        return True
    short, long = sorted((first.rstrip("…"), second.rstrip("…")), key=len)
    return long.startswith(short if len(short) >= _MIN_SAME_CHARS else f"{short} (")


def _write_time(at_ms: int) -> str:
    try:
        moment = datetime.fromtimestamp(at_ms / 1000, UTC)
    except (OverflowError, ValueError, OSError):
        moment = datetime.fromtimestamp(0, UTC)
    return moment.isoformat(timespec="seconds").replace("+00:00", "Z")
