"""Options that several commands share."""

from collections.abc import Callable
from typing import TypeVar

import click

from ullage.app.load import MIN_WINDOW_TOKENS, WINDOW_VARIABLE, Settings

F = TypeVar("F", bound=Callable[..., None])


def session_option(command: F) -> F:
    return click.option(
        "--session",
        metavar="ID|PATH",
        help="Path of a transcript or id of a session; the newest one of this folder if absent.",
    )(command)


def window_option(command: F) -> F:
    return click.option(
        "--window",
        type=click.IntRange(min=MIN_WINDOW_TOKENS),
        envvar=WINDOW_VARIABLE,
        metavar="TOKENS",
        help=f"Size of the model's context window, also from {WINDOW_VARIABLE}.",
    )(command)


def json_option(command: F) -> F:
    return click.option("--json", "as_json", is_flag=True, help="Print JSON.")(command)


def settings(window: int | None) -> Settings:
    return Settings(window_tokens=window)
