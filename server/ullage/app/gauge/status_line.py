"""A session as `ullage statusline` tells of it, measured whole."""

import time
from collections.abc import Sequence
from contextlib import suppress

import msgspec

from ullage.app.gauge.status_text import limits_of, title_text
from ullage.app.sessions.find import SeenSession
from ullage.app.sessions.load import Loaded
from ullage.app.sessions.snapshot import describe_gauge, describe_session
from ullage.app.sessions.watched import list_watched_paths
from ullage.errors import StorageError
from ullage.store.files.places import Places
from ullage.store.files.quick_state import STATUS_EVENT, folder_name, session_name, stamp_of
from ullage.store.state.agent_figures import figures_path
from ullage.store.state.hook_snapshot import write_snapshot
from ullage.store.transcript.look import SETTLE_NS
from ullage.store.transcript.reader import FileLines


def describe_line(loaded: Loaded) -> dict[str, object]:
    """Describe what the line tells of a session, for `core/gauge/status_line.py`."""
    return {
        **describe_gauge(loaded.status.gauge, loaded.policy),
        "agent": loaded.session.agent.name,
        "agent_id": loaded.session.agent.agent,
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


def leave_folder_snapshot(
    seen: Sequence[SeenSession], loaded: Loaded | None, places: Places
) -> None:
    """Let the next lines of a folder go the short way, as long as its first session is the first.

    Args:
        seen: the folder's sessions, the first of which was loaded.
    """
    if not places.keeps_caches or not _stays_first(seen):
        return
    told: dict[str, object] = {"transcript": ""}
    with suppress(OSError, ValueError, StorageError):
        paths = dict.fromkeys(list_watched_paths(places.cwd, places))
        if loaded is not None:
            header, gauge, policy = loaded.session.header, loaded.status.gauge, loaded.policy
            told = describe_session(loaded.session, loaded.context, gauge, policy, places)
            told |= describe_line(loaded) | {"figures": describe_figures(loaded)}
            paths.pop(loaded.path, None)
            figures = figures_path(header.agent, header.session_id, places)
            paths |= {} if figures is None else {figures: None}
        # What was written to just now may be again, and keep its time.
        if time.time_ns() - max(stamp_of(str(path))[1] for path in paths) > SETTLE_NS:
            write_snapshot(folder_name(str(places.cwd)), STATUS_EVENT, places, told, paths)


def _stays_first(seen: Sequence[SeenSession]) -> bool:
    """Whether the first session stays that while no file changes: none of the others lives."""
    first, others = next(iter(seen), None), seen[1:]
    return first is None or (
        isinstance(first.session.lines, FileLines)
        and not any(other.is_live or other.written_ns > first.written_ns for other in others)
    )
