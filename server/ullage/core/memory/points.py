"""What is priority remembering of a session, picked out by rule: the flush without a model."""

from collections.abc import Iterator, Sequence

from ullage.core.facts.facts import Facts, collect_facts
from ullage.core.memory.log_text import Point, make_point
from ullage.core.summary.summary_lines import DECISIONS, REMAINING, Line, list_lines
from ullage.core.text.prose import gist
from ullage.core.transcript.context import ContextItem

_MAX_POINTS = 10
"""In a section; the newest, or those of highest priority. Chosen."""
_MAX_FILES = 8
_MAX_CHARS = 300


def pick_memory_points(items: Sequence[ContextItem]) -> tuple[Point, ...]:
    """Pick points from messages whose secrets are masked.

    Preferences are the user's own words. What tools returned states none, no decisions and no
    open items (`core.facts`); of failed commands only the line of the error is told.
    """
    # An earlier summary tells of an epoch that had its own flush.
    facts = collect_facts([item for item in items if item.category != "summary"])
    lines = list_lines(facts, None)
    return (
        *_list_progress(facts, _pick_best(lines, REMAINING)),
        *(make_point("Important Decisions", text) for text in _pick_best(lines, DECISIONS)),
        *_list_issues(facts),
        *_list_preferences(facts),
    )


def _list_progress(facts: Facts, remaining: Sequence[str]) -> Iterator[Point]:
    if facts.requests:
        yield make_point("Task Progress", gist(facts.requests[-1].ask, _MAX_CHARS), is_aside=True)
    done = [gist(step, _MAX_CHARS) for step, is_done in facts.plan if is_done]
    done += [s.text for s in facts.sentences if s.kind == "done" and not s.is_user]
    for text in list(dict.fromkeys(done))[-_MAX_POINTS:]:
        yield make_point("Task Progress", f"Completed: {gist(text, _MAX_CHARS)}")
    changed = [touch.path for touch in facts.files if touch.is_modified][-_MAX_FILES:]
    if changed:
        yield make_point("Task Progress", f"Changed: {', '.join(changed)}")
    for text in remaining:
        yield make_point("Task Progress", f"Remaining: {text}")


def _list_issues(facts: Facts) -> Iterator[Point]:
    for text in facts.findings[-_MAX_POINTS:]:
        yield make_point("Issues Found", gist(text, _MAX_CHARS))
    for run in facts.failing_checks[-_MAX_POINTS:]:
        outcome = f" → {run.outcome}" if run.outcome else ""
        yield make_point("Issues Found", f"Failing: {run.command}{outcome}")


def _list_preferences(facts: Facts) -> Iterator[Point]:
    # A pasted document states rules of its own, which the user may only be asking about.
    stated = [rule.text for rule in facts.rules if not rule.is_bulk]
    for text in stated[-_MAX_POINTS:]:
        yield make_point("User Preferences", text)


def _pick_best(lines: Sequence[Line], section: int) -> list[str]:
    """Give the lines of highest priority of a section in their order."""
    own = sorted((one for one in lines if one.section == section), key=lambda one: -one.priority)
    return [one.text for one in sorted(own[:_MAX_POINTS], key=lambda one: one.order)]
