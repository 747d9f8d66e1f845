"""The command `ullage`: its groups and commands, and the one place where errors end."""

import os
import sys
from typing import cast

import click

from ullage.cli.checkpoint import checkpoint
from ullage.cli.compact import autocompact, compact
from ullage.cli.config import config
from ullage.cli.context import context
from ullage.cli.demo import demo
from ullage.cli.doctor import doctor
from ullage.cli.install import install, uninstall
from ullage.cli.memory import memory
from ullage.cli.output import safe, use_any_encoding
from ullage.cli.pin import pin
from ullage.cli.prune import prune
from ullage.cli.servers import agent, hook, lsp, mcp
from ullage.cli.sessions import sessions
from ullage.cli.undo import undo
from ullage.core.secrets.scan import mask
from ullage.errors import UllageError

COMMANDS: tuple[click.Command, ...] = (
    sessions,
    context,
    compact,
    prune,
    undo,
    autocompact,
    pin,
    checkpoint,
    memory,
    config,
    doctor,
    demo,
    install,
    uninstall,
    lsp,
    agent,
    hook,
    mcp,
)
INTERRUPTED = 130
DEBUG_VARIABLE = "ULLAGE_DEBUG"


@click.group(context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(package_name="ullage")
def ullage() -> None:
    """See how full a coding agent's context is, and compact it without losing the work.

    \b
    Exit codes: 0 done, 1 a fault of Ullage, 2 wrong options, 3 the session
    cannot be used or the configuration has findings, 4 refused to protect the
    session, 5 the disk or the state folder does not allow it, 6 the model gave
    no summary.
    """


for command in COMMANDS:
    ullage.add_command(command)


def main() -> None:
    """Run a command; every expected failure is one line and an exit code of its own."""
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
    click.echo(safe(f"ullage: {mask(message)}".replace("\n", " ")), err=True)
    sys.exit(exit_code)
