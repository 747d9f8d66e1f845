"""Give an agent its working state back, from the latest checkpoint of its session."""

import msgspec

from ullage.core.checkpoint import Meta
from ullage.core.checkpoint_text import render_for_agent
from ullage.core.config.settings import CheckpointSettings
from ullage.core.token_estimate import estimate_tokens
from ullage.store.checkpoints import Latest, checkpoint_folder, read_latest
from ullage.store.places import Places
from ullage.store.receipts import origin_of

AIM = 0.9
"""Share of the budget that is aimed at: the estimate is a tenth off at the most.

By tiktoken's count, 800 tokens allowed are 640 to 800 then.
"""
_MAX_ORIGINS = 20
"""Sessions made from one another that are looked through; chosen."""


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
    """Render the latest checkpoint of a session, or of the one that it was made from.

    None where there is none. No tokenizer is loaded.
    """
    latest = _latest(session_key, places)
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


def _latest(session_key: str, places: Places) -> Latest:
    """Read the latest checkpoint of a session that has one, going back from new to old."""
    problems: list[str] = []
    key: str | None = session_key
    checkpoint = None
    for _ in range(_MAX_ORIGINS):
        if key is None or checkpoint is not None:
            break
        latest = read_latest(checkpoint_folder(key, places))
        checkpoint = latest.checkpoint
        problems += [latest.problem] if latest.problem else []
        key = origin_of(key, places)
    return Latest(checkpoint=checkpoint, problem="; ".join(problems) or None)
