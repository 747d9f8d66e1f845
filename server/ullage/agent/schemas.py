"""The JSON Schema of each method: its params and its result; `data/schemas/agent` holds them."""

import msgspec

from ullage.agent.protocol import METHODS
from ullage.app.schemas import DIALECT, anything
from ullage.core.transcript.message import JsonObject


def method_schemas() -> dict[str, JsonObject]:
    """Give the schema of each method by its name."""
    return {method.name: _schema(method.name, method.params, method.result) for method in METHODS}


def file_name(method: str) -> str:
    return f"{method.replace('/', '-')}.schema.json"


def _schema(name: str, params: type, result: type) -> JsonObject:
    (of_params, of_result), parts = msgspec.json.schema_components(
        (params, result), schema_hook=anything, ref_template="#/$defs/{name}"
    )
    return {
        "$schema": DIALECT,
        "title": name,
        "type": "object",
        "properties": {"params": of_params, "result": of_result},
        "$defs": parts,
    }
