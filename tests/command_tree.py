"""The commands of the command line, as click has them."""

from collections.abc import Iterator

import click

from ullage.cli.commands import ullage


def commands_of(command: click.Command, *words: str) -> Iterator[tuple[str, set[str | None]]]:
    """Give the commands of a group, each with the names of its parameters."""
    if isinstance(command, click.Group):
        for name, part in command.commands.items():
            yield from commands_of(part, *words, name)
    else:
        yield " ".join(words), {parameter.name for parameter in command.params}


ALL_COMMANDS = dict(commands_of(ullage))
