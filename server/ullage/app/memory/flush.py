"""Flush memory: what a compaction would lose goes to the workspace's daily log before it."""

import asyncio
from collections.abc import Iterable, Mapping
from datetime import datetime
from pathlib import Path
from typing import Literal, TypeAlias

import msgspec

from ullage.app.config.load import refuse_without_memory
from ullage.app.memory.origins import begin_memory, record_lines
from ullage.app.sessions.load import Loaded
from ullage.app.summary.write import EXTRACTIVE, ModelUse, unused_text
from ullage.core.config.settings import Config
from ullage.core.gauge.status import last_compaction_ms, rfc3339
from ullage.core.memory import log_text
from ullage.core.memory.agent_writes import list_agent_lines
from ullage.core.memory.flush import PRE_FLUSH, Epoch, is_flushed, read_epoch
from ullage.core.memory.log_text import pick_memory_points, tell_origins
from ullage.core.memory.origin import Origin, digest_line
from ullage.core.secrets.redaction import mask_items
from ullage.core.secrets.scan import mask
from ullage.core.transcript.context import ContextItem
from ullage.core.transcript.recalled import leave_out_recalled, list_recalled
from ullage.errors import EndpointRefused, ModelError, Refused, StorageError
from ullage.store.files.places import Places
from ullage.store.memory.daily_log import append_block, keeps_memory, log_path, read_logs
from ullage.store.memory.unlinked import is_folder
from ullage.store.state.flush_state import read_flush_state, record_flush
from ullage.summary.memory import MemoryRequest, remember_with_model
from ullage.summary.request import TokenSpending

ENABLED = "compaction.memoryFlush.enabled"
ON_REQUEST = "Memory flush"


By: TypeAlias = Literal["model", "extract", "nothing"]
_WITHOUT = "memory was picked out without a model"


class FlushResult(msgspec.Struct, frozen=True, kw_only=True):
    """What a flush wrote."""

    log_path: Path | None
    """None where nothing was written."""
    text: str
    by: By
    notes: tuple[str, ...]
    """What the user should know besides, a line each."""

    @property
    def n_lines(self) -> int:
        return log_text.count_points(self.text)


class PickedPoints(msgspec.Struct, frozen=True, kw_only=True):
    """What of a session is worth remembering, whatever stands in a log already."""

    points: tuple[log_text.LogPoint, ...]
    author: str = EXTRACTIVE
    """`extractive`, or the model as `provider/name`."""
    spent: TokenSpending | None = None
    notes: tuple[str, ...] = ()


class FlushPlan(msgspec.Struct, frozen=True, kw_only=True):
    """A flush that is worked out to the last byte, and not made yet."""

    session_key: str
    epoch: Epoch | None
    """None for one that was asked for: it stands for no compaction's."""
    last_compaction_at: str | None
    """RFC 3339."""
    workspace: Path
    now: datetime
    """Local."""
    log_name: str
    """The log's path as a user of the current folder knows it."""
    points: tuple[log_text.LogPoint, ...] = ()
    agent_lines: Mapping[str, Origin] = {}
    """What the agent wrote into memory itself, by the digests of its lines."""
    author: str = EXTRACTIVE
    """`extractive`, or the model as `provider/name`."""
    spent: TokenSpending | None = None
    notes: tuple[str, ...] = ()

    @property
    def day(self) -> str:
        return f"{self.now:%Y-%m-%d}"

    @property
    def log_path(self) -> Path:
        return log_path(self.workspace, self.day)

    @property
    def marker(self) -> str:
        """By which a block is known that was written though a kill kept us from noting it."""
        return log_text.write_flush_marker(self.session_key, self.epoch)

    @property
    def text(self) -> str:
        """The block as it will stand in the log, with LF; empty where there is nothing to write."""
        return self.text_of(self.points)

    @property
    def n_lines(self) -> int:
        return len(self.points)

    @property
    def by(self) -> By:
        if not self.points:
            return "nothing"
        return "extract" if self.author == EXTRACTIVE else "model"

    def text_of(self, points: tuple[log_text.LogPoint, ...]) -> str:
        if not points:
            return ""
        title = ON_REQUEST if self.epoch is None else PRE_FLUSH
        return log_text.format_block(
            points, time=f"{self.now:%H:%M}", title=title, marker=self.marker
        )

    def unwritten(self, log: str, digests: Iterable[str]) -> tuple[log_text.LogPoint, ...]:
        """Leave out what stands in a log or is known as written; all where this flush does."""
        if self.epoch is not None and self.marker in log:
            return ()
        written = frozenset((*log_text.list_digests(log), *digests))
        return log_text.drop_written(self.points, written)


