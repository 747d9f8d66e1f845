"""The schema of the configuration files has every key where it is written, and forbids no file."""

import json
import runpy
from pathlib import Path
from typing import cast

import pytest

from ullage.core.config.settings import KEYS

ROOT = Path(__file__).parents[3]
FILE = ROOT / "server/ullage/data/schemas/config.schema.json"
Schema = dict[str, object]
SCHEMA = cast("Schema", json.loads(FILE.read_text("utf-8")))


def at(name: str, of: Schema = SCHEMA) -> Schema:
    for part in name.split("."):
        of = cast("dict[str, Schema]", of["properties"])[part]
    return of


def test_the_schema_in_the_package_is_made_of_the_keys() -> None:
    tool = runpy.run_path(str(ROOT / "tools/make_config_schema.py"))
    assert tool["schema"]() == SCHEMA, "run tools/make_config_schema.py"


@pytest.mark.parametrize(("name", "meaning"), [(key.name, key.meaning) for key in KEYS])
def test_a_key_is_explained_where_it_is_written(name: str, meaning: str) -> None:
    assert meaning in str(at(name)["description"])


def test_a_model_has_what_may_differ_from_model_to_model() -> None:
    of_model = cast("Schema", at("compaction.modelOverrides")["additionalProperties"])
    assert at("contextWindow", of_model)["type"] == "integer"
    assert "anyOf" in at("layers.summarize.trigger", of_model)
    assert "autoEnabled" not in cast("Schema", of_model["properties"])


def test_what_is_not_in_the_schema_is_left_to_the_server() -> None:
    text = FILE.read_text("utf-8")
    # `compaction.prune` is a section, and an older spelling of a flag.
    assert "type" not in at("compaction.prune")
    assert '"additionalProperties": false' not in text
    assert '"required"' not in text
