"""What tests ask of a working state."""

from ullage.core.checkpoint.bundled_state import without
from ullage.core.checkpoint.working_state import WorkingState


def has_news(state: WorkingState) -> bool:
    """Tell whether there is anything that no checkpoint holds."""
    return state != without(state, state)
