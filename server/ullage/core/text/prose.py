"""Prose: a text cut into sentences."""

import re
from collections.abc import Iterator
from functools import cache

import msgspec

from ullage.core.text.lazy_pattern import lazy_pattern
from ullage.core.text.word_lists import list_entries

PASTED = "(pasted) "
"""How a quotation begins that stands where the words of a person are looked for."""
MAX_SENTENCE_CHARS = 600
"""Longest piece kept verbatim; chosen: longer "sentences" are data without punctuation."""
_SENTENCE_END = lazy_pattern(
    # All marks first: an expression that knows how a match begins passes over the rest.
    r"[.!?。！？؟](?:(?<=[.!?])[\"'”’)\]*`]{0,3}\s|(?<=[。！？؟])[”」』）]?)"
)
_LIST_MARK = lazy_pattern(r"(?:[-*+•]\s{1,4}|\d{1,3}[.)]\s{1,4}|#{1,6}\s{1,4}){1,3}")
_BOLD = lazy_pattern(r"(?<![\w*/])\*\*(?=[^\s*])([^*\n]{1,400})(?<=\S)\*\*(?![\w*/])")
"""Emphasis around words; two stars are a power, a glob or an argument elsewhere."""
_BOLD_LINE = lazy_pattern(r"^[ \t]*\*\*([^*\n]{3,120})\*\*[ \t]*$", re.MULTILINE)
_UNITS = (("day", 86_400), ("hour", 3_600), ("minute", 60))
_BLANK = lazy_pattern(r"(?=\s)")
_CLAUSE_MARK = lazy_pattern(r"[、。，；：！？…”」』）]|[,;!?)\]}](?![\w./])")
_PATH_MARK = lazy_pattern(r"[/\\?=&]")
_LETTERS = lazy_pattern(r"[^\W\d_]+")
_NO_LETTERS = bytes(n for n in range(128) if not chr(n).isalpha())


class RawSentence(msgspec.Struct, frozen=True, gc=False):
    """A sentence as it stood, without list marks."""

    text: str
    is_listed: bool
    is_heading: bool


def cut_sentences(text: str) -> Iterator[RawSentence]:
    """Cut text into sentences, line by line."""
    for raw in text.split("\n"):
        line = raw.strip()
        if not line:
            continue
        mark = _LIST_MARK.match(line)
        is_heading = line.startswith("#") or line.endswith((":", ":**", "："))
        for sentence in split_sentences(line[mark.end() if mark else 0 :]):
            yield RawSentence(sentence, mark is not None, is_heading)


@cache
def _abbreviations() -> tuple[str, ...]:
    # Not when this is imported: a tool call's hook does, and cuts no sentences.
    return list_entries("abbreviations")


def split_sentences(line: str) -> Iterator[str]:
    """Cut one line into sentences of bounded length, each verbatim; "…" is where one was parted."""
    start = 0
    for end in _SENTENCE_END.finditer(line):
        # The end alone is looked at: a line may be long, and all its dots be abbreviations.
        tail = line[max(start, end.end() - 20) : end.end()].strip()
        if tail[-10:].lower().endswith(_abbreviations()) or tail[:-1].isdecimal():
            continue
        is_closed = tail[-1] not in ".!?。！？؟" or tail.endswith("..")
        if is_closed and line[end.end() : end.end() + 1].islower():
            # It goes on behind dots, code or a bracket: "takes (a, ...) and gives b".
            continue
        sentence = line[start : end.end()].strip()
        yield from (sentence,) if len(sentence) <= MAX_SENTENCE_CHARS else _cut_long(sentence)
        start = end.end()
    if rest := line[start:].strip():
        yield from (rest,) if len(rest) <= MAX_SENTENCE_CHARS else _cut_long(rest)


def _cut_long(sentence: str) -> Iterator[str]:
    start, before = 0, ""
    while len(sentence) - start >= MAX_SENTENCE_CHARS:
        limit = start + MAX_SENTENCE_CHARS - 2
        cut = max(sentence.rfind(mark, start + 200, limit) for mark in (", ", "; ", ",", " "))
        cut = limit if cut < 0 else cut + 1
        yield f"{before}{sentence[start:cut].strip()}…"
        start, before = cut, "…"
    yield before + sentence[start:].strip()


def is_sentence(text: str) -> bool:
    """Tell whether text has the looks of language: some words, mostly letters."""
    n_letters = count_letters(text[:400])
    is_spaced = text.count(" ") >= 2 or not text.isascii()
    return is_spaced and n_letters >= 6 and n_letters >= 0.6 * len(text[:400].replace(" ", ""))


def count_letters(text: str) -> int:
    if text.isascii():
        return len(text.encode("ascii").translate(None, _NO_LETTERS))
    return len("".join(_LETTERS.findall(text)))


def remove_list_mark(line: str) -> str:
    """Give a line without the marks of a list or a heading that it begins with."""
    return line[mark.end() :] if (mark := _LIST_MARK.match(line)) else line


def remove_bold(text: str) -> str:
    """Give a text without the marks of emphasis around its words."""
    return _BOLD.sub(r"\1", text) if "**" in text else text


def mark_headings(text: str) -> str:
    """Write the lines that are emphasized as a whole as headings."""
    return _BOLD_LINE.sub(r"## \1", text) if "**" in text else text


def collapse_spaces(text: str) -> str:
    """Make white space alike, so that a line break more or less is no difference."""
    return " ".join(text.split())


def plural(n: int, noun: str, nouns: str = "") -> str:
    """Count what a noun names, such as `1 line` and `1,200 lines`."""
    return f"{n:,} {noun if n == 1 else nouns or f'{noun}s'}"


def write_age(seconds: float) -> str:
    """Tell how long ago something was, in the largest whole unit."""
    for unit, length in _UNITS:
        n_units = int(seconds) // length
        if n_units > 0:
            return f"{plural(n_units, unit)} ago"
    return "just now"


def gist(text: str, n_chars: int) -> str:
    """Bring text onto one line of at most `n_chars` characters; what is cut ends in "…"."""
    head = text[: 4 * n_chars]
    flat = collapse_spaces(head)
    if len(flat) <= n_chars and (head == text or not text[len(head) :].strip()):
        return flat
    cut = find_cut(flat, n_chars - 1)
    return flat[:cut].rstrip(" .…") + "…"


def find_cut(text: str, limit: int) -> int:
    """Find where to cut a text: behind a word, in scripts without spaces behind a clause.

    A path or an address is a word; where one alone is longer than the limit, it is cut within.
    """
    for mark, start in ((_BLANK, 2), (_CLAUSE_MARK, 4), (_BLANK, 4), (_PATH_MARK, 4)):
        ends = [end.end() for end in mark.finditer(text, limit // start, limit)]
        if ends:
            return ends[-1]
    return limit
