"""The window: who says how large it is."""

import pytest

from ullage.core.gauge.window import DEFAULT_WINDOW_TOKENS, ModelRow, find_row, resolve
from ullage.store.gauge.models import model_table

TABLE = (
    ModelRow(prefix="gpt-4", window_tokens=8192, encoding="a", source="s", date="2026-01-01"),
    ModelRow(prefix="gpt-4o", window_tokens=128_000, encoding="b", source="s", date="2026-01-01"),
)


@pytest.mark.parametrize(
    ("setting", "agent", "model", "expected"),
    [
        (5000, 6000, "gpt-4o", (5000, "setting")),
        (None, 6000, "gpt-4o", (6000, "agent")),
        (None, None, "gpt-4o", (128_000, "model table")),
        (None, None, "unheard-of", (DEFAULT_WINDOW_TOKENS, "default")),
        (None, None, None, (200_000, "default")),
        (None, None, "claude-opus[1m]", (1_000_000, "model table")),
        (5000, None, "claude-opus[1m]", (5000, "setting")),
    ],
)
def test_the_first_who_knows_the_window_wins(
    setting: int | None, agent: int | None, model: str | None, expected: tuple[int, str]
) -> None:
    window = resolve(model, TABLE, setting_tokens=setting, agent_tokens=agent)
    assert (window.n_tokens, window.source) == expected
    assert window.detail


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
    row = find_row(TABLE, model)
    assert row is not None
    assert row.prefix == prefix


@pytest.mark.parametrize("model", [None, "", "/", "my-gpt-4", "llama"])
def test_an_unknown_model_has_no_row(model: str | None) -> None:
    assert find_row(TABLE, model) is None


def test_the_table_of_the_package_is_sound() -> None:
    table = model_table()
    assert len({row.prefix for row in table}) == len(table)
    for row in table:
        assert row.prefix == row.prefix.lower()
        assert row.window_tokens >= 4096
        assert row.encoding in ("o200k_base", "cl100k_base")
        assert row.source
        assert len(row.date.split("-")) == 3
