"""A command is one row, and whatever tells of commands tells of each."""

import re
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from command_tree import ALL_COMMANDS
from test_agents import COMMANDS
from ullage.cli.commands import ullage

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text("utf-8")
SCHEMAS = [path.name for path in (ROOT / "server/ullage/data/schemas").glob("*.json")]
WITHOUT_SCHEMA = {"install", "uninstall"}
"""What they answer is the lines of an agent's settings."""

each_command = pytest.mark.parametrize("name", ALL_COMMANDS)


@each_command
def test_the_readme_has_it(name: str) -> None:
    group, _, last = name.rpartition(" ")
    begin = f"`ullage {group}".rstrip()
    assert re.search(rf"^\|.*{begin} (?:\w+\\\|)*{last}\b", README, re.MULTILINE), name


@each_command
def test_what_it_answers_as_json_has_a_schema(name: str) -> None:
    if "as_json" in ALL_COMMANDS[name] and name not in WITHOUT_SCHEMA:
        schemas = [schema for schema in SCHEMAS if schema.startswith(name.replace(" ", "-"))]
        assert schemas, "name its report in tools/make_schemas.py and run it"


@each_command
def test_it_is_tried_with_every_agent_if_it_takes_a_session(name: str) -> None:
    if "session" in ALL_COMMANDS[name]:
        assert any(f"{command} ".startswith(f"{name} ") for command in COMMANDS), name


def test_an_unknown_word_is_answered_with_the_command_that_is_meant(place) -> None:
    first = {name.partition(" ")[0] for name in ALL_COMMANDS}
    for name in ALL_COMMANDS:
        word = name.rpartition(" ")[2]
        if word not in first:
            done = place.run(word)
            assert (done.returncode, done.stdout) == (2, "")
            assert f"`ullage {name}`" in done.stderr
    assert "did you mean `ullage compact` or " in place.run("compcat").stderr
    assert place.run("help").stderr.endswith("see `ullage --help`\n")


def help_pages(command: click.Command, parent: click.Context | None = None) -> Iterator[str]:
    context = click.Context(command, parent, info_name=command.name, max_content_width=100)
    yield command.get_help(context)
    if isinstance(command, click.Group):
        for part in command.commands.values():
            yield from help_pages(part, context)


@pytest.mark.parametrize("n_columns", [80, 200])
def test_a_page_of_help_cuts_no_line_and_has_none_too_long(
    n_columns: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", str(n_columns))
    pages = list(help_pages(ullage))
    assert len(pages) > len(ALL_COMMANDS)
    for page in pages:
        usage, _, rest = page.partition("\n\n")
        assert not any(line.endswith("...") for line in rest.split("\n")), rest
        assert max(map(len, page.split("\n"))) <= n_columns, usage
