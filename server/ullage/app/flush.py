"""Flush memory: what a compaction would lose goes to the workspace's daily log before it."""

import asyncio
from datetime import datetime
from pathlib import Path
from typing import Literal

import msgspec

from ullage.app.checkpoint import session_key
from ullage.app.load import Loaded
from ullage.app.summaries import EXTRACTIVE, ModelUse
from ullage.core.config.settings import Config
from ullage.core.context import ContextItem
from ullage.core.flush import PRE_FLUSH, is_unflushed
from ullage.core.masking import mask_items
from ullage.core.memory_facts import memory_points
from ullage.core.memory_text import (
    Point,
    block,
    digest,
    digests_in,
    flush_marker,
    point,
    unwritten,
)
from ullage.core.secrets import mask
from ullage.errors import EndpointRefused, ModelError, Refused, StorageError, WriteNotSupported
from ullage.formats.openclaw.meta import read_flush_epoch
from ullage.store.daily_log import append_block, is_folder, keeps_memory, log_path, read_logs
from ullage.store.flush_state import read_flush_state, record_flush
from ullage.store.places import Places
from ullage.summary.memory import MemoryRequest, remember_with_model
from ullage.summary.request import Spent

ENABLED = "compaction.memoryFlush.enabled"
ON_REQUEST = "Memory flush"


class Flushed(msgspec.Struct, frozen=True, kw_only=True):
    """What a flush wrote."""

    log_path: Path | None
    """None where nothing was written."""
    text: str
    by: Literal["model", "extract", "nothing"]
    notes: tuple[str, ...]
    """What the user should know besides, a line each."""


class FlushPlan(msgspec.Struct, frozen=True, kw_only=True):
    """A flush that is worked out to the last byte, and not made yet."""

    session_key: str
    epoch: int | None
    """None for one that was asked for: it stands for no compaction's."""
    workspace: Path
    day: str
    text: str
    """The block as it will stand in the log, with LF; empty where there is nothing to write."""
    marker: str
    """By which a block is known that was written though a kill kept us from noting it."""
    n_lines: int
    """Points in it."""
    log_name: str
    """The log's path as a user of the current folder knows it."""
    digests: tuple[str, ...]
    by: Literal["model", "extract", "nothing"]
    author: str
    """`extractive`, or the model as `provider/name`."""
    spent: Spent | None
    notes: tuple[str, ...]

    @property
    def log_path(self) -> Path:
        return log_path(self.workspace, self.day)


class _Found(msgspec.Struct, frozen=True, kw_only=True):
    points: tuple[Point, ...]
    author: str
    spent: Spent | None = None
    notes: tuple[str, ...] = ()


async def flush(
    loaded: Loaded,
    config: Config,
    places: Places,
    model: ModelUse,
    *,
    key: str | None = None,
    epoch: int | None = None,
) -> Flushed:
    """Write what is worth remembering to the daily log, and note the epoch.

    `key` and `epoch` are what a runtime says of its session, where it knows better. Whether a
    flush is due and wanted is the caller's to ask before.

    Raises:
        LogRefused: there is no log that may be added to.
        StorageError: the disk or the state folder does not take it.
    """
    key = key or session_key(loaded.session)
    epoch = len(loaded.context.compactions) if epoch is None else epoch
    plan = await plan_flush(loaded, config, places, model, key=key, epoch=epoch)
    return await asyncio.to_thread(make_flush, plan, places)


