"""What tests ask of a working state."""

from ullage.core.working_state import WorkingState, without


def has_news(state: WorkingState) -> bool:
    """Tell whether there is anything that no checkpoint holds."""
    return state != without(state, state)
