"""What an agent's own settings say: values by their names, from its files and the environment.

Files are those that the agent itself reads. What in them has not the type that the agent expects
is passed over, as if it were not there: a damaged setting leaves the default.
"""

import re
from collections.abc import Mapping, Sequence
from typing import cast

import msgspec

from ullage.core.text.lazy_pattern import lazy_pattern
from ullage.core.transcript.entries import JsonObject

_NUMBER = lazy_pattern(
    r"\s*\+?((?:[0-9]{1,15}(?:\.[0-9]*)?|\.[0-9]+)(?:e[+-]?[0-9]{1,2})?)", re.IGNORECASE
)
MAX_NUMBER = 10**15
"""Larger ones are no setting: as a float they may be infinite, or none at all (chosen)."""
_YES = ("1", "true", "yes", "on")


class SettingsFile(msgspec.Struct, frozen=True, kw_only=True):
    name: str
    """With its folder: `.claude/settings.json`."""
    content: JsonObject


class NumberSetting(msgspec.Struct, frozen=True, kw_only=True):
    value: float
    """Finite, not negative."""
    origin: str
    """Its name, and the file that it stands in."""


class AgentSettings(msgspec.Struct, frozen=True, kw_only=True):
    sources: tuple[SettingsFile, ...] = ()
    """Strongest first."""
    env: Mapping[str, str] = {}

    def find_number(self, *keys: str) -> NumberSetting | None:
        """Give the number that the strongest file has at a path of keys."""
        for file in self.sources:
            number = number_at(file.content, keys)
            if number is not None:
                return NumberSetting(value=number, origin=f"{'.'.join(keys)} in {file.name}")
        return None

    def find_flag(self, *keys: str) -> bool | None:
        """Give the flag that the strongest file has at a path of keys."""
        values = (value_at(file.content, keys) for file in self.sources)
        return next((value for value in values if isinstance(value, bool)), None)

    def has_flag(self, variable: str) -> bool:
        """Whether a variable of the environment switches something on."""
        return self.env.get(variable, "").strip().lower() in _YES


def value_at(content: JsonObject, keys: Sequence[str]) -> object:
    """Give what stands at a path of keys; None where nothing does."""
    *above, last = keys
    for key in above:
        inner = content.get(key)
        if not isinstance(inner, dict):
            return None
        content = cast(JsonObject, inner)
    return content.get(last)


def number_at(content: JsonObject, keys: Sequence[str]) -> float | None:
    """Give the number at a path of keys; None where there is none that can be a setting."""
    value = value_at(content, keys)
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return value if 0 <= value <= MAX_NUMBER else None


def leading_number(text: str) -> float | None:
    """Read the number that a text begins with, as JavaScript's `parseFloat` does."""
    match = _NUMBER.match(text)
    return None if match is None else float(match[1])
