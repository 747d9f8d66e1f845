"""The thread of a session: how it began, where it turned, where it stands (S1 §11.2)."""

from collections.abc import Sequence
from typing import Literal

import msgspec

from ullage.core.context import ContextItem
from ullage.core.message import plain_text
from ullage.core.prose import own_words

_SUMMARY_CHARS = 100
_GIST_CHARS = 120
_LONG_ANSWER_CHARS = 500
_MAX_EXCHANGES = 8
"""These four figures are S1's."""
_LAST_PAIRS = 2


class Exchange(msgspec.Struct, frozen=True, kw_only=True):
    role: Literal["user", "agent"]
    gist: str


class Thread(msgspec.Struct, frozen=True, kw_only=True):
    summary: str
    key_exchanges: tuple[Exchange, ...]


class _Said(msgspec.Struct, frozen=True, gc=False):
    is_user: bool
    text: str


def find_thread(items: Sequence[ContextItem]) -> Thread:
    """Extract the thread from what user and agent said, by position and length alone."""
    said = [one for one in map(_said, items) if one is not None]
    asked = [at for at, one in enumerate(said) if one.is_user]
    if not asked:
        return Thread(summary="", key_exchanges=())
    first, last = said[asked[0]].text, said[asked[-1]].text
    summary = first[:_SUMMARY_CHARS]
    if len(asked) > 1:
        summary += " ... " + last[:_SUMMARY_CHARS]
    return Thread(
        summary=summary,
        key_exchanges=tuple(
            Exchange(role="user" if said[at].is_user else "agent", gist=said[at].text[:_GIST_CHARS])
            for at in _key_places(said, asked)
        ),
    )


def _said(item: ContextItem) -> _Said | None:
    if item.category == "user":
        text = own_words(plain_text(item.message))[0].strip()
        return _Said(is_user=True, text=text) if text else None
    if item.category == "assistant":
        text = plain_text(item.message).strip()
        return _Said(is_user=False, text=text) if text else None
    return None


def _key_places(said: Sequence[_Said], asked: Sequence[int]) -> list[int]:
    kept = {asked[0]}
    for at in asked[-_LAST_PAIRS:]:
        kept.add(at)
        answers = [n for n in range(at + 1, _next_asked(said, at)) if not said[n].is_user]
        # The pair's answer is the agent's last word before the user spoke again.
        kept.update(answers[-1:])
    turns = [
        at
        for at in asked
        if at and not said[at - 1].is_user and len(said[at - 1].text) > _LONG_ANSWER_CHARS
    ]
    for at in reversed(turns):
        if len(kept) >= _MAX_EXCHANGES:
            break
        kept.add(at)
    return sorted(kept)


def _next_asked(said: Sequence[_Said], at: int) -> int:
    return next((n for n in range(at + 1, len(said)) if said[n].is_user), len(said))
