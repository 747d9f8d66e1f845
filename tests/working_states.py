"""What tests ask of a working state."""

from collections.abc import Sequence

from ullage.core.checkpoint.captured import Event, capture_events
from ullage.core.checkpoint.working_state import WorkingState, add_captured


def merge(
    state: WorkingState, events: Sequence[Event], *, now_ms: int, known: Sequence[str] = ()
) -> WorkingState:
    """Capture events and add them."""
    return add_captured(state, capture_events(events, now_ms=now_ms, known_secrets=known))


def has_news(state: WorkingState) -> bool:
    """Tell whether there is anything that no checkpoint holds."""
    return state != state.held()
