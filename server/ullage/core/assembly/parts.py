"""The parts of a request: what each is, where it comes from, what it costs and what it lacks."""

from collections.abc import Iterable, Sequence
from typing import Literal, TypeAlias

import msgspec

from ullage.core.gauge.gauge import Gauge
from ullage.core.gauge.price import Cost
from ullage.core.transcript.context import UNSEEN, Category, ContextItem
from ullage.core.transcript.tokens import Count, count_items

UNREAD = "and what else was reported"
IN_TRANSCRIPT = "in the transcript"
BY_PROVIDER = "counted by the provider alone"
_NO_FILES = (IN_TRANSCRIPT, UNREAD, BY_PROVIDER)
CONVERSATION = "conversation"
SYSTEM_PROMPT = "system prompt"
INSTRUCTIONS = "instructions"
MEMORY = "memory"
SKILLS = "skills"
TOOLS = "tools"
SYSTEM_PROMPT_AND_TOOLS = f"{SYSTEM_PROMPT} and {TOOLS}"
OTHER = "other"

Place: TypeAlias = Literal["every request", "first message", "later message"]
"""Where a part stands: beside the messages, in what goes before the first answer, or after it."""


class SentText(msgspec.Struct, frozen=True, kw_only=True):
    """A stretch of a request."""

    name: str
    """Of the part that it belongs to, as a user would say it."""
    text: str
    source: str = IN_TRANSCRIPT
    """The file that it comes from, or who wrote it."""
    place: Place = "every request"
    category: Category | None = None
    """Of the messages that hold it, so that it is counted with them; None for what is in none."""
    cut: str = ""
    """How much of its source is not sent, and by which rule."""
    left_out: str = ""
    """What that is."""
    tool: str = ""
    """The tool that it describes, and nothing else."""

    @property
    def is_in_messages(self) -> bool:
        return self.category is not None

    @property
    def is_file(self) -> bool:
        """Whether its source is the path of a file."""
        return self.source not in _NO_FILES

    def from_file(self, path: str) -> "SentText":
        return msgspec.structs.replace(self, source=path)


class Part(msgspec.Struct, frozen=True, kw_only=True):
    """What a request holds of one kind from one source."""

    name: str
    source: str
    n_tokens: int
    is_exact: bool
    """Whether its text was counted; else it is what the provider reported beyond all others."""
    category: str
    """What `What fills the window` counts it with."""
    cut: str
    """How much of its source is not sent, and by which rule."""
    place: Place
    cost: Cost = Cost()

    @property
    def is_in_messages(self) -> bool:
        return self.category != UNSEEN

    @property
    def is_file(self) -> bool:
        """Whether its source is the path of a file."""
        return self.source not in _NO_FILES


def count_parts(
    texts: Sequence[SentText], items: Sequence[ContextItem], gauge: Gauge, count: Count
) -> tuple[Part, ...]:
    """Count the parts in the order of the request, the conversation after what begins it.

    What is reported beyond all of them is the agent's own, and what its transcript leaves out.
    """
    parts = list(_merge(texts, count))
    n_named = sum(part.n_tokens for part in parts if part.is_in_messages)
    n_messages = count_items(items, count)
    n_talk = n_messages - n_named
    if n_talk > 0:
        parts.append(_make(CONVERSATION, IN_TRANSCRIPT, n_talk, category=CONVERSATION))
    n_rest = (gauge.used_tokens or 0) - sum(part.n_tokens for part in parts)
    if n_rest > 0:
        names = {part.name for part in parts}
        unnamed = " and ".join(name for name in (SYSTEM_PROMPT, TOOLS) if name not in names)
        source = UNREAD if unnamed else BY_PROVIDER
        parts.insert(0, _make(unnamed or OTHER, source, n_rest, is_exact=False))
    if n_rest < 0 and gauge.n_reported:
        parts = [_mark_newer(part) for part in parts]
    return tuple(parts)


def _mark_newer(part: Part) -> Part:
    """Say of a file that it may be newer than the last request, which had less than its text."""
    if part.is_in_messages or not part.is_file or part.cut:
        return part
    return msgspec.structs.replace(
        part, cut="some of it: the last request had less than all of this"
    )


def place_items(items: Sequence[ContextItem]) -> tuple[Place, ...]:
    """Tell of each message whether it goes before the first answer since the last compaction."""
    answers = (at for at, item in enumerate(items) if _is_new_answer(item))
    n_first = next(answers, len(items))
    return ("first message",) * n_first + ("later message",) * (len(items) - n_first)


def _is_new_answer(item: ContextItem) -> bool:
    return item.category == "assistant" and item.is_after_boundary


def _merge(texts: Iterable[SentText], count: Count) -> Iterable[Part]:
    """Add up the stretches that are of one name and from one source."""
    parts: dict[tuple[str, str, Place], Part] = {}
    for text in texts:
        key = (text.name, text.source, text.place)
        before = parts.get(key)
        parts[key] = Part(
            name=text.name,
            source=text.source,
            n_tokens=count(text.text) + (0 if before is None else before.n_tokens),
            is_exact=True,
            category=text.category or UNSEEN,
            cut=text.cut or ("" if before is None else before.cut),
            place=text.place,
        )
    return parts.values()


def _make(
    name: str,
    source: str,
    n_tokens: int,
    *,
    is_exact: bool = True,
    category: str = UNSEEN,
) -> Part:
    return Part(
        name=name,
        source=source,
        n_tokens=n_tokens,
        is_exact=is_exact,
        category=category,
        cut="",
        place="every request" if category == UNSEEN else "later message",
    )
