"""What a person asked of the agent, and what became of it.

The order of messages decides: an answer that ends the agent's turn answers all that was asked since
the last one. Where a person stopped the agent and asked for something else, that took the place of
what was asked before.
"""

from collections.abc import Sequence
from itertools import groupby
from typing import Literal, TypeAlias

import msgspec

from ullage.core.text.sentences import Sentence, count_shared_words
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
    """Whether it names no task of its own: too short, only quoted, or said within the agent's turn
    in answer to a tool."""
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
    is_kept: bool = False
    """Whether a compaction kept it, without what was answered to it."""
    is_aside: bool = False
    """Whether it was said within the agent's turn, in answer to a tool."""
    answer: str = ""
    is_worked_on: bool = False
    """Whether the agent called a tool or spoke since."""
    is_stopped: bool = False
    """Whether a person stopped the agent at it."""
    is_ended: bool = False
    """Whether the agent ended its turn after it."""

    @property
    def is_question(self) -> bool:
        return bool(self.sentences) and all(s.kind == "question" for s in self.sentences)


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
        if self.is_answered or (self.waiting and self.waiting[-1].is_kept):
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
            request.is_worked_on = True
            # A question is answered by words, whatever the agent does next.
            request.is_ended = request.is_ended and request.is_question

    def answer(self, text: str, *, is_end: bool) -> None:
        """Take an agent's words without a call; `is_end` as far as these themselves tell."""
        self.is_answered, self.is_end = True, is_end
        for request in self.waiting:
            request.is_worked_on, request.is_ended = True, is_end
            request.answer = text

    def stop(self) -> None:
        """Take the note that a person stopped the agent."""
        for request in self.waiting:
            request.is_stopped = request.is_stopped or not request.is_ended

    def close(self) -> tuple[Request, ...]:
        """Settle the fates, from the last to the first; more may follow."""
        requests: list[Request] = []
        following: Request | None = None
        for opened in reversed(self.opened):
            request = Request(
                ask=opened.paste or _join_asked(opened.sentences),
                prose=opened.prose,
                answer=opened.answer,
                fate=_settle(opened, following),
                is_bare=opened.is_aside or bool(opened.paste) or is_bare(opened.prose),
                n_item=opened.n_item,
                at_ms=opened.at_ms,
            )
            requests.append(request)
            if not (opened.is_question and opened.is_ended):
                # An answer to a question says nothing of the rest of its turn.
                following = request
        return tuple(reversed(requests))


def _settle(request: OpenRequest, following: Request | None) -> Fate:
    if following is not None and _is_replaced(request, following):
        return "replaced"
    if request.is_ended and not request.is_stopped:
        return "answered"
    if following is not None and following.fate in ("answered", "replaced"):
        return following.fate
    if request.is_worked_on:
        return "in progress"
    return "asked" if following is None else following.fate


def _is_replaced(request: OpenRequest, following: Request) -> bool:
    """Tell whether a message takes another's place: the agent was stopped, or had done nothing and
    hears the same again."""
    if request.is_stopped:
        return not following.is_bare
    is_untouched = not request.is_worked_on and not request.is_ended
    n_words = count_shared_words(request.prose, request.prose)
    return is_untouched and 2 * count_shared_words(request.prose, following.prose) > n_words


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
