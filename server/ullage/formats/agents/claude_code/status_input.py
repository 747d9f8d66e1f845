"""What Claude Code gives to its status line, read without msgspec (2.1.330; docs/statusline.md).

The figures are those of `core/gauge/agent_figures.py`, as they are kept: whole numbers.
"""

from ullage.core.text.quick_json import is_object
from ullage.core.transcript.agent_lines import MAX_PERCENT, MAX_WINDOW_TOKENS

_LIMITS = {"five_hour": 5 * 60, "seven_day": 7 * 24 * 60}
"""In minutes."""
_USAGE = ("input", "output", "cache_creation_input", "cache_read_input")
_MAX_USD, _MAX_S, _MAX_RATIO = 1e9, 1e11, 1.001
"""More is no figure of anything (chosen)."""


def read_status_input(fields: dict[str, object]) -> dict[str, object]:
    """Read the figures that nothing else tells; those that are not told are left out."""
    figures: dict[str, object] = {}
    model = _object(fields, "model").get("id")
    n_window = _object(fields, "context_window").get("context_window_size")
    is_known = isinstance(n_window, int) and 0 < n_window <= MAX_WINDOW_TOKENS
    if isinstance(model, str) and is_known:
        figures["told_window"] = {"model": model, "n_tokens": n_window}
    usd = _read_number(_object(fields, "cost"), "total_cost_usd", _MAX_USD)
    if usd:
        figures["micro_usd"] = round(usd * 1_000_000)
    cache = _object(fields, "prompt_cache")
    ratio = _read_number(cache, "hit_ratio", _MAX_RATIO)
    if ratio is not None and cache.get("caching_observed") is True:
        figures["cache_percent"] = round(ratio * 100)
    told = _object(fields, "rate_limits")
    limits = [_read_limit(_object(told, name), n) for name, n in _LIMITS.items()]
    figures["limits"] = [limit for limit in limits if limit is not None]
    return figures


def read_gauge(fields: dict[str, object]) -> dict[str, object]:
    """Read how full the window is by the agent's own figures, where there is no transcript."""
    told = _object(fields, "context_window")
    usage = _object(told, "current_usage")
    counts = [_read_number(usage, f"{kind}_tokens", MAX_WINDOW_TOKENS) for kind in _USAGE]
    return {
        "window": _read_number(told, "context_window_size", MAX_WINDOW_TOKENS),
        "used": round(sum(filter(None, counts))) if any(counts) else None,
        "is_reported": True,
        "is_certain": True,
    }


def read_names(fields: dict[str, object]) -> dict[str, str]:
    """Read what the session and its model are called, as far as that is told."""
    names = {
        "title": fields.get("session_name"),
        "model": _object(fields, "model").get("display_name"),
    }
    return {field: name for field, name in names.items() if isinstance(name, str) and name}


def _read_limit(told: dict[str, object], n_minutes: int) -> dict[str, object] | None:
    percent = _read_number(told, "used_percentage", MAX_PERCENT)
    if percent is None:
        return None
    resets_at_s = _read_number(told, "resets_at", _MAX_S) or 0
    return {
        "n_minutes": n_minutes,
        "used_percent": round(percent),
        "resets_at_s": round(resets_at_s),
    }


def _read_number(told: dict[str, object], key: str, end: float) -> float | None:
    """Read a number below an end; one beyond it is no figure of anything."""
    value = told.get(key)
    return value if isinstance(value, int | float) and 0 <= value < end else None


def _object(fields: dict[str, object], key: str) -> dict[str, object]:
    value = fields.get(key)
    return value if is_object(value) else {}
