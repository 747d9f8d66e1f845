"""Choices: what was settled, told by what answers what.

An answer to a question of the agent's, an approval with what it approves, a pick with the text of
its option, an objection, an approved plan (docs/design/checkpoints.md, "Decisions").
"""

import re
from collections.abc import Iterator, Sequence

import msgspec

from ullage.core.facts.settled import AGAINST, APPROVED, APPROVES, CHOSEN, IN_REPLY
from ullage.core.text.prose import gist, remove_bold
from ullage.core.text.questions import OPTION, find_question, list_last_sentences
from ullage.core.text.sentences import Sentence, count_shared_words, count_telling_words
from ullage.core.text.word_lists import word_list
from ullage.core.text.wording import OBJECTIONS, begins_with, is_corrective
from ullage.core.transcript.entries import Text, ToolResult

_MAX_TEXT_CHARS = 200
_SHORT_CHARS = 60
"""What is shorter says too little without what it answers; chosen."""
_MAX_REPLY_CHARS = 600
"""A longer message is more than a reply; chosen."""
_MAX_FEEDBACK_CHARS = 1200
"""A longer message asks for something new; chosen."""
_BRIEF_CHARS = 20
_PICK_WORDS = 4
"""A label stands anywhere in a clause of no more words, else first; chosen."""
_FEW_WORDS = 3
"""A message that is hardly more than a yes or a name; chosen."""
_MIN_SHARED = 2
"""Words that a message takes up from a proposal that is no question; chosen."""
_MIN_TELLING = 2
"""Words of a question that says what it is about; chosen."""
_MAX_LISTS = 3
"""Answers with options that are remembered; chosen."""
_APPROVALS = word_list("approvals")
_CLEAR_APPROVALS = msgspec.structs.replace(_APPROVALS, words=frozenset(), pattern="")
"""Those of several words, which say yes wherever a clause begins with them."""
_NODS = word_list("nods")
_LEAD_INS = word_list("lead_ins")
_SENTENCE_END = re.compile(r"[.!?。！？\n]")
_CLAUSE_END = re.compile(r"[,.!;:，。！、；：\n]")
_LABEL = re.compile(r"[A-Za-z]{1,3}(?!\w)|\d{1,2}(?![A-Za-z0-9])")
"""A label, with or without the ending that a language puts to it."""
_PAIR = re.compile(r"(?<!\w)[A-Za-z]{0,8}(\d{1,2})\s{0,2}[:：=.)-]\s{0,2}([A-Za-z])(?!\w)")
"""An answer to a numbered question by a letter, such as `Q1: A`."""
_FIGURE = re.compile(r"(?<!\w)(?:\d|[A-Z]{1,5}-?\d)")
"""A figure, or a name with one."""
_Options = dict[str, str]


class Choice(msgspec.Struct, frozen=True, kw_only=True):
    text: str
    is_user: bool
    n_item: int
    at_ms: int | None


class Dialog(msgspec.Struct):
    """What the agent said last, and the options that it gave."""

    answer: str = ""
    """As it is written."""
    own_words: str = ""
    is_begun: bool = False
    """Whether a person has asked for something."""
    lists: list[_Options] = []
    """Options of the last answer by their labels; a label that comes again begins another list."""
    earlier: list[list[_Options]] = []

    def hear(self, said: str, own_words: str) -> None:
        """Take in what the agent says."""
        self.answer, self.own_words = said, own_words

    def read_reply(self, prose: str, sentences: Sequence[Sentence]) -> str:
        """Say what a person's message settles as a reply; empty where it settles nothing so."""
        self.lists = _list_options(self.answer)
        if self.lists:
            self.earlier = [*self.earlier[1 - _MAX_LISTS :], self.lists]
        if not self.answer or len(prose) > _MAX_REPLY_CHARS:
            return ""
        proposed = list_last_sentences(self.own_words)
        question = find_question(proposed)
        if picked := self._read_pick(prose, question):
            return picked
        if not proposed or (sentences and sentences[0].kind == "question"):
            return ""
        shared = [(count_shared_words(prose, s), n, s) for n, s in enumerate(proposed)]
        n_shared, _, nearest = max(shared)
        asked = _write_proposal(proposed, question, nearest if n_shared else proposed[-1])
        reply = gist(prose, _MAX_TEXT_CHARS)
        if begins_with(prose, OBJECTIONS):
            is_clear = len(reply) > 2 * _SHORT_CHARS and not question
            return reply if is_clear else f"{reply}{AGAINST}{asked})"
        if _approves(prose, is_asked=bool(question), n_shared=n_shared):
            is_clear = bool(question) or len(prose.split()) <= _FEW_WORDS
            return f"{asked}{APPROVED}{reply})" if is_clear else f"{reply}{APPROVES}{asked})"
        if sentences and sentences[-1].kind == "question":
            return ""
        # A figure or a name with one answers a question, in whatever words.
        has_figure = len(prose) <= 2 * _SHORT_CHARS and _FIGURE.search(reply) is not None
        is_answer = _is_brief(prose) or has_figure
        is_taken_up = bool(question) and n_shared >= _MIN_SHARED
        is_reply = is_taken_up or (is_answer and proposed[-1] in question)
        if is_reply and len(prose) < _MAX_TEXT_CHARS:
            return f"{reply}{IN_REPLY}{asked})"
        return ""

    def settle(self, sentences: Sequence[Sentence], prose: str) -> tuple[Sentence, ...]:
        """Sort what a person says of the thing at hand: behind a first request it settles it."""
        is_feedback, self.is_begun = self.is_begun and len(prose) <= _MAX_FEEDBACK_CHARS, True
        return tuple(_settle(sentence, is_feedback=is_feedback) for sentence in sentences)

    def _read_pick(self, prose: str, question: str) -> str:
        """Give the options that a message picks by their labels."""
        pairs: list[tuple[str, str]] = _PAIR.findall(prose[:_MAX_TEXT_CHARS])
        if len(pairs) > 1:
            return self._read_pairs(pairs, prose)
        words = _CLAUSE_END.split(prose, maxsplit=1)[0].split() if self.lists else []
        if len(prose) > _SHORT_CHARS:
            # What is more than a label has to end its clause with it.
            words = words[-1:] if len(words) < _PICK_WORDS else []
        for word in words if len(words) <= _PICK_WORDS else words[:1]:
            found = _LABEL.match(word.strip("()[]#*`\"'"))
            label = found[0].upper() if found else ""
            is_bare = len(words) < 3 and word == words[-1]
            option = next(
                (options[label] for options in reversed(self.lists) if label in options), ""
            )
            if option and (label.isdecimal() or is_bare):
                asked = f"; asked: {gist(question, _MAX_TEXT_CHARS)}" if question else ""
                return f"{option}{CHOSEN}{gist(prose, _MAX_TEXT_CHARS)}{asked})"
        return ""

    def _read_pairs(self, pairs: Sequence[tuple[str, str]], prose: str) -> str:
        """Give the options that a message picks for several numbered questions."""
        for lists in reversed(self.earlier):
            chosen = [
                f"{number}. {lists[int(number) - 1][letter.upper()]}"
                for number, letter in pairs
                if 0 < int(number) <= len(lists) and letter.upper() in lists[int(number) - 1]
            ]
            if len(chosen) == len(pairs):
                return f"{'; '.join(chosen)}{CHOSEN}{gist(prose, _MAX_TEXT_CHARS)})"
        return ""


