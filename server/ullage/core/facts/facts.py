"""Facts: what a run of messages holds that a summary or a checkpoint has to carry."""

from collections.abc import Callable, Iterable, Sequence

import msgspec

from ullage.core.facts.accumulate import Call, Choice, FactAccumulator, FileTouch, OpenTurn, update
from ullage.core.facts.command_runs import CommandRun, summarize_runs
from ullage.core.facts.previous_summary import PreviousSummary
from ullage.core.facts.replaced_values import (
    OldValuePattern,
    ReplacedValue,
    mask_old_values,
    old_value_patterns,
    resolve_replaced,
)
from ullage.core.facts.thread import SpokenMessage
from ullage.core.text.prose import gist
from ullage.core.text.said import read_sentence_claims
from ullage.core.text.sentences import Sentence, find_open_points, replace_text
from ullage.core.text.wording import read_wording
from ullage.core.transcript.context import ContextItem

_MAX_PENDING = 5


class Turn(msgspec.Struct, frozen=True, kw_only=True):
    """What a user asked, and how the agent's last words on it began."""

    ask: str
    """The user's sentences that are not rules, bounded; empty where there are none."""
    prose: str
    """All that the user wrote."""
    answer: str
    is_answered: bool
    n_item: int
    at_ms: int | None


class Facts(msgspec.Struct, frozen=True, kw_only=True):
    carried: tuple[PreviousSummary, ...]
    rules: tuple[Sentence, ...]
    choices: tuple[Choice, ...]
    sentences: tuple[Sentence, ...]
    """Everything said, replaced values resolved, in order."""
    turns: tuple[Turn, ...]
    open_points: tuple[str, ...]
    findings: tuple[str, ...]
    files: tuple[FileTouch, ...]
    runs: tuple[CommandRun, ...]
    tools: tuple[str, ...]
    plan: tuple[tuple[str, bool], ...]
    retired: tuple[ReplacedValue, ...]
    pending_calls: tuple[tuple[str, str], ...]
    """Calls without a result: tool and arguments in short."""
    last_call: tuple[str, str] | None
    last_answer: str
    n_items: int
    times: tuple[int | None, ...]
    """When each item was written."""
    said: tuple[SpokenMessage, ...]


def collect_facts(items: Iterable[ContextItem], earlier: PreviousSummary | None = None) -> Facts:
    """Collect the facts of the messages in one pass, oldest first."""
    seen = FactAccumulator(clean=str)
    update(seen, items)
    return finish(seen, earlier)


def finish(seen: FactAccumulator, earlier: PreviousSummary | None = None) -> Facts:
    """Say what holds of all that was seen; the gathering is unchanged and may go on.

    What was settled `earlier`, out of sight by now, comes first of what is carried.
    """
    carried = [*((earlier,) if earlier else ()), *seen.carried]
    carried, spoken, retired, successors = _without_replaced(seen, carried)
    outdated = old_value_patterns(retired)
    rules = tuple(s for s in spoken if s.is_user and s.kind == "rule")
    choices = [
        Choice(
            text=s.text,
            is_user=s.is_user,
            is_guessed=False,
            n_item=s.n_item,
            at_ms=seen.times[s.n_item],
        )
        for at, s in enumerate(spoken)
        if s.kind == "choice" or at in successors
    ]
    choices = sorted(choices + seen.replies, key=lambda choice: choice.n_item)
    kept: dict[int, list[Sentence]] = {}
    for sentence in spoken:
        if sentence.is_user:
            kept.setdefault(sentence.n_item, []).append(sentence)
    changed = {touch.path: touch.n_item for touch in seen.touches.values() if touch.is_modified}
    return Facts(
        carried=tuple(carried),
        rules=tuple({rule.text: rule for rule in rules}.values()),
        choices=tuple({choice.text: choice for choice in choices}.values()),
        sentences=tuple(spoken),
        turns=tuple(
            _turn(turn, kept.get(turn.n_item, []), outdated, is_last=at == len(seen.turns) - 1)
            for at, turn in enumerate(seen.turns)
        ),
        open_points=tuple(dict.fromkeys(s.text for s in find_open_points(spoken, changed))),
        findings=tuple(dict.fromkeys(s.text for s in spoken if s.kind == "finding")),
        files=tuple(seen.touches.values()),
        runs=summarize_runs(seen.runs, seen.clean),
        tools=tuple(seen.tools),
        plan=seen.plan,
        retired=tuple(retired),
        pending_calls=tuple(
            _shown_call(call, seen.clean) for call in list(seen.calls.values())[-_MAX_PENDING:]
        ),
        last_call=_shown_call(seen.last_call, seen.clean) if seen.last_call else None,
        last_answer=mask_old_values(seen.last_answer, outdated),
        n_items=len(seen.times),
        times=tuple(seen.times),
        said=tuple(seen.said),
    )


