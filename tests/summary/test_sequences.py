"""Servers that fail at random, then recover: a summary or one typed error of each."""

import asyncio
import random

import pytest

from model_faults import FINE, ROWS, shown
from model_server import ModelServer, Reply, serving
from model_session import CANARY, KEY, summarize
from profiles import examples
from ullage.errors import ModelError
from ullage.summary.limits import REMOTE
from ullage.summary.request import ModelSummary
from virtual_time import run_virtual

N_SEQUENCES = 100
"""In each run; a thousand in all in the long profile."""
N_RUNS = max(1, examples(1000) // N_SEQUENCES)
MAX_REPLY_BYTES = 100_000
"""Larger bodies are tried one by one elsewhere; a thousand of them would take minutes."""


def n_bytes(reply: Reply) -> int:
    return sum(len(step) for step in reply if isinstance(step, bytes))


BEHAVIORS = [
    reply
    for row in ROWS.values()
    for reply in row.replies
    if len(reply) < 60 and n_bytes(reply) < MAX_REPLY_BYTES
]


@pytest.mark.simulation
@pytest.mark.parametrize("run", range(N_RUNS))
def test_any_sequence_of_behaviors_ends_well(run: int) -> None:
    chance = random.Random(f"sequences {run}")
    counts = {"summary": 0, "error": 0}

    def check(outcome: object, server: ModelServer) -> None:
        if isinstance(outcome, ModelSummary):
            counts["summary"] += 1
            assert KEY not in outcome.text
            assert len(server.asked) <= REMOTE.max_tries * (outcome.spent.n_calls + 6)
        else:
            assert isinstance(outcome, ModelError)
            counts["error"] += 1
            assert len(str(outcome).splitlines()) == 1
            assert KEY not in shown(outcome)
            assert CANARY not in str(outcome)

    async def one(replies: list[Reply]) -> None:
        loop = asyncio.get_running_loop()
        async with serving(*replies) as server:
            began = loop.time()
            try:
                # Sometimes the window is small enough for two parts and a merge.
                outcome: object = await summarize(
                    server, window_tokens=chance.choice((4000, 32_000))
                )
            except ModelError as error:
                outcome = error
            check(outcome, server)
            assert loop.time() - began <= (REMOTE.total_s + 1) * 12

    async def main() -> None:
        for _ in range(N_SEQUENCES):
            await one([*chance.choices(BEHAVIORS, k=chance.randint(1, 6)), FINE])

    run_virtual(main)
    assert counts["summary"] > 3
    assert counts["error"] > 30
