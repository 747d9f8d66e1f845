"""Sentences of a message, each sorted by what it does: rule, choice, question, open point, …"""

import re
from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from functools import lru_cache
from typing import Literal, TypeAlias

import msgspec

from ullage.core.text.lazy_pattern import lazy_pattern
from ullage.core.text.prose import RawSentence, cut_sentences, mark_headings, remove_bold
from ullage.core.text.word_lists import WordList, list_entries, word_list
from ullage.core.text.wording import (
    AGENT_MARKERS,
    CHOICES,
    COMPLAINTS,
    CONTRASTS,
    DECISION_HEADINGS,
    DEFERRALS,
    DONE,
    FINDINGS,
    GROUNDS,
    INSPECTING,
    LIMITS,
    OBLIGATIONS,
    OFFERS,
    OPEN_POINTS,
    REASONS,
    RESOLVES,
    RULE_HEADINGS,
    STRONG_RULES,
    UNDECIDED,
    WEAK_RULES,
    WISHES,
    Wording,
    begins_with,
    has_marker,
    is_intention,
    read_wording,
    rule_strength,
)

Kind: TypeAlias = Literal[
    "rule", "choice", "wish", "question", "statement", "open", "done", "finding", "other"
]

_PICK_VERBS = word_list("pick_verbs")
_SUGGESTIONS = word_list("suggestions")
_BULK_PIECES = 25
"""A user's message of more sentences, below headings, is a document in part; chosen."""
_BULK_EDGE = 3
"""Sentences at either end of such a message that are taken as typed; chosen."""
_CLEAR, _WEAK = 2, 1
_MIN_RULES = 3
"""Of a message that states rules, rather than that wishes something and rules one thing; chosen."""
_STEM_CHARS = 4
"""Characters compared of a word that can be inflected; chosen."""
_EMPTY_STEMS = word_list("empty_stems").words
_DOING_STEMS = word_list("doing_stems").words
"""Beginnings of the verbs of doing and of the words around them."""
_UNSPACED_RUN = lazy_pattern("[\u0e00-\u0e7f\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]{2,40}")
"""Thai, Japanese, Chinese, Korean."""
_FILE_NAME = lazy_pattern(r"(?<![\w./-])[\w./-]{1,200}\.[A-Za-z][A-Za-z0-9]{0,5}(?![\w/])")
_MARKDOWN_HEADING = lazy_pattern(r"^#{1,6} \S", re.MULTILINE)
_HIDDEN = "\ufffc"
"""Stands for a quotation or for code while its sentence is read."""
_IN_MARKS = (
    r"(?<![\w\"'`=])\"(?=\S)[^\"\n]{12,400}\"(?![\w\"])|“[^”\n]{12,400}”|«[^»\n]{12,400}»|"
    r"„[^“”\n]{12,400}[“”]|「[^」\n]{4,400}」|『[^』\n]{4,400}』"
)
"""Words in quotation marks, longer than a name."""
_SAID_ELSEWHERE = lazy_pattern(rf"`[^`\n]{{1,200}}`|{_IN_MARKS}|{_HIDDEN}")


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
    weak: set[str] = set()
    is_document = len(pieces) > _BULK_PIECES and len(_MARKDOWN_HEADING.findall(text)) > 1
    for at, piece in enumerate(pieces):
        wording = read_wording(piece.text)
        if not wording.words:
            continue
        # An escaped line break stands in what a program wrote.
        strength = 0 if "\\n" in piece.text else rule_strength(wording)
        kind = _user_kind(piece, wording, strength)
        if strength == _WEAK and kind != "question" and not piece.is_heading:
            weak.add(piece.text)
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
    return _join_weak_rules(sentences, weak)


def _join_weak_rules(sentences: Sequence[Sentence], weak: AbstractSet[str]) -> tuple[Sentence, ...]:
    """Take what may be a rule as one where it stands beside a rule."""
    n_rules = sum(sentence.kind == "rule" for sentence in sentences)
    if not n_rules or n_rules + len(weak) < _MIN_RULES:
        return tuple(sentences)
    joined = list(sentences)
    for at in (*range(len(joined)), *reversed(range(len(joined)))):
        beside = joined[max(at - 1, 0) : at + 2]
        if joined[at].text in weak and any(other.kind == "rule" for other in beside):
            joined[at] = msgspec.structs.replace(joined[at], kind="rule")
    return tuple(joined)


@lru_cache(maxsize=MAX_CACHED)
def read_agent_sentences(text: str, n_item: int) -> tuple[Sentence, ...]:
    """Sort what the agent wrote, given in its own words."""
    sentences: list[Sentence] = []
    under: Kind | None = None
    text = remove_bold(mark_headings(text))
    spans = _SAID_ELSEWHERE.finditer(text)
    for piece in cut_sentences(_SAID_ELSEWHERE.sub(_HIDDEN, text)):
        # A word in code or in quotation marks says nothing of the sentence: a status called
        # `pending` is not open.
        wording = read_wording(piece.text.replace(_HIDDEN, "`"))
        words = re.sub(_HIDDEN, lambda _: next(spans)[0], piece.text)
        under = _list_kind(piece, wording, under)
        kind = _agent_kind(wording)
        if under is not None and piece.is_listed and not piece.is_heading and kind != "question":
            kind = under
        has_figure = kind != "open" and any(char.isdigit() for char in words)
        if piece.is_heading and kind != "choice" and not has_figure:
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


