"""The extension's settings are keys of the configuration, with the same defaults."""

import json
from pathlib import Path
from typing import NotRequired, TypedDict, cast

import pytest

from ullage.core.config.key import Threshold
from ullage.core.config.settings import KEYS
from ullage.core.documents.diagnostic_codes import CODES

SOURCE = Path(__file__).parents[2] / "vscode-extension" / "package.json"
CLIENT_SETTINGS = {"interpreter"}
"""What the extension itself reads."""
SCOPES = {"workspace": {"window"}, "trusted": {"window", "machine-overridable"}}


class Items(TypedDict, total=False):
    enum: list[str]


class Setting(TypedDict):
    default: object
    scope: str
    items: NotRequired[Items]


def settings() -> dict[str, Setting]:
    groups = json.loads(SOURCE.read_text("utf-8"))["contributes"]["configuration"]
    found = {
        name.removeprefix("ullage."): cast("Setting", value)
        for group in groups
        for name, value in group["properties"].items()
    }
    return {name: value for name, value in found.items() if name not in CLIENT_SETTINGS}


SETTINGS = settings()


@pytest.mark.parametrize("name", SETTINGS)
def test_a_setting_is_a_key_with_its_default(name: str) -> None:
    (key,) = (key for key in KEYS if key.name == name)
    default = key.default
    if isinstance(default, Threshold):
        default = default.text
    shown = SETTINGS[name]["default"]
    assert (tuple(shown) if isinstance(shown, list) else shown) == default


@pytest.mark.parametrize("name", SETTINGS)
def test_nobody_but_the_user_sets_in_the_editor_what_is_the_users_alone(name: str) -> None:
    (key,) = (key for key in KEYS if key.name == name)
    assert SETTINGS[name]["scope"] in SCOPES.get(key.scope, {"machine"})


def test_the_editor_completes_the_codes_that_can_be_turned_off() -> None:
    assert SETTINGS["diagnostics.off"].get("items", {}).get("enum") == [one.code for one in CODES]