class Answer(msgspec.Struct, frozen=True, kw_only=True):
    """What a person says in the result of a tool."""

    text: str
    question: str
    """What the tool asked; empty where the person refused the call and says why."""


def read_answers(result: ToolResult) -> Iterator[Answer]:
    """Give what a person answered to a tool's questions, or why they refused it."""
    question = ""
    for speech in (s for part in result.content if isinstance(part, Text) for s in part.speech):
        if speech.speaker == "tool":
            question = gist(speech.text, _MAX_TEXT_CHARS)
        elif speech.speaker == "typed":
            yield Answer(text=speech.text, question=question)


def write_answer(answer: Answer) -> str:
    """Write an answer as what it settles."""
    note = f" (asked: {answer.question})" if answer.question else ""
    return gist(answer.text, _MAX_TEXT_CHARS) + note


def _write_proposal(sentences: Sequence[str], question: str, statement: str) -> str:
    """Write what a reply answers: a question such as "Shall I?" stands behind what it is about."""
    before = [s for s in sentences if s not in question and not s.endswith((":", "："))]
    if question and before and count_telling_words(question) < _MIN_TELLING:
        question = f"{before[-1]} {question}"
    return gist(question or statement, _MAX_TEXT_CHARS)


def _settle(sentence: Sentence, *, is_feedback: bool) -> Sentence:
    is_wish = sentence.kind == "wish"
    if is_feedback and (is_wish or (sentence.kind == "rule" and is_corrective(sentence.wording))):
        return msgspec.structs.replace(sentence, kind="choice")
    return msgspec.structs.replace(sentence, kind="statement") if is_wish else sentence


def _list_options(answer: str) -> list[_Options]:
    lists: list[_Options] = []
    for line in remove_bold(answer).split("\n"):
        option = OPTION.match(line[:500].strip())
        if option is None:
            continue
        label: str = (option[1] or option[2]).upper()
        if not lists or label in lists[-1]:
            lists.append({})
        lists[-1][label] = gist(option[3].rstrip(" |"), _MAX_TEXT_CHARS)
    return lists


def _approves(prose: str, *, is_asked: bool, n_shared: int) -> bool:
    """Tell whether a message says yes to what was asked or proposed, and hardly more."""
    clause = _SENTENCE_END.split(prose, maxsplit=1)[0]
    if begins_with(prose, _APPROVALS):
        return len(clause) <= _SHORT_CHARS or n_shared >= _MIN_SHARED
    if len(prose) <= _SHORT_CHARS and any(
        begins_with(part, _CLEAR_APPROVALS) for part in _CLAUSE_END.split(prose)[1:]
    ):
        return True
    if not begins_with(prose, _NODS):
        return False
    is_near = n_shared >= _MIN_SHARED and len(prose) <= _MAX_TEXT_CHARS
    return is_near or (is_asked and len(prose) <= 2 * _BRIEF_CHARS)


def _is_brief(prose: str) -> bool:
    n_chars = _BRIEF_CHARS if prose.isascii() else _BRIEF_CHARS // 3
    is_command = prose.startswith("/") or begins_with(prose, _LEAD_INS)
    return len(prose.split()) <= _FEW_WORDS and len(prose) <= n_chars and not is_command
