"""Pins: texts that a user wants to survive every layer, and their section in a summary."""

import re
from collections.abc import Callable, Iterable, Sequence
from typing import Literal, TypeAlias

import msgspec

from ullage.core.text.lazy_pattern import lazy_pattern
from ullage.core.text.quoting import one_line, quote_as_data
from ullage.core.transcript.context import ContextItem
from ullage.core.transcript.entries import Text, ToolResult

PINNED = "Pinned"
"""Heading of the section in front of a summary; its lines are written anew each time."""
PINNED_BY_WORKSPACE = f"{PINNED} by the workspace"
"""Heading of the section behind a summary for what a workspace pinned that is not trusted."""
_WORKSPACE_MARK = "(set by the workspace's .ullage.yaml) "
MAX_PIN_CHARS = 8_000
"""Some 2,000 tokens, a third of the largest summary; chosen."""
MAX_PINNED_CHARS = 24_000
"""All pins of a session together: they come on top of every summary. Chosen."""
_SECTION = lazy_pattern(
    rf"^## {PINNED}(?: by the workspace)?\n(?:(?:- | {{2}}).*(?:\n|\Z)|\n(?= {{2}}))*", re.MULTILINE
)


PinnedBy: TypeAlias = Literal["command line", "editor"]
"""Where something was pinned: by an agent too, on the command line."""


class Pin(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    text: str
    """What survives, word for word; of a message its texts as they were when it was pinned."""
    entry_id: str | None = None
    """The entry that was pinned; None for a text that the user gave."""
    label: str | None = None
    session_id: str | None = None
    """The session in which it was pinned; one that goes on elsewhere takes its pins along."""
    at_ms: int | None = None
    by: PinnedBy | None = None


def list_pinnable(items: Iterable[ContextItem]) -> list[ContextItem]:
    """List the messages that can be pinned: the user's first, of each the newest first."""
    # Of several with one id the first one is meant (`app/summary/pins.py`).
    of_ids = {item.entry_id: item for item in reversed(tuple(items))}
    pinnable = (item for item in of_ids.values() if is_pinnable(item))
    return sorted(pinnable, key=lambda item: item.category != "user")


def is_pinnable(item: ContextItem) -> bool:
    """Tell whether a message can be pinned, as far as other pins leave room for it."""
    return not item.is_pinned and refuse_pin(Pin(text=read_pinnable_text(item)), ()) is None


def read_pinnable_text(item: ContextItem) -> str:
    """Give what is pinned of a message: its texts and those of its results."""
    return "\n".join(list_pinnable_texts(item)).strip()


def list_pinnable_texts(item: ContextItem) -> list[str]:
    texts: list[str] = []
    for block in item.message.blocks:
        if isinstance(block, Text):
            texts.append(block.text)
        elif isinstance(block, ToolResult):
            texts += [part.text for part in block.content if isinstance(part, Text)]
    return texts


def refuse_pin(new: Pin, others: Iterable[Pin]) -> str | None:
    """Say why something cannot be pinned; None where it can."""
    n_chars = len(new.text)
    if not new.text.strip():
        return "there is no text to pin"
    if n_chars > MAX_PIN_CHARS:
        return (
            f"{n_chars:,} characters are too many to carry in every summary (at most"
            f" {MAX_PIN_CHARS:,}): pin the part that matters as a text"
        )
    n_all = n_chars + sum(len(other.text) for other in others)
    if n_all > MAX_PINNED_CHARS:
        return (
            f"all pins together would have {n_all:,} characters (at most {MAX_PINNED_CHARS:,}):"
            " remove one first"
        )
    return None


def pick_pins(
    pins: Iterable[Pin], configured: Iterable[str], kept: Sequence[ContextItem]
) -> tuple[str, ...]:
    """Give the texts to carry, a workspace's last: a pinned message that stays needs no copy."""
    staying = {item.entry_id for item in kept}
    texts = [pin.text for pin in pins if pin.entry_id is None or pin.entry_id not in staying]
    unique = dict.fromkeys(text for text in [*configured, *texts] if text.strip())
    return tuple(sorted(unique, key=is_workspace_pin))


def mark_workspace_pin(text: str) -> str:
    """Mark the pin of a workspace that is not trusted: data, on one line, that names its origin."""
    return _WORKSPACE_MARK + quote_as_data(text).strip() if text.strip() else ""


def is_workspace_pin(pin: str) -> bool:
    return pin.startswith(_WORKSPACE_MARK)


def mark_pinned(
    items: Sequence[ContextItem], pins: Iterable[Pin], clean: Callable[[str], str]
) -> tuple[ContextItem, ...]:
    """Mark the messages that are pinned, so that they are not pruned.

    A runtime that holds its messages need not know their entries: there a message is told by its
    text, which `clean` masks as it was masked when it was pinned.
    """
    texts = {pin.entry_id: pin.text for pin in pins if pin.entry_id is not None}
    missing = set(texts.values()) if texts else set[str]()
    missing -= {texts[item.entry_id] for item in items if item.entry_id in texts}

    def mark(item: ContextItem) -> ContextItem:
        is_pinned = item.entry_id in texts or (
            bool(missing) and clean_pin(clean(clean_pin(read_pinnable_text(item)))) in missing
        )
        if is_pinned is item.is_pinned:
            return item
        return msgspec.structs.replace(item, is_pinned=is_pinned)

    return tuple(map(mark, items))


def clean_pin(text: str) -> str:
    """Bring a pin into the form that a summary shows, which differs in white space alone."""
    return "\n".join(one_line(line).rstrip() for line in text.split("\n")).strip()


def format_pin(pin: str) -> str:
    """Write a clean pin as a point of a list, its further lines indented."""
    return "- " + pin.replace("\n", "\n  ")


def remove_pins(summary: str) -> str:
    """Take the sections of the pins away, which the pins themselves bring back."""
    return _SECTION.sub("", summary)
