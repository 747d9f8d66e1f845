"""Write the JSON Schema of the configuration files; a test compares it with the keys of the code.

Editors complete, explain and check `.ullage.yaml` by it. It is made to say nothing wrong rather
than everything: keys with dots, other spellings and OpenClaw's own keys are let through, since
`ullage config check` and the language server look at all of them.
"""

import json
from pathlib import Path
from typing import cast

import msgspec

from ullage.core.config.key import (
    MIN_THRESHOLD_TOKENS,
    OVERRIDES,
    SHARE,
    Key,
    Kind,
    Threshold,
)
from ullage.core.config.settings import KEYS
from ullage.core.transcript.agent_lines import MAX_WINDOW_TOKENS

FILE = Path(__file__).parent.parent / "server/ullage/data/schemas/config.schema.json"
Schema = dict[str, object]


def schema() -> Schema:
    """Make the schema: sections within sections, as the files are written."""
    root: Schema = {
        "$schema": "http://json-schema.org/draft-07/schema#",
        "title": "Configuration of Ullage",
        "type": ["object", "null"],
    }
    for key in KEYS:
        _put(root, key.name, _of_key(key))
    of_model: Schema = {}
    for key in KEYS:
        within = [name for name in (key.name, *key.spellings) if name.startswith("compaction.")]
        if key.is_per_model and within:
            _put(of_model, within[0].removeprefix("compaction."), _of_key(key))
    overrides: Schema = {
        "description": "Other values for models, by the beginning of a model's name",
        "additionalProperties": of_model,
    }
    _put(root, OVERRIDES, overrides)
    return root


def _put(root: Schema, name: str, of: Schema) -> None:
    """Put the schema of a key where it stands; a section may be something else than a mapping."""
    *sections, last = name.split(".")
    place = root
    for section in sections:
        place = _properties(place).setdefault(section, {})
    _properties(place)[last] = of


def _properties(of: Schema) -> dict[str, Schema]:
    return cast("dict[str, Schema]", of.setdefault("properties", {}))


_WHERE = {
    "off": " A workspace can only turn it off.",
    "user": " Only in a file of yours: no workspace sets it.",
}


def _of_key(key: Key) -> Schema:
    alternatives = _of_kind(key.kind)
    if key.is_nullable:
        alternatives = [*alternatives, {"type": "null"}]
    one = alternatives[0] if len(alternatives) == 1 else {"anyOf": alternatives}
    where = _WHERE.get(key.scope, "")
    described: Schema = {"description": f"{key.description}{where}", **one}
    if key.default is not None:
        text = key.default.text if isinstance(key.default, Threshold) else key.default
        described["default"] = list(text) if isinstance(text, tuple) else text
    return described


def _of_kind(kind: Kind) -> list[Schema]:
    if kind is SHARE:
        return [
            {"type": "string", "pattern": r"^[0-9]{1,3}(\.[0-9]{1,6})?\s?%$"},
            {"type": "number", "minimum": 1, "maximum": 100},
            {"type": "integer", "minimum": MIN_THRESHOLD_TOKENS, "maximum": MAX_WINDOW_TOKENS},
        ]
    return [_without_patterns(msgspec.json.schema(kind.accepted))]


def _without_patterns(of: Schema) -> Schema:
    """Leave out what is written as Python has it; the server checks that."""
    return {
        name: _without_patterns(cast("Schema", part)) if isinstance(part, dict) else part
        for name, part in of.items()
        if name != "pattern"
    }


if __name__ == "__main__":
    FILE.write_text(f"{json.dumps(schema(), indent=2, ensure_ascii=False)}\n", encoding="utf-8")
