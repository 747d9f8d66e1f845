"""What a person asked of the agent, and what became of it.

The order of messages decides: an answer that ends the agent's turn answers all that was asked since
the last one. Where a person stopped the agent and asked for something else, that took the place of
what was asked before.
"""

from collections.abc import Sequence
from itertools import groupby
from typing import Literal, TypeAlias

import msgspec

from ullage.core.text.sentences import Sentence
from ullage.core.text.wording import read_wording

Fate: TypeAlias = Literal["asked", "in progress", "answered", "replaced"]
"""Asked: nothing followed yet; in progress: the agent works on it."""
_SETTLING_KINDS = ("rule", "choice")
_BARE_WORDS = 3
_BARE_CHARS = 24
_BARE_UNSPACED_CHARS = 6
"""A message of no more goes on with what was said before: "yes", "continue", "retry". In scripts
without spaces letters are counted. Chosen."""


class Request(msgspec.Struct, frozen=True, kw_only=True):
    """What a user asked, and how the agent's last words on it began."""

    ask: str
    """The user's sentences that are not rules, bounded; empty where there are none."""
    prose: str
    """The user's own words; where they only quoted, the beginning of that, marked as such."""
    answer: str
    fate: Fate
    is_bare: bool
    """Whether it names no task of its own: too short, or an answer within the agent's turn."""
    n_item: int
    at_ms: int | None

    @property
    def is_open(self) -> bool:
        return self.fate in ("asked", "in progress")


class OpenRequest(msgspec.Struct):
    """What a user wrote, and what the agent did since."""

    sentences: Sequence[Sentence]
    prose: str
    n_item: int
    at_ms: int | None
    paste: str = ""
    """What is asked where the message only quotes."""
    is_aside: bool = False
    """Whether it was said within the agent's turn, in answer to a tool."""
    answer: str = ""
    is_worked_on: bool = False
    is_stopped: bool = False
    """Whether a person stopped the agent at it."""
    is_ended: bool = False
    """Whether the agent ended its turn after it."""


class Requests(msgspec.Struct):
    """The requests so far, and where the agent stands with them."""

    opened: list[OpenRequest] = []
    waiting: list[OpenRequest] = []
    """Those of them that the turn at hand is about."""
    is_answered: bool = False
    """Whether the last word is an answer, which ends the turn if a person speaks next."""
    is_end: bool = False
    """Whether that answer ends the turn as far as it tells itself."""

    def ask(self, request: OpenRequest) -> None:
        """Take what a person wrote."""
        if self.is_answered:
            for before in self.waiting:
                before.is_ended = True
            self.waiting = []
        self.is_answered = False
        self.opened.append(request)
        self.waiting.append(request)

    def work(self) -> None:
        """Take a call or its result."""
        self.is_answered = False
        for request in self.waiting:
            request.is_worked_on, request.is_ended = True, False

    def answer(self, text: str, *, is_end: bool) -> None:
        """Take an agent's words without a call; `is_end` as far as these themselves tell."""
        self.is_answered, self.is_end = True, is_end
        for request in self.waiting:
            request.is_worked_on, request.is_ended = True, is_end
            request.answer = text

    def forget(self) -> None:
        """Take a summary: what stands before it was kept by a compaction, without its answers."""
        for request in self.waiting[:-1]:
            request.is_ended = True
        self.waiting = self.waiting[-1:]
        self.is_answered = True

    def stop(self) -> None:
        """Take the note that a person stopped the agent."""
        for request in self.waiting:
            request.is_stopped = request.is_stopped or not request.is_ended

    def close(self) -> tuple[Request, ...]:
        """Settle the fates, from the last to the first; more may follow."""
        requests: list[Request] = []
        following: Request | None = None
        for request in reversed(self.opened):
            following = Request(
                ask=request.paste or _join_asked(request.sentences),
                prose=request.prose,
                answer=request.answer,
                fate=_settle(request, following),
                is_bare=request.is_aside or is_bare(request.prose),
                n_item=request.n_item,
                at_ms=request.at_ms,
            )
            requests.append(following)
        return tuple(reversed(requests))


def _settle(request: OpenRequest, following: Request | None) -> Fate:
    is_left = request.is_stopped and following is not None and not following.is_bare
    if is_left:
        return "replaced"
    if request.is_ended and not request.is_stopped:
        return "answered"
    if following is not None and following.fate in ("answered", "replaced"):
        return following.fate
    if request.is_worked_on:
        return "in progress"
    return "asked" if following is None else following.fate


def is_bare(prose: str) -> bool:
    """Tell whether words are too few to name a task."""
    wording = read_wording(prose)
    words = [word for word in wording.words if len(word) > 1 and word.isalpha()]
    if wording.is_unspaced:
        return sum(map(len, words)) <= _BARE_UNSPACED_CHARS
    return len(prose) <= _BARE_CHARS and len(words) <= _BARE_WORDS


def _join_asked(sentences: Sequence[Sentence]) -> str:
    """Join what a message asks, with "…" for what stands between and is told elsewhere."""
    unsettled = [s for s in sentences if s.kind not in _SETTLING_KINDS]
    if not unsettled:
        return ""
    # What is asked stands before or after a pasted document, not within it.
    has_typed = not all(s.is_bulk for s in unsettled)
    runs = groupby(
        sentences, lambda s: s.kind not in _SETTLING_KINDS and not (has_typed and s.is_bulk)
    )
    parts = (" ".join(s.text for s in run) if is_asked else "…" for is_asked, run in runs)
    # The parts of a sentence that was too long for one come together again.
    return " ".join(parts).replace("… …", " ").removeprefix("… ").removesuffix(" …")
