"""Prepare a request to the model: what is done about its context, and what is asked for.

In this order (docs/design/layers.md, "Before each request"): prune in memory, count again; a
read-only session is warned once, and nothing is written; else a checkpoint from 80 % on, memory
flushed once in an epoch, and the compaction asked for.
"""

import asyncio
import time
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import TypeAlias

import msgspec

from ullage.app.change.auto import change_breaker
from ullage.app.change.prune import natives_with_placeholders
from ullage.app.checkpoint.capture import capture
from ullage.app.checkpoint.resume import resume
from ullage.app.checkpoint.write import Written, is_due, write_checkpoint
from ullage.app.memory.flush import (
    Flushed,
    flush,
    is_flush_open,
    record_flushed,
    workspace_of,
)
from ullage.app.runtime.session import Attached, Call, Held, Progress, keep, load_call, with_pruned
from ullage.app.summary.write import model_use
from ullage.core.change.breaker import record_warning
from ullage.core.change.decision import Ask, Compact, Situation, Warn
from ullage.core.change.request_plan import RequestPlan, plan_request
from ullage.core.checkpoint.session_events import events_of
from ullage.core.gauge.gauge import Gauge, gauge_line
from ullage.core.gauge.policy import ratio_at
from ullage.core.memory.flush import epoch_of, flush_at, flush_prompt
from ullage.core.transcript.injected import WARNING_OPENING, advice_text
from ullage.core.transcript.message import JsonObject
from ullage.errors import LogRefused, UllageError
from ullage.store.memory.daily_log import log_to_add_to
from ullage.store.state.auto_state import AutoState, read_auto_state


class FlushTurn(msgspec.Struct, frozen=True, kw_only=True):
    """The agent is to write its memory in a silent turn."""

    prompt: str
    system_prompt: str
    log_path: Path


class Restored(msgspec.Struct, frozen=True, kw_only=True):
    """The agent gets its working state back after a compaction."""

    text: str


class Advice(msgspec.Struct, frozen=True, kw_only=True):
    text: str


class Warned(msgspec.Struct, frozen=True, kw_only=True):
    text: str


Told: TypeAlias = Restored | Advice | Warned
Step: TypeAlias = Written | Flushed | FlushTurn | Compact | Ask | Warn


class Prepared(msgspec.Struct, frozen=True, kw_only=True):
    """What was done and is to be done before a request."""

    turn: RequestPlan
    natives: dict[int, JsonObject]
    """Messages with placeholders, by their place."""
    gauge: Gauge
    """After pruning."""
    line: str | None
    """The gauge for the agent, from 70 % on."""
    told: tuple[Told, ...]
    """For the agent, once."""
    steps: tuple[Step, ...]
    """Taken or asked for, in order."""
    notes: tuple[str, ...]
    """What did not work, a line each."""
    progress: Progress


async def prepare(attached: Attached, progress: Progress, call: Call) -> Prepared:
    """Decide what is done before a request, and do what is ours to do.

    What the disk or a model does not allow is noted: the request goes out all the same.
    """
    request = await asyncio.to_thread(_Request, attached, progress, call)
    await asyncio.to_thread(request.tell)
    if not attached.runtime.is_read_only:
        await asyncio.to_thread(request.save)
        await request.flush()
    await asyncio.to_thread(request.ask)
    await asyncio.to_thread(request.keep)
    return request.prepared()


