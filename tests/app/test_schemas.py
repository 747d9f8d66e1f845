"""The schemas in the package describe what the commands answer."""

import json
from importlib import resources

import msgspec
import pytest

from ullage.app.schemas import REPORTS, schema_of


@pytest.mark.parametrize(("name", "report"), REPORTS, ids=[name for name, _ in REPORTS])
def test_the_packaged_schema_is_the_one_of_the_code(
    name: str, report: type[msgspec.Struct]
) -> None:
    made = json.loads(json.dumps(schema_of(report)))
    packaged = resources.files("ullage") / "data" / "schemas" / f"{name}.schema.json"
    assert json.loads(packaged.read_text("utf-8")) == made, "run tools/make_schemas.py"
