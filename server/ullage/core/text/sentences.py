"""Sentences of a message, each sorted by what it does: rule, choice, question, open point, …"""

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Literal, TypeAlias

import msgspec

from ullage.core.text.prose import RawSentence, cut_sentences, remove_bold
from ullage.core.text.word_lists import WordList, word_list
from ullage.core.text.wording import (
    AGENT_MARKERS,
    CHOICES,
    DEFERRALS,
    DONE,
    FINDINGS,
    OPEN_POINTS,
    REASONS,
    STRONG_RULES,
    UNDECIDED,
    WEAK_RULES,
    Wording,
    has_marker,
    is_intention,
    read_wording,
    rule_strength,
)

Kind: TypeAlias = Literal[
    "rule", "choice", "question", "statement", "open", "done", "finding", "other"
]

_PICK_VERBS = word_list("pick_verbs")
_RULE_HEADINGS = word_list("rule_headings")
_BULK_PIECES = 25
"""A user's message of more sentences, below headings, is a document in part; chosen."""
_BULK_EDGE = 3
"""Sentences at either end of such a message that are taken as typed; chosen."""
_CLEAR = 2
_STEM_CHARS = 4
"""Characters compared of a word that can be inflected; chosen."""
_EMPTY_STEMS = word_list("empty_stems").words
_DOING_STEMS = word_list("doing_stems").words
"""Beginnings of the verbs of doing and of the words around them."""
_FILE_NAME = re.compile(r"(?<![\w./-])[\w./-]{1,200}\.[A-Za-z][A-Za-z0-9]{0,5}(?![\w/])")
_MARKDOWN_HEADING = re.compile(r"^#{1,6} \S", re.MULTILINE)
_HIDDEN = "\ufffc"
"""Stands for a quotation or for code while its sentence is read."""
_SAID_ELSEWHERE = re.compile(
    r"`[^`\n]{1,200}`|(?<![\w\"'`=])\"(?=\S)[^\"\n]{12,400}\"(?![\w\"])|“[^”\n]{12,400}”|"
    r"«[^»\n]{12,400}»|„[^“”\n]{12,400}[“”]|「[^」\n]{4,400}」|『[^』\n]{4,400}』|" + _HIDDEN
)
"""Words in quotation marks, longer than a name."""


MAX_CACHED = 4096
"""Messages whose sentences are remembered: a session that is followed is read again and again."""