def _shown_call(held: Call, clean: Callable[[str], str]) -> tuple[str, str]:
    call, command, paths = held
    return clean(call.name), gist(command or ", ".join(paths) or clean(call.arguments), 120)


def _turn(
    turn: OpenTurn,
    kept: Sequence[Sentence],
    outdated: Sequence[OldValuePattern],
    *,
    is_last: bool,
) -> Turn:
    said = [s for s in kept if s.kind not in ("rule", "choice")]
    # What is asked stands before or after a pasted document, not within it.
    asked = [s.text for s in said if not s.is_bulk] or [s.text for s in said]
    is_plain = any(s.kind not in ("rule", "choice") for s in turn.sentences)
    return Turn(
        ask=" ".join(asked) if is_plain else "",
        prose=mask_old_values(turn.prose, outdated),
        answer=mask_old_values(turn.answer, outdated),
        # A turn that the user followed up on after some answer does not stay open.
        is_answered=turn.is_answered or (bool(turn.answer) and not is_last),
        n_item=turn.n_item,
        at_ms=turn.at_ms,
    )


def _without_replaced(
    seen: FactAccumulator, carried: Sequence[PreviousSummary]
) -> tuple[list[PreviousSummary], list[Sentence], list[ReplacedValue], set[int]]:
    """Drop or mask the values that were replaced since, in all that was said or carried.

    The last are the places of the user's sentences that replaced one, rules aside: what holds
    instead is settled by them, though they read as a request.
    """
    told = [
        (at, section, line)
        for at, earlier in enumerate(carried)
        for section, lines in earlier.lines.items()
        for line in lines
    ]
    said = [
        read_sentence_claims(
            line,
            read_wording(line),
            is_user=section == "Constraints",
            is_rule=section == "Constraints",
            is_choice=section == "Decisions",
        )
        for _, section, line in told
    ]
    said += seen.compared
    changed, retired = resolve_replaced(said)
    resolved: list[PreviousSummary] = []
    for at, earlier in enumerate(carried):
        lines: dict[str, list[str]] = {section: [] for section in earlier.lines}
        for n_said, (owner, section, line) in enumerate(told):
            if owner == at and (text := changed.get(n_said, line)):
                lines[section].append(text)
        kept = {name: tuple(found) for name, found in lines.items()}
        resolved.append(PreviousSummary(is_ours=earlier.is_ours, lines=kept))
    n_old = len(seen.sentences) - len(seen.compared)
    spoken = seen.sentences[:n_old]
    successors: set[int] = set()
    replacing = {item.n_sentence for item in retired if item.is_by_user}
    for n_said, sentence in enumerate(seen.sentences[n_old:], len(told)):
        text = changed.get(n_said, sentence.text)
        if not text:
            continue
        if n_said in replacing and sentence.kind not in ("rule", "choice"):
            successors.add(len(spoken))
        spoken.append(sentence if text == sentence.text else replace_text(sentence, text))
    return resolved, spoken, retired, successors
