"""What is asked of a model, and what comes back."""

from collections.abc import Awaitable, Callable
from typing import Literal, TypeAlias

import msgspec

from ullage.core.summary.prompts import Prompt
from ullage.core.transcript.context import ContextItem
from ullage.core.transcript.tokens import Count
from ullage.summary.endpoint import Prices

DEFAULT_PARTS = 2


Tier: TypeAlias = Literal["full", "partial", "note"]
"""All messages; all but oversized ones; none, which a caller should not use where the extractive
summary is to be had (docs/design/summaries.md, "Fallbacks")."""


Stage: TypeAlias = Literal["part", "merge", "memory", "embed"]
_STAGES = {
    "part": "Summarizing",
    "merge": "Merging",
    "memory": "Writing memory",
    "embed": "Embedding memory",
}


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


class TokenSpending(msgspec.Struct, frozen=True, kw_only=True):
    """What a summary took from a provider, by its answers; failed tries are not reported."""

    n_calls: int = 0
    n_input_tokens: int = 0
    n_output_tokens: int = 0
    is_reported: bool = True
    """Whether the provider counted the tokens of every call; else some are counted by us."""
    cost_usd: float | None = None
    """None where no price is known."""


def add_answer(
    spent: TokenSpending, answer: Answer, n_prompt_tokens: int, prices: Prices | None, count: Count
) -> TokenSpending:
    """Add an answer to what was spent; what the provider does not report was counted."""
    usage = answer.usage
    n_input = usage.prompt_tokens if usage else n_prompt_tokens
    n_output = usage.completion_tokens if usage else count(answer.text)
    cost = None
    if prices is not None:
        million = n_input * prices.input_usd + n_output * prices.output_usd
        cost = (spent.cost_usd or 0.0) + million / 1_000_000
    return msgspec.structs.replace(
        spent,
        n_calls=spent.n_calls + 1,
        n_input_tokens=spent.n_input_tokens + n_input,
        n_output_tokens=spent.n_output_tokens + n_output,
        is_reported=spent.is_reported and usage is not None,
        cost_usd=cost,
    )


class ModelSummary(msgspec.Struct, frozen=True, kw_only=True):
    """A summary that was checked and may be used, once it is audited against the transcript."""

    text: str
    tier: Tier
    """`partial` also where one part is but a note; `note` where there is nothing else."""
    n_parts: int
    spent: TokenSpending
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

    @property
    def text(self) -> str:
        return f"{_STAGES[self.stage]}: call {self.n_done + 1} of {max(1, self.n_total)}"


Report: TypeAlias = Callable[[Progress], None]
