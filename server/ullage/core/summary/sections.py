"""Sections: facts as lines of a summary, each with its worth."""

from collections import Counter
from collections.abc import Iterator

import msgspec

from ullage.core.facts.command_runs import CommandRun, run_key
from ullage.core.facts.facts import Facts
from ullage.core.facts.previous_summary import LATEST, OPEN_REQUEST, SECTIONS
from ullage.core.text.identifiers import score_identifiers
from ullage.core.text.prose import gist, one_line
from ullage.core.text.wording import (
    is_intention,
    read_wording,
    rule_strength,
    score_novelty,
    score_rarity,
)

GOAL, CONSTRAINTS, DECISIONS, COMPLETED, STATE, REMAINING, FILES, COMMANDS, IDENTIFIERS = range(
    len(SECTIONS)
)
ESSENTIAL = 850.0
"""Worth from which a line is dropped only when nothing else is left to drop."""
_MAX_ASK_CHARS = 280
_MAX_ANSWER_CHARS = 220
_MIN_ANSWER_CHARS = 60
_MIN_ANSWER_WORTH = 30
"""A shorter answer of less worth only confirms: "Noted and recorded." Chosen."""
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
_CARRIED_ASK_WORTH = 140.0
"""By how much the user's words outweigh the agent's in an earlier summary; tried on sessions."""
_PASSED_LATER = " (a later run passed)"


