"""Give an agent its working state back, from the latest checkpoint of its session."""

import msgspec

from ullage.app.sessions.secrets import secrets_in
from ullage.core.checkpoint.checkpoint import Checkpoint, Meta, clean
from ullage.core.checkpoint.text import render_for_agent
from ullage.core.config.settings import CheckpointSettings
from ullage.core.transcript.tokens import estimate_tokens
from ullage.store.checkpoint.files import read_latest
from ullage.store.files.places import Places, session_folder

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
    """Render the latest checkpoint of a session; None where there is none."""
    latest = read_latest(session_folder("checkpoints", session_key, places))
    if latest.checkpoint is None:
        return None
    known_secrets = secrets_in((places.cwd,), places)
    return Resume(
        text=restore_text(latest.checkpoint, settings, known_secrets, max_chars=max_chars),
        checkpoint_id=latest.checkpoint.meta.checkpoint_id,
        meta=latest.checkpoint.meta,
        problem=latest.problem,
    )


def restore_text(
    checkpoint: Checkpoint,
    settings: CheckpointSettings,
    known_secrets: tuple[str, ...],
    *,
    max_chars: int | None = None,
) -> str:
    """Write a checkpoint as the text that an agent is given, within the budget of the settings.

    An earlier Ullage may have written it, which knew fewer secrets. No tokenizer is loaded.
    """
    return render_for_agent(
        clean(checkpoint, known_secrets),
        budget_tokens=int(settings.injection_tokens * AIM),
        count=estimate_tokens,
        max_chars=max_chars,
    )
