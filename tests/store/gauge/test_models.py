"""The model table: which row is a model's."""

from datetime import date

import pytest

from ullage.core.gauge.gauge import ModelRow
from ullage.store.gauge import models
from ullage.store.gauge.models import model_row, model_table

TABLE = (
    ModelRow(prefix="gpt-4", window_tokens=8192, encoding="a", source="s", date="2026-01-01"),
    ModelRow(prefix="gpt-4o", window_tokens=128_000, encoding="b", source="s", date="2026-01-01"),
)


@pytest.fixture
def table(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(models, "model_table", lambda: TABLE)


@pytest.mark.usefixtures("table")
@pytest.mark.parametrize(
    ("model", "prefix"),
    [
        ("gpt-4", "gpt-4"),
        ("gpt-4o-mini", "gpt-4o"),
        ("openai/gpt-4o", "gpt-4o"),
        ("openrouter/openai/GPT-4o", "gpt-4o"),
        ("gpt-4-0613", "gpt-4"),
    ],
)
def test_the_longest_prefix_wins_whoever_provides_the_model(model: str, prefix: str) -> None:
    row = model_row(model)
    assert row is not None
    assert row.prefix == prefix


@pytest.mark.usefixtures("table")
@pytest.mark.parametrize("model", [None, "", "/", "my-gpt-4", "llama"])
def test_an_unknown_model_has_no_row(model: str | None) -> None:
    assert model_row(model) is None


def test_the_table_of_the_package_is_sound() -> None:
    table = model_table()
    assert len({row.prefix for row in table}) == len(table)
    for row in table:
        assert row.prefix == row.prefix.lower()
        assert row.window_tokens >= 4096
        assert row.encoding in ("o200k_base", "cl100k_base")
        assert row.source
        assert len(row.date.split("-")) == 3


def test_the_packaged_table_is_whole_and_sourced() -> None:
    rows = models.model_table.__wrapped__()
    assert len({row.prefix for row in rows}) == len(rows)
    for row in rows:
        assert row.prefix == row.prefix.strip().lower()
        assert row.window_tokens > 1000
        assert row.encoding in ("o200k_base", "cl100k_base")
        assert row.source
        assert date.fromisoformat(row.date)
