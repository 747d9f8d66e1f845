"""A session for a model to summarize, and what a good model answers."""

from collections.abc import Sequence
from datetime import UTC, datetime

from factories import assistant, numbered, tool_result, user
from model_server import ModelServer
from ullage.core.transcript.context import ContextItem
from ullage.core.transcript.tokens import estimate
from ullage.summary.endpoint import (
    ApiKey,
    Endpoint,
    ModelChoice,
    Provider,
    endpoint_for,
    origin_of,
)
from ullage.summary.limits import REMOTE, ClockAndJitter, Limits
from ullage.summary.request import ModelSummary, Report, SummaryRequest
from ullage.summary.stages import summarize_with_model

KEY = "sk-canary-4f2a9c7e1b8d6035aa11"
PASSWORD = "correct-horse-battery-staple-77"
CANARY = "zanzibar-marmalade"
"""Stands in the session; must stand in no error and no log."""
NOW = datetime(2026, 11, 21, 12, 0, tzinfo=UTC)
CHANCE = ClockAndJitter(now=lambda: NOW, jitter=lambda: 0.5)
LAST_REPLY = "The invoice totals in src/billing/totals.py are rounded at the end now, tests pass."

FILE = "src/billing/totals.py"

SESSION = numbered(
    [
        user(f"Fix the rounding of invoices in {FILE}. Never touch schema.sql."),
        assistant("I read the file first.", [("c1", "read", {"path": FILE})]),
        tool_result(f"def total(lines):\n    return round(sum(lines), 2)  # {CANARY}\n" * 60),
        assistant("We round each line now.", [("c2", "bash", {"command": "pytest"})]),
        tool_result("FAILED tests/test_totals.py::test_cents - 10.01 == 10.02\n" * 40, "c2"),
        user("Use banker's rounding, ROUND_HALF_EVEN, as the tax office asks for."),
        assistant("Decided: ROUND_HALF_EVEN on the sum.", [("c3", "edit", {"path": FILE})]),
        tool_result("ok", "c3"),
        assistant(LAST_REPLY),
    ]
)

GOOD = """## Goal
- Fix the rounding of invoices in src/billing/totals.py.

## Constraints
- Never touch schema.sql.

## Decisions
- Use banker's rounding, ROUND_HALF_EVEN, as the tax office asks for.

## Work completed
- Rounded the sum instead of each line.

## Current state
(none)

## Remaining
(none)

## Files
- modified src/billing/totals.py

## Commands and errors
- failed: pytest → test_cents, assert 10.01 == 10.02

## Identifiers
(none)
"""


def request_for(
    items: Sequence[ContextItem] = SESSION, *, focus: str | None = None, n_parts: int = 2
) -> SummaryRequest:
    return SummaryRequest(
        items=tuple(items),
        focus=focus,
        budget_tokens=600,
        count=estimate,
        known_secrets=(PASSWORD,),
        n_parts=n_parts,
    )


def endpoint_of(
    server: ModelServer,
    window_tokens: int = 32_000,
    *,
    provider: Provider = "custom",
    model: str = "m",
) -> Endpoint:
    choice = ModelChoice(provider=provider, model=model, base_url=server.base_url)
    key = ApiKey(KEY, origin_of(server.base_url))
    return endpoint_for(choice, key=key, window_tokens=window_tokens)


async def summarize(
    server: ModelServer,
    request: SummaryRequest | None = None,
    *,
    window_tokens: int = 32_000,
    report: Report | None = None,
    limits: Limits = REMOTE,
    endpoint: Endpoint | None = None,
) -> ModelSummary:
    return await summarize_with_model(
        request or request_for(),
        endpoint or endpoint_of(server, window_tokens),
        report=report,
        limits=limits,
        chance=CHANCE,
    )
