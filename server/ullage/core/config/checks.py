"""Settings that are each possible, and together make no sense."""

from collections.abc import Iterator
from itertools import pairwise

from ullage.core.config.key import Finding, Setting, Threshold, Value
from ullage.core.config.settings import DEFAULT_WINDOW_TOKENS, SPELLINGS, effective, reserve_tokens

_IN_ORDER = (
    "gauge.trigger",
    "checkpoint.trigger",
    "compaction.layers.prune.trigger",
    "compaction.layers.summarize.trigger",
    "compaction.layers.full.trigger",
)
_PROTECTS = (
    "compaction.layers.summarize.protectRecentTokens",
    "compaction.layers.full.protectRecentTokens",
)
_FLOOR = "compaction.reserveTokensFloor"
_SOFT = "compaction.softThresholdTokens"
_WARN_TOKENS = "compaction.warnAtTokenThreshold"
_WARN = "compaction.warnAtCompaction"
_MOST = "compaction.maxAutoCompactions"


def find_inconsistencies(settings: tuple[Setting, ...]) -> list[Finding]:
    """Find what contradicts itself, for all models and for each that has settings of its own.

    Only what somebody set is somebody's mistake: the defaults are never reported.
    """
    findings: dict[tuple[str, object], Finding] = {}
    for model in dict.fromkeys([None, *(setting.model for setting in settings)]):
        origins = {
            setting.key.name: setting.origins[-1]
            for setting in settings
            if setting.model in (None, model)
        }
        values = {name: setting.value for name, setting in effective(settings, model).items()}
        for keys, message, fix in _problems(values):
            origin = next((origins[name] for name in keys if name in origins), None)
            if origin is not None:
                finding = Finding("config-order", origin, message, fix, is_used=True)
                findings[message, origin] = finding
    return list(findings.values())


def _problems(values: dict[str, Value]) -> Iterator[tuple[tuple[str, ...], str, str]]:
    """Give the keys that contradict each other, in what words, and what to do about it."""
    n_reserved = reserve_tokens(values)
    values = {name: key.default for name, key in SPELLINGS.items()} | values
    window_tokens = values["contextWindow"]
    window = window_tokens if isinstance(window_tokens, int) else DEFAULT_WINDOW_TOKENS

    def number(name: str) -> float:
        value = values[name]
        if isinstance(value, Threshold):
            return value.ratio_of(window)
        return value if isinstance(value, int | float) else 0

    def named(name: str) -> str:
        value = values[name]
        return f"`{name}` ({value.text if isinstance(value, Threshold) else f'{value:,}'})"

    for low, high in pairwise(_IN_ORDER):
        if number(low) > number(high):
            message = f"{named(low)} lies above {named(high)}"
            yield (high, low), message, "lower the first or raise the second"
    for name in _PROTECTS:
        if number(name) > window / 2:
            message = f"{named(name)} is more than half the window of {window:,} tokens"
            yield (name, "contextWindow"), f"{message}, and counts as half of it", "lower it"
    if window - n_reserved - number(_SOFT) <= 0:
        message = f"the reserve and the soft threshold fill the window of {window:,} tokens"
        keys = (_FLOOR, "compaction.reserveTokens", _SOFT, "contextWindow")
        yield keys, f"{message}, so they start nothing", f"lower `{_FLOOR}`"
    if number(_WARN) > number(_MOST) > 0:
        message = f"{named(_WARN)} lies above {named(_MOST)}: automatic compactions stop"
        yield (_WARN, _MOST), f"{message} without a warning", "lower the first or raise the second"
    if number(_WARN_TOKENS) >= window:
        message = f"{named(_WARN_TOKENS)} is not inside the window of {window:,} tokens"
        yield (_WARN_TOKENS, "contextWindow"), message, "lower it"
