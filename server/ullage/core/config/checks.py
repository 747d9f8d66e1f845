"""Settings that are each possible, and together make no sense."""

from collections.abc import Iterator, Sequence
from itertools import pairwise

from ullage.core.config.keys import SPELLINGS
from ullage.core.config.settings import Setting, effective, reserve_tokens
from ullage.core.config.tree import Finding, Origin
from ullage.core.config.values import Threshold, Value
from ullage.core.gauge.window import DEFAULT_WINDOW_TOKENS

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
_RESERVE = ("compaction.reserveTokensFloor", "compaction.reserveTokens")
_SOFT = "compaction.softThresholdTokens"
_WARN = "compaction.warnAtTokenThreshold"


def inconsistencies(settings: tuple[Setting, ...]) -> list[Finding]:
    """Find what contradicts itself, for all models and for each that has settings of its own.

    Only what somebody set is somebody's mistake: the defaults are never reported.
    """
    models = dict.fromkeys([None, *(setting.model for setting in settings)])
    found = [finding for model in models for finding in _Checks(settings, model).run()]
    return list({(finding.message, finding.origin): finding for finding in found}.values())


class _Checks:
    """The values that hold for one model, and where they stand."""

    def __init__(self, settings: tuple[Setting, ...], model: str | None) -> None:
        self._values = effective(settings, model)
        self._settings = {
            setting.key.name: setting for setting in settings if setting.model in (None, model)
        }
        window = self._value("contextWindow")
        self._window = window if isinstance(window, int) else DEFAULT_WINDOW_TOKENS

    def run(self) -> Iterator[Finding]:
        yield from self._order()
        yield from self._protection()
        yield from self._reserve()
        yield from self._limits()

    def _value(self, name: str) -> Value:
        return self._values.get(name, SPELLINGS[name].default)

    def _number(self, name: str) -> float:
        value = self._value(name)
        if isinstance(value, Threshold):
            return value.ratio_of(self._window)
        return value if isinstance(value, int | float) else 0

    def _order(self) -> Iterator[Finding]:
        for first, second in pairwise(_IN_ORDER):
            if self._number(first) > self._number(second):
                yield from self._finding(
                    (second, first),
                    f"`{first}` ({self._text(first)}) lies above `{second}` ({self._text(second)})",
                    "lower the first or raise the second",
                )

    def _protection(self) -> Iterator[Finding]:
        for name in _PROTECTS:
            if self._number(name) > self._window / 2:
                yield from self._finding(
                    (name, "contextWindow"),
                    f"`{name}` ({self._text(name)}) is more than half the window of"
                    f" {self._window:,} tokens, and counts as half of it",
                    "lower it",
                )

    def _reserve(self) -> Iterator[Finding]:
        names = (*_RESERVE, _SOFT)
        at_tokens = self._window - reserve_tokens(self._values) - self._number(_SOFT)
        if at_tokens <= 0:
            yield from self._finding(
                (*names, "contextWindow"),
                f"the reserve and the soft threshold fill the window of {self._window:,} tokens,"
                " so they start nothing",
                f"lower `{_RESERVE[0]}`",
            )

    def _limits(self) -> Iterator[Finding]:
        warn, most = "compaction.warnAtCompaction", "compaction.maxAutoCompactions"
        if self._number(warn) > self._number(most) > 0:
            yield from self._finding(
                (warn, most),
                f"`{warn}` ({self._text(warn)}) lies above `{most}` ({self._text(most)}):"
                " automatic compactions stop without a warning",
                "lower the first or raise the second",
            )
        if self._number(_WARN) >= self._window:
            yield from self._finding(
                (_WARN, "contextWindow"),
                f"`{_WARN}` ({self._text(_WARN)}) is not inside the window of"
                f" {self._window:,} tokens",
                "lower it",
            )

    def _finding(self, names: Sequence[str], message: str, fix: str) -> Iterator[Finding]:
        """Report at the first of these settings that somebody set."""
        origin = next((o for o in map(self._origin, names) if o is not None), None)
        if origin is not None:
            yield Finding(
                code="config-order", origin=origin, message=message, fix=fix, is_used=True
            )

    def _origin(self, name: str) -> Origin | None:
        setting = self._settings.get(name)
        return None if setting is None else setting.origins[-1]

    def _text(self, name: str) -> str:
        value = self._value(name)
        if isinstance(value, Threshold):
            return value.text
        return f"{value:,}" if isinstance(value, int) else "none"