async def plan_flush(
    loaded: Loaded,
    config: Config,
    places: Places,
    model: ModelUse,
    *,
    key: str,
    epoch: int | None,
    now: datetime | None = None,
) -> FlushPlan:
    """Work out a flush without writing anything; `now` is local, else the moment of the call.

    Where the model fails in any way our own rules take its place, and the notes say so.

    Raises:
        LogRefused: there is no log that may be added to.
        StorageError: the log cannot be read.
    """
    now = now or datetime.now().astimezone()
    workspace, day = workspace_of(loaded, places), f"{now:%Y-%m-%d}"
    marker = flush_marker(key, epoch)
    today, before = await asyncio.to_thread(read_logs, workspace, day)
    nothing = _nothing(key, epoch, workspace, day)
    if epoch is not None and (marker in today or marker in before):
        return nothing
    found = await _found(loaded, config, model, today, day)
    known = {*digests_in(today), *digests_in(before), *read_flush_state(key, places).digests}
    points = unwritten(_masked(found.points, loaded.known_secrets), frozenset(known))
    if not points:
        return msgspec.structs.replace(
            nothing, author=found.author, spent=found.spent, notes=found.notes
        )
    title = ON_REQUEST if epoch is None else PRE_FLUSH
    return msgspec.structs.replace(
        nothing,
        text=block(points, time=f"{now:%H:%M}", title=title, marker=marker),
        n_lines=len(points),
        log_name=_name(log_path(workspace, day), places),
        digests=tuple(digest(one.text) for one in points),
        by="extract" if found.author == EXTRACTIVE else "model",
        author=found.author,
        spent=found.spent,
        notes=found.notes,
    )


async def plan_flush_before(
    loaded: Loaded, config: Config, places: Places, model: ModelUse
) -> FlushPlan | None:
    """Work out the flush that a compaction begins with; None where none is due or wanted.

    Where the log cannot be added to there is a plan that writes nothing, and says why.
    """
    if not is_flush_open(loaded, config, places):
        return None
    key, epoch = session_key(loaded.session), len(loaded.context.compactions)
    try:
        return await plan_flush(loaded, config, places, model, key=key, epoch=epoch)
    except (Refused, StorageError) as error:
        nothing = _nothing(key, None, workspace_of(loaded, places), "")
        notes = (f"memory is not written down: {error}",)
        return msgspec.structs.replace(nothing, notes=notes)


def make_flush(plan: FlushPlan, places: Places) -> Flushed:
    """Make a planned flush: the log first, then the note of it.

    A kill between the two leaves the marker in the log, by which the next flush knows.

    Raises:
        LogRefused: there is no log that may be added to.
        SessionLive: another Ullage is writing to the same log.
        StorageError: the disk or the state folder does not take it.
    """

    def compose(log: str) -> str:
        return "" if plan.marker and plan.marker in log else plan.text

    is_written = (
        bool(append_block(plan.workspace, plan.day, compose, places)) if plan.text else False
    )
    if is_written or plan.epoch is not None:
        record_flush(plan.session_key, places, epoch=plan.epoch, digests=plan.digests)
    return Flushed(
        log_path=plan.log_path if is_written else None,
        text=plan.text if is_written else "",
        by=plan.by if is_written else "nothing",
        notes=plan.notes,
    )


def try_flush(plan: FlushPlan, places: Places) -> Flushed:
    """Make a flush that must not stop the compaction behind it: a failure is a note."""
    try:
        return make_flush(plan, places)
    except (Refused, StorageError) as error:
        notes = (f"memory was not written down: {error}",)
        return Flushed(log_path=None, text="", by="nothing", notes=notes)


def refuse_read_only(loaded: Loaded) -> None:
    """Refuse to write into a workspace that is not to be written to (S4 §27.7.1).

    Raises:
        WriteNotSupported: with the setting that says so.
    """
    if loaded.policy.is_read_only:
        raise WriteNotSupported(
            "the workspace is read-only (`sandbox.readOnly`): no memory is written there"
        )


def flush_wanted(loaded: Loaded, config: Config, places: Places) -> bool:
    """Tell whether a flush may come by itself before a compaction of this session.

    The daily log stands in the user's own folder, often a repository. Ullage begins no such log
    by itself: the workspace keeps a memory already (`memory/` or `MEMORY.md`), or the user said
    `memoryFlush.enabled: true`. What OpenClaw's configuration says is meant for its sessions.
    """
    if not config.flush.is_enabled or loaded.policy.is_read_only:
        return False
    workspace = workspace_of(loaded, places)
    if not is_folder(workspace):
        return False
    return keeps_memory(workspace) or _is_asked_for(loaded, config)


