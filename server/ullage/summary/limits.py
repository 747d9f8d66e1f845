"""Limits of one request, and when a failed one is tried again."""

import random
import re
from collections.abc import Callable
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from functools import partial

import msgspec

_SECONDS = re.compile(r"[0-9]{1,12}(?:\.[0-9]{1,9})?")


class ClockAndJitter(msgspec.Struct, frozen=True, kw_only=True):
    """What a test decides instead: the time of day, and the jitter from 0 to 1.

    Waiting itself goes by the event loop's clock.
    """

    now: Callable[[], datetime] = partial(datetime.now, UTC)
    jitter: Callable[[], float] = random.random


class Limits(msgspec.Struct, frozen=True, kw_only=True):
    """Bounds of one request with all its tries (docs/safety.md, "A model's server")."""

    connect_s: float = 10.0
    idle_s: float = 60.0
    """Longest silence of the server, before its answer and within it."""
    total_s: float = 300.0
    max_tries: int = 4
    max_wait_s: float = 60.0
    """A server that asks for a longer pause is one to come back to later."""
    first_pause_s: float = 1.0
    """Upper end of the first pause; each further one is twice as long."""
    max_body_bytes: int = 8_000_000


REMOTE = Limits()
LOCAL = Limits(idle_s=900.0, total_s=3600.0)
"""A model on this machine reads some thirty tokens a second on one core (measured), and says
nothing while it reads."""


def pause_s(n_failed: int, retry_after_s: float | None, limits: Limits, jitter: float) -> float:
    """Give the pause before the next try: what the server asks for, else full jitter.

    `jitter` is a random number from 0 to 1.
    """
    if retry_after_s is not None:
        return retry_after_s
    return jitter * limits.first_pause_s * 2.0 ** (n_failed - 1)


def read_retry_after(header: str | None, now: datetime) -> float | None:
    """Read `Retry-After` in seconds or as a date; None where it says nothing of use."""
    text = (header or "").strip()
    if _SECONDS.fullmatch(text):
        return float(text)
    try:
        at = parsedate_to_datetime(text)
    except (ValueError, IndexError, TypeError, OverflowError):
        return None
    seconds = ((at if at.tzinfo else at.replace(tzinfo=UTC)) - now).total_seconds()
    return seconds if seconds > 0 else None
