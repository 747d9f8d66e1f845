"""Lines of a summary: facts worded for its sections, each with its priority."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

import msgspec

from ullage.core.change.tool_outputs import is_placeholder
from ullage.core.facts.command_runs import CommandRun, run_key
from ullage.core.facts.facts import Facts
from ullage.core.facts.summary_sections import LATEST, OPEN_REQUEST, SECTIONS
from ullage.core.facts.task_state import read_task_state
from ullage.core.facts.tool_calls import list_new_texts
from ullage.core.text import identifiers, wording
from ullage.core.text.prose import gist, one_line, remove_bold, remove_list_mark
from ullage.core.text.quotations import read_quoted
from ullage.core.text.wording import is_directive
from ullage.core.transcript.context import ContextItem
from ullage.core.transcript.entries import Text, ToolCall, ToolResult
from ullage.core.transcript.speech import read_speech

GOAL, CONSTRAINTS, DECISIONS, COMPLETED, STATE, REMAINING, FILES, COMMANDS, IDENTIFIERS = range(
    len(SECTIONS)
)
ESSENTIAL = 850.0
"""Priority from which a line is dropped only when nothing else is left to drop."""
_MAX_ASK_CHARS = 280
_MAX_ANSWER_CHARS = 220
_MIN_ANSWER_CHARS = 60
_MIN_ANSWER_PRIORITY = 30
"""A shorter answer of lower priority only confirms: "Noted and recorded." Chosen."""
_MAX_STATE_CHARS = 420
_MAX_DRONE_CHARS = 140
"""What is shown of a last answer that says again what was said before; chosen."""
_MIN_STATE_NOVELTY = 0.3
_FOCUS_FACTOR = 2.5
_FORMER = 1_000_000
_ASKED = "asked: "
_ANSWERED = "answered: "
_ANSWER_OFFSET = 1e-7
"""Puts an answer right behind its request, before what else was told."""
_CARRIED_ASK_PRIORITY = 140.0
"""By how much the user's words outweigh the agent's in an earlier summary; tried on sessions."""
_PASSED_LATER = " (a later run passed)"
_CARRIED_PRIORITY = (
    (900.0, 900.0), (990.0, 990.0), (860.0, 880.0), (200.0, 330.0), (0.0, 0.0),
    (860.0, 870.0), (250.0, 420.0), (200.0, 300.0), (220.0, 330.0),
)  # fmt: skip
"""Priority of the oldest and of the newest carried line, for each section."""
_KIND_PRIORITY = {"done": 150.0, "finding": 230.0, "other": 20.0, "question": 0.0}
_MAX_SCORED = 5000
"""Sentences searched for identifiers, the newest; keeps megabytes of speech cheap. Chosen."""
_MIN_TOLD_PRIORITY = 50.0
"""Below this an agent's sentence says nothing that others do not; tried on sessions."""


