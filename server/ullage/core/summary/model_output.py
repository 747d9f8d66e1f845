"""Answers: when a model's text may stand for a conversation, and the form that it then gets.

Anything odd is a reason to refuse (docs/design/summaries.md, "When an answer is refused"): the
extractive summary is always there instead.
"""

import re
from collections.abc import Iterable, Iterator, Sequence

import msgspec

from ullage.core.facts.previous_summary import read_previous_summary
from ullage.core.facts.summary_sections import NONE, RENAMED, SECTION_NAMES, write_sections
from ullage.core.secrets.scan import mask
from ullage.core.summary.model_input import Excerpt, fit_text
from ullage.core.text.identifiers import find_identifiers
from ullage.core.text.prose import collapse_spaces, split_sentences
from ullage.core.transcript.tokens import Count

MAX_RATIO = 0.5
"""A summary larger than half of what it replaces is not worth its loss (chosen)."""
_MIN_LIMIT_TOKENS = 300
"""A summary on the way to the last one may have its headings, however small the part."""
_REFUSAL_CHARS = 240
_MIN_CHARS = 20
_THOUGHT = re.compile(r"\A\s*<think(?:ing)?>.*?</think(?:ing)?>", re.DOTALL)
"""Reasoning that some local servers leave in the text."""
_FENCE = re.compile(r"\A\s*```[a-z]{0,10}\n(.*?)\n?```\s*\Z", re.DOTALL)
_REFUSAL = re.compile(
    r"\b(?:i(?:'m| am| apologize)?,? ?(?:very |so |really )?(?:sorry|afraid|apologize)"
    r"|i (?:can(?:no|')t|could ?n[o']t|am (?:not able|unable)|won't|must decline|don't have)"
    r"|i'm (?:not able|unable)|as an ai\b|unable to (?:help|assist|comply|summarize)"
    r"|can(?:no|')t (?:help|assist|comply|fulfill|provide|summarize)"
    r"|against my|(?:please|could you) provide|how can i (?:help|assist))"
)
_EMPTY_HISTORY = re.compile(
    r"\bno (?:prior|previous|earlier|conversation|chat) (?:history|conversation|context|messages)\b"
    r"|\b(?:there (?:is|was|are|were) )?nothing to summari[sz]e\b"
    r"|\b(?:conversation|history|transcript|input) (?:is|was|appears|seems)(?: to be)? empty\b"
    r"|\bno (?:content|messages|text) (?:to summari[sz]e|(?:was|were|has been) provided)\b"
)
"""What openclaw#120663 stored in the place of 77 conversations, and its like."""


_MAX_POINT_CHARS = 400
"""Longer points without our headings are paragraphs; chosen."""
_MIN_OWN_HEADINGS = 3
"""With fewer of our headings a text has some other form; chosen."""
_NAMES = {name.lower(): RENAMED.get(name, name) for name in (*SECTION_NAMES, *RENAMED)}
_HEADING = re.compile(
    r"(?:#{1,4}\s{1,3}|\*\*)(?:\d\.\s)?\*{0,2}([A-Za-z ]{3,30}?)\*{0,2}:?\*{0,2}:?"
)
_POINT = re.compile(r"\A(?:[-*+•]|\d{1,3}[.)])\s{1,4}")


class Evidence(msgspec.Struct, frozen=True, kw_only=True):
    """What an answer is held against."""

    names: frozenset[str]
    """Identifiers in what the model was shown."""
    last_reply: str
    """The agent's last text; a model that continues the talk repeats it."""
    nonce: str
    """Of the fences around it, which a model that copies repeats."""


def collect_evidence(pieces: Sequence[Excerpt], earlier: str, nonce: str) -> Evidence:
    names = list_names(piece.text for piece in pieces) | list_names([earlier])
    replies = (piece.text for piece in reversed(pieces) if piece.origin == "assistant")
    return Evidence(names=names, last_reply=next(replies, ""), nonce=nonce)


def list_names(texts: Iterable[str]) -> frozenset[str]:
    """List the identifiers of texts, paths by their last part.

    Bare numbers stand in too many texts to prove anything.
    """
    return frozenset(
        name.rpartition("/")[2] or name if kind == "path" else name
        for text in texts
        for kind, name in find_identifiers(text)
        if kind != "number"
    )


def clean_answer(answer: str, known_secrets: Sequence[str]) -> str:
    """Take off what is not the summary, and mask what a model may have repeated or made up."""
    text = _THOUGHT.sub("", fit_text(answer), count=1)
    whole = _FENCE.match(text)
    return mask(whole[1] if whole else text, known_secrets).strip()