async def flush(
    loaded: Loaded,
    config: Config,
    places: Places,
    model: ModelUse,
    *,
    key: str | None = None,
    epoch: Epoch | None = None,
) -> FlushResult:
    """Write what is worth remembering to the daily log, and note the epoch.

    `key` and `epoch` are what a runtime says of its session, where it knows better. Whether a
    flush is due and wanted is the caller's to ask before.

    Raises:
        Refused: memory is switched off.
        LogRefused: there is no log that may be added to.
        StorageError: the disk or the state folder does not take it.
    """
    key, epoch = key or loaded.session.state_key, epoch or read_epoch(loaded.context)
    plan = await plan_flush(loaded, config, places, model, key=key, epoch=epoch)
    return await asyncio.to_thread(make_flush, plan, places)


async def plan_flush(
    loaded: Loaded,
    config: Config,
    places: Places,
    model: ModelUse,
    *,
    key: str,
    epoch: Epoch | None,
    now: datetime | None = None,
    picked: PickedPoints | None = None,
) -> FlushPlan:
    """Work out a flush without writing anything; `now` is local, else the moment of the call.

    `picked` are points that were picked out before, if any were.

    Where the model fails in any way our own rules take its place, and the notes say so.

    Raises:
        Refused: memory is switched off, or is that of a folder which the session only names.
        LogRefused: there is no log that may be added to.
        StorageError: the log cannot be read.
    """
    refuse_without_memory(config)
    if not loaded.session.is_believed(places):
        raise Refused(
            f"the transcript says that it is of {loaded.session.header.cwd}, and does not lie where"
            f" {loaded.session.agent.name} keeps its sessions: run this in that folder to write its"
            " memory"
        )
    plan = _begin(loaded, places, key=key, epoch=epoch, now=now or datetime.now().astimezone())
    today, before = await asyncio.to_thread(read_logs, plan.workspace, plan.day)
    if epoch is not None and (plan.marker in today or plan.marker in before):
        return plan
    picked = picked or await _pick(plan, loaded, config, model, today)
    plan = msgspec.structs.replace(
        plan,
        agent_lines=await asyncio.to_thread(
            list_agent_lines, loaded.context.items, str(plan.workspace)
        ),
        points=picked.points,
        author=picked.author,
        spent=picked.spent,
        notes=picked.notes,
    )
    recalled = (text for item in loaded.context.items for text in list_recalled(item))
    digests = (
        *log_text.list_digests(before),
        *read_flush_state(key, places).digests,
        *(log_text.make_digest(line) for text in recalled for line in text.split("\n")),
    )
    return msgspec.structs.replace(plan, points=plan.unwritten(today, digests))


async def plan_flush_before(
    loaded: Loaded,
    config: Config,
    places: Places,
    model: ModelUse,
    picked: PickedPoints | None = None,
) -> FlushPlan | None:
    """Work out the flush that a compaction begins with; None where none is due or wanted.

    Where the log cannot be added to there is a plan that writes nothing, and says why.
    """
    if not is_flush_open(loaded, config, places):
        return None
    key, epoch = loaded.session.state_key, read_epoch(loaded.context)
    try:
        return await plan_flush(loaded, config, places, model, key=key, epoch=epoch, picked=picked)
    except (Refused, StorageError) as error:
        # Without its epoch nothing is noted, and memory is flushed once the log can be added to.
        now = datetime.now().astimezone()
        nothing = _begin(loaded, places, key=key, epoch=None, now=now)
        notes = (f"memory is not written down: {error}",)
        return msgspec.structs.replace(nothing, notes=notes)


