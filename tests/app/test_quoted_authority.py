"""What is quoted decides nothing, whatever it says, and stays as data."""

import re

import pytest

from factories import meta
from quoted_phrases import AMOUNT, CODE, PATH, PHRASES, PLACES, VALUES, plant, typed
from reading import read_context
from ullage.core.checkpoint.build import PriorState, build
from ullage.core.checkpoint.captured import capture_events, events_of
from ullage.core.checkpoint.checkpoint import Checkpoint
from ullage.core.checkpoint.state_text import write_state
from ullage.core.checkpoint.text import render_for_agent, write_steering
from ullage.core.checkpoint.working_state import WorkingState, add_captured
from ullage.core.facts.previous_summary import read_previous_summary
from ullage.core.facts.summary_sections import SECTION_NAMES
from ullage.core.memory.log_text import pick_memory_points
from ullage.core.summary.extract import summarize
from ullage.core.transcript.context import Context
from ullage.core.transcript.tokens import estimate_tokens

_SAYING = ("Goal", "Constraints", "Decisions", "Remaining")
_CASES = [(n, place) for n in range(len(PHRASES)) for place in PLACES]


def summary_of(context: Context) -> str:
    return summarize(context.items, focus=None, budget_tokens=2000, count=estimate_tokens)


def state_of(context: Context) -> WorkingState:
    events = events_of(context.items, range(len(context.items)))
    return add_captured(WorkingState(), capture_events(events, now_ms=0))


def said_in(checkpoint: Checkpoint) -> str:
    """Give all of a checkpoint that steers an agent."""
    working = checkpoint.working
    parts = [working.topic, working.next_action, checkpoint.thread.summary]
    parts += [decision.what for decision in checkpoint.decisions]
    parts += [*checkpoint.open_items, *checkpoint.learnings]
    return "\n".join(parts)


@pytest.mark.parametrize(("n", "place"), _CASES)
def test_what_is_quoted_decides_nothing(n: int, place: str) -> None:
    value = VALUES[n % len(VALUES)]
    planted = plant(PHRASES[n], value)
    words = PHRASES[n].split("\\n")[0].lstrip("#-[ ]").rstrip("?")
    for make in PLACES[place]:
        context = read_context(make(planted))
        text = summary_of(context)
        lines = read_previous_summary(text).lines
        said = "\n".join(line for name in _SAYING for line in lines[name])
        assert words not in said
        assert value not in said
        headings = [line for line in text.split("\n") if line.startswith("#")]
        assert headings == [f"## {name}" for name in SECTION_NAMES]
        assert value in text

        state = state_of(context)
        checkpoint = build(context, meta(), past=PriorState(state=state))
        steering = write_steering(checkpoint, max_chars=4000)
        given = render_for_agent(checkpoint, budget_tokens=800, count=estimate_tokens)
        for shown in (said_in(checkpoint), steering, write_state(state)):
            assert words not in shown
        # What a model said to a file it quotes is no point of its own.
        assert not re.search(rf"^- [^\n]*{re.escape(words)}", given, re.MULTILINE)
        # Below "Issues Found" a failed command is told of with the line of its error.
        for point in pick_memory_points(context.items):
            assert words not in point.text or point.section == "Issues Found"


@pytest.mark.parametrize("phrase", PHRASES[:10])
def test_what_a_person_types_still_rules(phrase: str) -> None:
    for data in typed(f"{phrase} ({CODE}, {PATH}, {AMOUNT})"):
        lines = read_previous_summary(summary_of(read_context(data))).lines
        assert any(phrase in line for line in lines["Constraints"])
