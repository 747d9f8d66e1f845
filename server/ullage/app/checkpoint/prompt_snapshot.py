"""What the hook of a prompt that measured a session leaves for the next ones of it.

`agent/quick_answer.py` tells the gauge by this and by what was appended since. Here stands all that
the answer depends on besides: the thresholds, the window, the latest checkpoint, and which files
these came from.
"""

from pathlib import Path

from ullage.app.sessions.quick_load import LiveSession
from ullage.app.sessions.snapshot import describe_session
from ullage.core.config.settings import Policy
from ullage.store.checkpoint.files import POINTER_NAME, list_ids, read_checkpoint
from ullage.store.files import quick_state
from ullage.store.files.places import Places
from ullage.store.state.hook_snapshot import write_snapshot


def leave_snapshot(
    name: str,
    live: LiveSession,
    policy: Policy,
    minimum_change_percent: float,
    places: Places,
    checkpoints: Path | None,
) -> None:
    """Leave what was measured.

    Args:
        checkpoints: the folder of the session's checkpoints, whose latest is of this context; None
            where there is none of it.

    Raises:
        OSError: the transcript is gone.
        ValueError: settings are no JSON.
        UllageError: the checkpoint cannot be read, or the state folder does not take the snapshot.
    """
    latest = None if checkpoints is None else checkpoints / f"{list_ids(checkpoints)[-1]}.yaml"
    told = describe_session(live.session, live.reading.context, live.gauge, policy, places)
    told |= {
        "minimum_change_percent": minimum_change_percent,
        "saved": None if latest is None else read_checkpoint(latest).meta.token_usage.input_tokens,
    }
    files = () if latest is None else (latest, latest.with_name(POINTER_NAME))
    write_snapshot(name, quick_state.PROMPT_EVENT, places, told, files)
