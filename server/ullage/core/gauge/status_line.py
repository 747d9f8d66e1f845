"""The line of `ullage statusline`: its fields, its format, what of it fits.

Light, as agents and shells wait for it: dictionaries of JSON in the place of structs.
"""

from ullage.core.text.quick_json import is_list
from ullage.core.transcript import agent_lines

FIELDS = {
    "percent": "how full the window is: `42%`, `~42%` where a figure is no record, `?`",
    "used": "used tokens: `84k`",
    "window": "the window: `200k`",
    "bar": "the share as a bar of ten characters",
    "compacts": "where the agent compacts by itself: `compacts at 167k`",
    "agent": "the agent: `Claude Code`",
    "model": "its model",
    "title": "the session's title",
    "cost": "what the session cost, as the agent says: `$0.39`",
    "cache": "how much came from the cache, as the agent says: `cache 86%`",
    "five_hour": "the limit of five hours: `5h 24%`",
    "week": "the limit of a week: `week 41%`",
}
"""Each is empty where it is not known."""
DEFAULT_FORMAT = "{percent} {used}/{window} | {compacts} | {five_hour} | {week} | {cost} | {model}"
SEPARATOR = " | "
_N_BAR = 10
_MIN_TITLE_CHARS = 12
"""Fewer tell no session from another (chosen)."""
_PERIODS = {"5h": "five_hour", "week": "week"}
_RED, _YELLOW, _PLAIN = "\x1b[31m", "\x1b[33m", "\x1b[0m"


def find_unknown(template: str) -> str | None:
    """Find a field that there is none of, or a brace that stands alone."""
    rest = template
    while rest:
        before, brace, rest = rest.partition("{")
        if "}" in before:
            return "}"
        name, end, rest = rest.partition("}")
        if brace and not (end and name in FIELDS):
            return f"{{{name}{end}"
    return None


def list_gauge_values(told: dict[str, object], n_used: object) -> dict[str, str]:
    """List what is said of a session as it was measured, of which so much is used.

    Args:
        told: what `app/sessions/snapshot.py` says of it.
    """
    window, own = told.get("window"), told.get("own_point")
    values = {key: str(told.get(key) or "") for key in ("agent", "model", "title")}
    if not isinstance(window, int):
        return values
    values["window"] = agent_lines.short_tokens(window)
    if isinstance(own, int):
        values["compacts"] = f"compacts at {agent_lines.short_tokens(own)}"
    if not isinstance(n_used, int):
        return values | {"percent": "?", "used": "?"}
    share = n_used / window
    is_estimated = told.get("is_reported") is not True or told.get("is_certain") is not True
    n_filled = min(_N_BAR, round(share * _N_BAR))
    return values | {
        "percent": agent_lines.share_text(share, is_estimated=is_estimated),
        "used": agent_lines.short_tokens(n_used),
        "bar": "█" * n_filled + "░" * (_N_BAR - n_filled),
    }


def list_figure_values(figures: dict[str, object], now_s: float) -> dict[str, str]:
    """List what is said of figures as `core/gauge/agent_figures.py` has them."""
    values: dict[str, str] = {}
    micro_usd, percent, limits = map(figures.get, ("micro_usd", "cache_percent", "limits"))
    if isinstance(micro_usd, int):
        values["cost"] = agent_lines.cost_text(micro_usd)
    if isinstance(percent, int):
        values["cache"] = f"cache {percent}%"
    for limit in limits if is_list(limits) else ():
        match limit:
            case {
                "n_minutes": int(n_minutes),
                "used_percent": int(n_used),
                "resets_at_s": int(resets_at_s),
            } if agent_lines.holds_still(resets_at_s, now_s):
                field = _PERIODS.get(agent_lines.period_text(n_minutes))
                if field is not None:
                    values[field] = agent_lines.limit_text(n_minutes, n_used)
            case _:
                pass
    return values


def color_of(told: dict[str, object], n_used: object) -> str:
    """Give the color of a gauge; empty below what a checkpoint is written at."""
    window, warning, critical = map(told.get, ("window", "checkpoint_ratio", "full_ratio"))
    if not isinstance(n_used, int) or not isinstance(window, int) or not isinstance(warning, float):
        return ""
    if isinstance(critical, float) and n_used / window >= critical:
        return _RED
    return _YELLOW if n_used / window >= warning else ""


def write_status_line(
    template: str, values: dict[str, str], *, color: str = "", n_columns: int | None = None
) -> str:
    """Write the line: without parts that say nothing, and as much of it as fits.

    Its parts stand between separators. A title is cut where that is enough, else the last part
    goes; of the first one the last words of its format go, as half a figure is another figure.
    The first part alone has the color.
    """
    parts = [part for part in template.split(SEPARATOR) if _says_something(part, values)]
    texts = _fill_parts(parts, values)
    while n_columns is not None and (n_over := len(SEPARATOR.join(texts)) - n_columns) > 0:
        title, has_more = values.get("title", ""), len(parts) > 1
        n_title = len(title) - n_over if any("{title}" in part for part in parts) else 0
        if n_title >= (_MIN_TITLE_CHARS if has_more else 2):
            values = values | {"title": _cut_words(title, n_title)}
        else:
            parts = parts[:-1] if has_more else [parts[0].rpartition(" ")[0]]
        texts = _fill_parts(parts, values)
    first = texts[0] if texts else ""
    head = f"{color}{first}{_PLAIN}" if color and first else first
    return SEPARATOR.join((head, *texts[1:]))


def _cut_words(text: str, n_chars: int) -> str:
    """Cut as `gist` does, behind a word where one ends; its module takes longer than the line."""
    head, behind = text[: n_chars - 1], text[n_chars - 1]
    words = head if behind == " " else head.rpartition(" ")[0]
    return (words if 2 * len(words) > n_chars else head).rstrip(" .…") + "…"


def _fill_parts(parts: list[str], values: dict[str, str]) -> list[str]:
    return [" ".join(_fill(part, values).split()) for part in parts]


def _says_something(part: str, values: dict[str, str]) -> bool:
    named = [name for name in FIELDS if f"{{{name}}}" in part]
    return not named or any(values.get(name) for name in named)


def _fill(part: str, values: dict[str, str]) -> str:
    """Put the values in, in one go: a title may hold braces too."""
    filled, rest = "", part
    while True:
        before, brace, rest = rest.partition("{")
        filled += before
        if not brace:
            return filled
        name, _, rest = rest.partition("}")
        filled += values.get(name, "")
