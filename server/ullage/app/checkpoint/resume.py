"""Give an agent its working state back, from the latest checkpoint of its session.

After a compaction the rules of its workspace come with it. All edges give this text as it is.
"""

import msgspec

from ullage.app.checkpoint.workspace_text import add_workspace
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
    files_modified: tuple[str, ...]
    problem: str | None
    """Which newer checkpoints could not be read, in one line for the user."""


class Restored(msgspec.Struct, frozen=True, kw_only=True):
    """What an agent is given after a compaction."""

    text: str
    checkpoint: Resume | None
    """Its text comes first; None where there is none, but rules of the workspace."""


def restore_after_compaction(
    session_key: str,
    settings: CheckpointSettings,
    places: Places,
    *,
    max_checkpoint_chars: int | None = None,
) -> Restored | None:
    """Write what a compaction took, and what the workspace asks for again; None for nothing."""
    checkpoint = resume(session_key, settings, places, max_chars=max_checkpoint_chars)
    text, edited = ("", ()) if checkpoint is None else (checkpoint.text, checkpoint.files_modified)
    text = add_workspace(text, edited, places.cwd, secrets_in((places.cwd,), places))
    return Restored(text=text, checkpoint=checkpoint) if text else None


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
        files_modified=latest.checkpoint.resources.files_modified,
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
