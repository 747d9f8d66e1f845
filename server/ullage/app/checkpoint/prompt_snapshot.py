"""What the hook of a prompt that measured a session leaves for the next ones of it.

`agent/quick_answer.py` tells the gauge by this and by what was appended since. Here stands all that
the answer depends on besides: the thresholds, the window, the latest checkpoint, and which files
these came from.
"""

from pathlib import Path

from ullage.app.sessions.quick_load import LiveSession
from ullage.core.config.settings import Policy
from ullage.core.gauge.gauge import tells_usage
from ullage.store.checkpoint import quick_state
from ullage.store.checkpoint.files import POINTER_NAME, list_ids, read_checkpoint
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
    gauge, context, path = live.gauge, live.reading.context, live.session.path
    latest = None if checkpoints is None else checkpoints / f"{list_ids(checkpoints)[-1]}.yaml"
    answers = (item.message.answer_id for item in reversed(context.items) if tells_usage(item))
    told: dict[str, object] = {
        "transcript": str(path),
        "inode": path.stat().st_ino,
        "size": context.size_bytes,
        "end": quick_state.end_sum(str(path), context.size_bytes),
        "leaf": context.leaf_id,
        "answer_id": next(answers, None),
        "model": context.model,
        "window_tokens": context.window_tokens,
        "used": gauge.used_tokens,
        "reported": gauge.n_reported,
        "is_reported": gauge.used_source == "reported",
        "window": gauge.window.n_tokens,
        "is_certain": gauge.window.is_certain,
        "own_point": gauge.own_point_tokens,
        "gauge_ratio": policy.gauge_ratio,
        "checkpoint_ratio": policy.checkpoint_ratio,
        "minimum_change_percent": minimum_change_percent,
        "saved": None if latest is None else read_checkpoint(latest).meta.token_usage.input_tokens,
    }
    told |= _describe_settings(live, places)
    files = () if latest is None else (latest, latest.with_name(POINTER_NAME))
    write_snapshot(name, quick_state.PROMPT_EVENT, places, told, files)


def _describe_settings(live: LiveSession, places: Places) -> dict[str, object]:
    """Look at the agent's own settings, as `gauge_of` reads them."""
    agent, header = live.session.agent_info, live.session.header
    if agent is None:
        return {}
    cwd, keys = Path(header.cwd) if header.cwd else places.cwd, list(agent.setting_keys)
    paths = agent.setting_files(live.session.path, cwd, places.env, places.home)
    stamps = [
        [*quick_state.stamp_of(name), quick_state.sum_settings(name, keys) if keys else 0]
        for name in map(str, paths)
    ]
    return {"setting_keys": keys, "settings": stamps}
