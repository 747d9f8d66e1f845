"""Printing: text for people, JSON for programs, and nothing that a terminal would obey."""

import json
import math
import os
from typing import cast

import click
import msgspec

from ullage.core.text.quoting import replace_steering

DEFAULT_COLUMNS, MIN_COLUMNS, MAX_COLUMNS = 80, 60, 120
"""Narrower terminals wrap by themselves; longer lines are not read well (chosen)."""
TABLE_COLUMNS = 200
"""Rows of tables may be longer: titles and paths are told apart by their ends, too (chosen)."""


def print_json(report: msgspec.Struct) -> None:
    """Print a report as JSON; characters beyond ASCII are escaped, lone surrogates too."""
    value = cast(object, msgspec.to_builtins(report))
    try:
        text = json.dumps(value, indent=2, allow_nan=False)
    except ValueError:
        text = json.dumps(_finite(value), indent=2)
    # JSON leaves this one as it is, alone of all that a terminal obeys.
    click.echo(text.replace("\x7f", r"\u007f"))


def _finite(value: object) -> object:
    """Make infinite numbers null, as JavaScript does; JSON has none."""
    if isinstance(value, dict):
        return {key: _finite(item) for key, item in cast(dict[str, object], value).items()}
    if isinstance(value, list):
        return [_finite(item) for item in cast(list[object], value)]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def answer(text: str, report: msgspec.Struct, as_json: bool) -> None:
    """Print an answer in the way that was asked for."""
    if as_json:
        print_json(report)
    else:
        click.echo(safe(text))


def safe(text: str) -> str:
    """Replace what would steer a terminal or turn the direction of text."""
    return replace_steering(text)


def n_columns(maximum: int = MAX_COLUMNS) -> int:
    """Give the width that text is laid out for; that of no terminal is 80."""
    try:
        n_columns = int(os.environ.get("COLUMNS") or os.get_terminal_size().columns)
    except (OSError, ValueError):
        n_columns = DEFAULT_COLUMNS
    return min(maximum, max(MIN_COLUMNS, n_columns))
