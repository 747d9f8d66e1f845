"""What is worth remembering of a session, picked out by rule: the flush without a model."""

from collections.abc import Iterator, Sequence

from ullage.core.facts.facts import Facts, collect_facts
from ullage.core.memory.log_text import Point, point
from ullage.core.summary.sections import DECISIONS, REMAINING, Line, fact_lines
from ullage.core.text.prose import gist
from ullage.core.transcript.context import ContextItem

_MAX_POINTS = 10
"""In a section; the newest or the worthiest. Chosen."""
_MAX_FILES = 8
_MAX_CHARS = 300


def memory_points(items: Sequence[ContextItem]) -> tuple[Point, ...]:
    """Pick points from messages whose secrets are masked.

    Preferences are the user's own words. What tools returned states none, no decisions and no
    open items (`core.facts`); of failed commands only the line of the error is told.
    """
    # An earlier summary tells of an epoch that had its own flush.
    facts = collect_facts([item for item in items if item.category != "summary"])
    lines = fact_lines(facts, None)
    return (
        *_progress(facts, _worthiest(lines, REMAINING)),
        *(point("Important Decisions", text) for text in _worthiest(lines, DECISIONS)),
        *_issues(facts),
        *_preferences(facts),
    )


def _progress(facts: Facts, remaining: Sequence[str]) -> Iterator[Point]:
    asked = [turn.ask for turn in facts.turns if turn.ask]
    if asked:
        yield point("Task Progress", gist(asked[-1], _MAX_CHARS), is_aside=True)
    done = [gist(step, _MAX_CHARS) for step, is_done in facts.plan if is_done]
    done += [s.text for s in facts.sentences if s.kind == "done" and not s.is_user]
    for text in list(dict.fromkeys(done))[-_MAX_POINTS:]:
        yield point("Task Progress", f"Completed: {gist(text, _MAX_CHARS)}")
    changed = [touch.path for touch in facts.files if touch.is_modified][-_MAX_FILES:]
    if changed:
        yield point("Task Progress", f"Changed: {', '.join(changed)}")
    for text in remaining:
        yield point("Task Progress", f"Remaining: {text}")


def _issues(facts: Facts) -> Iterator[Point]:
    for text in facts.findings[-_MAX_POINTS:]:
        yield point("Issues Found", gist(text, _MAX_CHARS))
    failing = [run for run in facts.runs if run.is_failed and run.is_check]
    for run in [run for run in failing if not run.is_passed_later][-_MAX_POINTS:]:
        outcome = f" → {run.outcome}" if run.outcome else ""
        yield point("Issues Found", f"Failing: {run.command}{outcome}")


def _preferences(facts: Facts) -> Iterator[Point]:
    # A pasted document states rules of its own, which the user may only be asking about.
    stated = [rule.text for rule in facts.rules if not rule.is_bulk]
    for text in stated[-_MAX_POINTS:]:
        yield point("User Preferences", text)


def _worthiest(lines: Sequence[Line], section: int) -> list[str]:
    """Give the worthiest lines of a section in their order."""
    own = sorted((one for one in lines if one.section == section), key=lambda one: -one.worth)
    return [one.text for one in sorted(own[:_MAX_POINTS], key=lambda one: one.order)]
