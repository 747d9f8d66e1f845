"""The command `ullage`: its groups and commands, and the one place where errors end."""

import os
import sys
from collections.abc import Iterator, Mapping, MutableMapping
from importlib import import_module
from pathlib import Path
from typing import cast

import click

from ullage import __version__
from ullage.errors import UllageError

MODULES = {
    "agent": "servers",
    "autocompact": "compact",
    "checkpoint": "checkpoint",
    "compact": "compact",
    "config": "config",
    "context": "context",
    "demo": "demo",
    "doctor": "doctor",
    "hook": "servers",
    "install": "install",
    "lsp": "servers",
    "mcp": "servers",
    "memory": "memory",
    "pin": "pin",
    "prune": "prune",
    "sessions": "sessions",
    "statusline": "servers",
    "undo": "undo",
    "uninstall": "install",
}
"""Where each command stands, by its name. All of them together take longer to import than most
take to run, so each is imported when it is asked for.
"""
INTERRUPTED = 130
DEBUG_VARIABLE = "ULLAGE_DEBUG"


class Commands(Mapping[str, click.Command]):
    """The commands of `MODULES`."""

    def __getitem__(self, name: str) -> click.Command:
        module = import_module(f"ullage.cli.{MODULES[name]}")
        return cast(click.Command, getattr(module, name))

    def __iter__(self) -> Iterator[str]:
        return iter(MODULES)

    def __len__(self) -> int:
        return len(MODULES)


@click.group(
    commands=cast(MutableMapping[str, click.Command], Commands()),  # click adds nothing by itself
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.version_option(__version__)
def ullage() -> None:
    """See how full a coding agent's context is, and compact it without losing the work.

    \b
    Exit codes: 0 done, 1 a fault of Ullage, 2 wrong options, 3 the session
    cannot be used or the configuration has findings, 4 refused to protect the
    session, 5 the disk or the state folder does not allow it, 6 the model gave
    no summary.
    """


def main() -> None:
    """Run a command; every expected failure is one line and an exit code of its own."""
    open_missing_streams()
    use_any_encoding()
    stdout = sys.stdout
    try:
        exit_code = cast(object, ullage.main(standalone_mode=False))
    except UllageError as error:
        fail(str(error), error.exit_code)
    except SystemExit as leaving:
        # click wraps the output and ends with 1 where the reader, such as `head`, has gone.
        sys.exit(leaving.code if sys.stdout is stdout else 0)
    except click.exceptions.NoArgsIsHelpError as error:
        click.echo(error.format_message())
        sys.exit(0)
    except click.ClickException as error:
        fail(error.format_message(), error.exit_code)
    except (click.Abort, KeyboardInterrupt):
        fail("stopped; nothing more was done", INTERRUPTED)
    except Exception as error:
        if os.environ.get(DEBUG_VARIABLE):
            import traceback

            from ullage.core.secrets.scan import mask

            click.echo(mask(traceback.format_exc()), err=True)
        fail(
            f"a fault of Ullage ({type(error).__name__}): please report it;"
            f" {DEBUG_VARIABLE}=1 shows where it happened",
            1,
        )
    else:
        # click gives the code of a command that ended with one, and what others returned.
        sys.exit(exit_code if isinstance(exit_code, int) else 0)


def fail(message: str, exit_code: int) -> None:
    from ullage.cli.output import safe
    from ullage.core.secrets.scan import mask

    click.echo(safe(f"ullage: {mask(message)}".replace("\n", " ")), err=True)
    sys.exit(exit_code)


def open_missing_streams() -> None:
    """Let output lead nowhere where it has no stream: pythonw.exe, as in a task of Windows."""
    nowhere = Path(os.devnull)
    sys.stdout = sys.stdout or nowhere.open("w", encoding="utf-8")
    sys.stderr = sys.stderr or nowhere.open("w", encoding="utf-8")


def use_any_encoding() -> None:
    """Print a question mark for what the terminal's encoding lacks, instead of failing."""
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(errors="replace")
