"""A command is one row, and whatever tells of commands tells of each."""

import re
from pathlib import Path

import pytest

from command_tree import ALL_COMMANDS
from test_agents import COMMANDS

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
