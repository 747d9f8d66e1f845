"""A session as `ullage statusline` tells of it, measured whole."""

from contextlib import suppress

import msgspec

from ullage.app.gauge.status_text import limits_of, title_text
from ullage.app.sessions.load import Loaded
from ullage.app.sessions.snapshot import describe_gauge, describe_session
from ullage.errors import StorageError
from ullage.store.files.places import Places
from ullage.store.files.quick_state import STATUS_EVENT, session_name
from ullage.store.state.hook_snapshot import write_snapshot


def describe_line(loaded: Loaded) -> dict[str, object]:
    """Describe what the line tells of a session, for `core/gauge/status_line.py`."""
    return {
        **describe_gauge(loaded.status.gauge, loaded.policy),
        "agent": loaded.session.agent.name,
        "model": loaded.context.model,
        "title": title_text(loaded),
    }


def describe_figures(loaded: Loaded) -> dict[str, object]:
    """Give what the agent told of a session, as it is kept."""
    figures = msgspec.structs.replace(loaded.figures, limits=limits_of(loaded))
    return msgspec.json.decode(msgspec.json.encode(figures), type=dict[str, object])


def leave_snapshot(loaded: Loaded, places: Places) -> None:
    """Let the next lines go the short way; what keeps us from it is no matter of this one."""
    header = loaded.session.header
    name = session_name(header.known_agent, header.session_id)
    if name is None or loaded.policy.is_read_only:
        return
    gauge, policy = loaded.status.gauge, loaded.policy
    with suppress(OSError, ValueError, StorageError):
        told = describe_session(loaded.session, loaded.context, gauge, policy, places)
        write_snapshot(name, STATUS_EVENT, places, told | describe_line(loaded))
