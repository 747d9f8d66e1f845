"""A dream: what lasts of the daily logs of the last days is proposed in `DREAMS.md`.

docs/design/memory.md, "Dreaming", has the steps. Nothing reaches `MEMORY.md` here, unless the user
said that what is surest may, unread.
"""

import asyncio
import time
from datetime import datetime
from pathlib import Path
from typing import Literal, TypeAlias

import msgspec

from ullage.app.config.load import refuse_read_only, refuse_without_memory
from ullage.app.dream.daily_logs import read_daily_logs, see_logs
from ullage.app.dream.material import list_statements, read_known
from ullage.app.dream.review import apply_unread
from ullage.app.dream.write import add_items, write_item
from ullage.app.memory.origins import list_outside_changes, read_origins
from ullage.app.sessions.secrets import secrets_in
from ullage.app.summary.write import ModelUse, unused_text
from ullage.core.config.settings import Config
from ullage.core.dream.propose import Proposal, propose
from ullage.core.dream.triggers import Trigger
from ullage.core.memory.inbox import InboxItem
from ullage.core.memory.journal import count_recalls
from ullage.core.text.prose import plural
from ullage.errors import EndpointRefused, ModelError
from ullage.store.files.places import Places
from ullage.store.memory.changes import recover_memory_changes
from ullage.store.memory.dream_state import append_dream_log, dream_lock, record_dream
from ullage.store.memory.journal import read_journal
from ullage.store.memory.places import MEMORY
from ullage.store.memory.seen import MemoryFile, read_memory_files
from ullage.summary.dreaming import DreamRequest, group_with_model

TITLE = "Daily Log"
"""How an item of a dream came here; one of a session is a `Session Replay`."""
Cause: TypeAlias = Trigger | Literal["request"]


class DreamResult(msgspec.Struct, frozen=True, kw_only=True):
    """What a dream did."""

    cause: Cause
    n_logs: int
    n_statements: int
    """Points of these logs that a person typed or an agent wrote."""
    n_unknown: int
    """Other points there, by hand, by a tool or by nobody known: they are not looked at."""
    items: tuple[InboxItem, ...]
    """What it proposes; none is normal."""
    applied: tuple[str, ...] = ()
    """What went to `MEMORY.md` unread."""
    notes: tuple[str, ...] = ()
    """What the user should know besides, a line each."""


class _Material(msgspec.Struct, frozen=True, kw_only=True):
    logs: tuple[MemoryFile, ...]
    n_statements: int
    n_unknown: int
    proposals: tuple[Proposal, ...]


async def dream(
    workspace: Path,
    config: Config,
    places: Places,
    model: ModelUse,
    *,
    cause: Cause = "request",
    now: datetime | None = None,
) -> DreamResult:
    """Dream of a workspace once; `now` is local, else the moment of the call.

    Where the model fails in any way the plan without it stands, and the notes say so. A dream that
    is cancelled wrote nothing, or all.

    Raises:
        Refused: memory is switched off, the workspace is read-only, or `DREAMS.md` cannot be added
            to.
        StateBusy: another dream of it is under way.
        StorageError: the disk or the state folder does not take it.
    """
    refuse_without_memory(config)
    refuse_read_only(config.policy)
    workspace = await asyncio.to_thread(workspace.resolve)
    now = now or datetime.now().astimezone()
    with dream_lock(workspace, places):
        started_s = time.monotonic()
        material = await asyncio.to_thread(_read_material, workspace, config, places, now)
        proposals, notes = await _group(material.proposals, workspace, config, places, model)
        result = await asyncio.to_thread(
            _write, material, proposals, notes, workspace, config, places, cause, now
        )
        line = _log_line(result, now, time.monotonic() - started_s)
        await asyncio.to_thread(append_dream_log, line, workspace, places)
    return result


def _read_material(workspace: Path, config: Config, places: Places, now: datetime) -> _Material:
    # A part of an item, by a killed process, would pass for one that waits.
    recover_memory_changes(workspace, places)
    # What version control brought is noted on the way: its lines are no person's.
    list_outside_changes(workspace, places)
    logs = read_daily_logs(workspace, now.date(), config.dreaming.n_days)
    origins, secrets = read_origins(workspace, places), secrets_in((workspace,), places)
    statements = tuple(list_statements(logs, origins, secrets))
    known = read_known(workspace, places)
    recalls = count_recalls(read_journal(workspace, places).list_recalls())
    proposals = propose(
        statements,
        known=known,
        today=now.date(),
        recalls=recalls,
    )
    n_known = sum(statement.origin in ("user", "agent") for statement in statements)
    return _Material(
        logs=logs,
        n_statements=n_known,
        n_unknown=len(statements) - n_known,
        proposals=proposals,
    )


async def _group(
    proposals: tuple[Proposal, ...],
    workspace: Path,
    config: Config,
    places: Places,
    model: ModelUse,
) -> tuple[tuple[Proposal, ...], tuple[str, ...]]:
    """Have a model group and reword proposals, where the user named one."""
    if not proposals:
        return (), ()
    if model.endpoint is None:
        problem = model.problem
        return proposals, () if problem is None else (f"dreamt without a model; {problem}",)
    pages = {file.path: file.text for file in read_memory_files(workspace, (MEMORY,))}
    request = DreamRequest(
        proposals=proposals,
        memory=pages.get(MEMORY, ""),
        known_secrets=secrets_in((workspace,), places),
        max_chars=config.bootstrap.max_chars,
    )
    try:
        grouped = await group_with_model(request, model.endpoint, report=model.report)
    except (ModelError, EndpointRefused) as error:
        return proposals, (f"dreamt without a model; {unused_text(model.endpoint.name, error)}",)
    return grouped.proposals, grouped.notes


def _write(
    material: _Material,
    proposals: tuple[Proposal, ...],
    notes: tuple[str, ...],
    workspace: Path,
    config: Config,
    places: Places,
    cause: Cause,
    now: datetime,
) -> DreamResult:
    items = add_items([(each, write_item(each, TITLE)) for each in proposals], workspace, places)
    applied: tuple[str, ...] = ()
    if config.dreaming.apply == "unread":
        applied, more = apply_unread(proposals, items, workspace, config, places, now.date())
        notes = (*notes, *more)
    record_dream(see_logs(material.logs, now), workspace, places)
    return DreamResult(
        cause=cause,
        n_logs=len(material.logs),
        n_statements=material.n_statements,
        n_unknown=material.n_unknown,
        items=items,
        applied=applied,
        notes=notes,
    )


def _log_line(result: DreamResult, now: datetime, seconds: float) -> str:
    counts = (
        f"{plural(result.n_logs, 'log')}, {plural(result.n_statements, 'point')} read",
        f"{plural(len(result.items), 'item')} proposed",
        *((f"{len(result.applied)} applied unread",) if result.applied else ()),
        *result.notes,
    )
    return f"{now:%Y-%m-%d %H:%M} · {result.cause} · {' · '.join(counts)} · {seconds:.1f} s"
