"""The extension's `model/agents.json` names the folders that the server reads."""

import json
from collections.abc import Mapping
from pathlib import Path

import msgspec
import pytest

from ullage.formats.agents.opencode.agent import OPENCODE
from ullage.formats.registry import AGENTS

SOURCE = Path(__file__).parents[2] / "vscode-extension" / "src" / "model" / "agents.json"
HOME = Path("/home/me")


class Rule(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    agent: str
    variable: str
    folders: tuple[str, ...]
    home: str | None = None


RULES = msgspec.convert(json.loads(SOURCE.read_text("utf-8")), tuple[Rule, ...])


def theirs(env: Mapping[str, str]) -> set[Path]:
    """Follow the rules as `model/agents.ts` does."""
    found: dict[str, set[Path]] = {}
    for rule in RULES:
        chosen = env.get(rule.variable)
        if chosen is None and rule.home is None:
            continue
        root = Path(chosen).expanduser() if chosen else HOME / (rule.home or "")
        found.setdefault(rule.agent, {root / folder for folder in rule.folders})
    return set().union(*found.values())


def ours(env: Mapping[str, str]) -> set[Path]:
    files = {root for info in AGENTS for root in info.session_roots(env, HOME)}
    return files | {folder for folder, _ in OPENCODE.database_patterns(env, HOME)}


def test_the_rules_are_the_homes_of_the_rows() -> None:
    assert [
        Rule(agent=info.agent, variable=own.variable, folders=own.folders, home=own.default)
        for info in AGENTS
        for own in info.homes
    ] == list(RULES)


def test_without_variables_both_name_the_same_folders() -> None:
    assert theirs({}) == ours({})


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.variable)
def test_a_variable_moves_the_same_folders(rule: Rule) -> None:
    env = {rule.variable: "/elsewhere"}
    assert theirs(env) == ours(env) != ours({})


def test_every_variable_at_once_is_understood_alike() -> None:
    env = {rule.variable: f"/elsewhere/{rule.agent}" for rule in RULES}
    assert theirs(env) == ours(env)