class _Request:
    """One request on its way: what was decided, and what was done about it so far."""

    def __init__(self, attached: Attached, progress: Progress, call: Call) -> None:
        self._attached = attached
        self._before = progress
        self._held = load_call(attached, progress, call)
        self._loaded = self._held.loaded
        self._told: list[Told] = []
        self._steps: list[Step] = []
        self._notes = list(self._held.notes)
        gauge = self._loaded.status.gauge
        state = read_auto_state(attached.key, attached.places)
        self._turn = plan_request(
            self._held.sent.items,
            self._held.progress.pruned,
            _situation(self._held, state),
            self._loaded.policy,
            self._loaded.count,
            time.time_ns() // 1_000_000,
        )
        used = self._turn.used_tokens
        share = None if used is None else used / gauge.window.n_tokens
        self._gauge = msgspec.structs.replace(gauge, used_tokens=used, utilization=share)
        self._progress = msgspec.structs.replace(
            with_pruned(self._held.progress, self._turn.prunes),
            last=self._loaded.context,
            used_tokens=used,
            is_restored=False,
        )

    def tell(self) -> None:
        """Give the agent its working state back after a compaction, once."""
        if not self._progress.is_restore_due:
            return
        self._set(is_restore_due=False)
        found = resume(self._attached.key, self._attached.config.checkpoint, self._attached.places)
        if found is not None:
            self._told.append(Restored(text=found.text))
            self._notes += [found.problem] if found.problem else []

    def save(self) -> None:
        """Capture what is new, and write a checkpoint where the context is full enough."""
        try:
            capture(
                self._attached.key,
                tuple(events_of(self._loaded.context.items, self._new_places())),
                self._attached.places,
                known_secrets=self._loaded.known_secrets,
            )
        except UllageError as error:
            self._notes.append(str(error))
        window = self._gauge.window.n_tokens
        at_tokens = ratio_at(window, self._loaded.policy.checkpoint_ratio)
        used = self._loaded.status.gauge.used_tokens
        if used is None or used < at_tokens:
            self._set(checkpoint_tokens=None, is_advised=False)
            return
        self._save_checkpoint(used)
        is_full = (self._turn.used_tokens or 0) >= at_tokens
        if (
            is_full
            and self._progress.checkpoint_tokens is not None
            and not self._progress.is_advised
        ):
            share = (self._turn.used_tokens or 0) / window
            self._told.append(Advice(text=advice_text(share)))
            self._set(is_advised=True)

    async def flush(self) -> None:
        """Have what is worth remembering written, once in an epoch."""
        attached, loaded = self._attached, self._loaded
        key, places, config = attached.key, attached.places, attached.config
        epoch = epoch_of(loaded.context, self._progress.n_compactions)
        used, at_tokens = (
            self._turn.used_tokens,
            flush_at(self._gauge.window.n_tokens, loaded.policy),
        )
        if self._progress.is_flush_tried or used is None or used < at_tokens:
            return
        if not is_flush_open(loaded, config, places, key=key, epoch=epoch):
            return
        try:
            if attached.runtime.can_take_turn:
                self._steps.append(self._flush_turn())
                self._set(is_flush_tried=True)
                record_flushed(loaded, key, epoch, places)
                return
            model = model_use(config.model, loaded, places)
            flushed = await flush(loaded, config, places, model, key=key, epoch=epoch)
        except UllageError as error:
            self._notes.append(str(error))
            if isinstance(error, LogRefused):
                # What else fails may go by itself: it is tried again with the next request.
                self._set(is_flush_tried=True)
            return
        self._set(is_flush_tried=True)
        self._steps.append(flushed)
        self._notes += flushed.notes

    def ask(self) -> None:
        """Ask the runtime for what is not ours to do."""
        match self._turn.action:
            case Compact() | Ask() as action:
                self._steps.append(action)
            case Warn() as action:
                self._steps.append(action)
                self._remember_warning()
                if self._loaded.policy.is_read_only:
                    self._told.append(Warned(text=WARNING_OPENING + action.reason))
            case _:
                pass

    def keep(self) -> None:
        """Write what the next process is to know."""
        self._notes += keep(self._attached, self._before, self._progress)

    def prepared(self) -> Prepared:
        is_shown = (
            self._gauge.utilization is not None
            and self._gauge.utilization >= self._loaded.policy.gauge_ratio
        )
        is_saved = self._progress.checkpoint_tokens is not None
        return Prepared(
            turn=self._turn,
            natives=natives_with_placeholders(
                self._loaded.context.items, self._turn.prunes, self._attached.shape.prune_message
            ),
            gauge=self._gauge,
            line=gauge_line(self._gauge, is_checkpoint_saved=is_saved) if is_shown else None,
            told=tuple(self._told),
            steps=tuple(self._steps),
            notes=tuple(dict.fromkeys(self._notes)),
            progress=self._progress,
        )

    def _save_checkpoint(self, used: int) -> None:
        """Write a checkpoint unless the context is still much like that of the last one."""
        settings = self._attached.config.checkpoint
        if not is_due(self._loaded, self._progress.checkpoint_tokens, settings):
            return
        try:
            written = write_checkpoint(
                self._loaded, settings, self._attached.places, trigger="auto-80pct", channel="agent"
            )
        except UllageError as error:
            self._notes.append(str(error))
            return
        self._set(checkpoint_tokens=used)
        self._notes += [written.problem] if written.problem else []
        if written.is_new:
            self._steps.append(written)

    def _flush_turn(self) -> FlushTurn:
        day = f"{datetime.now().astimezone():%Y-%m-%d}"
        path = log_to_add_to(workspace_of(self._loaded, self._attached.places), day)
        settings = self._attached.config.flush
        return FlushTurn(
            prompt=flush_prompt(settings, str(path)),
            system_prompt=settings.system_prompt,
            log_path=path,
        )

    def _new_places(self) -> Iterator[int]:
        """Find the messages since the last request; of the first one, those of its last turn."""
        items, known = self._loaded.context.items, self._before.last_ids
        first = 0
        if not known:
            asked = (at for at in reversed(range(len(items))) if items[at].category == "user")
            first = next(asked, 0)
        return (at for at in range(first, len(items)) if items[at].entry_id not in known)

    def _remember_warning(self) -> None:
        """Remember that the warning was given; for a read-only session, in memory alone."""
        self._set(is_warned=True)
        if self._attached.runtime.is_read_only:
            return
        n_compactions = self._progress.n_compactions
        try:
            change_breaker(
                self._attached.session,
                lambda breaker: record_warning(breaker, n_compactions=n_compactions),
                self._attached.places,
            )
        except UllageError as error:
            self._notes.append(str(error))

    def _set(self, **changes: object) -> None:
        self._progress = msgspec.structs.replace(self._progress, **changes)


def _situation(held: Held, state: AutoState) -> Situation:
    gauge, breaker = held.loaded.status.gauge, state.breaker
    if held.progress.is_warned:
        breaker = record_warning(breaker, n_compactions=held.progress.n_compactions)
    return Situation(
        occasion="threshold",
        used_tokens=gauge.used_tokens,
        window_tokens=gauge.window.n_tokens,
        tool_tokens=0,
        n_compactions=held.progress.n_compactions,
        breaker=breaker,
        is_auto_on=state.is_on,
    )
