"""The schemas in the package describe what the commands and `ullage agent` answer."""

import json
import runpy
from importlib import resources
from pathlib import Path

import pytest

TOOL = Path(__file__).parents[2] / "tools/make_schemas.py"
SCHEMAS: dict[str, dict[str, object]] = runpy.run_path(str(TOOL))["schemas"]()


@pytest.mark.parametrize("name", SCHEMAS)
def test_the_packaged_schema_is_the_one_of_the_code(name: str) -> None:
    made = json.loads(json.dumps(SCHEMAS[name]))
    packaged = resources.files("ullage") / "data" / "schemas" / name
    assert json.loads(packaged.read_text("utf-8")) == made, "run tools/make_schemas.py"
