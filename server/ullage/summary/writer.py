"""The writer: asks a model for summaries, holds each against what it was shown, keeps account."""

import asyncio
import secrets

from ullage.core.summary import model_output
from ullage.core.summary.chunks import count_reserve
from ullage.core.summary.grounding import drop_forged
from ullage.core.summary.model_input import Excerpt
from ullage.core.summary.prompts import Prompt, system_prompt
from ullage.errors import BadAnswer
from ullage.summary.endpoint import Endpoint
from ullage.summary.failures import overflow
from ullage.summary.request import Ask, Progress, Report, Spent, Stage, SummaryRequest, accounted

MAX_CALLS = 48
"""A session that takes more requests is one for a model with a larger window; chosen."""


class Writer:
    """What is common to the requests of one summary, and what they have taken so far."""

    def __init__(
        self, request: SummaryRequest, endpoint: Endpoint, ask: Ask, report: Report | None
    ) -> None:
        self._request = request
        self._prices = endpoint.prices
        self._ask = ask
        self._report = report
        self.window_tokens = endpoint.window_tokens
        self.max_answer_tokens = min(endpoint.max_tokens, count_reserve(self.window_tokens))
        self.nonce = secrets.token_hex(4)
        self.system = system_prompt(
            nonce=self.nonce,
            focus=request.focus,
            budget_tokens=min(request.budget_tokens, self.max_answer_tokens),
        )
        self.n_calls_planned = 0
        self._n_asked = 0
        self.n_forged = 0
        self.spent: Spent = Spent(cost_usd=None if endpoint.prices is None else 0.0)

    def count(self, text: str) -> int:
        return self._request.count(text) if text else 0

    async def write(
        self,
        prompt: Prompt,
        stage: Stage,
        *,
        pieces: tuple[Excerpt, ...],
        earlier: str,
        max_tokens: int,
    ) -> str:
        """Have a summary written of pieces and of an earlier summary; give it in our sections.

        Raises:
            ContextOverflow: they do not fit into the window.
            BadAnswer: what came must not stand for them.
            ModelError: nothing came.
        """
        n_prompt_tokens = self.count(prompt.system) + self.count(prompt.user)
        is_too_large = n_prompt_tokens + self.max_answer_tokens > self.window_tokens
        if is_too_large or self._n_asked == MAX_CALLS:
            raise overflow()
        self._n_asked += 1
        self._tell(stage)
        answer = await self._ask(prompt, self.max_answer_tokens)
        self.spent = accounted(self.spent, answer, n_prompt_tokens, self._prices, self.count)
        # Half a megabyte of material takes a third of a second to be searched.
        return await asyncio.to_thread(self._judged, answer.text, pieces, earlier, max_tokens)

    def _judged(
        self, answer: str, pieces: tuple[Excerpt, ...], earlier: str, max_tokens: int
    ) -> str:
        text = model_output.clean_answer(answer, self._request.known_secrets)
        material = model_output.collect_evidence(pieces, earlier, self.nonce)
        reason = model_output.refuse_answer(text, material, max_tokens, self.count)
        if reason is not None:
            raise BadAnswer(f"the model's summary is not used: {reason}")
        founded, n_forged = drop_forged(model_output.write_in_sections(text), pieces, earlier)
        self.n_forged += n_forged
        return founded

    def _tell(self, stage: Stage) -> None:
        if self._report is not None:
            n_done = self.spent.n_calls
            n_total = max(self.n_calls_planned, n_done + 1)
            self._report(Progress(stage=stage, n_done=n_done, n_total=n_total))
