"""The text that gives an agent its working state back.

Its lines and their order are those of docs/design/checkpoints.md, "The text for the agent". All
that a checkpoint quotes is data: it can neither begin a line nor look like markup.
"""

import math
import re
from collections.abc import Callable, Iterator, Sequence

import msgspec

from ullage.core.checkpoint.checkpoint import Checkpoint, Decision
from ullage.core.text.prose import gist
from ullage.core.text.quoting import quote_as_data
from ullage.core.text.wording import reads_as_rule

_DEATH_SPIRAL = 3
"""More compactions than these call for a warning (docs/design/gauge.md, "Degradation")."""
_SHORT_CHARS = 160
_LONG_CHARS = 600
"""A point is shown in short, and at length where room is left; chosen."""
_MIN_EXCHANGES = 5
"""Fewer add little to the line of the thread, which has the first and the last words; chosen."""
_SHARE = 0.88
"""What a point is worth of the one before it, so that the tenth keeps out no other's first."""
_SHARE_OF_DECISIONS = 0.94
_TIME = re.compile(r"\d\d:\d\d")


class _Point(msgspec.Struct, frozen=True, kw_only=True):
    """A line that may be shown, in short or at length."""

    short: str
    full: str
    worth: float


class _Section(msgspec.Struct, frozen=True, kw_only=True):
    """Lines that stand together; the heading, if any, is shown with the first of them."""

    heading: str
    points: tuple[_Point, ...]


def render_for_agent(
    checkpoint: Checkpoint,
    *,
    budget_tokens: int,
    count: Callable[[str], int],
    max_chars: int | None = None,
) -> str:
    """Write the text within the budget: what is worth the most is chosen, the order is kept.

    It is empty where the budget does not even take its first line.
    """
    limit_chars = math.inf if max_chars is None else max_chars
    draft = _Draft(_sections(checkpoint), count)
    draft.choose(budget_tokens, limit_chars)
    text = draft.text()
    # The tokens of lines do not quite add up to those of their text.
    while text and (count(text) > budget_tokens or len(text) > limit_chars):
        draft.drop_least()
        text = draft.text()
    return text


class _Draft:
    """Sections, and which of their points are shown so far: in the order of choice."""

    def __init__(self, sections: Sequence[_Section], count: Callable[[str], int]) -> None:
        self._sections = sections
        self._count = count
        self._chosen: dict[tuple[int, int], str] = {}

    def choose(self, budget_tokens: int, limit_chars: float) -> None:
        """Choose points by their worth while they fit, then show at length what has room."""
        begun: set[int] = set()
        ranked = sorted(
            (-point.worth, at, n, point)
            for at, section in enumerate(self._sections)
            for n, point in enumerate(section.points)
        )
        for _, at, n, point in ranked:
            heading = "" if at in begun else f"{self._sections[at].heading}\n\n"
            added = f"{heading}{point.short}\n"
            n_tokens = self._count(added)
            if n_tokens <= budget_tokens and len(added) <= limit_chars:
                budget_tokens -= n_tokens
                limit_chars -= len(added)
                self._chosen[at, n] = point.short
                begun.add(at)
        for (at, n), short in self._chosen.items():
            full = self._sections[at].points[n].full
            n_tokens = self._count(full) - self._count(short) if full != short else 0
            if n_tokens <= budget_tokens and len(full) - len(short) <= limit_chars:
                budget_tokens -= n_tokens
                limit_chars -= len(full) - len(short)
                self._chosen[at, n] = full

    def drop_least(self) -> None:
        self._chosen.popitem()

    def text(self) -> str:
        blocks: list[str] = []
        for at, section in enumerate(self._sections):
            shown = [self._chosen.get((at, n)) for n in range(len(section.points))]
            lines = [line for line in shown if line is not None]
            if lines:
                blocks.append("\n".join([section.heading, *lines] if section.heading else lines))
        return "\n\n".join(blocks)


def _sections(checkpoint: Checkpoint) -> tuple[_Section, ...]:
    """Give all that could be said, in the order of the text, with its worth (chosen)."""
    resources, thread = checkpoint.resources, checkpoint.thread
    said = [f"{one.role}: {one.gist}" for one in thread.key_exchanges]
    said = said if len(said) >= _MIN_EXCHANGES else []
    lasting = "Learnings (consider storing to long-term memory):"
    return (
        _Section(
            heading="",
            points=(_line("[Post-compaction checkpoint restore]", "", worth=1000),),
        ),
        _Section(heading="", points=tuple(_state(checkpoint))),
        _listed("Pinned:", checkpoint.pins, worth=700),
        _decided(checkpoint.decisions),
        _Section(
            heading="",
            points=(_line("Thread: ", thread.summary, worth=75),) if thread.summary else (),
        ),
        _listed("Key exchanges:", said, worth=60, is_last_best=True),
        _listed("Open items:", checkpoint.open_items, worth=95),
        _listed("Files modified:", resources.files_modified[::-1], worth=70),
        _listed("Files read:", resources.files_read[::-1], worth=25),
        _listed("Dead ends:", checkpoint.dead_ends, worth=58, is_last_best=True),
        _listed(lasting, checkpoint.learnings, worth=58, is_last_best=True),
    )


def _state(checkpoint: Checkpoint) -> Iterator[_Point]:
    work, n_compactions = checkpoint.working, checkpoint.meta.compaction_count
    if work.topic:
        yield _line("Working on: ", work.topic, worth=900)
    yield _line("Status: ", work.status, worth=890)
    if work.next_action:
        yield _line("Next action: ", work.next_action, worth=880)
    if work.last_tool_call is not None:
        call = work.last_tool_call
        yield _line("Interrupted in: ", f"{call.name} {call.params_summary}", worth=300)
    if n_compactions > _DEATH_SPIRAL:
        yield _line(
            "Warning: ",
            f"this session was compacted {n_compactions} times and loses detail each time;"
            " suggest to the user to go on in a fresh session.",
            worth=870,
        )


def _decided(decisions: Sequence[Decision]) -> _Section:
    """List decisions as they were made; rules are worth more than choices, late ones than early."""
    points: list[_Point] = []
    worths = {True: 110.0, False: 90.0}
    for one in reversed(decisions):
        is_rule = reads_as_rule(one.what)
        time = one.when[11:16]
        end = f" ({time})" if _TIME.fullmatch(time) else ""
        points.append(_line("- ", one.what, end, worth=worths[is_rule]))
        worths[is_rule] *= _SHARE_OF_DECISIONS
    return _Section(heading="Decisions made:", points=tuple(reversed(points)))


def _listed(
    heading: str, points: Sequence[str], *, worth: float, is_last_best: bool = False
) -> _Section:
    lines: list[_Point] = []
    for point in reversed(points) if is_last_best else points:
        lines.append(_line("- ", point, worth=worth))
        worth *= _SHARE
    return _Section(heading=heading, points=tuple(reversed(lines) if is_last_best else lines))


def _line(label: str, text: str, end: str = "", *, worth: float) -> _Point:
    flat = quote_as_data(text)
    return _Point(
        short=f"{label}{gist(flat, _SHORT_CHARS)}{end}",
        full=f"{label}{gist(flat, _LONG_CHARS)}{end}",
        worth=worth,
    )