class Sentence(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    text: str
    kind: Kind
    n_item: int
    is_user: bool
    is_bulk: bool
    """Whether it stands in the midst of a long document with headings rather than was typed."""
    wording: Wording


@lru_cache(maxsize=MAX_CACHED)
def read_user_sentences(text: str, n_item: int) -> tuple[Sentence, ...]:
    """Sort what a user wrote, given in their own words."""
    sentences: list[Sentence] = []
    under: Kind | None = None
    pieces = list(cut_sentences(text))
    is_document = len(pieces) > _BULK_PIECES and len(_MARKDOWN_HEADING.findall(text)) > 1
    for at, piece in enumerate(pieces):
        wording = read_wording(piece.text)
        kind = _user_kind(piece, wording)
        if kind is None:
            continue
        under = _list_kind(piece, wording, under)
        if under is not None and piece.is_listed and not piece.is_heading:
            kind = under
        sentence = Sentence(
            text=piece.text,
            kind=kind,
            n_item=n_item,
            is_user=True,
            is_bulk=is_document and _BULK_EDGE <= at < len(pieces) - _BULK_EDGE,
            wording=wording,
        )
        _add(sentences, sentence, piece)
    return tuple(sentences)


@lru_cache(maxsize=MAX_CACHED)
def read_agent_sentences(text: str, n_item: int) -> tuple[Sentence, ...]:
    """Sort what the agent wrote, given in its own words."""
    sentences: list[Sentence] = []
    under: Kind | None = None
    text = remove_bold(text)
    spans = _SAID_ELSEWHERE.finditer(text)
    for piece in cut_sentences(_SAID_ELSEWHERE.sub(_HIDDEN, text)):
        # A word in code or in quotation marks says nothing of the sentence: a status called
        # `pending` is not open.
        wording = read_wording(piece.text.replace(_HIDDEN, "`"))
        words = re.sub(_HIDDEN, lambda _: next(spans)[0], piece.text)
        under = _list_kind(piece, wording, under)
        kind = _agent_kind(wording)
        if under is not None and piece.is_listed and not piece.is_heading:
            kind = under
        if piece.is_heading and not any(char.isdigit() for char in words):
            continue
        sentence = Sentence(
            text=words,
            kind=kind,
            n_item=n_item,
            is_user=False,
            is_bulk=False,
            wording=wording,
        )
        _add(sentences, sentence, piece)
    return tuple(sentences)


def _user_kind(piece: RawSentence, wording: Wording) -> Kind | None:
    if not wording.words:
        return None
    if has_marker(wording, UNDECIDED):
        return "open"
    strength = rule_strength(wording)
    if strength == _CLEAR or (strength and not piece.is_heading):
        return "rule"
    if wording.lower.rstrip(" \"')").endswith(("?", "？", "؟")):
        return "question"
    is_pick = wording.first in _PICK_VERBS.words or wording.lower.startswith(_PICK_VERBS.fragments)
    if is_pick or has_marker(wording, CHOICES):
        return "choice"
    return "open" if has_marker(wording, DEFERRALS) else "statement"


_AGENT_KINDS: tuple[tuple[WordList, Kind], ...] = (
    (CHOICES, "choice"),
    (OPEN_POINTS, "open"),
    (DONE, "done"),
    (FINDINGS, "finding"),
)
"""What an agent's words make of a sentence, the first match wins."""


def _agent_kind(wording: Wording) -> Kind:
    lower = wording.lower
    if is_intention(lower) and not (
        "because" in wording.words or "instead of" in lower or "rather than" in lower
    ):
        return "other"
    if lower.startswith(("[ ]", "[x]")):
        return "done" if lower[1] == "x" else "open"
    if lower.endswith("?"):
        return "question"
    if not has_marker(wording, AGENT_MARKERS):
        return "other"
    for table, kind in _AGENT_KINDS:
        if has_marker(wording, table):
            return kind
    return "other"


def _list_kind(piece: RawSentence, wording: Wording, under: Kind | None) -> Kind | None:
    """Say what the points below a heading are, until a line that is no point."""
    if not piece.is_heading:
        return under if piece.is_listed else None
    if len(wording.words) > 12:
        return None
    if any(has_marker(wording, rules) for rules in (STRONG_RULES, WEAK_RULES)) or _names_rules(
        wording
    ):
        return "rule"
    if has_marker(wording, OPEN_POINTS):
        return "open"
    if has_marker(wording, CHOICES) or "decisions" in wording.words:
        return "choice"
    return "done" if has_marker(wording, DONE) else None


def _names_rules(wording: Wording) -> bool:
    return not wording.words.isdisjoint(_RULE_HEADINGS.words) or any(
        fragment in wording.lower for fragment in _RULE_HEADINGS.fragments
    )


def _add(sentences: list[Sentence], sentence: Sentence, piece: RawSentence) -> None:
    """Add a sentence: to the rule or choice before it, if it gives the reason of that."""
    before = sentences[-1] if sentences else None
    if before is None or piece.is_listed or not _is_reason(sentence, before):
        sentences.append(sentence)
        return
    separator = "" if before.text.endswith(("。", "！", "？")) else " "
    text = before.text + separator + sentence.text
    sentences[-1] = msgspec.structs.replace(before, text=text, wording=read_wording(text))


def _is_reason(sentence: Sentence, before: Sentence) -> bool:
    kind, lower = sentence.kind, sentence.wording.lower
    if before.kind not in ("rule", "choice") or kind in ("rule", "question", "choice", "open"):
        return False
    is_reason = sentence.wording.first in REASONS.words or (
        not lower.isascii() and lower.startswith(REASONS.fragments)
    )
    return is_reason and len(before.text) + len(sentence.text) < 500


def find_open_points(
    sentences: Sequence[Sentence], changed: Mapping[str, int]
) -> Iterator[Sentence]:
    """Give the open points that no later sentence reports as done, and no later edit did.

    `changed` has the paths that were modified, each with the last item that did so.
    """
    if not any(sentence.kind == "open" for sentence in sentences):
        return
    finished = [(s.n_item, _content_stems(s.wording)) for s in sentences if s.kind == "done"]
    for sentence in sentences:
        if sentence.kind != "open":
            continue
        words = _content_stems(sentence.wording)
        needed = max(min(2, len(words)), 0.6 * len(words))
        is_told = any(
            n_item > sentence.n_item and len(words & done) >= needed for n_item, done in finished
        )
        if not is_told and not _is_edited_later(sentence, changed):
            yield sentence


def _is_edited_later(sentence: Sentence, changed: Mapping[str, int]) -> bool:
    """Tell whether every file that a point names was modified after it."""
    named = {match[0] for match in _FILE_NAME.finditer(sentence.text)}
    if not named:
        return False
    later = {path.rsplit("/", 1)[-1] for path, n in changed.items() if n > sentence.n_item}
    return all(name.rsplit("/", 1)[-1] in later for name in named)


def _content_stems(wording: Wording) -> frozenset[str]:
    """Give the beginnings of a sentence's telling words, alike for `export` and `exported`.

    Whether something was written, built or added is told in many verbs: they count only where
    there are hardly other words.
    """
    stems = frozenset(word[:_STEM_CHARS] for word in wording.words if len(word) > 2) - _EMPTY_STEMS
    things = stems - _DOING_STEMS
    return things if len(things) > 1 else stems
