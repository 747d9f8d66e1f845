"""The working state as text for an agent, where no checkpoint can be made.

Apart from `text`, which hooks import at the start of a session: this reads captured events.
"""

from ullage.core.checkpoint.fields import FIELDS, InText
from ullage.core.checkpoint.working_state import WorkingState
from ullage.core.text.prose import gist
from ullage.core.text.quoting import quote_as_data
from ullage.core.transcript.context import RESTORE_OPENING

_MAX_POINTS = 20
_MAX_CHARS = 300
"""Of each list the newest points, of each point the beginning (chosen)."""


def write_state(state: WorkingState) -> str:
    """Write what was captured in the words of a checkpoint's text, the newest last.

    It is empty where nothing was captured.
    """
    resources, topic = state.resources, state.thread.topic
    parts = [f"Working on: {_shorten(topic)}"] if topic else []
    points_of = {
        "decisions": [decision.what for decision in state.decisions.made],
        "open_items": state.open_items.steps,
        "resources.files_modified": resources.files_modified,
        "resources.files_read": resources.files_read,
    }
    rows = [(field.text, points_of.get(field.path)) for field in FIELDS]
    shown = [(place, points) for place, points in rows if isinstance(place, InText) and points]
    for place, points in sorted(shown, key=lambda row: row[0].section):
        lines = [f"- {_shorten(point)}" for point in points[-_MAX_POINTS:]]
        parts.append("\n".join([place.heading, *lines]))
    return "\n\n".join([RESTORE_OPENING, *parts]) if parts else ""


def _shorten(point: str) -> str:
    return gist(quote_as_data(point), _MAX_CHARS)
