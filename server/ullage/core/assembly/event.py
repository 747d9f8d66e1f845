"""The event message: what the user said, with the media that came along.

docs/design/assembly.md, "Event message".
"""

from collections.abc import Iterator, Sequence

import msgspec

from ullage.core.text.quoting import one_line
from ullage.core.transcript.entries import JsonObject


class Media(msgspec.Struct, frozen=True, kw_only=True):
    """A file that came with a message."""

    path: str
    type: str | None = None
    """Of its content, as `image/png`."""


class EventMessage(msgspec.Struct, frozen=True, kw_only=True):
    """What begins a turn."""

    text: str
    media: tuple[Media, ...] = ()


def write_event_text(event: EventMessage) -> str:
    """Write the message, media named before it in the form of OpenClaw's `media-note.ts`."""
    return "\n".join((*_list_media(event.media), event.text)).strip()


def make_event_message(event: EventMessage) -> JsonObject:
    """Make the message of a user: every API takes a text as its content."""
    return {"role": "user", "content": write_event_text(event)}


def _list_media(media: Sequence[Media]) -> Iterator[str]:
    n_files = len(media)
    if n_files > 1:
        yield f"[media attached: {n_files} files]"
    for number, file in enumerate(media, start=1):
        place = f" {number}/{n_files}" if n_files > 1 else ""
        kind = f" ({one_line(file.type)})" if file.type else ""
        yield f"[media attached{place}: {one_line(file.path)}{kind}]"