class Line(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    section: int
    text: str
    priority: float
    order: float
    """Place within its section."""
    is_bulk: bool = False


def list_lines(facts: Facts, focus: str | None) -> list[Line]:
    """Give every line that a summary might hold, without those of the last section."""
    lines: dict[tuple[int, str], Line] = {}
    counts = _count_words(facts)
    for line in (
        *_list_carried(facts, counts),
        *_list_goals(facts, counts),
        *_list_rules(facts),
        *_list_choices(facts),
        *_list_turns(facts, counts),
        *_list_told(facts, counts),
        *_list_state(facts, counts),
        *_list_remaining(facts),
        *_list_files(facts),
        *_list_runs(facts),
    ):
        text = one_line(line.text)
        same = lines.get((line.section, text), line)
        if same is line or same.priority < line.priority:
            order = min(same.order, line.order)
            lines[line.section, text] = msgspec.structs.replace(line, text=text, order=order)
    return apply_focus(list(lines.values()), focus)


def apply_focus(lines: list[Line], focus: str | None) -> list[Line]:
    """Raise the lines that share words with the focus."""
    words = {
        word
        for word in wording.read_wording(focus or "").words
        if len(word) > 2 or not word.isascii()
    }
    if not words:
        return lines
    return [
        msgspec.structs.replace(line, priority=min(line.priority * _FOCUS_FACTOR, ESSENTIAL - 1))
        if line.priority < ESSENTIAL and words & wording.read_wording(line.text).words
        else line
        for line in lines
    ]


def _count_words(facts: Facts) -> Counter[str]:
    counts: Counter[str] = Counter()
    for sentence in facts.sentences:
        counts.update(sentence.wording.words)
    for name in ("Goal", "Work completed"):
        for point in facts.previous_lines(name):
            counts.update(wording.read_wording(point).words)
    return counts


def _list_carried(facts: Facts, counts: Counter[str]) -> Iterator[Line]:
    """Carry an earlier summary on; its current state is history now."""
    touched = {touch.path for touch in facts.files}
    for at, summary in enumerate(facts.previous):
        for section, name in enumerate(SECTIONS):
            if section == STATE:
                continue
            points = summary.lines.get(name, ())
            low, high = _CARRIED_PRIORITY[section]
            for n_point, old_point in enumerate(points):
                point = _bring_up_to_date(section, old_point, facts, touched)
                if not point:
                    continue
                priority = low + (high - low) * (n_point + 1) / len(points)
                if section == GOAL and n_point:
                    priority = 420.0 + 0.6 * _rate_told(point, counts)
                elif section == COMPLETED:
                    # What the user said in passing stands here too.
                    priority += _CARRIED_ASK_PRIORITY if point.startswith(_ASKED) else 0.0
                    priority += 0.6 * _rate_told(point, counts)
                order = n_point - _FORMER * (len(facts.previous) - at)
                yield Line(section=section, text=point, priority=priority, order=order)


def _bring_up_to_date(section: int, point: str, facts: Facts, touched: set[str]) -> str:
    """Bring a carried line up to date; empty where a new line takes its place."""
    if section == GOAL and facts.requests and point.startswith(LATEST):
        return ""
    if section == FILES:
        return "" if point.split(" ", 1)[-1] in touched else point
    if section == COMMANDS:
        verb, _, rest = point.partition(": ")
        command = rest.split(" → ", 1)[0]
        keys = {command, run_key(command, is_check=True)}
        is_passed = any(not run.is_failed and run.key in keys for run in facts.runs)
        if is_passed and verb == "ok":
            return ""
        if is_passed and verb == "failed" and not point.endswith(_PASSED_LATER):
            return point + _PASSED_LATER
    return point


def _list_goals(facts: Facts, counts: Counter[str]) -> Iterator[Line]:
    asked = facts.requests
    if not asked:
        return
    if not facts.previous_lines("Goal"):
        yield Line(section=GOAL, text=gist(asked[0].ask, 500), priority=960, order=asked[0].n_item)
    if len(asked) > 1 or facts.previous:
        # The whole of an open request stands under Remaining.
        text = LATEST + gist(asked[-1].ask, 160 if asked[-1].is_open else 400)
        yield Line(section=GOAL, text=text, priority=955, order=2 * _FORMER)
    shown = {turn.n_item: gist(turn.ask, _MAX_ASK_CHARS) for turn in asked}
    for at, sentence in enumerate(facts.sentences):
        if not sentence.is_user or sentence.kind in ("rule", "choice"):
            continue
        if sentence.text in shown.get(sentence.n_item, "") or len(sentence.text) < 12:
            continue
        priority = 430.0 + _rate_told(sentence.text, counts)
        if sentence.is_bulk:
            is_new = at >= len(facts.sentences) - _MAX_SCORED
            priority = 40 * identifiers.score_identifiers(sentence.text) if is_new else 0.0
            priority += 250 * wording.score_rarity(sentence.wording.words, counts)
            if priority < 2 * _MIN_TOLD_PRIORITY:
                continue
        yield Line(section=GOAL, text=sentence.text, priority=priority, order=_FORMER + at)


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
        if choice.is_guessed:
            continue
        base = 870.0 if choice.is_user else 640.0
        priority = (
            base + 60 * (at + 1) / n_choices + 30 * identifiers.score_identifiers(choice.text) / 6
        )
        yield Line(section=DECISIONS, text=gist(choice.text, 420), priority=priority, order=at)


def _list_turns(facts: Facts, counts: Counter[str]) -> Iterator[Line]:
    """Give requests and how their answers begin, apart: what the user said outweighs the rest."""
    for turn in facts.requests:
        if turn.fate != "answered":
            continue
        age = (facts.n_items - turn.n_item) / max(1, facts.n_items)
        asked = gist(turn.ask, _MAX_ASK_CHARS)
        priority = (430 + _rate_told(asked, counts) - 80 * age) / (1 + len(asked) / 2500)
        yield Line(section=COMPLETED, text=_ASKED + asked, priority=priority, order=turn.n_item)
        answer = _find_first_telling(turn.answer)
        weight = _rate_told(answer, counts)
        if len(answer) < _MIN_ANSWER_CHARS and weight < _MIN_ANSWER_PRIORITY:
            continue
        priority = (300 + 1.2 * weight - 80 * age) / (1 + len(answer) / 1000)
        order = turn.n_item + _ANSWER_OFFSET
        yield Line(section=COMPLETED, text=_ANSWERED + answer, priority=priority, order=order)


def _rate_told(text: str, counts: Counter[str]) -> float:
    """Say from 0 to 250 how much a text tells that is exact, or said nowhere else."""
    text = text[:_MAX_ASK_CHARS]
    return 25 * identifiers.score_identifiers(text) + 100 * wording.score_novelty(
        wording.read_wording(text).words, counts
    )


def _find_first_telling(answer: str) -> str:
    """Give the first words of an answer that say more than that it begins."""
    lines = [remove_list_mark(raw.strip()) for raw in remove_bold(answer[:3000]).split("\n")]
    for at, line in enumerate(lines):
        if len(line) > 15 and not wording.is_intention(line.lower()):
            return gist(" ".join(lines[at:]), _MAX_ANSWER_CHARS)
    return gist(answer, _MAX_ANSWER_CHARS)


def _list_told(facts: Facts, counts: Counter[str]) -> Iterator[Line]:
    """Give what the agent told beside its decisions, by how exact it is."""
    # Only a request that was answered is shown with the beginning of its answer.
    answered = (turn.answer for turn in facts.requests if turn.fate == "answered")
    shown = "\n".join(map(_find_first_telling, answered))
    decided = {choice.n_item for choice in facts.choices if not choice.is_user}
    n_sentences = len(facts.sentences)
    for at, sentence in enumerate(facts.sentences):
        if sentence.is_user or sentence.kind not in _KIND_PRIORITY:
            continue
        exact = (
            identifiers.score_identifiers(sentence.text) if at >= n_sentences - _MAX_SCORED else 0.0
        )
        is_announced = wording.is_intention(sentence.text.lower())
        if len(sentence.text) < 20 or (is_announced and exact < 1) or sentence.text in shown:
            continue
        priority = _KIND_PRIORITY[sentence.kind] + 60 * exact
        priority += 120 * wording.score_rarity(sentence.wording.words, counts)
        if sentence.n_item in decided and not is_announced:
            priority += 100
        age = 1 - (sentence.n_item + 1) / max(1, facts.n_items)
        priority *= (1 - 0.25 * age) / (1 + len(sentence.text) / 400)
        if is_announced:
            priority *= 0.3
        if priority < _MIN_TOLD_PRIORITY:
            continue
        order = sentence.n_item + at * 1e-6
        yield Line(section=COMPLETED, text=sentence.text, priority=priority, order=order)


def _list_state(facts: Facts, counts: Counter[str]) -> Iterator[Line]:
    settled = {rule.n_item for rule in facts.rules}
    settled.update(choice.n_item for choice in facts.choices if not choice.is_guessed)
    last = facts.turns[-1] if facts.turns else None
    if last is not None and not last.ask and last.n_item not in settled:
        text = f"last user message: {gist(last.prose, _MAX_ASK_CHARS)}"
        yield Line(section=STATE, text=text, priority=840, order=0)
    answer = facts.last_answer
    if answer:
        novelty = wording.score_novelty(
            wording.read_wording(answer[:_MAX_STATE_CHARS]).words, counts
        )
        n_chars = _MAX_STATE_CHARS if novelty > _MIN_STATE_NOVELTY else _MAX_DRONE_CHARS
        text = f"last answer: {gist(answer, n_chars)}"
        yield Line(section=STATE, text=text, priority=835, order=1)
    if len(answer) > 2 * _MAX_STATE_CHARS:
        tail = " ".join(answer[-_MAX_STATE_CHARS:].split())
        text = f"it ends: …{tail[tail.find(' ') + 1 :]}"
        yield Line(section=STATE, text=text, priority=700, order=2)
    for at, (name, shown) in enumerate(facts.pending_calls):
        text = f"running when cut off: {name} {shown}"
        yield Line(section=STATE, text=text, priority=845, order=3 + at)
    checks = [run for run in facts.runs if run.is_check]
    if checks:
        text = f"last check: {_write_run(checks[-1])}"
        yield Line(section=STATE, text=text, priority=810, order=9)


def _list_remaining(facts: Facts) -> Iterator[Line]:
    for at, step in enumerate(facts.plan):
        if step.state == "done":
            text = gist(step.text, 200)
            yield Line(section=COMPLETED, text=text, priority=300, order=_FORMER + at)
    for at, item in enumerate(read_task_state(facts).open_items):
        is_asked = item.state in ("asked", "in progress")
        text = OPEN_REQUEST + item.text if is_asked else item.text
        priority = 950.0 if is_asked else 890 - at
        yield Line(section=REMAINING, text=text, priority=priority, order=at)


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
    for at, run in enumerate(facts.runs):
        recent = (at + 1) / len(facts.runs)
        if run.is_failed:
            priority = (220.0 if run.is_passed_later else 470.0) + 60 * recent
        else:
            priority = 200 + 60 * recent
        yield Line(section=COMMANDS, text=_write_run(run), priority=priority, order=run.n_item)


def _write_run(run: CommandRun) -> str:
    outcome = f" → {run.outcome}" if run.outcome else ""
    if run.is_failed:
        later = _PASSED_LATER if run.is_passed_later else ""
        return f"failed: {run.command}{outcome}{later}"
    return f"ok: {run.command}{outcome}"


def list_data_lines(
    sources: Iterable[tuple[str, int, float]], spoken: str
) -> Iterator[identifiers.DataLine]:
    """Rank the lines of sources, without keys; `spoken` is what user and agent said.

    Of a line that instructs, only the values in it are data; an address that it names is a part of
    the instruction.
    """
    shown: set[str] = set()
    for line in identifiers.rank_lines(sources, spoken):
        if line.score < identifiers.MIN_DATA_SCORE:
            return
        if identifiers.looks_secret(line.text):
            continue
        if is_directive(line.text):
            names = tuple(name for name in line.names if name not in shown and "://" not in name)
            if names:
                yield msgspec.structs.replace(line, text=", ".join(names), names=names)
        else:
            yield line
        shown.update(line.names)


def list_data_sources(items: Sequence[ContextItem]) -> Iterator[tuple[str, int, float]]:
    """Give results, arguments, code and pasted lines as (text, number of the item, weight)."""
    for n_item, item in enumerate(items):
        for block in item.message.blocks:
            if isinstance(block, ToolResult) and not is_placeholder(block):
                for part in block.content:
                    if isinstance(part, Text):
                        yield part.text, n_item, 1.0
            elif isinstance(block, ToolCall):
                yield "\n".join(list_new_texts(block)), n_item, 0.8
        if item.category != "system":
            yield read_speech(item, "harness", "pasted"), n_item, 1.0
        yield read_quoted(read_speech(item, "typed")), n_item, 1.3
        yield read_quoted(read_speech(item, "assistant"), is_agents=True), n_item, 1.3
