"""`context/overflow`: what to do after the provider refused the context as too large."""

import asyncio
import logging
from typing import assert_never

from ullage.agent.protocol import CompactPlan, Overflow, Overflowed, Replacement
from ullage.agent.sessions import Sessions, call_of
from ullage.app.runtime.overflow import Advised, CompactFirst, GiveUp, SendAgain, on_overflow
from ullage.app.runtime.session import keep
from ullage.core.change.decision import CONTEXT_OVERFLOW

log = logging.getLogger(__name__)


async def overflow(sessions: Sessions, params: Overflow) -> Overflowed:
    call = call_of(params.messages, params.entry_ids, params.usage, params.compaction_count)
    async with sessions.use(params.session) as opened:
        before = opened.progress
        advised, opened.progress = await asyncio.to_thread(
            on_overflow, opened.attached, before, call
        )
        for note in await asyncio.to_thread(keep, opened.attached, before, opened.progress):
            log.warning("%s", note)
    return _answer(advised)


def _answer(advised: Advised) -> Overflowed:
    match advised:
        case CompactFirst():
            selection = advised.selection
            plan = CompactPlan(
                layer="full",
                first_kept_index=advised.first_kept,
                tokens_before=selection.n_tokens_before,
                tokens_replaced=selection.cut.n_tokens_replaced,
            )
            return Overflowed(
                action="compact", message=advised.reason, kind=None, plan=plan, replacements=[]
            )
        case SendAgain():
            replacements = [
                Replacement(index=at, message=native)
                for at, native in sorted(advised.natives.items())
            ]
            return Overflowed(
                action="retry",
                message=advised.reason,
                kind=None,
                plan=None,
                replacements=replacements,
            )
        case GiveUp():
            return Overflowed(
                action="fail",
                message=advised.reason,
                kind=CONTEXT_OVERFLOW,
                plan=None,
                replacements=[],
            )
        case _:
            assert_never(advised)
