"""`context/event`: what happened, noted for the working state as it happens."""

import asyncio

from ullage.agent.protocol import Capture, Captured, NewMessage, ToolResult
from ullage.agent.sessions import Sessions
from ullage.app.checkpoint.capture import capture
from ullage.app.runtime.session import Attached, items_of
from ullage.app.sessions.secrets import secrets_for
from ullage.core.checkpoint.session_events import events_of
from ullage.core.checkpoint.working_state import Event, ToolEvent
from ullage.formats.json_line import compact_json


async def take_events(sessions: Sessions, params: Capture) -> Captured:
    async with sessions.use(params.session) as opened:
        attached = opened.attached
        if attached.runtime.is_read_only:
            return Captured(n_events=0)
        return Captured(n_events=await asyncio.to_thread(_taken, attached, params))


def _taken(attached: Attached, params: Capture) -> int:
    events = [event for told in params.events for event in _events(attached, told)]
    capture(
        attached.key,
        events,
        attached.places,
        known_secrets=secrets_for(attached.session.header, attached.places),
    )
    return len(events)


def _events(attached: Attached, told: ToolResult | NewMessage) -> list[Event]:
    if isinstance(told, NewMessage):
        items = items_of(attached, [told.message])
        return list(events_of(items, range(len(items))))
    arguments = told.arguments
    return [
        ToolEvent(
            call_id=told.call_id,
            name=told.name,
            arguments=arguments if isinstance(arguments, str) else compact_json(arguments or {}),
            is_error=told.is_error,
            error=told.error,
            at_ms=told.at_ms,
        )
    ]
