"""The thread of a session: how it began, where it turned, where it stands.

What is chosen: docs/design/checkpoints.md, "Thread".
"""

import itertools
import re
from collections.abc import Sequence
from typing import Literal

import msgspec

from ullage.core.text.prose import find_cut

LONG_ANSWER_CHARS = 500
SHORT_REPLY_CHARS = 50
"""A user's message shorter than this, after an agent's longer than that, is like a decision."""
TOPIC_CHARS = 100
GIST_CHARS = 120
"""These four figures: docs/design/checkpoints.md, "Thread" and "Decisions"."""
_SUMMARY_CHARS = 100
_MAX_EXCHANGES = 8
_LAST_PAIRS = 2
_JOINED = re.compile("[\u0300-\u036f\u200d\u20d0-\u20ff\ufe00-\ufe0f\U0001f3fb-\U0001f3ff]")
"""Characters that belong to the one before them."""


class SpokenMessage(msgspec.Struct, frozen=True, gc=False):
    """A message that the user or the agent wrote."""

    is_user: bool
    text: str


class Exchange(msgspec.Struct, frozen=True, kw_only=True):
    role: Literal["user", "agent"]
    gist: str


class Thread(msgspec.Struct, frozen=True, kw_only=True):
    summary: str
    key_exchanges: tuple[Exchange, ...]


def find_thread(messages: Sequence[SpokenMessage]) -> Thread:
    """Extract the thread from what user and agent said, by position and length alone."""
    asked = [at for at, message in enumerate(messages) if message.is_user]
    if not asked:
        return Thread(summary="", key_exchanges=())
    ends = dict.fromkeys((asked[0], asked[-1]))
    return Thread(
        summary=" ... ".join(cut_text(messages[at].text, _SUMMARY_CHARS) for at in ends),
        key_exchanges=tuple(
            Exchange(
                role="user" if messages[at].is_user else "agent",
                gist=cut_text(messages[at].text, GIST_CHARS),
            )
            for at in _pick_exchanges(messages, asked)
        ),
    )


def cut_text(text: str, n_chars: int) -> str:
    """Cut a text to at most so many characters, behind a word or a clause where one ends.

    No accent or joined emoji is split, and no blank stays at the cut: YAML has no block scalar
    for it.
    """
    if not text[n_chars : n_chars + 1].strip():
        return text if len(text) <= n_chars else text[:n_chars].rstrip()
    end = find_cut(text, n_chars)
    while 0 < end < len(text) and (_JOINED.match(text[end]) or text[end - 1] == "\u200d"):
        end -= 1
    return text[: end or n_chars].rstrip()


def _pick_exchanges(messages: Sequence[SpokenMessage], asked: Sequence[int]) -> list[int]:
    pairs = [(at, answer) for at in asked if (answer := _find_answer(messages, at)) is not None]
    # What was asked last and has no answer yet is no pair, but where the session stands.
    kept = {asked[0], asked[-1], *(at for pair in pairs[-_LAST_PAIRS:] for at in pair)}
    turns = [at for at in asked if at and _is_long_answer(messages[at - 1])]
    for at in reversed(turns):
        if len(kept) >= _MAX_EXCHANGES:
            break
        kept.add(at)
    return sorted(kept)


def _is_long_answer(message: SpokenMessage) -> bool:
    return not message.is_user and len(message.text) > LONG_ANSWER_CHARS


def _find_answer(messages: Sequence[SpokenMessage], at: int) -> int | None:
    """Find the agent's last word before the user spoke again."""
    spoken = itertools.takewhile(
        lambda place: not messages[place].is_user, range(at + 1, len(messages))
    )
    return max(spoken, default=None)
