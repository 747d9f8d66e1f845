"""Messages and records in an agent's own shape, fit to be given to someone else.

Secrets are masked, the home folder and the user's name too. What cannot be searched for secrets
is left out: images, encrypted parts, and what is nested deeper than any message (fails closed,
docs/safety.md, "Secrets").
"""

import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import chain
from typing import cast

import msgspec

from ullage.core.secrets.scan import find_secrets, list_member_secrets, list_named_secrets, mask
from ullage.core.transcript import entries
from ullage.core.transcript.context import ContextItem

MAX_DEPTH = 100
MIN_NAME_CHARS = 4
"""A shorter user name stands in too many words (chosen)."""
COMMON_NAMES = frozenset("admin guest home node root runner test ubuntu user users vscode".split())
"""Names that tell nothing of anyone, and stand in many texts (chosen)."""
USER = "[USER]"
_LEFT_OUT = "left out: it cannot be searched for secrets"
_IMAGES = frozenset(("image", "input_image", "image_url", "document", "file"))
_SEALED_TYPES = frozenset(("redacted_thinking",))
_SEALED_KEYS = frozenset(("encrypted_content", "inlineData", "inline_data"))
_SIGNATURES = ("signature", "thinkingSignature", "textSignature", "thoughtSignature")


class Redaction(msgspec.Struct, frozen=True, kw_only=True):
    """Something that was masked or left out, and how often."""

    kind: str
    marker: str
    count: int


class Redactor:
    """Redacts values one after the other, and notes what it found."""

    def __init__(self, known_values: tuple[str, ...], home: str) -> None:
        self._known = known_values
        self._counts: Counter[tuple[str, str]] = Counter()
        self._home, self._user = _compile_personal(home)

    @property
    def redactions(self) -> tuple[Redaction, ...]:
        return tuple(
            Redaction(kind=kind, marker=marker, count=count)
            for (kind, marker), count in sorted(self._counts.items())
        )

    def redact(self, natives: list[entries.JsonObject]) -> list[entries.JsonObject]:
        """Redact records; what a member of any of them calls secret goes from all."""
        self._known = tuple(dict.fromkeys((*self._known, *list_member_secrets(natives))))
        return [cast(entries.JsonObject, self._value(native, 0)) for native in natives]

    def text(self, text: str) -> str:
        parts: list[str] = []
        end = 0
        for secret in find_secrets(text, self._known):
            parts += (text[end : secret.start], secret.marker)
            end = secret.end
            self._counts[secret.kind, secret.marker] += 1
        text = "".join((*parts, text[end:])) if parts else text
        text, n_homes = self._home.subn("~", text)
        text, n_names = self._user.subn(USER, text) if self._user else (text, 0)
        self._counts.update({("home", "~"): n_homes} if n_homes else {})
        self._counts.update({("user", USER): n_names} if n_names else {})
        return text

    def _value(self, value: object, depth: int) -> object:
        if isinstance(value, str):
            return self.text(value)
        if depth >= MAX_DEPTH and isinstance(value, dict | list):
            return self._left_out("nesting")
        if isinstance(value, dict):
            return self._object(cast(entries.JsonObject, value), depth)
        if isinstance(value, list):
            return [self._value(item, depth + 1) for item in cast(list[object], value)]
        return value

    def _object(self, value: entries.JsonObject, depth: int) -> object:
        kind = value.get("type")
        if isinstance(kind, str) and kind in _IMAGES and len(value) > 1:
            return {"type": "text", "text": self._left_out(kind)}
        if kind in _SEALED_TYPES or value.get("redacted") is True or _SEALED_KEYS & value.keys():
            return {"type": "text", "text": self._left_out("sealed")}
        redacted = {
            self.text(key): item if key in _SIGNATURES else self._value(item, depth + 1)
            for key, item in value.items()
        }
        # A signature stands for the very words that it was given for.
        if any(redacted.get(key) != value.get(key) for key in ("text", "thinking", "arguments")):
            for key in _SIGNATURES:
                redacted.pop(key, None)
        return redacted

    def _left_out(self, kind: str) -> str:
        marker = f"[{kind} {_LEFT_OUT}]"
        self._counts[kind, marker] += 1
        return marker