def leave_out_quoted_words(text: str) -> str:
    """Give a text with "…" for what stands in quotation marks and is longer than a name."""
    return re.sub(_IN_MARKS, "“…”", text)


def _user_kind(piece: RawSentence, wording: Wording, strength: int) -> Kind:
    if has_marker(wording, UNDECIDED):
        return "open"
    if strength == _CLEAR:
        return "rule"
    if wording.lower.rstrip(" \"')").endswith(("?", "？", "؟")):
        return "choice" if has_marker(wording, _SUGGESTIONS) else "question"
    if piece.is_heading:
        return "statement"
    if begins_with(piece.text, _PICK_VERBS) or _takes_way(wording):
        return "choice"
    if has_marker(wording, DEFERRALS):
        return "open"
    is_wish = any(has_marker(wording, table) for table in _WISHED)
    return "wish" if is_wish and not has_marker(wording, COMPLAINTS) else "statement"


_WISHED = (OBLIGATIONS, WEAK_RULES, CHOICES, CONTRASTS, WISHES)
_LABEL_WORDS = 4
"""Of what stands before a colon; chosen."""
_LOOKING = lazy_pattern(
    rf"(?<!\w)(?:{'|'.join(map(re.escape, list_entries('resolves')))})\s+(?:\w+\s+){{0,2}}"
    rf"(?:{'|'.join(map(re.escape, list_entries('inspecting')))})(?!\w)"
)


def _takes_way(wording: Wording) -> bool:
    """Tell whether a speaker takes a way upon themselves, or one against another."""
    label, colon, rest = wording.lower.partition(":")
    is_labelled = colon and rest.strip() and len(label.split()) <= _LABEL_WORDS
    if is_labelled and has_marker(read_wording(label), DECISION_HEADINGS):
        return True
    if has_marker(wording, OFFERS):
        return False
    is_way = has_marker(wording, CHOICES) or has_marker(wording, CONTRASTS)
    return is_way and has_marker(wording, RESOLVES)


def _limits_way(wording: Wording) -> bool:
    """Tell whether a speaker gives the limit of what they do, or its reason."""
    if not has_marker(wording, RESOLVES) or has_marker(wording, OFFERS):
        return False
    return has_marker(wording, LIMITS) or has_marker(wording, GROUNDS)


def _looks(wording: Wording) -> bool:
    """Tell whether a speaker is only about to look at something, which settles nothing."""
    if not has_marker(wording, INSPECTING):
        return False
    return wording.is_unspaced or _LOOKING.search(wording.lower) is not None


_AGENT_KINDS: tuple[tuple[WordList, Kind], ...] = (
    (OPEN_POINTS, "open"),
    (DONE, "done"),
    (FINDINGS, "finding"),
)
"""What an agent's words make of a sentence, the first match wins."""


def _agent_kind(wording: Wording) -> Kind:
    lower = wording.lower
    if lower.startswith(("[ ]", "[x]")):
        return "done" if lower[1] == "x" else "open"
    if lower.rstrip("*_`) ").endswith("?"):
        return "question"
    if not has_marker(wording, AGENT_MARKERS):
        return "other"
    if (_takes_way(wording) or _limits_way(wording)) and not _looks(wording):
        return "choice"
    if is_intention(lower):
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
    if has_marker(wording, STRONG_RULES) or has_marker(wording, RULE_HEADINGS):
        return "rule"
    if has_marker(wording, OPEN_POINTS):
        return "open"
    if has_marker(wording, DECISION_HEADINGS):
        return "choice"
    return "done" if has_marker(wording, DONE) else None


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
    kind = sentence.kind
    if before.kind not in ("rule", "choice") or kind in ("rule", "question", "choice", "open"):
        return False
    return begins_with(sentence.text, REASONS) and len(before.text) + len(sentence.text) < 500


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


def count_shared_words(first: str, second: str) -> int:
    """Count the telling words that two texts share, by their beginnings.

    Where words do not stand apart, three pairs of characters count as a word.
    """
    words, pairs = _telling_stems(first)
    other_words, other_pairs = _telling_stems(second)
    return len(words & other_words) + len(pairs & other_pairs) // 3


def count_telling_words(text: str) -> int:
    """Count the words that say what a text is about, as far as they are told apart."""
    words, pairs = _telling_stems(text)
    return len(words) + len(pairs) // 3


def _telling_stems(text: str) -> tuple[frozenset[str], frozenset[str]]:
    wording = read_wording(text)
    runs: list[str] = _UNSPACED_RUN.findall(wording.lower) if wording.is_unspaced else []
    pairs = frozenset(run[at : at + 2] for run in runs for at in range(len(run) - 1))
    stems = frozenset(
        word[:_STEM_CHARS]
        for word in wording.words
        if (len(word) >= _STEM_CHARS or word.isdecimal()) and not _UNSPACED_RUN.search(word)
    )
    return stems - _EMPTY_STEMS, pairs


def _content_stems(wording: Wording) -> frozenset[str]:
    """Give the beginnings of a sentence's telling words, alike for `export` and `exported`.

    Whether something was written, built or added is told in many verbs: they count only where
    there are hardly other words.
    """
    stems = frozenset(word[:_STEM_CHARS] for word in wording.words if len(word) > 2) - _EMPTY_STEMS
    things = stems - _DOING_STEMS
    return things if len(things) > 1 else stems