def is_flush_open(loaded: Loaded, config: Config, places: Places) -> bool:
    """Tell whether a compaction of this session is to be preceded by a flush."""
    n_compactions = len(loaded.context.compactions)
    flushed = {
        read_flushed_epoch(session_key(loaded.session), places),
        read_flush_epoch(loaded.session.lines, loaded.session.header),
    }
    return flush_wanted(loaded, config, places) and is_unflushed(
        settings=config.flush,
        n_compactions=n_compactions,
        flushed_epoch=n_compactions if n_compactions in flushed else None,
        is_read_only=loaded.policy.is_read_only,
    )


def workspace_of(loaded: Loaded, places: Places) -> Path:
    """Give the folder that the session works in, else the current one."""
    cwd = loaded.session.header.cwd
    return Path(cwd) if cwd else places.cwd


def read_flushed_epoch(session_key: str, places: Places) -> int | None:
    """Give the epoch of a session's last flush; None where there was none."""
    return read_flush_state(session_key, places).epoch


def record_flushed(session_key: str, epoch: int, places: Places) -> None:
    """Remember that the agent itself took the turn in an epoch.

    Raises:
        StorageError: the state folder does not take it.
    """
    record_flush(session_key, places, epoch=epoch)


def _name(log: Path, places: Places) -> str:
    try:
        return log.resolve().relative_to(places.cwd.resolve()).as_posix()
    except (OSError, RuntimeError, ValueError):
        return str(log)


def _nothing(key: str, epoch: int | None, workspace: Path, day: str) -> FlushPlan:
    return FlushPlan(
        session_key=key,
        epoch=epoch,
        workspace=workspace,
        day=day,
        text="",
        marker="" if epoch is None else flush_marker(key, epoch),
        n_lines=0,
        log_name="",
        digests=(),
        by="nothing",
        author=EXTRACTIVE,
        spent=None,
        notes=(),
    )


async def _found(loaded: Loaded, config: Config, model: ModelUse, written: str, day: str) -> _Found:
    items = await asyncio.to_thread(_items, loaded)
    notes: tuple[str, ...] = ()
    if model.problem is not None:
        notes = (f"{model.problem}; memory was picked out without a model",)
    endpoint = model.endpoint
    if endpoint is not None and items:
        request = MemoryRequest(
            items=items,
            settings=config.flush,
            log_name=f"memory/{day}.md",
            written=written,
            count=loaded.count,
            known_secrets=loaded.known_secrets,
        )
        try:
            answer = await remember_with_model(request, endpoint, report=model.report)
        except (ModelError, EndpointRefused) as error:
            notes = (f"{error}; memory was picked out without a model",)
        else:
            return _Found(
                points=answer.points,
                author=f"{endpoint.provider}/{endpoint.model}",
                spent=answer.spent,
                notes=answer.warnings,
            )
    points = await asyncio.to_thread(memory_points, items)
    return _Found(points=points, author=EXTRACTIVE, notes=notes)


def _items(loaded: Loaded) -> tuple[ContextItem, ...]:
    """Give the messages without secrets; earlier summaries tell of epochs with their own flush."""
    items = (item for item in loaded.context.items if item.category != "summary")
    return mask_items(items, loaded.known_secrets)


def _masked(points: tuple[Point, ...], known: tuple[str, ...]) -> tuple[Point, ...]:
    """Mask again what was put together: neither a model nor a cut brings a secret back."""
    return tuple(point(one.section, mask(one.text, known), is_aside=one.is_aside) for one in points)


def _is_asked_for(loaded: Loaded, config: Config) -> bool:
    is_openclaw = loaded.session.header.agent == "openclaw"
    return any(
        setting.key.name == ENABLED
        and setting.value is True
        and (is_openclaw or setting.origins[-1].place != "openclaw")
        for setting in config.settings
    )