def make_flush(plan: FlushPlan, places: Places) -> FlushResult:
    """Make a planned flush: where its lines come from, then the log, then the note of it.

    What others wrote since it was planned is left out. A kill between log and note leaves the
    marker in the log, by which the next flush of the same epoch knows.

    Raises:
        LogRefused: there is no log that may be added to.
        SessionLive: another Ullage is writing to the same log.
        StorageError: the disk or the state folder does not take it.
    """

    def compose(log: str) -> str:
        digests = read_flush_state(plan.session_key, places).digests
        return plan.text_of(plan.unwritten(log, digests))

    if plan.points or plan.agent_lines:
        begin_memory(plan.workspace, places)
        lines = dict(plan.agent_lines)
        lines.update((digest_line(point.text), point.origin) for point in plan.points)
        record_lines(lines, plan.session_key, plan.workspace, places)
    text = append_block(plan.workspace, plan.day, compose, places) if plan.points else ""
    if text or plan.epoch is not None:
        record_flush(
            plan.session_key,
            places,
            epoch=plan.epoch,
            last_compaction_at=plan.last_compaction_at,
            digests=tuple(log_text.make_digest(point.text) for point in plan.points),
        )
    return FlushResult(
        log_path=plan.log_path if text else None,
        text=text,
        by=plan.by if text else "nothing",
        notes=plan.notes,
    )


def try_flush(plan: FlushPlan, places: Places) -> FlushResult:
    """Make a flush that must not stop the compaction behind it: a failure is a note."""
    try:
        return make_flush(plan, places)
    except (Refused, StorageError) as error:
        notes = (f"memory was not written down: {error}",)
        return FlushResult(log_path=None, text="", by="nothing", notes=notes)


def is_flush_wanted(loaded: Loaded, config: Config, places: Places) -> bool:
    """Tell whether a flush may come by itself before a compaction of this session.

    The daily log stands in the user's own folder, often a repository. Ullage begins no such log
    by itself: the workspace keeps a memory already (`memory/` or `MEMORY.md`), or the user said
    `memoryFlush.enabled: true`. What OpenClaw's configuration says is meant for its sessions.
    """
    is_enabled = config.memory.is_enabled and config.flush.is_enabled
    if not is_enabled or loaded.policy.is_read_only:
        return False
    workspace = workspace_of(loaded, places)
    if not is_folder(workspace) or not loaded.session.is_believed(places):
        return False
    return keeps_memory(workspace) or _is_asked_for(loaded, config)


def is_flush_open(
    loaded: Loaded,
    config: Config,
    places: Places,
    *,
    key: str | None = None,
    epoch: Epoch | None = None,
) -> bool:
    """Tell whether the compaction that comes next is to be preceded by a flush, and was not yet.

    `key` and `epoch` are what a runtime says of its session, where it knows better.
    """
    if not is_flush_wanted(loaded, config, places):
        return False
    epoch = epoch or read_epoch(loaded.context)
    own = read_flush_state(key or loaded.session.state_key, places).epoch
    count, info = None, loaded.session.agent_info
    if info is not None and info.read_flush_epoch is not None:
        count = info.read_flush_epoch(loaded.session.lines, loaded.session.header)
    theirs = None if count is None else Epoch(n_compactions=count, turn_id=None)
    return not (is_flushed(epoch, own) or is_flushed(epoch, theirs))


