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
from typing import Literal, TypeAlias

import msgspec
from msgspec.structs import replace

from ullage.app.checkpoint.capture import capture
from ullage.app.checkpoint.resume import restore_after_compaction
from ullage.app.checkpoint.write import WrittenCheckpoint, is_due, write_checkpoint
from ullage.app.memory.flush import FlushResult, flush, is_flush_open, record_flushed, workspace_of
from ullage.app.runtime.progress import Restore, SessionProgress
from ullage.app.runtime.request import (
    RequestMessages,
    cascade_of,
    measure_request,
    put_placeholders,
)
from ullage.app.runtime.session import RuntimeSession, notes_of, remember_run, save_progress
from ullage.app.summary.write import model_use
from ullage.core.change.breaker import record_warning
from ullage.core.change.decision import READ_ONLY_SKIPS, Ask, Compact, Warn
from ullage.core.change.request_plan import RequestPlan, plan_request
from ullage.core.checkpoint.captured import events_of
from ullage.core.gauge.gauge import Gauge, gauge_line, ratio_at
from ullage.core.memory.flush import flush_threshold, read_epoch, write_flush_prompt
from ullage.core.transcript.agent_lines import advice_text
from ullage.core.transcript.context import WARNING_OPENING
from ullage.core.transcript.entries import JsonObject
from ullage.errors import LogRefused, UllageError
from ullage.store.memory.daily_log import log_to_add_to


class FlushTurn(msgspec.Struct, frozen=True, kw_only=True):
    """The agent is to write its memory in a silent turn."""

    prompt: str
    system_prompt: str
    log_path: Path


class AgentText(msgspec.Struct, frozen=True, kw_only=True):
    """A text for the agent: its working state after a compaction, advice, a warning."""

    kind: Literal["checkpointRestore", "advice", "warning"]
    text: str


Step: TypeAlias = WrittenCheckpoint | FlushResult | FlushTurn | Compact | Ask | Warn


class PreparedRequest(msgspec.Struct, frozen=True, kw_only=True):
    """What was done and is to be done before a request."""

    plan: RequestPlan
    natives: dict[int, JsonObject]
    """Messages with placeholders, by their place."""
    gauge: Gauge
    """After pruning."""
    gauge_line: str | None
    """The gauge for the agent, from 70 % on."""
    texts: tuple[AgentText, ...]
    """Given once."""
    steps: tuple[Step, ...]
    """Taken or asked for, in order."""
    notes: tuple[str, ...]
    """What did not work, a line each."""
    progress: SessionProgress


async def prepare_request(
    session: RuntimeSession, progress: SessionProgress, messages: RequestMessages
) -> PreparedRequest:
    """Decide what is done before a request, and do Ullage's part.

    What the disk or a model does not allow is noted: the request goes out anyway.
    """
    request = await asyncio.to_thread(_Request, session, progress, messages)
    await asyncio.to_thread(request.restore_state)
    if not session.info.is_read_only:
        await asyncio.to_thread(request.save_state)
        await request.flush_memory()
    await asyncio.to_thread(request.ask)
    return await asyncio.to_thread(request.finish)


