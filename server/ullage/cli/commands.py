"""The commands of `ullage` and their groups, as click knows them."""

import os
from collections.abc import Callable, Iterator, Mapping, MutableMapping
from difflib import get_close_matches
from importlib import import_module
from typing import cast

import click

from ullage import __version__
from ullage.agent.hook import load_packages
from ullage.cli.completion import Group, keep_commas
from ullage.cli.output import fail, fail_stopped
from ullage.errors import UllageError

COMPLETION_VARIABLE = "_ULLAGE_COMPLETE"
"""What the lines of the README set; click names it by the program."""
MODULES = {
    "agent": "servers",
    "autocompact": "compact",
    "checkpoint": "checkpoint",
    "compact": "compact",
    "config": "checks",
    "context": "context",
    "demo": "demo",
    "doctor": "checks",
    "hook": "servers",
    "install": "install",
    "lsp": "servers",
    "mcp": "servers",
    "memory": "memory",
    "pin": "pin",
    "prune": "prune",
    "redo": "undo",
    "sessions": "sessions",
    "statusline": "servers",
    "undo": "undo",
    "uninstall": "install",
    "usage": "sessions",
}
"""Where each command stands, by its name. All of them together take longer to import than most
take to run, so each is imported when it is asked for.
"""


class Commands(Mapping[str, click.Command]):
    """The commands of `MODULES`."""

    def __getitem__(self, name: str) -> click.Command:
        load_packages()
        module = import_module(f"ullage.cli.{MODULES[name]}")
        return cast(click.Command, getattr(module, name))

    def __iter__(self) -> Iterator[str]:
        return iter(MODULES)

    def __len__(self) -> int:
        return len(MODULES)


class Root(Group):
    """All of them: a refusal names its session, and an unknown word the command that is meant."""

    def invoke(self, ctx: click.Context) -> object:
        try:
            return cast(object, super().invoke(ctx))
        except UllageError as error:
            name = cast("Callable[[], str] | None", ctx.obj)
            if name is not None:
                error.args = (f"{name()}: {error}",)
            raise

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        word = args[0]
        if word in self.commands or word.startswith("-") or ctx.resilient_parsing:
            return super().resolve_command(ctx, args)
        known = tuple(_list_commands(self, ctx.command_path))
        alike = (word,) if word in dict(known) else get_close_matches(word, dict(known))
        meant = " or ".join(f"`{whole}`" for last in alike for name, whole in known if name == last)
        hint = f"did you mean {meant}?" if meant else f"see `{ctx.command_path} --help`"
        raise click.UsageError(f"no such command {word!r}: {hint}", ctx)


def _list_commands(group: click.Group, path: str) -> Iterator[tuple[str, str]]:
    """List the commands below a group, each by its last word and as a whole."""
    for name, command in group.commands.items():
        whole = f"{path} {name}"
        if isinstance(command, click.Group):
            yield from _list_commands(command, whole)
        else:
            yield name, whole


@click.group(
    cls=Root,
    commands=cast(MutableMapping[str, click.Command], Commands()),  # click adds nothing by itself
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.version_option(__version__)
def ullage() -> None:
    """See how full a coding agent's context is, and compact it without losing the work.

    \b
    Exit codes: 0 done, 1 a fault of Ullage, 2 wrong options, 3 the session
    cannot be used or a check found something, 4 refused to protect the session,
    5 the disk or the state folder does not allow it, 6 the model gave no
    summary, 130 stopped.
    """


def run() -> int:
    """Run the command that the arguments name, and give its exit code."""
    if COMPLETION_VARIABLE in os.environ:
        keep_commas()
    try:
        exit_code = cast(object, ullage.main(standalone_mode=False))
    except click.exceptions.NoArgsIsHelpError as error:
        click.echo(error.format_message())
        return 0
    except click.ClickException as error:
        fail(error.format_message(), error.exit_code)
    except click.Abort:
        fail_stopped()
    # click gives the code of a command that ended with one, and what others returned.
    return exit_code if isinstance(exit_code, int) else 0
