"""The window: who says how large it is."""

import pytest

from ullage.core.config.settings import DEFAULT_WINDOW_TOKENS
from ullage.core.gauge.gauge import ModelRow, resolve_window

ROW = ModelRow(prefix="gpt-4o", window_tokens=128_000, encoding="b", source="s", date="2026-01-01")


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
    row = ROW if model == "gpt-4o" else None
    window = resolve_window(model, row, setting_tokens=setting, agent_tokens=agent)
    assert (window.n_tokens, window.source) == expected
    assert window.detail
