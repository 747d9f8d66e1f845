"""The agent's service in this process, and a session of a runtime that uses it.

>>> session = await service.open(agent="pi")
>>> session.turn("Look at a.py", output="x = 1")
>>> prepared = await session.prepare(used=150_000)
"""

from collections.abc import Mapping
from typing import Any

import msgspec

from pi_files import Json
from ullage.agent.methods import HANDLERS
from ullage.agent.protocol import (
    CLOSE,
    COMPACT,
    DECLINE,
    EVENT,
    OPEN,
    OVERFLOW,
    PREPARE,
    RESUME,
    Captured,
    Compacted,
    Opened,
    Overflowed,
    Prepared,
    Resumed,
)
from ullage.agent.sessions import Sessions

START_MS = 1_700_000_000_000


class Service:
    def __init__(self, sessions: Sessions) -> None:
        self.sessions = sessions

    async def ask(self, method: str, **params: object) -> Any:
        """Send what a runtime would: plain JSON, there and back."""
        sent = msgspec.json.decode(msgspec.json.encode(params))
        return await HANDLERS[method](self.sessions, sent)

    async def open(self, **params: object) -> "RuntimeSession":
        said = {
            "agent": "pi",
            "cwd": str(self.sessions.places.cwd),
            "sessionId": "one",
            "windowTokens": 200_000,
        }
        return RuntimeSession(self, await self.ask(OPEN.name, **(said | params)))


class RuntimeSession:
    """A session in pi's shape whose messages grow by a turn a call."""

    def __init__(self, service: Service, opened: Opened) -> None:
        self.service = service
        self.opened = opened
        self.messages: list[Json] = []
        self.n_calls = 0

    def turn(self, text: str, *, output: str | None = None, answer: str = "Done.") -> None:
        self.say({"role": "user", "content": text})
        if output is not None:
            self.round(output)
        self.say({"role": "assistant", "content": [{"type": "text", "text": answer}]})

    def round(self, output: str) -> None:
        """Add an answer that calls a tool, and the tool's output."""
        self.n_calls += 1
        call_id = f"toolu_{self.n_calls:06}"
        call = {"type": "toolCall", "id": call_id, "name": "read"}
        self.say(
            {
                "role": "assistant",
                "content": [call | {"arguments": {"path": f"src/{self.n_calls}.py"}}],
            }
        )
        self.say(
            {
                "role": "toolResult",
                "toolCallId": call_id,
                "toolName": "read",
                "content": [{"type": "text", "text": output}],
                "isError": False,
            }
        )

    def say(self, message: Json) -> None:
        self.messages.append(message | {"timestamp": START_MS + 1000 * len(self.messages)})

    async def prepare(
        self, *, used: int | None = None, window: int | None = None, **params: object
    ) -> Prepared:
        """Prepare a request; `used` is of all messages, as a runtime that counts has it."""
        asked = {"messages": self.messages, "usage": None} | params
        if used is not None:
            usage = {
                "usedTokens": used,
                "windowTokens": window,
                "nMessages": len(asked["messages"]),
            }
            asked["usage"] = usage
        return await self.ask(PREPARE.name, **asked)

    async def compact(self, **params: object) -> Compacted:
        return await self.ask(COMPACT.name, **{"messages": self.messages} | params)

    async def overflow(self, **params: object) -> Overflowed:
        return await self.ask(OVERFLOW.name, **{"messages": self.messages} | params)

    async def resume(self) -> Resumed:
        return await self.ask(RESUME.name)

    async def decline(self, layer: str) -> None:
        await self.ask(DECLINE.name, layer=layer)

    async def event(self, *events: Mapping[str, object]) -> Captured:
        return await self.ask(EVENT.name, events=list(events))

    async def close(self) -> None:
        await self.ask(CLOSE.name)

    async def ask(self, method: str, **params: object) -> Any:
        return await self.service.ask(method, session=self.opened.session, **params)

    def apply(self, done: Compacted) -> None:
        """Put the summary in the place of what it stands for, as a runtime does."""
        self.messages = [done.summary_message, *self.messages[done.first_kept_index :]]


def kinds(prepared: Prepared) -> list[str]:
    """Name the actions of an answer as they go over the wire."""
    return [str(msgspec.to_builtins(action)["type"]) for action in prepared.actions]


def told(prepared: Prepared) -> list[str]:
    return [event.kind for event in prepared.system_events]
