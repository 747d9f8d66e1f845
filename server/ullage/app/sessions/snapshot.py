"""What a short way goes by: a session as it was measured, and the settings that this came from.

The gauge of a prompt and the status line are told by it and by what was appended since
(`agent/quick_answer.py`, `agent/status_line.py`).
"""

from pathlib import Path

from ullage.app.sessions.session import Session
from ullage.core.config.settings import Policy
from ullage.core.gauge.gauge import Gauge, tells_usage
from ullage.core.transcript.context import Context
from ullage.store.files import quick_state
from ullage.store.files.places import Places
from ullage.store.state.agent_figures import figures_path


def describe_session(
    session: Session, context: Context, gauge: Gauge, policy: Policy, places: Places
) -> dict[str, object]:
    """Describe what was measured, the thresholds and the end of the transcript.

    Raises:
        OSError: the transcript is gone.
        ValueError: settings are no JSON.
    """
    path = session.path
    answers = (item.message.answer_id for item in reversed(context.items) if tells_usage(item))
    return {
        "transcript": str(path),
        "inode": path.stat().st_ino,
        "size": context.size_bytes,
        "end": quick_state.end_sum(str(path), context.size_bytes),
        "leaf": context.leaf_id,
        "answer_id": next(answers, None),
        "model": context.model,
        "window_tokens": context.window_tokens,
        "reported": gauge.n_reported,
        **describe_gauge(gauge, policy),
        **_describe_settings(session, places),
    }


def describe_gauge(gauge: Gauge, policy: Policy) -> dict[str, object]:
    """Describe how full the window is, and the thresholds."""
    return {
        "used": gauge.used_tokens,
        "is_reported": gauge.used_source == "reported",
        "window": gauge.window.n_tokens,
        "is_certain": gauge.window.is_certain,
        "own_point": gauge.own_point_tokens,
        "gauge_ratio": policy.gauge_ratio,
        "checkpoint_ratio": policy.checkpoint_ratio,
        "full_ratio": policy.full_ratio,
    }


def _describe_settings(session: Session, places: Places) -> dict[str, object]:
    """Look at the agent's own settings, as `gauge_of` reads them, and at the window it told."""
    agent, header = session.agent_info, session.header
    if agent is None:
        return {}
    cwd, keys = Path(header.cwd) if header.cwd else places.cwd, list(agent.setting_keys)
    paths = agent.setting_files(session.path, cwd, places.env, places.home)
    figures = figures_path(header.agent, header.session_id, places)
    if keys and figures is not None:
        keys, paths = [*keys, "told_window"], (*paths, figures)
    stamps = [
        [*quick_state.stamp_of(name), quick_state.sum_settings(name, keys) if keys else 0]
        for name in map(str, paths)
    ]
    return {"setting_keys": keys, "settings": stamps}
