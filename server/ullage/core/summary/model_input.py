"""Material: what a model sees of a conversation, masked, bounded, and fenced as data."""

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Literal, TypeAlias

import msgspec

from ullage.core.secrets.scan import mask
from ullage.core.text.quotations import split_quotations
from ullage.core.text.quoting import one_line
from ullage.core.transcript import entries
from ullage.core.transcript.context import ContextItem
from ullage.core.transcript.speech import list_speech

Origin: TypeAlias = Literal["user", "assistant", "quotation", "tool call", "tool result", "program"]
"""Who wrote a text; only a user has the authority to set goals and rules. A quotation is what
user or assistant showed."""

MAX_RESULT_CHARS = 4000
"""Of a tool's output the model sees its head and its tail; chosen, twice what pi 0.87 shows."""
MAX_ARGUMENT_CHARS = 1500
"""Of a call's arguments; the files that it wrote are on disk. Chosen."""
_HEAD_SHARE = 0.65
_ORIGINS: dict[entries.Speaker, Origin] = {
    "typed": "user",
    "pasted": "quotation",
    "assistant": "assistant",
    "harness": "program",
    "summary": "program",
}
_MAX_NAME_CHARS = 60
_NOT_NAMES = re.compile(r"[^\w.:/-]+")
_UNFIT = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff]"
)
"""Controls, marks that turn the direction of text, and lone surrogates, which UTF-8 lacks."""


class Excerpt(msgspec.Struct, frozen=True, kw_only=True):
    """One text of a conversation as a model sees it."""

    origin: Origin
    name: str
    """Of the tool; empty for others."""
    text: str


def fit_text(text: str) -> str:
    """Replace what is no text: controls but line ends and tabs, bidi marks, lone surrogates."""
    return _UNFIT.sub("\N{REPLACEMENT CHARACTER}", text.replace("\r\n", "\n"))


def list_excerpts(
    items: Iterable[ContextItem], known_secrets: Sequence[str]
) -> tuple[Excerpt, ...]:
    """List the texts of messages, secrets masked before anything is cut away."""
    return tuple(
        msgspec.structs.replace(part, text=text)
        for item in items
        for piece in _read_excerpts(item)
        for part in _split_excerpt(piece, fit_text(mask(piece.text, known_secrets)))
        if (text := _shorten(part))
    )


def fence_excerpts(pieces: Sequence[Excerpt], nonce: str) -> str:
    """Write pieces one below the other, each between fences that its text cannot forge.

    `nonce` must be unpredictable to the writers of the text.
    """
    return "\n".join(
        f"<<<{nonce} {_name_origin(piece)}\n{piece.text.replace(nonce, '')}\n{nonce}>>>"
        for piece in pieces
    )


def _name_origin(piece: Excerpt) -> str:
    return f"{piece.origin} {piece.name}" if piece.name else piece.origin


def _read_excerpts(item: ContextItem) -> Iterator[Excerpt]:
    for speech in list_speech(item):
        if speech.speaker != "tool":
            yield Excerpt(origin=_ORIGINS[speech.speaker], name="", text=speech.text)
    for block in item.message.blocks:
        yield from _read_data(block)


def _split_excerpt(piece: Excerpt, text: str) -> Iterator[Excerpt]:
    """Tell what is quoted from what is said in a text, now that its secrets are masked."""
    if piece.origin not in ("user", "assistant"):
        yield msgspec.structs.replace(piece, text=text)
        return
    for passage in split_quotations(text, is_agents=piece.origin == "assistant"):
        origin = "quotation" if passage.is_quoted else piece.origin
        yield Excerpt(origin=origin, name="", text=passage.text)


def _read_data(block: entries.Block) -> Iterator[Excerpt]:
    match block:
        case entries.ToolCall():
            yield Excerpt(origin="tool call", name=_clean_name(block.name), text=block.arguments)
        case entries.ToolResult():
            text = entries.result_text(block)
            n_images = sum(isinstance(part, entries.Image) for part in block.content)
            text += "\n[image]" * n_images
            text = f"(failed)\n{text}" if block.is_error else text
            yield Excerpt(origin="tool result", name=_clean_name(block.name), text=text)
        case entries.Image():
            yield Excerpt(origin="program", name="", text="[image]")
        case entries.Text() | entries.Thinking():
            return


def _clean_name(name: str) -> str:
    """Make a tool's name, which a transcript may invent, a word on one line."""
    return _NOT_NAMES.sub("_", one_line(name))[:_MAX_NAME_CHARS]


def _shorten(piece: Excerpt) -> str:
    text = piece.text.strip()
    match piece.origin:
        case "tool result" | "program":
            return keep_ends(text, MAX_RESULT_CHARS)
        case "tool call":
            return keep_ends(text, MAX_ARGUMENT_CHARS)
        case "user" | "assistant" | "quotation":
            return text


def keep_ends(text: str, n_chars: int) -> str:
    """Cut the middle out of a text, and say how much that was."""
    if len(text) <= n_chars:
        return text
    n_head = int(n_chars * _HEAD_SHARE)
    n_cut = len(text) - n_chars
    return f"{text[:n_head]}\n[… {n_cut:,} characters left out …]\n{text[n_head + n_cut :]}"