class Line(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    section: int
    text: str
    worth: float
    order: float
    """Place within its section."""
    is_bulk: bool = False


def fact_lines(facts: Facts, focus: str | None) -> list[Line]:
    """Give every line that a summary might hold, without those of the last section."""
    lines: dict[tuple[int, str], Line] = {}
    counts = _word_counts(facts)
    for line in (
        *_carried_lines(facts, counts),
        *_goal_lines(facts, counts),
        *_rule_lines(facts),
        *_choice_lines(facts),
        *_turn_lines(facts, counts),
        *_told_lines(facts, counts),
        *_state_lines(facts, counts),
        *_remaining_lines(facts),
        *_file_lines(facts),
        *_run_lines(facts),
    ):
        flat = one_line(line.text)
        key = (line.section, flat)
        known = lines.get(key)
        if known is None or known.worth < line.worth:
            order = line.order if known is None else min(known.order, line.order)
            lines[key] = msgspec.structs.replace(line, text=flat, order=order)
    return focused(list(lines.values()), focus)


def focused(lines: list[Line], focus: str | None) -> list[Line]:
    """Raise the lines that share words with the focus."""
    words = {
        word for word in read_wording(focus or "").words if len(word) > 2 or not word.isascii()
    }
    if not words:
        return lines
    return [
        msgspec.structs.replace(line, worth=min(line.worth * _FOCUS_FACTOR, ESSENTIAL - 1))
        if line.worth < ESSENTIAL and words & read_wording(line.text).words
        else line
        for line in lines
    ]


_CARRIED_WORTH = (
    (900.0, 900.0), (990.0, 990.0), (860.0, 880.0), (200.0, 330.0), (0.0, 0.0),
    (860.0, 870.0), (250.0, 420.0), (200.0, 300.0), (220.0, 330.0),
)  # fmt: skip
"""Worth of the oldest and of the newest carried line, for each section."""


def _word_counts(facts: Facts) -> Counter[str]:
    counts: Counter[str] = Counter()
    for sentence in facts.sentences:
        counts.update(sentence.wording.words)
    for carried in facts.carried:
        for name in ("Goal", "Work completed"):
            for point in carried.lines.get(name, ()):
                counts.update(read_wording(point).words)
    return counts


def _carried_lines(facts: Facts, counts: Counter[str]) -> Iterator[Line]:
    """Carry an earlier summary on; its current state is history now."""
    touched = {touch.path for touch in facts.files}
    has_asked = any(turn.ask for turn in facts.turns)
    for at, carried in enumerate(facts.carried):
        for section, name in enumerate(SECTIONS):
            if section == STATE:
                continue
            points = carried.lines.get(name, ())
            low, high = _CARRIED_WORTH[section]
            for n_point, known in enumerate(points):
                point = _brought_up(section, known, facts, touched)
                is_old_request = section == GOAL and has_asked and point.startswith(LATEST)
                if not point or is_old_request:
                    continue
                worth = low + (high - low) * (n_point + 1) / len(points)
                if section == GOAL and n_point:
                    worth = 420.0 + 0.6 * _told_worth(point, counts)
                elif section == COMPLETED:
                    # What the user said in passing stands here too.
                    worth += _CARRIED_ASK_WORTH if point.startswith(_ASKED) else 0.0
                    worth += 0.6 * _told_worth(point, counts)
                order = n_point - _FORMER * (len(facts.carried) - at)
                yield Line(section=section, text=point, worth=worth, order=order)


def _brought_up(section: int, point: str, facts: Facts, touched: set[str]) -> str:
    """Bring a carried line up to date; empty where a new line takes its place."""
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


def _goal_lines(facts: Facts, counts: Counter[str]) -> Iterator[Line]:
    asked = [turn for turn in facts.turns if turn.ask]
    if not asked:
        return
    if not any(carried.lines.get("Goal") for carried in facts.carried):
        yield Line(section=GOAL, text=gist(asked[0].ask, 500), worth=960, order=asked[0].n_item)
    if len(asked) > 1 or facts.carried:
        # The whole of an open request stands under Remaining.
        text = LATEST + gist(asked[-1].ask, 400 if asked[-1].is_answered else 160)
        yield Line(section=GOAL, text=text, worth=955, order=2 * _FORMER)
    shown = {turn.n_item: gist(turn.ask, _MAX_ASK_CHARS) for turn in asked}
    for at, sentence in enumerate(facts.sentences):
        if not sentence.is_user or sentence.kind in ("rule", "choice"):
            continue
        if sentence.text in shown.get(sentence.n_item, "") or len(sentence.text) < 12:
            continue
        worth = 430.0 + _told_worth(sentence.text, counts)
        if sentence.is_bulk:
            is_new = at >= len(facts.sentences) - _MAX_SCORED
            worth = 40 * score_identifiers(sentence.text) if is_new else 0.0
            worth += 250 * score_rarity(sentence.wording.words, counts)
            if worth < 2 * _MIN_TOLD_WORTH:
                continue
        yield Line(section=GOAL, text=sentence.text, worth=worth, order=_FORMER + at)


def _rule_lines(facts: Facts) -> Iterator[Line]:
    for at, rule in enumerate(facts.rules):
        worth = 885.0 if rule.is_bulk else 1000.0 if rule_strength(rule.wording) > 1 else 985.0
        yield Line(section=CONSTRAINTS, text=rule.text, worth=worth, order=at, is_bulk=rule.is_bulk)


def _choice_lines(facts: Facts) -> Iterator[Line]:
    n_choices = len(facts.choices)
    for at, choice in enumerate(facts.choices):
        if choice.is_guessed:
            continue
        base = 870.0 if choice.is_user else 640.0
        worth = base + 60 * (at + 1) / n_choices + 30 * score_identifiers(choice.text) / 6
        yield Line(section=DECISIONS, text=gist(choice.text, 420), worth=worth, order=at)


def _turn_lines(facts: Facts, counts: Counter[str]) -> Iterator[Line]:
    """Give requests and how their answers begin, apart: what the user said outweighs the rest."""
    for turn in facts.turns:
        if not turn.ask or not turn.is_answered:
            continue
        age = (facts.n_items - turn.n_item) / max(1, facts.n_items)
        asked = gist(turn.ask, _MAX_ASK_CHARS)
        worth = (430 + _told_worth(asked, counts) - 80 * age) / (1 + len(asked) / 2500)
        yield Line(section=COMPLETED, text=_ASKED + asked, worth=worth, order=turn.n_item)
        answer = _first_telling(turn.answer)
        told = _told_worth(answer, counts)
        if len(answer) < _MIN_ANSWER_CHARS and told < _MIN_ANSWER_WORTH:
            continue
        worth = (300 + 1.2 * told - 80 * age) / (1 + len(answer) / 1000)
        order = turn.n_item + _ANSWER_OFFSET
        yield Line(section=COMPLETED, text=_ANSWERED + answer, worth=worth, order=order)


def _told_worth(text: str, counts: Counter[str]) -> float:
    """Say from 0 to 250 how much a text tells that is exact, or said nowhere else."""
    text = text[:_MAX_ASK_CHARS]
    return 25 * score_identifiers(text) + 100 * score_novelty(read_wording(text).words, counts)


def _first_telling(answer: str) -> str:
    """Give the first words of an answer that say more than that it begins."""
    lines = [raw.strip().lstrip("#*->• ").replace("**", "") for raw in answer[:3000].split("\n")]
    for at, line in enumerate(lines):
        if len(line) > 15 and not is_intention(line.lower()):
            return gist(" ".join(lines[at:]), _MAX_ANSWER_CHARS)
    return gist(answer, _MAX_ANSWER_CHARS)


_KIND_WORTH = {"done": 150.0, "finding": 230.0, "other": 20.0, "question": 0.0}
_MAX_SCORED = 5000
"""Sentences searched for identifiers, the newest; keeps megabytes of speech cheap. Chosen."""
_MIN_TOLD_WORTH = 50.0
"""Below this an agent's sentence says nothing that others do not; tried on sessions."""


def _told_lines(facts: Facts, counts: Counter[str]) -> Iterator[Line]:
    """Give what the agent told beside its decisions, by how exact it is."""
    # Only a request that was answered is shown with the beginning of its answer.
    answered = [turn for turn in facts.turns if turn.ask and turn.is_answered]
    shown = "\n".join(_first_telling(turn.answer) for turn in answered)
    decided = {choice.n_item for choice in facts.choices if not choice.is_user}
    n_sentences = len(facts.sentences)
    for at, sentence in enumerate(facts.sentences):
        if sentence.is_user or sentence.kind not in _KIND_WORTH:
            continue
        exact = score_identifiers(sentence.text) if at >= n_sentences - _MAX_SCORED else 0.0
        is_announced = is_intention(sentence.text.lower())
        if len(sentence.text) < 20 or (is_announced and exact < 1) or sentence.text in shown:
            continue
        worth = _KIND_WORTH[sentence.kind] + 60 * exact
        worth += 120 * score_rarity(sentence.wording.words, counts)
        if sentence.n_item in decided and not is_announced:
            worth += 100
        age = 1 - (sentence.n_item + 1) / max(1, facts.n_items)
        worth *= (1 - 0.25 * age) / (1 + len(sentence.text) / 400)
        if is_announced:
            worth *= 0.3
        if worth < _MIN_TOLD_WORTH:
            continue
        order = sentence.n_item + at * 1e-6
        yield Line(section=COMPLETED, text=sentence.text, worth=worth, order=order)


def _state_lines(facts: Facts, counts: Counter[str]) -> Iterator[Line]:
    settled = {rule.n_item for rule in facts.rules}
    settled.update(choice.n_item for choice in facts.choices if not choice.is_guessed)
    last = facts.turns[-1] if facts.turns else None
    if last is not None and not last.ask and last.n_item not in settled:
        text = f"last user message: {gist(last.prose, _MAX_ASK_CHARS)}"
        yield Line(section=STATE, text=text, worth=840, order=0)
    answer = facts.last_answer
    if answer:
        is_new = (
            score_novelty(read_wording(answer[:_MAX_STATE_CHARS]).words, counts)
            > _MIN_STATE_NOVELTY
        )
        n_chars = _MAX_STATE_CHARS if is_new else _MAX_DRONE_CHARS
        text = f"last answer: {gist(answer, n_chars)}"
        yield Line(section=STATE, text=text, worth=835, order=1)
    if len(answer) > 2 * _MAX_STATE_CHARS:
        tail = " ".join(answer[-_MAX_STATE_CHARS:].split())
        text = f"it ends: …{tail[tail.find(' ') + 1 :]}"
        yield Line(section=STATE, text=text, worth=700, order=2)
    for at, (name, shown) in enumerate(facts.pending_calls):
        text = f"running when cut off: {name} {shown}"
        yield Line(section=STATE, text=text, worth=845, order=3 + at)
    checks = [run for run in facts.runs if run.is_check]
    if checks:
        yield Line(section=STATE, text=f"last check: {_run_text(checks[-1])}", worth=810, order=9)


def _remaining_lines(facts: Facts) -> Iterator[Line]:
    for turn in facts.turns:
        if turn.ask and not turn.is_answered:
            text = OPEN_REQUEST + gist(turn.ask, 600)
            yield Line(section=REMAINING, text=text, worth=950, order=turn.n_item)
    for at, (step, is_done) in enumerate(facts.plan):
        section = COMPLETED if is_done else REMAINING
        worth = 300.0 if is_done else 890.0
        yield Line(section=section, text=gist(step, 200), worth=worth, order=_FORMER + at)
    for at, point in enumerate(facts.open_points):
        recent = (at + 1) / len(facts.open_points)
        yield Line(
            section=REMAINING,
            text=gist(point, 300),
            worth=600 + 270 * recent,
            order=2 * _FORMER + at,
        )


def _file_lines(facts: Facts) -> Iterator[Line]:
    n_files = len(facts.files)
    known = {line for carried in facts.carried for line in carried.lines.get("Files", ())}
    for at, touch in enumerate(facts.files):
        is_modified = touch.is_modified or f"modified {touch.path}" in known
        verb = "modified" if is_modified else "read"
        worth = (430.0 if is_modified else 300.0) + 60 * (at + 1) / n_files
        # Newest first: the reader begins with what was last in hand.
        order = -at + (0 if is_modified else _FORMER)
        yield Line(section=FILES, text=f"{verb} {touch.path}", worth=worth, order=order)


def _run_lines(facts: Facts) -> Iterator[Line]:
    for at, run in enumerate(facts.runs):
        recent = (at + 1) / len(facts.runs)
        if run.is_failed:
            worth = (220.0 if run.is_passed_later else 470.0) + 60 * recent
        else:
            worth = 200 + 60 * recent
        yield Line(section=COMMANDS, text=_run_text(run), worth=worth, order=run.n_item)


def _run_text(run: CommandRun) -> str:
    outcome = f" → {run.outcome}" if run.outcome else ""
    if run.is_failed:
        later = _PASSED_LATER if run.is_passed_later else ""
        return f"failed: {run.command}{outcome}{later}"
    return f"ok: {run.command}{outcome}"
