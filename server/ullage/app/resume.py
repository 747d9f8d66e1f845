"""Give an agent its working state back, from the latest checkpoint of its session."""

import msgspec

from ullage.core.checkpoint import Meta
from ullage.core.checkpoint_text import render_for_agent
from ullage.core.config.settings import CheckpointSettings
from ullage.core.token_estimate import estimate_tokens
from ullage.store.checkpoints import checkpoint_folder, read_latest
from ullage.store.places import Places

AIM = 0.92
"""Share of the budget that is aimed at: of a checkpoint's text, the estimate was 1 % too low to
8 % too high (benchmarks/token_estimate.py). Of 800 tokens allowed, 670 to 750 are used then."""


class Resume(msgspec.Struct, frozen=True, kw_only=True):
    text: str
    checkpoint_id: str
    meta: Meta
    """Of that checkpoint; its session may be the one that this one was made from."""
    problem: str | None
    """Which newer checkpoints could not be read, in one line for the user."""


def resume(
    session_key: str,
    settings: CheckpointSettings,
    places: Places,
    *,
    max_chars: int | None = None,
) -> Resume | None:
    """Render the latest checkpoint of a session; None where there is none.

    No tokenizer is loaded.
    """
    latest = read_latest(checkpoint_folder(session_key, places))
    if latest.checkpoint is None:
        return None
    text = render_for_agent(
        latest.checkpoint,
        budget_tokens=int(settings.injection_tokens * AIM),
        count=estimate_tokens,
        max_chars=max_chars,
    )
    return Resume(
        text=text,
        checkpoint_id=latest.checkpoint.meta.checkpoint_id,
        meta=latest.checkpoint.meta,
        problem=latest.problem,
    )
