"""A dream's proposals grouped and reworded by a model: one call, checked."""

import asyncio
import secrets

import msgspec

from ullage.core.dream.model_plan import check_plan, write_dream_prompt
from ullage.core.dream.propose import Proposal
from ullage.core.secrets.scan import mask
from ullage.errors import BadAnswer
from ullage.summary.endpoint import Endpoint
from ullage.summary.limits import ClockAndJitter, Limits
from ullage.summary.request import Progress, Report

MAX_ANSWER_TOKENS = 2000
"""Ten lines, with room for other languages (chosen)."""


class DreamRequest(msgspec.Struct, frozen=True, kw_only=True):
    proposals: tuple[Proposal, ...]
    memory: str
    """The text of `MEMORY.md`."""
    known_secrets: tuple[str, ...]
    max_chars: int
    """Of `MEMORY.md`, as much as agents load: the model sees no more."""


class GroupedProposals(msgspec.Struct, frozen=True, kw_only=True):
    proposals: tuple[Proposal, ...]
    notes: tuple[str, ...]


async def group_with_model(
    request: DreamRequest,
    endpoint: Endpoint,
    *,
    report: Report | None = None,
    limits: Limits | None = None,
    chance: ClockAndJitter | None = None,
) -> GroupedProposals:
    """Have a model group, merge and reword proposals. Cancelling it closes its connections.

    Raises:
        ModelError: no answer that may be used.
        EndpointRefused: nothing may be sent there.
    """
    # The openai package takes half a second to import: only who asks a model waits for it.
    from ullage.summary.chat import connect

    known_secrets = (*endpoint.secrets, *request.known_secrets)
    nonce = secrets.token_hex(4)
    memory = mask(request.memory[: request.max_chars], known_secrets)
    prompt = write_dream_prompt(request.proposals, memory, nonce)
    if report is not None:
        report(Progress(stage="memory", n_done=0, n_total=1))
    async with connect(endpoint, limits, chance) as ask:
        answer = await ask(prompt, min(endpoint.max_tokens, MAX_ANSWER_TOKENS))
    checked = await asyncio.to_thread(check_plan, answer.text, request.proposals, known_secrets)
    if checked.refusal is not None:
        raise BadAnswer(f"what the model made of the logs is not used: {checked.refusal}")
    return GroupedProposals(proposals=checked.proposals, notes=(f"grouped by {endpoint.name}",))
