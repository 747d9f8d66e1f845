"""The model table that is part of the package."""

from functools import cache
from importlib import resources

import msgspec

from ullage.core.gauge.window import ModelRow


@cache
def model_table() -> tuple[ModelRow, ...]:
    data = (resources.files("ullage") / "data" / "models.json").read_bytes()
    return msgspec.json.decode(data, type=tuple[ModelRow, ...])
