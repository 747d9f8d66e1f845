"""Lines of a summary: facts worded for its sections, each with its priority."""

from collections import Counter
from collections.abc import Iterator, Sequence
from collections.abc import Set as AbstractSet

import msgspec

from ullage.core.facts.command_runs import run_key
from ullage.core.facts.errors import find_errors, write_error
from ullage.core.facts.facts import Facts
from ullage.core.facts.made import list_made
from ullage.core.facts.replaced import apply_replaced
from ullage.core.facts.requests import Request, is_bare
from ullage.core.facts.summary_sections import (
    ASKED,
    NOT_CURED,
    OPEN_REQUEST,
    PASSED_LATER,
    REPLACED,
    SECTION_NAMES,
)
from ullage.core.facts.task_state import WAITING, read_task_state
from ullage.core.text import identifiers, wording
from ullage.core.text.prose import cut_sentences, gist, is_sentence, remove_bold
from ullage.core.text.quoting import one_line
from ullage.core.text.sentences import Sentence
from ullage.core.transcript.context import ContextItem

(
    GOAL, CONSTRAINTS, DECISIONS, COMPLETED, PROGRESS, ERRORS, REMAINING, NEXT, FILES, COMMANDS,
    IDENTIFIERS,
) = SECTION_NAMES  # fmt: skip
ESSENTIAL = 850.0
"""Priority from which a line is dropped only when nothing else is left to drop."""
RUNNING = "running when cut off: "
_MAX_GOAL_CHARS = 500
_MAX_ASK_CHARS = 280
_COLUMNS = " " * 3
"""What stands between the columns of a program's output."""
_MAX_OUTCOME_CHARS = 220
_MAX_LAST_OUTCOME_CHARS = 420
_MIN_OUTCOME_CHARS = 60
_MIN_OUTCOME_PRIORITY = 30
"""A shorter answer of lower priority only confirms: "Noted and recorded." Chosen."""
_MIN_REPLY_CHARS = 4
_MIN_TOLD_CHARS = 20
_MAX_REMARKS = 6
"""Points of one message that are neither results nor findings; more are an inventory. Chosen."""
_MIN_REMARK_EXACT = 1.5
_MIN_LAST_EXACT = 3.0
"""How exact a remark in the midst of the work must be to be worth a line; tried on sessions."""
_FORMER = 1_000_000
_ANSWER_OFFSET = 1e-7
"""Puts an answer right behind its request, before what else was told."""
_CARRIED_PRIORITY = {
    GOAL: (900.0, 900.0), CONSTRAINTS: (990.0, 990.0), DECISIONS: (860.0, 880.0),
    COMPLETED: (200.0, 330.0), PROGRESS: (300.0, 300.0), ERRORS: (200.0, 300.0),
    REMAINING: (860.0, 870.0), NEXT: (880.0, 880.0), FILES: (250.0, 420.0),
    COMMANDS: (200.0, 300.0), IDENTIFIERS: (220.0, 330.0),
}  # fmt: skip
"""Priority of the oldest and of the newest carried line, for each section."""
_KIND_PRIORITY = {"done": 150.0, "finding": 230.0, "other": 20.0}
_MAX_SCORED = 5000
"""Sentences searched for identifiers, the newest; keeps megabytes of speech cheap. Chosen."""
_MIN_TOLD_PRIORITY = 50.0
"""Below this an agent's sentence says nothing that others do not; tried on sessions."""


