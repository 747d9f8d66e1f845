"""The model table that is part of the package."""

from functools import cache

import msgspec

from ullage.core.gauge.gauge import ModelRow
from ullage.data.packaged import read_packaged


def model_row(model: str | None) -> ModelRow | None:
    """Find the row with the longest prefix of a model's name, from any provider."""
    if model is None:
        return None
    name = model.rpartition("/")[2].lower()
    fitting = [row for row in model_table() if name.startswith(row.prefix)]
    return max(fitting, key=lambda row: len(row.prefix), default=None)


@cache
def model_table() -> tuple[ModelRow, ...]:
    return msgspec.json.decode(read_packaged("models.json"), type=tuple[ModelRow, ...])
