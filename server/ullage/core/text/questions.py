"""The question that an answer ends with, and the options that it gives."""

import re
from collections.abc import Sequence

from ullage.core.text.prose import (
    count_letters,
    gist,
    remove_bold,
    remove_list_mark,
    split_sentences,
)
from ullage.core.text.word_lists import QUESTION_MARKS

_TAIL_CHARS = 2000
_TAIL_LINES = 4
"""Of an agent's answer, where it asks or proposes something; chosen."""
_MAX_QUESTION_CHARS = 200
OPTION = re.compile(
    r"\W{0,6}(?:[^\W\d_]{2,10} )?"
    r"(?:\[([A-Z]{1,3}|\d{1,2})\]|([A-Z]|\d{1,2})(?=[`*]{0,3}\s{0,8}[.):：|、—]))"
    r"[`*]{0,3}\s{0,8}[.):：|、—]{0,2}[`*]{0,3}\s{0,4}(\S.{1,400})",
    re.IGNORECASE,
)
"""A line that offers something under a letter or a number: of a list, a table, a menu."""


def find_last_question(answer: str) -> str:
    """Find the question that an answer ends with; empty where it asks nothing."""
    question = remove_list_mark(find_question(list_last_sentences(answer)))
    # The titles of links ask others.
    return "" if question.startswith("[") else gist(question, _MAX_QUESTION_CHARS)


def list_last_sentences(answer: str) -> list[str]:
    """List the sentences with which an answer ends, without its options."""
    lines = [line.strip() for line in remove_bold(answer[-_TAIL_CHARS:]).split("\n")]
    spoken = [line for line in lines if line and not OPTION.match(line)][-_TAIL_LINES:]
    sentences = (sentence for line in spoken for sentence in split_sentences(line))
    return [sentence for sentence in sentences if count_letters(sentence) > 1]


def find_question(sentences: Sequence[str]) -> str:
    """Find the last question, with those that stand right before it."""
    asked = [s.rstrip("*_`)\"'」 ").endswith(QUESTION_MARKS) for s in sentences]
    if not any(asked):
        return ""
    last = len(asked) - 1 - asked[::-1].index(True)
    first = last
    while first and asked[first - 1]:
        first -= 1
    return " ".join(sentences[first : last + 1])