def limit_summary(n_new_tokens: int, n_earlier_tokens: int) -> int:
    """Give the longest a summary of new messages on top of an earlier one may be."""
    return max(_MIN_LIMIT_TOKENS, n_earlier_tokens + int(n_new_tokens * MAX_RATIO))


def refuse_answer(text: str, material: Evidence, max_tokens: int, count: Count) -> str | None:
    """Say why a cleaned answer must not stand for anything; None where it may."""
    return next(_list_faults(text, material, max_tokens, count), None)


def refuse_notes(text: str, material: Evidence) -> str | None:
    """Say why a cleaned answer in a form of its own must not be kept; None where it may."""
    faults = (*_list_talk_faults(text, material), *_list_name_faults(text, material))
    return next(iter(faults), None)


def _list_faults(text: str, material: Evidence, max_tokens: int, count: Count) -> Iterator[str]:
    if len(text) < _MIN_CHARS:
        yield "it is empty"
    yield from _list_talk_faults(text, material)
    if _says_nothing(text):
        yield "it says that there was nothing to summarize"
    if not _is_in_form(text):
        yield "it is not in the form that was asked for"
    if any(text.count(f"## {name}\n") > 1 for name in SECTION_NAMES):
        yield "it repeats itself"
    n_tokens = count(text)
    if n_tokens > max_tokens:
        yield f"it is too long: {n_tokens:,} tokens where {max_tokens:,} are worth it"
    yield from _list_name_faults(text, material)


def _list_talk_faults(text: str, material: Evidence) -> Iterator[str]:
    """Find out whether the model went on with the conversation instead of writing of it."""
    begin = text[:_REFUSAL_CHARS].lower().replace("’", "'")
    if f"## {SECTION_NAMES[0]}" not in text and _REFUSAL.search(begin):
        yield "the model refused or asked back"
    if collapse_spaces(text) == collapse_spaces(material.last_reply):
        yield "it repeats the agent's last reply"
    if material.nonce in text:
        yield "it copies what it was shown"


def _list_name_faults(text: str, material: Evidence) -> Iterator[str]:
    if material.names and not any(name in text for name in material.names):
        yield "it names nothing of the session"


def _is_in_form(text: str) -> bool:
    """Tell whether a text has sections, ours or others.

    Prose of a model that did not listen is worth less than the extractive summary.
    """
    if _read_own_points(text) is not None:
        return True
    return sum(bool(lines) for lines in read_previous_summary(text).lines.values()) > 1


def _says_nothing(text: str) -> bool:
    """Tell whether the points of a text are boilerplate or none at all."""
    points = [
        line.strip("-* ").lower()
        for line in text.splitlines()
        if line.strip() and not line.startswith("#")
    ]
    return all(point in (NONE, "none", "n/a") or _EMPTY_HISTORY.search(point) for point in points)


def write_in_sections(text: str) -> str:
    """Bring a summary into our sections, from which later compactions read it back."""
    own = _read_own_points(text)
    if own is not None:
        return write_sections(own)
    # A paragraph is taken sentence by sentence, as lines of other summaries are cut short.
    sentences = (part for line in text.split("\n") for part in _sentences(line))
    return write_sections(read_previous_summary("\n".join(sentences)).lines)


def _sentences(line: str) -> Iterable[str]:
    return split_sentences(line) if len(line) > _MAX_POINT_CHARS else (line,)


def merge_sections(texts: Sequence[str]) -> str:
    """Put summaries in our sections together, point by point, none twice."""
    read = [read_previous_summary(text).lines for text in texts]
    return write_sections(
        {
            name: tuple(dict.fromkeys(line for lines in read for line in lines[name]))
            for name in SECTION_NAMES
        }
    )


def _read_own_points(text: str) -> dict[str, Sequence[str]] | None:
    """Read the points below our headings; None where too few of the headings are ours."""
    points: dict[str, Sequence[str]] = {}
    section: list[str] = []
    for raw in text.split("\n"):
        line = raw.strip()
        heading = _HEADING.fullmatch(line)
        name = _NAMES.get(heading[1].lower()) if heading else None
        if name:
            section = []
            points[name] = section
        elif points and (point := _POINT.sub("", line).strip()) and point != NONE:
            section.append(point)
    if len(points) < _MIN_OWN_HEADINGS:
        return None
    return {name: points.get(name, ()) for name in SECTION_NAMES}
