"""Give an agent its working state back, from the latest checkpoint of its session."""

import msgspec

from ullage.core.checkpoint import Checkpoint
from ullage.core.checkpoint_text import render_for_agent
from ullage.core.config.settings import CheckpointSettings
from ullage.core.token_estimate import estimate_tokens
from ullage.store.checkpoints import checkpoint_folder, read_latest
from ullage.store.places import Places
from ullage.store.receipts import origin_of

_AIM = 0.9
"""Share of the budget that is aimed at: the estimate is a tenth off at the most.

By tiktoken's count, 800 tokens allowed are 640 to 800 then.
"""
_MAX_ORIGINS = 20
"""Sessions made from one another that are looked through; chosen."""


class Resume(msgspec.Struct, frozen=True, kw_only=True):
    text: str
    checkpoint_id: str
    problem: str | None
    """For the user: why it is not the latest checkpoint."""


def resume(
    session_key: str,
    settings: CheckpointSettings,
    places: Places,
    *,
    max_chars: int | None = None,
) -> Resume | None:
    """Render the latest checkpoint of a session, or of the one that it was made from.

    None where there is none. No tokenizer is loaded.
    """
    checkpoint = _latest(session_key, places)
    if checkpoint is None:
        return None
    text = render_for_agent(
        checkpoint,
        budget_tokens=int(settings.injection_tokens * _AIM),
        count=estimate_tokens,
        max_chars=max_chars,
    )
    return Resume(text=text, checkpoint_id=checkpoint.meta.checkpoint_id, problem=None)


def _latest(session_key: str, places: Places) -> Checkpoint | None:
    key: str | None = session_key
    for _ in range(_MAX_ORIGINS):
        if key is None:
            break
        checkpoint = read_latest(checkpoint_folder(key, places))
        if checkpoint is not None:
            return checkpoint
        key = origin_of(key, places)
    return None
