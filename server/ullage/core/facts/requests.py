"""What a person asked of the agent, and what became of it.

The order of messages decides: an answer that ends the agent's turn answers all that was asked since
the last one. What is asked again before the agent did anything takes the place of what was asked
before. Where a person stopped the agent, both stand: mostly they add to it or correct it.
"""

from collections.abc import Sequence
from itertools import groupby
from typing import Literal, TypeAlias

import msgspec

from ullage.core.facts.settled import APPROVED
from ullage.core.text.sentences import Kind, Sentence, count_shared_words, count_telling_words
from ullage.core.text.word_lists import word_list
from ullage.core.text.wording import begins_with

Fate: TypeAlias = Literal["asked", "in progress", "answered", "replaced"]
"""Asked: nothing followed yet; in progress: the agent works on it."""
_SETTLING_KINDS = ("rule", "choice")
_YES = (word_list("approvals"), word_list("nods"))
_MIN_TELLING = 2
"""A message of fewer telling words names nothing, and goes on with what was said before: "yes",
"continue", "as you wish". Chosen."""
_MAX_WAITING = 100
"""Requests that a turn is about, the newest; what became of older ones is what became of the next.
Bounds the time; chosen."""


class Request(msgspec.Struct, frozen=True, kw_only=True):
    """What a user asked, and how the agent's last words on it began."""

    ask: str
    """The user's sentences that are not rules, bounded; empty where there are none."""
    prose: str
    """The user's own words; where they only quoted, the beginning of that, marked as such."""
    reply: str
    """What it settles as a reply to the agent, with its own words; mostly empty."""
    answer: str
    fate: Fate
    is_bare: bool
    """Whether it says too little to name anything that is asked, or only quotes."""
    is_nod: bool
    """Whether it is bare and says yes, or one word alone: what was asked before goes on."""
    names_task: bool
    """Whether it names a task: it is not bare unless it approves something, no addition within the
    agent's turn, and nothing that the agent answered by words alone unless these were approved."""
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
    """Whether it was said within the agent's turn."""
    reply: str = ""
    """What it settles as a reply to the agent."""
    is_added: bool = False
    """Whether it was said before what was asked earlier was answered."""
    answer: str = ""
    is_worked_on: bool = False
    """Whether the agent called a tool or spoke since."""
    is_acted_on: bool = False
    """Whether it called a tool since."""
    is_passed_over: bool = False
    """Whether the agent had done nothing for it when the person went on."""
    is_ended: bool = False
    """Whether the agent ended its turn after it."""
    ask: str = ""
    is_bare: bool = False
    """As in a `Request`; both are settled once it was asked."""

    @property
    def is_question(self) -> bool:
        return self._is_all("question")

    @property
    def is_ruling(self) -> bool:
        """Whether it says nothing but how things are to be done."""
        return self._is_all("rule")

    def _is_all(self, kind: Kind) -> bool:
        return bool(self.sentences) and all(s.kind == kind for s in self.sentences)


