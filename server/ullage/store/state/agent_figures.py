"""The figures that an agent told of a session, kept by `ullage statusline`."""

from collections.abc import Mapping
from pathlib import Path

import msgspec

from ullage.core.gauge.agent_figures import NO_FIGURES, AgentFigures
from ullage.store.files import quick_state
from ullage.store.files.atomic import replace_file
from ullage.store.files.places import Places
from ullage.store.state.hook_snapshot import remove_oldest


def figures_path(agent: str | None, session_id: str, places: Places) -> Path | None:
    """Give the file of a session's figures; None where its id is not the usual one."""
    name = quick_state.session_name(agent or "", session_id)
    if name is None:
        return None
    return Path(quick_state.figures_path(str(places.state_folder), name))


def read_figures(agent: str | None, session_id: str, places: Places) -> AgentFigures:
    """Read the figures; a file that is not there or is damaged tells none."""
    path = figures_path(agent, session_id, places)
    try:
        return (
            NO_FIGURES
            if path is None
            else msgspec.json.decode(path.read_bytes(), type=AgentFigures)
        )
    except (OSError, msgspec.DecodeError, UnicodeError):
        return NO_FIGURES


def write_figures(path: Path, figures: Mapping[str, object]) -> None:
    """Keep what an agent told, in place of what it told before.

    Raises:
        StateUnwritable: the state folder does not take it.
    """
    replace_file(path, msgspec.json.encode(figures))
    remove_oldest(path.parent)
