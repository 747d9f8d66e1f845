"""What stays true of the user and the project: facts that a person states, lessons of the agent.

A person's statement is one by its place in the sentence: a clause begins with who they are, what
they like or what the project has ("we use", "our", "I prefer"), or tells where something is, with
the path. A question is none, nor is a complaint or what holds for the moment. The agent's sentence
is one only where it is stated as a lesson (docs/design/checkpoints.md, "Learnings").
"""

import re
from collections.abc import Sequence
from functools import lru_cache

from ullage.core.facts.facts import Facts
from ullage.core.text.prose import gist
from ullage.core.text.sentences import MAX_CACHED, Sentence, read_user_sentences
from ullage.core.text.word_lists import list_entries
from ullage.core.text.wording import COMPLAINTS, DEAD_ENDS, LESSONS, MOMENTARY, has_marker


def _join(entries: Sequence[str]) -> str:
    return "|".join(map(re.escape, entries))


MIN_CHARS = 12
MAX_CHARS = 300
"""Of a learning; chosen. A shorter text is a reply."""
_OWN_FACT = re.compile(
    r"(?:\A|[,;:(—–、，；：。]|\s-\s)[\s\"'*•-]{0,20}"
    rf"(?:(?:{_join(list_entries('lead_ins'))})\W{{1,20}}){{0,3}}"
    rf"(?:(?=\S{{1,100}}(?:\s{{1,20}}[^\s,;:]+){{2}})(?:{_join(list_entries('own_facts'))})\b"
    rf"|{_join(list_entries('own_facts', has_spaces=False))})"
)
"""How a clause begins that tells of the user or the project. Each part has a bound, as a text
without blanks may begin a clause at each of its commas."""
_PATH = (
    r"(?<![\w@])(?:https?://\S|[~.]{0,2}/?[\w.-]{1,100}/[\w.@-]|/[\w.-]{2}"
    r"|[\w-]{2,60}\.[a-z]{2,5}\b)"
)
"""A path with a folder, an address or a file's name."""
_WHERE = _join(list_entries("locations", has_spaces=False))
_PLACE = re.compile(
    rf"\b(?:{_join(list_entries('locations'))})\W+(?:\w+\W+){{0,3}}?{_PATH}"
    rf"|{_PATH}\S{{0,200}}\s?\w{{0,8}}(?:{_WHERE})|(?:{_WHERE})\W*{_PATH}"
)
"""How a sentence tells where something is."""


def find_learnings(facts: Facts) -> tuple[str, ...]:
    """List what a person stated of themselves and the project, and lessons, oldest first.

    Messages are read as a person wrote them, replies to questions too.
    """
    stated = (
        text
        for message in facts.messages
        if message.is_user
        for text in _list_stated_facts(message.text)
    )
    lessons = (
        sentence.text
        for sentence in facts.sentences
        if sentence.wording.marked
        and not sentence.is_user
        and has_marker(sentence.wording, LESSONS)
    )
    return _shorten([*stated, *lessons])


def find_dead_ends(facts: Facts) -> tuple[str, ...]:
    """List what the agent tried and reports to lead nowhere, oldest first."""
    return _shorten(
        [
            sentence.text
            for sentence in facts.sentences
            if sentence.kind == "finding"
            and not sentence.is_user
            and has_marker(sentence.wording, DEAD_ENDS)
        ]
    )


def tells_own_fact(lower: str) -> bool:
    """Tell whether a clause, in small letters, begins as one does that tells of its speaker."""
    return _OWN_FACT.search(lower) is not None


def find_place(lower: str) -> re.Match[str] | None:
    """Find where a sentence in small letters tells where something is."""
    return _PLACE.search(lower)


@lru_cache(maxsize=MAX_CACHED)
def _list_stated_facts(message: str) -> tuple[str, ...]:
    return tuple(
        sentence.text for sentence in read_user_sentences(message, 0) if _is_stated_fact(sentence)
    )


def _is_stated_fact(sentence: Sentence) -> bool:
    wording = sentence.wording
    if sentence.is_bulk or sentence.kind == "question" or len(sentence.text) < MIN_CHARS:
        return False
    if has_marker(wording, COMPLAINTS) or has_marker(wording, MOMENTARY):
        return False
    return tells_own_fact(wording.lower) or find_place(wording.lower) is not None


def _shorten(texts: Sequence[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(gist(text, MAX_CHARS) for text in texts))