class Requests(msgspec.Struct):
    """The requests so far, and where the agent stands with them."""

    opened: list[OpenRequest] = []
    waiting: list[OpenRequest] = []
    """Those of them that the turn at hand is about."""
    is_answered: bool = False
    """Whether the last word is an answer, which ends the turn if a person speaks next."""
    is_end: bool = False
    """Whether that answer ends the turn as far as it tells itself."""
    begun_at: int = -1
    """The item of the message of the agent's program that began the turn at hand, if one did."""
    begun: str = ""
    """What the agent said of that first."""

    def ask(self, request: OpenRequest) -> None:
        """Take what a person wrote."""
        self.begun_at, self.begun = -1, ""
        if self.is_answered or (self.waiting and self.waiting[-1].is_kept):
            for before in self.waiting:
                before.is_ended = True
            self.waiting = []
        for before in self.waiting:
            before.is_passed_over = not before.is_worked_on
            # Whoever adds to their request saw what became of what they had added before.
            before.is_ended = before.is_ended or (before.is_aside and before.is_worked_on)
        self.is_answered = False
        request.ask = request.paste or _join_asked(request.sentences)
        request.is_bare = bool(request.paste) or is_bare(request.prose)
        request.is_added = bool(self.waiting)
        self.opened.append(request)
        self.waiting = [*self.waiting[1 - _MAX_WAITING :], request]

    def settle(self, n_item: int) -> None:
        """Take a message of the agent's program, such as a command: what an answer ended before it
        stays answered, whatever the agent does next."""
        if self.is_answered and self.is_end:
            self.waiting = []
            self.begun_at, self.begun = n_item, ""

    def work(self) -> None:
        """Take a call or its result."""
        self.is_answered = False
        for request in self.waiting:
            request.is_worked_on = request.is_acted_on = True
            # A question is answered by words, whatever the agent does next.
            request.is_ended = request.is_ended and (request.is_question or request.is_aside)

    def say(self, text: str, *, goes_on: bool) -> None:
        """Take an agent's words beside a call: they answer questions unless they only go on."""
        self.begun = self.begun or text
        for request in self.waiting:
            request.is_ended = request.is_ended or (request.is_question and not goes_on)
        self.is_end = False

    def answer(self, text: str, *, is_end: bool, goes_on: bool) -> None:
        """Take an agent's words without a call; `is_end` as far as these themselves tell.

        They are none where it answered to its program alone.
        """
        self.is_answered, self.is_end = True, is_end
        self.begun = self.begun or ("" if is_end else text)
        for request in self.waiting:
            is_told = request.is_question and not goes_on
            is_closed = request.is_ended and (request.is_question or request.is_aside)
            request.is_worked_on, request.is_ended = True, is_end or is_told or is_closed
            request.answer = text or request.answer

    def close(self) -> tuple[Request, ...]:
        """Settle the fates, from the last to the first; more may follow."""
        requests: list[Request] = []
        following: Request | None = None
        is_taken_up = False
        acted = [opened.n_item for opened in self.opened if opened.is_acted_on]
        for opened in reversed(self.opened):
            request = Request(
                ask=opened.ask,
                prose=opened.prose,
                reply=opened.reply,
                answer=opened.answer,
                fate=_settle(opened, following),
                is_bare=opened.is_bare,
                is_nod=opened.is_bare and _is_nod(opened.prose),
                names_task=_names_task(
                    opened, is_first=not acted or opened.n_item <= acted[0], is_taken_up=is_taken_up
                ),
                n_item=opened.n_item,
                at_ms=opened.at_ms,
            )
            requests.append(request)
            is_taken_up = opened.is_bare and (
                opened.is_acted_on or not opened.is_ended or is_taken_up
            )
            if not (opened.is_ended and (opened.is_question or opened.is_aside)):
                # What became of a question or an addition says nothing of the rest of its turn.
                following = request
        return tuple(reversed(requests))


def _settle(request: OpenRequest, following: Request | None) -> Fate:
    if following is not None and _is_replaced(request, following):
        return "replaced"
    if request.is_ended:
        return "answered"
    if following is not None and following.fate in ("answered", "replaced"):
        return following.fate
    if request.is_worked_on:
        return "in progress"
    return "asked" if following is None else following.fate


def _is_replaced(request: OpenRequest, following: Request) -> bool:
    """Tell whether a message takes another's place: it says the same again."""
    if request.is_ended or not request.is_passed_over:
        return False
    n_words = count_shared_words(request.prose, request.prose)
    return 2 * count_shared_words(request.prose, following.prose) > n_words


def _names_task(request: OpenRequest, *, is_first: bool, is_taken_up: bool) -> bool:
    """Tell whether a request names a task; `is_taken_up` where a bare one sets off its answer."""
    is_rule = request.is_added and request.is_ruling
    if (request.is_bare and not read_approved(request.reply)) or request.is_aside or is_rule:
        return False
    # Where the agent called tools before, a remark, such as thanks, is what it answers by words.
    return is_first or is_taken_up or not request.is_ended or request.is_acted_on


def is_bare(prose: str) -> bool:
    """Tell whether words are too few to name a task; a command's name does."""
    return not prose.startswith("/") and count_telling_words(prose) < _MIN_TELLING


def _is_nod(prose: str) -> bool:
    starts = (prose, *prose.split()[1:2])
    is_word = len(starts) == 1 and prose.isascii()
    return is_word or any(begins_with(start, table) for start in starts for table in _YES)


def read_approved(reply: str) -> str:
    """Give what a reply approves; empty where that only asks for leave, or shows what to run."""
    proposed, mark, _ = reply.partition(APPROVED)
    is_shown = proposed.endswith((":", "：")) or "```" in proposed
    return "" if not mark or is_shown or is_bare(proposed) else proposed


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
