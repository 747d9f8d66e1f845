"""What was said last in a session, as far as its thread and its decisions need it.

The same message may arrive by several ways, each with its own clock. So a message is told by its
content and its place: the same words of the same speaker with nothing of anyone else between
them are one message. Everything here is a function of the set of messages, however they arrive.
"""

import hashlib
from collections.abc import Iterable, Sequence
from itertools import pairwise

import msgspec

from ullage.core.text.prose import gist, one_line

LONG_ANSWER_CHARS = 500
SHORT_REPLY_CHARS = 50
"""A user's message shorter than this, after an agent's longer than that, is like a decision."""
TOPIC_CHARS = 100
GIST_CHARS = 120
"""These four figures: docs/design/checkpoints.md, "Thread" and "Decisions"."""
MAX_HEARD = 48
"""Messages remembered: six times as many as are shown, since two ways may bring each (chosen)."""
_PROPOSAL_CHARS = 200
_MAX_READ_CHARS = 4_000
"""How far from either end a message is looked at for its gist (chosen)."""
_QUESTION_MARKS = ("?", "？", "؟")


class Heard(msgspec.Struct, frozen=True, kw_only=True):
    """A message as it arrived once."""

    message_id: str
    at_ms: int
    is_user: bool
    gist: str
    proposal: str
    """What a reply would reply to; empty unless the agent said much."""
    is_bundled: bool = False
    """Whether a checkpoint holds it."""


class Reply(msgspec.Struct, frozen=True, kw_only=True):
    """A user's short reply to a long answer."""

    message_id: str
    times_ms: frozenset[int]
    """When it arrived, by whatever way."""
    at_ms: int
    what: str


def message_id(*, is_user: bool, text: str) -> str:
    """Name a message by what it says, so that it has one name on every way."""
    said = f"{'user' if is_user else 'agent'}\0{' '.join(text.split())}"
    return content_id(said)


def content_id(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]


def heard(*, is_user: bool, text: str, masked: str, at_ms: int) -> Heard:
    """Take up a message; `masked` is its text without secrets, which alone is kept."""
    proposal = ""
    if not is_user and len(text) > LONG_ANSWER_CHARS:
        proposal = _question(masked) or gist(one_line(masked[:_MAX_READ_CHARS]), _PROPOSAL_CHARS)
    return Heard(
        message_id=message_id(is_user=is_user, text=text),
        at_ms=at_ms,
        is_user=is_user,
        gist=gist(one_line(masked[:_MAX_READ_CHARS]), GIST_CHARS),
        proposal=proposal,
    )


def _question(answer: str) -> str:
    """Give the question that an answer ends with; empty where it ends otherwise."""
    end = answer[-_MAX_READ_CHARS:].replace("**", "").rstrip(" \n\"'”)")
    last = one_line(end.rsplit("\n", 1)[-1])
    return gist(last[-_PROPOSAL_CHARS:], _PROPOSAL_CHARS) if last.endswith(_QUESTION_MARKS) else ""


def remember(known: Sequence[Heard], new: Iterable[Heard], floor_ms: int) -> tuple[Heard, ...]:
    """Add messages to those remembered, in the order of their times; none before the floor."""
    found = {(one.at_ms, one.message_id): one for one in new if one.at_ms > floor_ms}
    found.update({(one.at_ms, one.message_id): one for one in known})
    groups = grouped([found[key] for key in sorted(found)])
    return tuple(
        msgspec.structs.replace(one, is_bundled=True) if _is_bundled(group) else one
        for group in groups
        for one in group
    )


def forget(remembered: Sequence[Heard], floor_ms: int) -> tuple[tuple[Heard, ...], int]:
    """Keep so many messages as may be; gives the time too up to which none is taken up again.

    What the agent said in the middle of a turn goes first: no reply answers it.
    """
    n_over = len(remembered) - MAX_HEARD
    if n_over <= 0:
        return tuple(remembered), floor_ms
    kept: list[Heard] = []
    for at, one in enumerate(remembered):
        is_last = at + 1 == len(remembered) or remembered[at + 1].is_user
        if n_over > 0 and not one.is_user and not is_last:
            n_over -= 1
        else:
            kept.append(one)
    if n_over > 0:
        floor_ms = max(floor_ms, kept[n_over - 1].at_ms)
    return tuple(kept[n_over:]), floor_ms


def grouped(remembered: Sequence[Heard]) -> list[list[Heard]]:
    """Put together what is one message: the same words with nothing else between them."""
    groups: list[list[Heard]] = []
    for one in remembered:
        if groups and groups[-1][0].message_id == one.message_id:
            groups[-1].append(one)
        else:
            groups.append([one])
    return groups


def topic_of(remembered: Sequence[Heard]) -> str:
    """Give what the user said last, unless a checkpoint holds it."""
    asked = [group for group in grouped(remembered) if group[0].is_user]
    return asked[-1][0].gist[:TOPIC_CHARS] if asked and not _is_bundled(asked[-1]) else ""


def turns_of(remembered: Sequence[Heard]) -> list[Heard]:
    """Give what no checkpoint holds: the user's messages, and the agent's last words on each."""
    groups = grouped(remembered)
    return [
        group[0]
        for at, group in enumerate(groups)
        if not _is_bundled(group)
        and (group[0].is_user or at + 1 == len(groups) or groups[at + 1][0].is_user)
    ]


def replies_of(remembered: Sequence[Heard]) -> list[Reply]:
    """Find the short replies to long answers; a question is none."""
    groups = grouped(remembered)
    return [
        Reply(
            message_id=reply[0].message_id,
            times_ms=frozenset(one.at_ms for one in reply),
            at_ms=reply[0].at_ms,
            what=f"{reply[0].gist} (in reply to: {answer[0].proposal})",
        )
        for answer, reply in pairwise(groups)
        if answer[0].proposal and reply[0].is_user and _settles(reply[0].gist)
    ]


def _settles(text: str) -> bool:
    return len(text) < SHORT_REPLY_CHARS and not text.endswith(_QUESTION_MARKS)


def _is_bundled(group: Sequence[Heard]) -> bool:
    return any(one.is_bundled for one in group)
