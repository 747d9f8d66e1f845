"""Recorded requests of agents, and what of the parts that we list stands in them."""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import cast

import msgspec

from ullage.app.assembly.parts import list_sent_texts, list_texts_on_disk
from ullage.app.sessions.load import load
from ullage.app.sessions.open import open_session
from ullage.core.assembly.parts import SYSTEM_PROMPT, TOOLS, SentText
from ullage.core.config.settings import Config
from ullage.core.transcript.entries import MemoryLines
from ullage.core.transcript.tokens import Count, count_items
from ullage.formats.json_line import compact_json
from ullage.store.files.places import Places

MAX_DEVIATION = 0.02
_ANSWER = re.compile(rb'"(?:msg|rs|resp|chat)_(\d{4})"')
"""The ids that the model on loopback gives its answers, counted by requests that offer tools."""
_BILLING = "x-anthropic-billing-header"
"""Claude Code's first block, which no file tells."""

Json = Mapping[str, object]


class CheckedPart(msgspec.Struct, frozen=True, kw_only=True):
    """A text as we list it, beside what stands of it in the request."""

    name: str
    source: str
    n_tokens: int
    n_recorded: int
    """Tokens of the same stretch of the request; 0 where nothing of it is there."""
    cut: str
    n_cut_sent: int
    """Characters that we call cut and that are in the request all the same."""

    @property
    def deviation(self) -> float:
        return abs(self.n_tokens - self.n_recorded) / max(self.n_recorded, 1)

    @property
    def is_right(self) -> bool:
        return self.deviation <= MAX_DEVIATION and not self.n_cut_sent


class CheckedRequest(msgspec.Struct, frozen=True, kw_only=True):
    parts: tuple[CheckedPart, ...]
    wrong_files: tuple[str, ...]
    """Which the agent's rule loads and the request does not hold, or the other way round."""
    n_listed: int
    """Tokens of all texts that we know, the conversation among them."""
    n_recorded: int | None
    """Tokens of the request, without its tools where no text of ours is of them; None where the
    system prompt is not ours to see."""

    @property
    def deviation(self) -> float:
        return abs(self.n_listed - self.n_recorded) / self.n_recorded if self.n_recorded else 0.0

    @property
    def is_right(self) -> bool:
        is_near = self.deviation <= MAX_DEVIATION and not self.wrong_files
        return is_near and all(part.is_right for part in self.parts)


def list_turns(folder: Path) -> list[tuple[int, Path]]:
    """List the recorded requests of turns by the number of their answer."""
    paths = sorted(folder.glob("[0-9]*.json"))
    turns = [path for path in paths if not path.stem.endswith("-aside")]
    # The model on loopback counts no request without tools, which an item may hold instead.
    return list(enumerate(turns, start=1)) or list(enumerate(paths))


def cut_before_answer(transcript: bytes, number: int) -> bytes | None:
    """Give a transcript as it was when a request was sent; None where it holds no answer to it."""
    for line in MemoryLines(transcript).forward():
        if any(int(found) == number for found in _ANSWER.findall(line.raw)):
            return transcript[: line.offset]
    return None


def check_request(body: Json, path: Path, places: Places, *, is_disk_old: bool) -> CheckedRequest:
    """Compare the parts of a session with the request that was sent of it then.

    What is read from the disk alone is left out where the disk changed since.
    """
    loaded = load(open_session(path), Config(), places)
    texts = list_sent_texts(loaded, Config())
    names = {text.name for text in texts}
    tools = list(_list_tools(body)) if TOOLS in names else []
    checked = [text for text in texts if not is_disk_old or text.is_in_messages or not text.is_file]
    blocks = [*_list_texts(body), *tools]
    whole = "\n\n".join(blocks)
    n_beside = sum(loaded.count(text.text) for text in texts if not text.is_in_messages)
    held = any(text.name == SYSTEM_PROMPT and not text.is_file for text in texts)
    on_disk = list_texts_on_disk(loaded, Config(), knows_later_names=held)
    return CheckedRequest(
        parts=tuple(_check(text, whole, loaded.count) for text in checked),
        wrong_files=() if is_disk_old else tuple(_list_wrong_files(texts, on_disk, whole)),
        n_listed=n_beside + count_items(loaded.context.items, loaded.count),
        n_recorded=sum(map(loaded.count, blocks)) if held else None,
    )


def _list_wrong_files(
    texts: Sequence[SentText], on_disk: Sequence[SentText], whole: str
) -> Iterator[str]:
    """List the files that the agent's rule loads and the request has not, or the other way."""
    sent = [file for file in on_disk if file.text.strip() in whole]
    names = {file.name for file in sent}
    is_alone = {file.source for file in on_disk if file.name not in ("instructions", "memory")}
    yield from (
        file.source
        for file in on_disk
        if file not in sent and not (file.source in is_alone and file.name in names)
    )
    loaded = {file.source for file in on_disk}
    firsts = (text for text in texts if text.place != "later message" and text.is_file)
    yield from (text.source for text in firsts if text.source not in loaded)


def _check(text: SentText, whole: str, count: Count) -> CheckedPart:
    lines = [
        line for line in text.left_out.splitlines() if len(line) > 20 and line not in text.text
    ]
    return CheckedPart(
        name=text.name,
        source=text.source,
        n_tokens=count(text.text),
        n_recorded=count(_find_stretch(text.text, whole)),
        cut=text.cut,
        n_cut_sent=sum(len(line) for line in lines if line in whole),
    )


def _find_stretch(text: str, whole: str) -> str:
    """Give what stands in a request from where a text begins to where it ends."""
    if text in whole:
        return text
    lines = text.strip().splitlines()
    start, end = whole.find(lines[0]), whole.find(lines[-1])
    return "" if start < 0 or end < start else whole[start : end + len(lines[-1])]


def _list_texts(body: Json) -> Iterator[str]:
    """List every text of a request, one for each block, calls and results of tools among them."""
    if isinstance(body.get("instructions"), str):
        yield cast(str, body["instructions"])
    for key in ("system", "messages", "input"):
        for block in _blocks_of(body.get(key)):
            yield from _texts_of(block)


def _texts_of(block: Json) -> Iterator[str]:
    text = block.get("text")
    if isinstance(text, str):
        if not text.startswith(_BILLING):
            yield text
        return
    for key in ("content", "output", "summary"):
        value = block.get(key)
        if isinstance(value, str):
            yield value
        for inner in _blocks_of(value):
            yield from _texts_of(inner)
    if block.get("type") == "additional_tools":
        yield from map(_schema, _blocks_of(block.get("tools")))
    for call in _blocks_of(block.get("tool_calls")):
        yield from _texts_of(cast(Json, call.get("function")))
    for key in ("name", "arguments"):
        if isinstance(block.get(key), str):
            yield cast(str, block[key])
    if block.get("type") == "tool_use":
        yield compact_json(block["input"])


def _blocks_of(value: object) -> Sequence[Json]:
    if not isinstance(value, list):
        return ()
    return [cast(Json, block) for block in cast(list[object], value) if isinstance(block, dict)]


def _list_tools(body: Json) -> Iterator[str]:
    return map(_schema, _blocks_of(body.get("tools")))


def _schema(tool: Json) -> str:
    """Write a tool without what the protocol puts around it."""
    inner = cast(Json, tool.get("function", tool))
    return compact_json(
        {key: inner[key] for key in inner if key not in ("cache_control", "strict")}
    )


def read_json(path: Path) -> Json:
    return cast(Json, json.loads(path.read_text("utf-8")))