def copy_plain(value: object) -> object:
    """Copy a value of JSON, with null for numbers that JSON does not have."""
    if isinstance(value, dict):
        return {key: copy_plain(item) for key, item in cast(entries.JsonObject, value).items()}
    if isinstance(value, list | tuple):
        return [copy_plain(item) for item in cast(list[object], value)]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _compile_personal(home: str) -> tuple[re.Pattern[str], re.Pattern[str] | None]:
    """Make patterns of the home folder, however a text spells it, and of the user's name."""
    name = home.replace("\\", "/").rstrip("/").rpartition("/")[2]
    flat = re.sub(r"[^A-Za-z0-9]", "-", home)
    spellings = {home, home.replace("\\", "/"), home.replace("\\", "\\\\")}
    paths = "|".join(re.escape(path) for path in sorted(spellings, key=len, reverse=True))
    # As agents name the folders of their sessions: `-home-me-shop`.
    folders = rf"(?<![A-Za-z0-9]){re.escape(flat)}(?=-)"
    pattern = re.compile(rf"(?:(?:{paths})(?![A-Za-z0-9_.-])|{folders})")
    if not name or len(home) < MIN_NAME_CHARS:
        return re.compile(r"(?!)"), None
    if len(name) < MIN_NAME_CHARS or name.lower() in COMMON_NAMES:
        return pattern, None
    return pattern, re.compile(rf"(?<![A-Za-z0-9]){re.escape(name)}(?![A-Za-z0-9])")


def mask_items(items: Iterable[ContextItem], values: tuple[str, ...]) -> tuple[ContextItem, ...]:
    """Mask the texts of messages; their native forms, which stay in the transcript, are kept."""
    return tuple(
        msgspec.structs.replace(
            item,
            message=_mask_message(item.message, values),
            queued=tuple(mask(text, values) for text in item.queued),
        )
        for item in items
    )


def list_named_in(items: Iterable[ContextItem]) -> Iterator[str]:
    """Give the values that messages call secret, which stand without their names elsewhere."""
    for item in items:
        for text in (*item.queued, *chain(*map(_list_block_texts, item.message.blocks))):
            yield from list_named_secrets(text)


def _list_block_texts(block: entries.Block) -> Iterator[str]:
    match block:
        case entries.Text() | entries.Thinking():
            yield block.text
        case entries.Image():
            pass
        case entries.ToolCall():
            yield block.arguments
        case entries.ToolResult():
            yield from (part.text for part in block.content if isinstance(part, entries.Text))


def _mask_message(message: entries.Message, values: tuple[str, ...]) -> entries.Message:
    blocks = tuple(_mask_block(block, values) for block in message.blocks)
    return msgspec.structs.replace(message, blocks=blocks)


def _mask_block(block: entries.Block, values: tuple[str, ...]) -> entries.Block:
    match block:
        case entries.Text():
            return _mask_text(block, values)
        case entries.Thinking():
            return msgspec.structs.replace(block, text=mask(block.text, values))
        case entries.Image():
            return block
        case entries.ToolCall():
            return msgspec.structs.replace(block, arguments=mask(block.arguments, values))
        case entries.ToolResult():
            content = tuple(
                _mask_text(part, values) if isinstance(part, entries.Text) else part
                for part in block.content
            )
            return msgspec.structs.replace(block, content=content)


def _mask_text(text: entries.Text, values: tuple[str, ...]) -> entries.Text:
    speech = tuple(
        msgspec.structs.replace(part, text=mask(part.text, values)) for part in text.speech
    )
    return msgspec.structs.replace(text, text=mask(text.text, values), speech=speech)