def flush_log_name(loaded: Loaded, config: Config, places: Places) -> str | None:
    """Name the daily log that the next compaction adds to before; None where it would not."""
    if not is_flush_open(loaded, config, places):
        return None
    return log_name_of(workspace_of(loaded, places), datetime.now().astimezone(), places)


def workspace_of(loaded: Loaded, places: Places) -> Path:
    """Give the folder that the session works in, else the current one."""
    cwd = loaded.session.header.cwd
    return Path(cwd) if cwd else places.cwd


def record_flushed(loaded: Loaded, key: str, epoch: Epoch, places: Places) -> None:
    """Remember that the agent itself took the turn in an epoch.

    Raises:
        StorageError: the state folder does not take it.
    """
    record_flush(key, places, epoch=epoch, last_compaction_at=_last_compaction_at(loaded))


def log_name_of(workspace: Path, now: datetime, places: Places) -> str:
    """Name the log of a day as a user of the current folder knows it."""
    log = log_path(workspace, f"{now:%Y-%m-%d}")
    try:
        return log.resolve().relative_to(places.cwd.resolve()).as_posix()
    except (OSError, RuntimeError, ValueError):
        return str(log)


def _last_compaction_at(loaded: Loaded) -> str | None:
    return rfc3339(last_compaction_ms(loaded.context))


def _begin(
    loaded: Loaded, places: Places, *, key: str, epoch: Epoch | None, now: datetime
) -> FlushPlan:
    workspace = workspace_of(loaded, places)
    return FlushPlan(
        session_key=key,
        epoch=epoch,
        last_compaction_at=_last_compaction_at(loaded),
        workspace=workspace,
        now=now,
        log_name=log_name_of(workspace, now, places),
    )


async def _pick(
    plan: FlushPlan, loaded: Loaded, config: Config, model: ModelUse, written: str
) -> PickedPoints:
    """Find the points of a flush, by the model where there is one."""
    items = await asyncio.to_thread(_mask_items, loaded)
    notes: tuple[str, ...] = ()
    if model.problem is not None:
        notes = (f"{_WITHOUT}; {model.problem}",)
    endpoint = model.endpoint
    if endpoint is not None and items:
        request = MemoryRequest(
            items=tuple(map(leave_out_recalled, items)),
            settings=config.flush,
            log_name=f"memory/{plan.day}.md",
            written=written,
            count=loaded.count,
            known_secrets=loaded.known_secrets,
        )
        try:
            answer = await remember_with_model(request, endpoint, report=model.report)
        except (ModelError, EndpointRefused) as error:
            notes = (f"{_WITHOUT}; {unused_text(endpoint.name, error)}",)
        else:
            return PickedPoints(
                points=tell_origins(_mask_points(answer.points, loaded.known_secrets), items),
                author=endpoint.name,
                spent=answer.spent,
                notes=answer.warnings,
            )
    picked = await asyncio.to_thread(pick_memory_points, items)
    points = tell_origins(_mask_points(picked, loaded.known_secrets), items)
    return PickedPoints(points=points, notes=notes)


def _mask_items(loaded: Loaded) -> tuple[ContextItem, ...]:
    """Give the messages without secrets; earlier summaries cover epochs with their own flush."""
    items = (item for item in loaded.context.items if item.category != "summary")
    return mask_items(items, loaded.known_secrets)


def _mask_points(
    points: tuple[log_text.LogPoint, ...], secrets: tuple[str, ...]
) -> tuple[log_text.LogPoint, ...]:
    """Mask again what was put together: neither a model nor a cut brings a secret back."""
    return tuple(
        log_text.make_point(point.section, mask(point.text, secrets), is_aside=point.is_aside)
        for point in points
    )


def _is_asked_for(loaded: Loaded, config: Config) -> bool:
    is_openclaw = loaded.session.header.agent == "openclaw"
    return any(
        setting.key.name == ENABLED
        and setting.value is True
        and (is_openclaw or setting.origins[-1].place != "openclaw")
        for setting in config.settings
    )
