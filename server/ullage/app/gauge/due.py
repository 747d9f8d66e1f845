"""What is due of a session: the plan that status, menu and hover tell of, and `--auto` makes."""

import time

import msgspec

from ullage.app.sessions.load import Loaded
from ullage.core.change.due import DuePlan, plan_due
from ullage.core.gauge.gauge import Gauge, summary_at
from ullage.store.state.auto_state import read_auto_state


def find_due(loaded: Loaded) -> DuePlan:
    """Work out what is due now, or why that cannot be done."""
    return _find_at(loaded.status.gauge, loaded)


def find_next_due(loaded: Loaded) -> DuePlan:
    """Work out what these messages are due for once a summary is."""
    gauge = loaded.status.gauge
    due_at = summary_at(gauge.window.n_tokens, loaded.policy)
    return _find_at(msgspec.structs.replace(gauge, used_tokens=due_at), loaded)


def _find_at(gauge: Gauge, loaded: Loaded) -> DuePlan:
    state = read_auto_state(loaded.session.state_key, loaded.secrets.places)
    due = plan_due(
        loaded.context,
        gauge,
        loaded.policy,
        loaded.count,
        now_ms=time.time_ns() // 1_000_000,
        breaker=state.breaker,
        is_auto_on=state.is_on,
    )
    loaded.count.save()
    is_asked_for = due.change is not None or due.refusal is not None
    target = loaded.session.find_change_target() if is_asked_for else None
    if not isinstance(target, str):
        return due
    return msgspec.structs.replace(due, change=None, refusal=target)