class _Request:
    """One request on its way: what was decided, and what was done about it so far."""

    def __init__(
        self, session: RuntimeSession, progress: SessionProgress, messages: RequestMessages
    ) -> None:
        self._session = session
        self._before = progress
        self._measured = measure_request(session, progress, messages)
        self._loaded = self._measured.loaded
        self._plan = plan_request(
            self._measured.sent.items,
            self._measured.progress.prunes.items,
            cascade_of(session, self._measured, "threshold"),
            self._loaded.policy,
            self._loaded.count,
            time.time_ns() // 1_000_000,
        )
        self._notices = self._measured.progress.notices
        self._texts: list[AgentText] = []
        self._steps: list[Step] = []
        self._notes = list(self._measured.notes)
        gauge, used = self._loaded.status.gauge, self._plan.used_tokens
        share = None if used is None else used / gauge.window.n_tokens
        self._gauge = replace(gauge, used_tokens=used, utilization=share)

    def restore_state(self) -> None:
        """Give the agent its working state back after a compaction, once."""
        if not self._measured.progress.restore.is_due:
            return
        session = self._session
        restored = restore_after_compaction(session.key, session.config.checkpoint, session.places)
        if restored is not None:
            self._texts.append(AgentText(kind="checkpointRestore", text=restored.text))
            checkpoint = restored.checkpoint
            self._notes += [checkpoint.problem] if checkpoint and checkpoint.problem else []

    def save_state(self) -> None:
        """Capture what is new, and write a checkpoint where the context is full enough."""
        self._notes += notes_of(
            lambda: capture(
                self._session.key,
                tuple(events_of(self._loaded.context.items, self._new_places())),
                self._session.places,
                known_secrets=self._loaded.known_secrets,
            )
        )
        window = self._gauge.window.n_tokens
        at_tokens = ratio_at(window, self._loaded.policy.checkpoint_ratio)
        used_before, used = self._loaded.status.gauge.used_tokens, self._plan.used_tokens or 0
        if used_before is None or used_before < at_tokens:
            self._notices = replace(self._notices, checkpoint_tokens=None, is_advised=False)
            return
        self._save_checkpoint()
        is_saved = self._notices.checkpoint_tokens is not None
        is_due = used >= at_tokens and self._gauge.window.is_certain
        if is_due and is_saved and not self._notices.is_advised:
            self._texts.append(AgentText(kind="advice", text=advice_text(used / window)))
            self._notices = replace(self._notices, is_advised=True)

    async def flush_memory(self) -> None:
        """Have what is worth remembering written, once in an epoch."""
        session, loaded = self._session, self._loaded
        key, places, config = session.key, session.places, session.config
        epoch = read_epoch(loaded.context, self._measured.progress.n_compactions)
        used = self._plan.used_tokens
        at_tokens = flush_threshold(self._gauge.window.n_tokens, loaded.policy)
        if self._notices.is_flush_tried or used is None or used < at_tokens:
            return
        if not self._gauge.window.is_certain:
            return
        if not is_flush_open(loaded, config, places, key=key, epoch=epoch):
            return
        try:
            if session.info.can_take_turn:
                self._steps.append(self._flush_turn())
                self._notices = replace(self._notices, is_flush_tried=True)
                record_flushed(loaded, key, epoch, places)
                return
            model = model_use(config.model, places)
            flushed = await flush(loaded, config, places, model, key=key, epoch=epoch)
        except UllageError as error:
            self._notes.append(str(error))
            if isinstance(error, LogRefused):
                # What else fails may go by itself: it is tried again with the next request.
                self._notices = replace(self._notices, is_flush_tried=True)
            return
        self._notices = replace(self._notices, is_flush_tried=True)
        self._steps.append(flushed)
        self._notes += flushed.notes

    def ask(self) -> None:
        """Ask the runtime for its part."""
        action = self._plan.action
        if isinstance(action, Compact | Ask | Warn):
            self._steps.append(action)
        if isinstance(action, Warn):
            self._notices = replace(self._notices, is_warned=True)
            n_compactions = self._measured.progress.n_compactions
            self._notes += remember_run(
                self._session,
                lambda breaker: record_warning(breaker, n_compactions=n_compactions),
            )
            if self._loaded.policy.is_read_only:
                self._notes += READ_ONLY_SKIPS
                text = WARNING_OPENING + action.reason
                self._texts.append(AgentText(kind="warning", text=text))

    def finish(self) -> PreparedRequest:
        """Write what the next process is to know, and give what was decided."""
        progress = self._progress()
        self._notes += save_progress(self._session, self._before, progress)
        share = self._gauge.utilization
        is_shown = share is not None and share >= self._loaded.policy.gauge_ratio
        is_shown = is_shown and self._gauge.window.is_certain
        is_saved = self._notices.checkpoint_tokens is not None
        return PreparedRequest(
            plan=self._plan,
            natives=put_placeholders(self._session, self._measured, self._plan.prunes),
            gauge=self._gauge,
            gauge_line=gauge_line(self._gauge, is_checkpoint_saved=is_saved) if is_shown else None,
            texts=tuple(self._texts),
            steps=tuple(self._steps),
            notes=tuple(dict.fromkeys(self._notes)),
            progress=progress,
        )

    def _progress(self) -> SessionProgress:
        progress = self._measured.progress
        return replace(
            progress,
            seen=replace(
                progress.seen, last=self._loaded.context, used_tokens=self._plan.used_tokens
            ),
            prunes=replace(progress.prunes, items=self._plan.prunes),
            notices=self._notices,
            restore=Restore(),
        )

    def _save_checkpoint(self) -> None:
        """Write a checkpoint unless the context is still much like that of the last one."""
        settings = self._session.config.checkpoint
        if not is_due(self._loaded, self._notices.checkpoint_tokens, settings):
            return
        try:
            written = write_checkpoint(
                self._loaded,
                settings,
                self._session.places,
                trigger="auto-80pct",
                origin=self._session.origin,
            )
        except UllageError as error:
            self._notes.append(str(error))
            return
        used = written.checkpoint.meta.token_usage
        self._notices = replace(self._notices, checkpoint_tokens=used.input_tokens)
        self._notes += [written.problem] if written.problem else []
        if written.is_new:
            self._steps.append(written)

    def _flush_turn(self) -> FlushTurn:
        day = f"{datetime.now().astimezone():%Y-%m-%d}"
        path = log_to_add_to(workspace_of(self._loaded, self._session.places), day)
        settings = self._session.config.flush
        return FlushTurn(
            prompt=write_flush_prompt(settings, str(path)),
            system_prompt=settings.system_prompt,
            log_path=path,
        )

    def _new_places(self) -> Iterator[int]:
        """Find the messages since the last request; of the first one, those of its last turn."""
        items, last_ids = self._loaded.context.items, self._before.seen.last_ids
        first = 0
        if not last_ids:
            asked = (at for at in reversed(range(len(items))) if items[at].category == "user")
            first = next(asked, 0)
        return (at for at in range(first, len(items)) if items[at].entry_id not in last_ids)
