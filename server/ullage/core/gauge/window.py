"""The context window of a model, and who says so."""

from typing import Literal, TypeAlias

import msgspec

from ullage.core.config.settings import DEFAULT_WINDOW_TOKENS

WindowSource: TypeAlias = Literal["setting", "agent", "model table", "default"]


class ModelRow(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What is known of the models whose names start with a prefix."""

    prefix: str
    window_tokens: int
    encoding: str
    source: str
    date: str
    """Day on which the source was read, as YYYY-MM-DD."""


class Window(msgspec.Struct, frozen=True, kw_only=True):
    n_tokens: int
    source: WindowSource
    detail: str
    """The setting, the record or the row that the figure comes from."""


def resolve_window(
    model: str | None,
    row: ModelRow | None,
    *,
    setting_tokens: int | None,
    setting_name: str = "",
    agent_tokens: int | None,
) -> Window:
    """Resolve the window: the user's setting, the agent's record, the model table, the default."""
    if setting_tokens is not None:
        detail = f"your setting {setting_name}".rstrip()
        return Window(n_tokens=setting_tokens, source="setting", detail=detail)
    if agent_tokens is not None:
        return Window(n_tokens=agent_tokens, source="agent", detail="the agent's own record")
    if model is not None and model.lower().endswith("[1m]"):
        return Window(n_tokens=1_000_000, source="model table", detail="the model's [1m] suffix")
    if row is not None:
        return Window(
            n_tokens=row.window_tokens, source="model table", detail=f"{row.source}, {row.date}"
        )
    return Window(
        n_tokens=DEFAULT_WINDOW_TOKENS,
        source="default",
        detail="no source names this model; set ULLAGE_CONTEXT_WINDOW or --window",
    )
