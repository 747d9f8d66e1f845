"""The model of a Claude Code session, with the window that its user chose (`[1m]`).

An answer's message names the model alone. What was chosen stands beside it in newer versions
(`requestedModel`), in an attachment that announces the model, and in the key under which a
`cost-state` adds up what it cost (docs/design/agents.md, "Claude Code: records").
"""

from collections.abc import Iterable

import msgspec

from ullage.core.gauge.window import has_large_window, is_same_model
from ullage.core.transcript.context import ContextItem
from ullage.core.transcript.entries import Entry, JsonObject
from ullage.formats.agents.claude_code.messages import model_named_by
from ullage.formats.json_line import int_of, object_of, text_of


class ChosenModel(msgspec.Struct, frozen=True, kw_only=True):
    name: str | None
    window_tokens: int | None = None


def follow_model(name: str | None, entries: Iterable[Entry]) -> str | None:
    """Go on from a model through later records.

    An answer that does not say what was requested takes no chosen window back.
    """
    for entry in entries:
        model = model_named_by(entry)
        if model is None:
            continue
        is_silent = entry.kind == "assistant" and text_of(entry.native, "requestedModel") is None
        if not (is_silent and name and has_large_window(name) and is_same_model(model, name)):
            name = model
    return name


def add_costs(
    name: str | None, items: Iterable[ContextItem], costs: JsonObject | None
) -> ChosenModel:
    """Add what a `cost-state` tells of the model in use.

    It names all models that the session had: what was chosen last is not to be told where one
    stands there with both windows, and need not where a message announces it.
    """
    usage = object_of(costs or {}, "modelUsage") or {}
    keys = [key for key in usage if name is not None and is_same_model(key, name)]
    is_announced = any(item.message.model and item.message.role != "assistant" for item in items)
    if len(keys) == 1 and has_large_window(keys[0]) and not is_announced:
        (name,) = keys
    n_tokens = int_of(object_of(usage, name or "") or {}, "contextWindow")
    return ChosenModel(name=name, window_tokens=n_tokens if n_tokens and n_tokens > 0 else None)
