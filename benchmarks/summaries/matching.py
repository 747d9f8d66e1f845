"""When two texts say the same, and where a text was cut inside a word."""

import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from functools import cache

MATCH_RATIO = 0.6
MIN_HELD_CHARS = 8
MIN_GRAMS_CHARS = 12
"""How alike two texts are that say the same: tried on labelled sessions."""
GRAM_CHARS = 4
TAIL_CHARS = 20
"""So much of an end of a line is looked for in the session."""
OPENING = re.compile(
    r"\A(?:approved|asked|answered|open request|latest request|next|in progress|failing|failed|"
    r"last check|last answer|replaced|focus|user|agent)\b[^:\n]{0,24}:\s",
    re.IGNORECASE,
)
"""Words of ours before what was said."""
_JOINT = re.compile(r"[;()\[\]“”\"«»→]|: |\s[–—-]\s")
_WORD_END = re.compile(r"\w")
_UNSPACED = re.compile(
    "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]"
)
"""Scripts that do not part their words."""


def matches(text: str, quotes: Iterable[str]) -> bool:
    """Whether a line says the same as one of the quotes."""
    plain, parts = make_plain(text), _list_parts(text)
    return any(_is_same(plain, other) or other in parts for other in map(make_plain, quotes))


@cache
def _list_parts(text: str) -> frozenset[str]:
    """List what a line joins: a reply and what it answers, what was said and the reason."""
    return frozenset(map(make_plain, _JOINT.split(text))) - {""}


def _is_same(one: str, other: str) -> bool:
    short, long = sorted((one, other), key=len)
    if not short or short == long:
        return bool(short)
    if len(short) >= MIN_HELD_CHARS and short in long:
        return True
    if len(short) < MIN_GRAMS_CHARS:
        return False
    grams = _grams(short)
    return len(grams & _grams(long)) >= MATCH_RATIO * len(grams)


@cache
def make_plain(text: str) -> str:
    """Give a text without marks, case, punctuation and our own opening."""
    text = OPENING.sub("", text.strip().strip("\"'“”‘’`*-• "))
    folded = unicodedata.normalize("NFKC", text).casefold()
    return " ".join(re.findall(r"\w+", folded.replace("_", " ")))


@cache
def _grams(text: str) -> frozenset[str]:
    joined = text.replace(" ", "")
    return frozenset(joined[at : at + GRAM_CHARS] for at in range(len(joined) - GRAM_CHARS + 1))


def drop_repeated(texts: Sequence[str]) -> Iterator[str]:
    """Drop what says the same as an earlier text or is a part of one."""
    kept: list[str] = []
    for text in texts:
        plain = make_plain(text)
        if not any(
            plain == other
            or (min(len(plain), len(other)) >= TAIL_CHARS and (plain in other or other in plain))
            for other in kept
        ):
            kept.append(plain)
            yield text


def is_cut(text: str, *sessions: str) -> bool:
    """Whether a text ends, or begins, where the session goes on with the same word."""
    words = " ".join(text.split())
    end = max((match.end() for match in _WORD_END.finditer(words)), default=0)
    tail = words[:end][-TAIL_CHARS:]
    begin = _WORD_END.search(words)
    head = words[begin.start() :][:TAIL_CHARS] if begin else ""
    return any(
        len(part) >= MIN_HELD_CHARS
        and not _UNSPACED.match(part[place])
        and any(part in session for session in sessions)
        and not any(_is_whole(part, session, is_tail=place == -1) for session in sessions)
        for part, place in ((tail, -1), (head, 0))
    )


def _is_whole(part: str, session: str, *, is_tail: bool) -> bool:
    """Whether a part stands somewhere in a session with no letter or figure beyond its end."""
    pattern = re.escape(part) + r"(?!\w)" if is_tail else r"(?<!\w)" + re.escape(part)
    return re.search(pattern, session) is not None