class Line(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    section: str
    text: str
    priority: float
    order: float
    """Place within its section."""
    is_bulk: bool = False


def list_lines(facts: Facts, items: Sequence[ContextItem]) -> list[Line]:
    """Give every line that a summary might hold, without those of the last section."""
    lines: dict[tuple[str, str], Line] = {}
    counts = _count_words(facts)
    replaced = facts.replaced
    for line in (
        *_list_carried(facts, counts),
        *_list_goals(facts, counts),
        *_list_rules(facts),
        *_list_choices(facts),
        *_list_outcomes(facts, counts),
        *_list_told(facts, counts),
        *_list_made(items),
        *_list_task(facts),
        *_list_errors(facts, items),
        *_list_files(facts),
        *_list_runs(facts),
    ):
        text = one_line(apply_replaced(line.text, replaced)).strip()
        if not text:
            continue
        same = lines.get((line.section, text), line)
        if same is line or same.priority < line.priority:
            order = min(same.order, line.order)
            lines[line.section, text] = msgspec.structs.replace(line, text=text, order=order)
    return list(lines.values())


def _count_words(facts: Facts) -> Counter[str]:
    counts: Counter[str] = Counter()
    for sentence in facts.sentences:
        counts.update(sentence.wording.words)
    for name in ("Goal", "Work completed"):
        for point in facts.previous_lines(name):
            counts.update(wording.read_wording(point).words)
    return counts


def _list_carried(facts: Facts, counts: Counter[str]) -> Iterator[Line]:
    """Carry an earlier summary on; what was in progress then is past once a person spoke."""
    touched = {touch.path for touch in facts.files}
    passed = {run.key for run in facts.runs if not run.is_failed}
    is_alone = len(facts.previous) == facts.n_items
    summarized_at = max(facts.summary_items, default=-1)
    is_same_turn = all(turn.n_item <= summarized_at for turn in facts.turns)
    for at, summary in enumerate(facts.previous):
        is_last = summary is facts.previous[-1]
        for name, points in summary.lines.items():
            # A step of our own plan may be done since; what another was at tells more.
            is_kept = is_last and is_same_turn and not summary.is_ours
            if not is_alone and (name == NEXT or (name == PROGRESS and not is_kept)):
                continue
            low, high = _CARRIED_PRIORITY[name]
            for n_point, old_point in enumerate(points):
                point = _bring_up_to_date(name, old_point, touched, passed)
                if not point:
                    continue
                priority = low + (high - low) * (n_point + 1) / len(points)
                if name == GOAL and n_point:
                    priority = 420.0 + 0.6 * _rate_told(point, counts)
                elif name == COMPLETED:
                    priority += 0.6 * _rate_told(point, counts)
                order = n_point - _FORMER * (len(facts.previous) - at)
                yield Line(section=name, text=point, priority=priority, order=order)


def _bring_up_to_date(section: str, point: str, touched: set[str], passed: set[str]) -> str:
    """Bring a carried line up to date; empty where a new line takes its place."""
    if section == FILES:
        return "" if point.split(" ", 1)[-1] in touched else point
    if section in (COMMANDS, ERRORS):
        command = point.removeprefix("ok: ").split(" → ", 1)[0]
        if not passed.isdisjoint((command, run_key(command, is_check=True))):
            if point.endswith(NOT_CURED):
                return point.removesuffix(NOT_CURED) + PASSED_LATER
            return "" if section == COMMANDS else point
    return point


def _list_goals(facts: Facts, counts: Counter[str]) -> Iterator[Line]:
    """Give the goal and every request in short that is not open any more."""
    asked = facts.requests
    has_goal = bool(facts.previous_lines(GOAL))
    tasks = [turn for turn in asked if turn.names_task] or list(asked)
    shown: dict[int, str] = {}
    for turn in asked:
        is_goal = not has_goal and turn is tasks[0]
        n_chars = _MAX_GOAL_CHARS if is_goal else _MAX_ASK_CHARS
        text = shown[turn.n_item] = gist(turn.ask, n_chars)
        if is_goal:
            mark = OPEN_REQUEST if _is_only_open(facts) else ""
            yield Line(section=GOAL, text=mark + text, priority=960, order=turn.n_item)
        elif not turn.is_open and (not _is_mere_reply(turn) or turn.n_item < tasks[0].n_item):
            age = (facts.n_items - turn.n_item) / max(1, facts.n_items)
            priority = (520 + _rate_told(text, counts) - 80 * age) / (1 + len(text) / 2500)
            text = (ASKED if turn.fate == "answered" else REPLACED) + text
            yield Line(section=GOAL, text=text, priority=priority, order=_FORMER + turn.n_item)
    told = {turn.n_item for turn in asked if turn.is_open or turn in (*tasks[:1], *tasks[-1:])}
    for at, sentence in enumerate(facts.sentences):
        if not sentence.is_user or sentence.kind in ("rule", "choice"):
            continue
        if sentence.text in shown.get(sentence.n_item, "") or len(sentence.text) < 12:
            continue
        # Of a long document the rest is told where it is the task.
        is_told = (
            sentence.n_item in told
            if sentence.is_bulk
            else is_sentence(sentence.text) and _COLUMNS not in sentence.text
        )
        if not is_told:
            continue
        priority = 430.0 + _rate_told(sentence.text, counts)
        if sentence.is_bulk:
            is_new = at >= len(facts.sentences) - _MAX_SCORED
            priority = 40 * identifiers.score_identifiers(sentence.text) if is_new else 0.0
            priority += 250 * wording.score_rarity(sentence.wording.words, counts)
            if priority < 2 * _MIN_TOLD_PRIORITY:
                continue
        order = _FORMER + sentence.n_item + at * 1e-6
        yield Line(section=GOAL, text=sentence.text, priority=priority, order=order)


def _is_mere_reply(turn: Request) -> bool:
    """Whether words only go on with what was said before: "yes", "continue", a number."""
    has_figure = any(map(str.isdigit, turn.ask))
    return is_bare(turn.ask) and (not has_figure or len(turn.ask) < _MIN_REPLY_CHARS)


def _is_only_open(facts: Facts) -> bool:
    """Whether all that was asked is one request, which is open."""
    return len(facts.requests) == 1 and facts.requests[0].is_open and not facts.previous_lines(GOAL)


def _list_rules(facts: Facts) -> Iterator[Line]:
    for at, rule in enumerate(facts.rules):
        priority = (
            885.0 if rule.is_bulk else 1000.0 if wording.rule_strength(rule.wording) > 1 else 985.0
        )
        yield Line(
            section=CONSTRAINTS, text=rule.text, priority=priority, order=at, is_bulk=rule.is_bulk
        )


def _list_choices(facts: Facts) -> Iterator[Line]:
    n_choices = len(facts.choices)
    for at, choice in enumerate(facts.choices):
        base = 870.0 if choice.is_user else 640.0
        priority = (
            base + 60 * (at + 1) / n_choices + 30 * identifiers.score_identifiers(choice.text) / 6
        )
        yield Line(section=DECISIONS, text=gist(choice.text, 420), priority=priority, order=at)


def _list_outcomes(facts: Facts, counts: Counter[str]) -> Iterator[Line]:
    """Give of each answered request what came out, of the last one more."""
    settled = {part.text for choice in facts.choices for part in cut_sentences(choice.text)}
    settled.update(sentence.text for sentence in facts.sentences if sentence.kind == "open")
    for turn in facts.requests:
        if turn.fate != "answered":
            continue
        is_last = turn is facts.turns[-1]
        n_chars = _MAX_LAST_OUTCOME_CHARS if is_last else _MAX_OUTCOME_CHARS
        outcome = _find_outcome(turn.answer, n_chars, settled)
        weight = _rate_told(outcome, counts)
        if len(outcome) < _MIN_OUTCOME_CHARS and weight < _MIN_OUTCOME_PRIORITY:
            continue
        age = (facts.n_items - turn.n_item) / max(1, facts.n_items)
        priority = (300 + 1.2 * weight - 80 * age) / (1 + len(outcome) / 1000)
        yield Line(
            section=COMPLETED,
            text=outcome,
            priority=max(priority, 800.0) if is_last else priority,
            order=turn.n_item + _ANSWER_OFFSET,
        )


def _rate_told(text: str, counts: Counter[str]) -> float:
    """Say from 0 to 250 how much a text tells that is exact, or said nowhere else."""
    text = text[:_MAX_ASK_CHARS]
    return 25 * identifiers.score_identifiers(text) + 100 * wording.score_novelty(
        wording.read_wording(text).words, counts
    )


def _find_outcome(answer: str, n_chars: int, settled: AbstractSet[str]) -> str:
    """Give the first sentences of an answer that say more than what is about to be done.

    What is settled or open is told elsewhere.
    """
    outcome = ""
    for sentence in cut_sentences(remove_bold(answer[:3000])):
        text = sentence.text
        if len(text) <= 15 or text.endswith(("?", ":", "？", "：")) or text in settled:
            continue
        if text.startswith("|") or wording.is_intention(text.lower()):
            continue
        if outcome and len(outcome) + len(text) >= n_chars:
            break
        outcome = f"{outcome} {text}" if outcome else gist(text, n_chars)
    return outcome


def _list_told(facts: Facts, counts: Counter[str]) -> Iterator[Line]:
    """Give what the agent told beside its decisions: results and findings, by how exact they are.

    What it says in the midst of its work must be a result, a finding or exact, or stand beside a
    decision; the last words before a call mostly announce it.
    """
    decided = {choice.n_item for choice in facts.choices if not choice.is_user}
    spared = decided.union(facts.reports)
    n_sentences = len(facts.sentences)
    n_remarks: Counter[int] = Counter()
    for at, sentence in enumerate(facts.sentences):
        if sentence.is_user or sentence.kind not in _KIND_PRIORITY:
            continue
        is_new = at >= n_sentences - _MAX_SCORED
        exact = identifiers.score_identifiers(sentence.text) if is_new else 0.0
        following = facts.sentences[at + 1] if at + 1 < n_sentences else None
        if not _is_result(sentence, following, exact, is_remark=sentence.n_item not in spared):
            continue
        if sentence.kind == "other":
            n_remarks[sentence.n_item] += 1
            if n_remarks[sentence.n_item] > _MAX_REMARKS:
                continue
        priority = _KIND_PRIORITY[sentence.kind] + 60 * exact
        priority += 120 * wording.score_rarity(sentence.wording.words, counts)
        if sentence.n_item in decided:
            priority += 100
        age = 1 - (sentence.n_item + 1) / max(1, facts.n_items)
        priority *= (1 - 0.25 * age) / (1 + len(sentence.text) / 400)
        if priority < _MIN_TOLD_PRIORITY:
            continue
        order = sentence.n_item + at * 1e-6
        yield Line(section=COMPLETED, text=sentence.text, priority=priority, order=order)


def _is_result(
    sentence: Sentence, following: Sentence | None, exact: float, *, is_remark: bool
) -> bool:
    """Tell whether a sentence of the agent's says what is, not what it is about to do."""
    text = sentence.text
    if len(text) < _MIN_TOLD_CHARS or text.endswith((":", "：")) or text.startswith("|"):
        return False
    if wording.is_intention(text.lower()):
        return False
    if not is_remark:
        return True
    is_last = following is None or following.n_item != sentence.n_item
    if sentence.kind != "other":
        return True
    if is_last:
        return exact >= _MIN_LAST_EXACT and any(map(str.isdigit, text))
    return exact >= _MIN_REMARK_EXACT


def _list_made(items: Sequence[ContextItem]) -> Iterator[Line]:
    """Give the commits and what else was made that has an address."""
    made = list(list_made(items))
    for at, (n_item, text) in enumerate(made):
        priority = 480.0 + 200 * (at + 1) / len(made)
        yield Line(section=COMPLETED, text=text, priority=priority, order=n_item)


def _list_task(facts: Facts) -> Iterator[Line]:
    """Give what is in progress, what remains and what comes next."""
    for at, step in enumerate(facts.plan):
        if step.state == "done":
            text = gist(step.text, 200)
            yield Line(section=COMPLETED, text=text, priority=300, order=_FORMER + at)
    task = read_task_state(facts)
    step = task.next_step
    asked = {turn.n_item for turn in facts.requests if turn.is_open}
    for at, item in enumerate(task.open_items):
        is_request = item.n_item in asked and item.state in ("asked", "in progress")
        if is_request and _is_only_open(facts):
            continue
        is_next = step is not None and step.by == "user" and item.text.startswith(step.text[:-1])
        section = NEXT if is_next else PROGRESS if item.state == "in progress" else REMAINING
        text = OPEN_REQUEST + item.text if is_request else item.text
        if item.state == "question" and step is None:
            section, text = NEXT, WAITING + item.text
        priority = 950.0 if is_request else 890.0 - at
        yield Line(section=section, text=text, priority=priority, order=at)
    if step is not None and step.by != "user":
        text = f"{step.by}: “{step.text}”"
        yield Line(section=NEXT, text=text, priority=945, order=0)
    for at, (name, shown) in enumerate(facts.pending_calls):
        order = _FORMER + at
        yield Line(section=PROGRESS, text=f"{RUNNING}{name} {shown}", priority=845, order=order)


def _list_errors(facts: Facts, items: Sequence[ContextItem]) -> Iterator[Line]:
    """Give the errors, each with its cause in the agent's words and with what cured it."""
    errors = list(find_errors(facts.runs, items))
    for at, error in enumerate(errors):
        recent = (at + 1) / len(errors)
        priority = (300.0 if error.is_cured else 700.0) + 100 * recent
        text = write_error(error, facts)
        yield Line(section=ERRORS, text=text, priority=priority, order=error.n_item)


def _list_files(facts: Facts) -> Iterator[Line]:
    n_files = len(facts.files)
    before = set(facts.previous_lines("Files"))
    for at, touch in enumerate(facts.files):
        is_modified = touch.is_modified or f"modified {touch.path}" in before
        verb = "modified" if is_modified else "read"
        priority = (430.0 if is_modified else 300.0) + 60 * (at + 1) / n_files
        # Newest first: the reader begins with what was last in hand.
        order = -at + (0 if is_modified else _FORMER)
        yield Line(section=FILES, text=f"{verb} {touch.path}", priority=priority, order=order)


def _list_runs(facts: Facts) -> Iterator[Line]:
    """Give the last success of each check; failures are errors."""
    for at, run in enumerate(facts.runs):
        if not run.is_failed:
            text = f"ok: {run.command}" + (f" → {run.outcome}" if run.outcome else "")
            priority = 260 + 60 * (at + 1) / len(facts.runs)
            yield Line(section=COMMANDS, text=text, priority=priority, order=run.n_item)
