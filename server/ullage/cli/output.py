"""Printing: text for people, JSON for programs, and nothing that a terminal would obey."""

import math
import os
import sys
from collections.abc import Generator
from contextlib import contextmanager
from typing import TYPE_CHECKING, NoReturn, TextIO, cast

if TYPE_CHECKING:
    from threading import Event

    import msgspec

EXIT_WITH_FINDINGS = 3
"""Of a check: what we were pointed at is not as it should be."""
INTERRUPTED = 130
DEFAULT_COLUMNS, MIN_COLUMNS, MAX_COLUMNS = 80, 60, 120
"""Narrower terminals wrap by themselves; longer lines are not read well (chosen)."""
TABLE_COLUMNS = 200
"""Rows of tables may be longer: titles and paths are told apart by their ends, too (chosen)."""

TICK_S = 1.0
"""Until the time is told, and told anew: who waits for two seconds wonders (chosen)."""
_WORKING_CHARS = 24


def print_json(report: "msgspec.Struct") -> None:
    """Print a report as JSON; characters beyond ASCII are escaped, lone surrogates too."""
    import json

    import msgspec

    value = cast(object, msgspec.to_builtins(report))
    try:
        text = json.dumps(value, indent=2, allow_nan=False)
    except ValueError:
        text = json.dumps(_finite(value), indent=2)
    # JSON leaves this one as it is, alone of all that a terminal obeys.
    echo(text.replace("\x7f", r"\u007f"))


def _finite(value: object) -> object:
    """Make infinite numbers null, as JavaScript does; JSON has none."""
    if isinstance(value, dict):
        return {key: _finite(item) for key, item in cast(dict[str, object], value).items()}
    if isinstance(value, list):
        return [_finite(item) for item in cast(list[object], value)]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def answer(text: str, report: "msgspec.Struct", as_json: bool) -> None:
    """Print an answer in the way that was asked for."""
    if as_json:
        print_json(report)
    else:
        echo(safe(text))


def echo(text: str) -> None:
    """Print a text at once. What click does, which is not imported by all."""
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


def fail(message: str, exit_code: int) -> NoReturn:
    """Say in one line on standard error why nothing was done, and end."""
    from ullage.core.secrets.scan import mask

    sys.stderr.write(safe(f"ullage: {mask(message)}".replace("\n", " ")) + "\n")
    sys.exit(exit_code)


def fail_stopped() -> NoReturn:
    fail("stopped; nothing more was done", INTERRUPTED)


def safe(text: str) -> str:
    """Replace what would steer a terminal or turn the direction of text."""
    from ullage.core.text.quoting import replace_steering

    return replace_steering(text)


@contextmanager
def working(tick_s: float = TICK_S) -> Generator[None]:
    """Tell on a terminal how long the work takes by now; the line is gone when it is done."""
    if not sys.stderr.isatty():
        yield
        return
    from threading import Event, Thread

    is_done = Event()
    teller = Thread(target=_tell_time, args=(is_done, tick_s, sys.stderr), daemon=True)
    teller.start()
    try:
        yield
    finally:
        is_done.set()
        teller.join()


def _tell_time(is_done: "Event", tick_s: float, stream: TextIO) -> None:
    n_ticks = 0
    while not is_done.wait(tick_s):
        n_ticks += 1
        stream.write(f"\rWorking… {n_ticks * tick_s:.0f} s")
        stream.flush()
    if n_ticks:
        stream.write(f"\r{'':{_WORKING_CHARS}}\r")
        stream.flush()


def over_working(text: str) -> str:
    """Give a line that covers what `working` wrote, which goes on below it."""
    return f"\r{text:<{_WORKING_CHARS}}" if sys.stderr.isatty() else text


def n_columns(maximum: int = MAX_COLUMNS) -> int:
    """Give the width that text is laid out for; that of no terminal is 80."""
    try:
        n_columns = int(os.environ.get("COLUMNS") or os.get_terminal_size().columns)
    except (OSError, ValueError):
        n_columns = DEFAULT_COLUMNS
    return min(maximum, max(MIN_COLUMNS, n_columns))
