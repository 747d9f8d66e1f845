"""The text that gives an agent its working state back where no checkpoint can be made.

It is made of what was captured alone, in the words of a checkpoint's text.
"""

from collections.abc import Sequence

from ullage.core.checkpoint.working_state import WorkingState
from ullage.core.text.prose import gist
from ullage.core.text.quoting import quote_as_data
from ullage.core.transcript.injected import RESTORE_OPENING

_MAX_POINTS = 20
_MAX_CHARS = 300
"""Each; a few thousand characters in all with the four lists; chosen."""


def state_text(state: WorkingState) -> str:
    """Write what is known, the newest last; empty where nothing is."""
    resources, topic = state.resources, state.thread.topic
    parts = [f"Working on: {gist(quote_as_data(topic), _MAX_CHARS)}"] if topic else []
    for heading, points in (
        ("Decisions made:", [one.what for one in state.decisions.made]),
        ("Open items:", list(state.open_items.steps)),
        ("Files modified:", list(resources.files_modified)),
        ("Files read:", list(resources.files_read)),
    ):
        parts += _listed(heading, points)
    return "\n\n".join([RESTORE_OPENING, *parts]) if parts else ""


def _listed(heading: str, points: Sequence[str]) -> list[str]:
    lines = [f"- {gist(quote_as_data(point), _MAX_CHARS)}" for point in points[-_MAX_POINTS:]]
    return ["\n".join([heading, *lines])] if lines else []
