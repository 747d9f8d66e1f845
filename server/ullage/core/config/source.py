"""Who says something about the configuration, where, and what is wrong with it."""

from typing import Literal, TypeAlias, get_args

import msgspec

from ullage.core.config.key import OVERRIDES, Key, Value
from ullage.core.text.positions import Positions
from ullage.core.text.tree import Member, Node

Place: TypeAlias = Literal[
    "default", "openclaw", "user file", "workspace file", "editor", "environment", "flag"
]
"""Who says so, from the weakest to the strongest."""
PLACES: tuple[Place, ...] = get_args(Place)

Code: TypeAlias = Literal[
    "config-unreadable", "config-syntax", "config-duplicate", "config-unknown", "config-type",
    "config-range", "config-secret", "config-untrusted", "config-conflict", "config-order",
]  # fmt: skip
"""What is wrong, in words that stay the same."""


class Origin(msgspec.Struct, frozen=True):
    """Where a value stands."""

    place: Place
    name: str
    """The file's path, the variable, the flag, or the editor's setting."""
    start: int = 0
    """In characters of the text, as `end`."""
    end: int = 0
    line: int | None = None
    """From 1, as the columns, which are characters; None where there is no text."""
    column: int | None = None
    end_line: int | None = None
    end_column: int | None = None

    @property
    def text(self) -> str:
        """Name it as compilers do: `file:line:column`."""
        return self.name if self.line is None else f"{self.name}:{self.line}:{self.column}"


class Finding(msgspec.Struct, frozen=True):
    """What is wrong with a configuration, and what to do about it."""

    code: Code
    origin: Origin
    message: str
    fix: str
    is_used: bool = False
    """Whether the value counts all the same; else the next weaker place decides."""
    replacement: str | None = None
    """The key that was probably meant, or its variable."""
    new_text: str | None = None
    """What to put in at the place: as much of that key as is not said by what it is nested in."""


class Setting(msgspec.Struct, frozen=True, kw_only=True):
    """One value that somebody set, and where."""

    key: Key
    value: Value
    origins: tuple[Origin, ...]
    """One, or for a list each place that added to it."""
    model: str | None = None
    """The beginning of a model's name; None for every model without a setting of its own."""

    @property
    def name(self) -> str:
        return self.key.name if self.model is None else override_name(self.key.name, self.model)


def override_name(key: str, model: str) -> str:
    """Write a key as it stands for one model."""
    return f"{OVERRIDES}.{model}.{key.removeprefix('compaction.')}"


class Source(msgspec.Struct, frozen=True, kw_only=True):
    """What one file, or the editor, says."""

    place: Place
    name: str
    root: Node | None = None
    """None where it could not be read."""
    positions: Positions | None = None
    """Of its text; the editor's settings have none."""
    findings: tuple[Finding, ...] = ()

    def origin(self, at: Node | Member) -> Origin:
        if self.positions is None:
            return Origin(self.place, self.name)
        first, last = (
            self.positions.line_and_column(at.start),
            self.positions.line_and_column(at.end),
        )
        return Origin(self.place, self.name, at.start, at.end, *first, *last)
