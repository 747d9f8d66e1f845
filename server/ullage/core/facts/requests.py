"""What a person asked of the agent, and what became of it.

The order of messages decides: an answer that ends the agent's turn answers all that was asked since
the last one. What is asked again before the agent did anything takes the place of what was asked
before. Where a person stopped the agent, both stand: mostly they add to it or correct it.
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
    """Whether it says too little to name anything that is asked, or only quotes."""
    names_task: bool
    """Whether it names a task: it is not bare, no addition within the agent's turn, and nothing
    that the agent answered by words alone."""
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
        for before in self.waiting:
            before.is_passed_over = not before.is_worked_on
        self.is_answered = False
        request.ask = request.paste or _join_asked(request.sentences)
        request.is_bare = bool(request.paste) or is_bare(request.prose)
        self.opened.append(request)
        self.waiting.append(request)

    def settle(self) -> None:
        """Take a message of the agent's program, such as a command: what an answer ended before it
        stays answered, whatever the agent does next."""
        if self.is_answered and self.is_end:
            self.waiting = []

    def work(self) -> None:
        """Take a call or its result."""
        self.is_answered = False
        for request in self.waiting:
            request.is_worked_on = request.is_acted_on = True
            # A question is answered by words, whatever the agent does next.
            request.is_ended = request.is_ended and request.is_question

    def say(self) -> None:
        """Take an agent's words beside a call: they answer questions."""
        for request in self.waiting:
            request.is_ended = request.is_ended or request.is_question
        self.is_end = False

    def answer(self, text: str, *, is_end: bool) -> None:
        """Take an agent's words without a call; `is_end` as far as these themselves tell.

        They are none where it answered to its program alone.
        """
        self.is_answered, self.is_end = True, is_end
        for request in self.waiting:
            request.is_worked_on, request.is_ended = True, is_end
            request.answer = text or request.answer

    def close(self) -> tuple[Request, ...]:
        """Settle the fates, from the last to the first; more may follow."""
        requests: list[Request] = []
        following: Request | None = None
        acted = [opened.n_item for opened in self.opened if opened.is_acted_on]
        for opened in reversed(self.opened):
            request = Request(
                ask=opened.ask,
                prose=opened.prose,
                answer=opened.answer,
                fate=_settle(opened, following),
                is_bare=opened.is_bare,
                names_task=_names_task(opened, is_acting=bool(acted) and opened.n_item > acted[0]),
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


def _names_task(request: OpenRequest, *, is_acting: bool) -> bool:
    if request.is_bare or request.is_aside:
        return False
    # Where the agent called tools before, a remark, such as thanks, is what it answers by words.
    return not (is_acting and request.is_ended and not request.is_acted_on)


def is_bare(prose: str) -> bool:
    """Tell whether words are too few to name a task."""
    if prose.startswith("/") and " " not in prose:
        # The name of a command.
        return True
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
