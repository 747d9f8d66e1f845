"""What is asked of a model, and what comes back."""

from collections.abc import Awaitable, Callable
from typing import Literal, TypeAlias

import msgspec

from ullage.core.context import ContextItem
from ullage.core.parts import DEFAULT_PARTS
from ullage.core.prompts import Prompt
from ullage.core.tokens import Count

Tier: TypeAlias = Literal["full", "partial", "note"]
"""S2's tiers: all messages; all but oversized ones; none, which a caller should not use where
the extractive summary is to be had."""


Stage: TypeAlias = Literal["part", "merge"]


class SummaryRequest(msgspec.Struct, frozen=True, kw_only=True):
    items: tuple[ContextItem, ...]
    """What the summary will replace, oldest first; an earlier summary is among them."""
    focus: str | None
    budget_tokens: int
    """What the model is asked to keep to; not a limit."""
    count: Count
    known_secrets: tuple[str, ...]
    n_parts: int = DEFAULT_PARTS


class Usage(msgspec.Struct, frozen=True, kw_only=True):
    """Tokens of one answer as the provider reports them."""

    prompt_tokens: int
    completion_tokens: int


class Answer(msgspec.Struct, frozen=True, kw_only=True):
    """What a model answered to one question, whole."""

    text: str
    usage: Usage | None
    """None where the provider does not report it."""


Ask: TypeAlias = Callable[[Prompt, int], Awaitable[Answer]]
"""Takes a question and the most tokens of its answer."""


class Spent(msgspec.Struct, frozen=True, kw_only=True):
    """What a summary took from a provider, by its answers; failed tries are not reported."""

    n_calls: int = 0
    n_input_tokens: int = 0
    n_output_tokens: int = 0
    is_reported: bool = True
    """Whether the provider counted the tokens of every call; else some are counted by us."""
    cost_usd: float | None = None
    """None where no price is known."""


class ModelSummary(msgspec.Struct, frozen=True, kw_only=True):
    """A summary that was checked and may be used, once it is audited against the transcript."""

    text: str
    tier: Tier
    """`partial` also where one part is but a note; `note` where there is nothing else."""
    n_parts: int
    spent: Spent
    omitted: tuple[str, ...]
    """Notes that stand for messages that were left out; also in the text."""
    warnings: tuple[str, ...]


class Progress(msgspec.Struct, frozen=True, kw_only=True):
    """How far a summary is; sent before each call of the model."""

    stage: Stage
    n_done: int
    """Calls that are through."""
    n_total: int
    """Calls that there will be, as far as is known now."""


Report: TypeAlias = Callable[[Progress], None]
