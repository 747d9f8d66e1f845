"""Give a session its working state back: a checkpoint as text, at its end, or in a new one.

The text is planned and shown first, as every change of a session.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Literal, TypeAlias

import msgspec

from ullage.app.change import make
from ullage.app.checkpoint.resume import restore_text
from ullage.app.sessions.load import Loaded, read
from ullage.app.sessions.open import open_session
from ullage.app.sessions.session import ChangeTarget, Session
from ullage.core.change.compaction import refuse_open_calls
from ullage.core.change.edit import NewSession, RestoreEdit
from ullage.core.checkpoint.checkpoint import Checkpoint
from ullage.core.config.settings import Config
from ullage.core.transcript.context import Context
from ullage.errors import NotAsPlanned, Refused, WriteNotSupported
from ullage.store.change.new_session import create_apart
from ullage.store.change.recovery import recover
from ullage.store.checkpoint.files import carry
from ullage.store.files.places import Places, session_folder
from ullage.store.state.runtime_state import carry_state

Target: TypeAlias = Literal["session", "new"]


class NewPlan(msgspec.Struct, frozen=True, kw_only=True):
    """A session that begins with the text of a checkpoint, and is not written yet."""

    path: Path
    session: NewSession
    context_after: Context


class RestorePlan(msgspec.Struct, frozen=True, kw_only=True):
    """Where the text of a checkpoint goes; nothing is written yet."""

    loaded: Loaded
    checkpoint: Checkpoint
    text: str
    n_text_tokens: int
    change: make.ChangePlan | NewPlan

    @property
    def path_after(self) -> Path:
        return self.change.path if isinstance(self.change, NewPlan) else self.change.path_after


class Begun(msgspec.Struct, frozen=True, kw_only=True):
    """A session that begins with the text of a checkpoint, as it was written."""

    session: Session
    resume_command: str | None


def plan_restore(
    loaded: Loaded, checkpoint: Checkpoint, into: Target, config: Config
) -> RestorePlan:
    """Work out where the text of a checkpoint goes, without writing anything.

    Raises:
        WriteNotSupported: nothing can be put into such a session; the text can be given to it.
        Refused: the agent is in the middle of a step.
    """
    text = restore_text(checkpoint, config.checkpoint, loaded.known_secrets)
    timestamp = make.now_text()

    def edit(entry_id: str) -> RestoreEdit:
        return RestoreEdit(
            entry_id=entry_id,
            timestamp=timestamp,
            checkpoint_id=checkpoint.meta.checkpoint_id,
            text=text,
        )

    try:
        target = make.change_target(loaded.session, way_out="")
        planned = _planned(loaded, target, edit, into)
    except WriteNotSupported as error:
        raise WriteNotSupported(f"{error}; {as_text(loaded.session)}") from None
    n_text = loaded.count(text)
    loaded.count.save()
    return RestorePlan(
        loaded=loaded, checkpoint=checkpoint, text=text, n_text_tokens=n_text, change=planned
    )


def as_text(session: Session) -> str:
    """Name the way that every session has."""
    command = session.command("checkpoint restore --into text")
    return f"`{command}` prints it for you to give to the agent"


def restore(plan: RestorePlan, config: Config, places: Places) -> Begun | make.ChangeResult:
    """Put the text where it was planned to go.

    Raises:
        WriteNotSupported: the workspace is read-only.
        SessionLive: an agent or another Ullage is using the session.
        ChangedMeanwhile: the transcript is not what the plan was made from.
        FileExists, StorageError: the disk does not take it.
        NotAsPlanned: it was written, and leads to another context than planned.
    """
    if isinstance(plan.change, NewPlan):
        return _begin(plan, plan.change, config, places)
    return make.make_change(plan.change, config, places, kind="restore")


def _planned(
    loaded: Loaded, target: ChangeTarget, edit: Callable[[str], RestoreEdit], into: Target
) -> make.ChangePlan | NewPlan:
    context = loaded.context
    if into == "new":
        _, begun = make.choose_entry_id(
            loaded,
            "restore",
            lambda named: target.editor.begin(target.lines, context, edit(named)),
        )
        return NewPlan(
            path=loaded.path.with_name(begun.name),
            session=begun,
            context_after=make.context_after(loaded, begun),
        )
    waiting = refuse_open_calls(context.items)
    if waiting is not None:
        raise Refused(f"{waiting.reason}, or restore into a new session (`--into new`)")
    return make.plan_change(
        loaded,
        "restore",
        lambda named, _before, _after: target.editor.restore(target.lines, context, edit(named)),
    )


def _begin(plan: RestorePlan, new: NewPlan, config: Config, places: Places) -> Begun:
    if plan.loaded.policy.is_read_only:
        raise WriteNotSupported(
            f"the workspace is read-only (`sandbox.readOnly`), nothing is written;"
            f" {as_text(plan.loaded.session)}"
        )
    session = write_session(new.path, new.session.data, places)
    carry_state(plan.loaded.session.state_key, session.state_key, places)
    carry(plan.checkpoint, session_folder("checkpoints", session.state_key, places))
    if read(session, places).context.items != new.context_after.items:
        raise NotAsPlanned(
            f"{new.path} was written, but does not read as it was previewed:"
            " delete it and report it"
        )
    return Begun(
        session=session,
        resume_command=session.agent.resume_command(session.header, new.path),
    )


def write_session(path: Path, data: bytes, places: Places) -> Session:
    """Write a new session whole, and see that it is one.

    Raises:
        WriteNotSupported, StorageError: it was not written.
    """
    recover(places)
    create_apart(path, data, places)
    return open_session(path)
