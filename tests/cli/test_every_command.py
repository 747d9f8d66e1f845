"""A command is one row, and whatever tells of commands tells of each."""

import re
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from test_agents import COMMANDS
from ullage.cli.commands import ullage

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text("utf-8")
SCHEMAS = [path.name for path in (ROOT / "server/ullage/data/schemas").glob("*.json")]
WITHOUT_SCHEMA = {"install", "uninstall"}
"""What they answer is the lines of an agent's settings."""


def commands_of(command: click.Command, *words: str) -> Iterator[tuple[str, set[str | None]]]:
    """Give the commands of a group, each with the names of its parameters."""
    if isinstance(command, click.Group):
        for name, part in command.commands.items():
            yield from commands_of(part, *words, name)
    else:
        yield " ".join(words), {parameter.name for parameter in command.params}


ALL = dict(commands_of(ullage))
each_command = pytest.mark.parametrize("name", ALL)


@each_command
def test_the_readme_has_it(name: str) -> None:
    group, _, last = name.rpartition(" ")
    begin = f"`ullage {group}".rstrip()
    assert re.search(rf"^\|.*{begin} (?:\w+\\\|)*{last}\b", README, re.MULTILINE), name


@each_command
def test_what_it_answers_as_json_has_a_schema(name: str) -> None:
    if "as_json" in ALL[name] and name not in WITHOUT_SCHEMA:
        schemas = [schema for schema in SCHEMAS if schema.startswith(name.replace(" ", "-"))]
        assert schemas, "name its report in tools/make_schemas.py and run it"


@each_command
def test_it_is_tried_with_every_agent_if_it_takes_a_session(name: str) -> None:
    if "session" in ALL[name]:
        assert any(f"{command} ".startswith(f"{name} ") for command in COMMANDS), name
