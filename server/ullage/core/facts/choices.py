"""Choices: what was settled, told by what answers what.

An answer to a question of the agent's, an approval with what it approves, a pick with the text of
its option, an objection, an approved plan (docs/design/checkpoints.md, "Decisions").
"""

import re
from collections.abc import Iterator, Sequence

import msgspec

from ullage.core.facts.settled import AGAINST, APPROVED, APPROVES, CHOSEN, IN_REPLY
from ullage.core.text.prose import gist, remove_bold, remove_list_mark
from ullage.core.text.questions import OPTION, find_question, list_last_sentences
from ullage.core.text.sentences import (
    Sentence,
    count_shared_words,
    count_telling_words,
    read_user_sentences,
)
from ullage.core.text.word_lists import QUESTION_MARKS, word_list
from ullage.core.text.wording import (
    OBJECTIONS,
    QUESTION_WORDS,
    RESOLVES,
    begins_with,
    has_marker,
    is_corrective,
    read_wording,
)
from ullage.core.transcript.entries import Text, ToolResult

_MAX_TEXT_CHARS = 200
_SHORT_CHARS = 60
"""What is shorter says too little without what it answers; chosen."""
_MAX_REPLY_CHARS = 600
"""A longer message is more than a reply; chosen."""
_MAX_DENSE_CHARS = 80
"""Of an answer in a script whose characters are syllables or words; tried on sessions."""
_MAX_FEEDBACK_CHARS = 300
"""A longer message asks for something new, or shows what another wrote; tried on sessions."""
_BRIEF_CHARS = 20
_PICK_WORDS = 4
"""A label stands anywhere in a clause of no more words, else first; chosen."""
_FEW_WORDS = 3
"""A message that is hardly more than a yes or a name; chosen."""
_MIN_SHARED = 2
"""Words that a message takes up from a proposal that is no question; chosen."""
_MAX_OWN_WORDS = 5
"""Words of a message for each that it takes up; tried on sessions."""
_MIN_TELLING = 3
"""Words of a question that says itself what it asks about; chosen."""
_MAX_ANSWER_CHARS = 240
"""An answer that is short enough to stand whole; chosen."""
_POINT_CHARS = 50
"""Of each point that an approved question is about; chosen."""
_MAX_LISTS = 3
"""Answers with options that are remembered; chosen."""
_APPROVALS = word_list("approvals")
_CLEAR_APPROVALS = msgspec.structs.replace(_APPROVALS, words=frozenset(), fragments=None)
"""Those of several words, which say yes wherever a clause begins with them."""
_NODS = word_list("nods")
_LEAD_INS = word_list("lead_ins")
_SENTENCE_END = re.compile(r"[.!?。！？\n]")
_CLAUSE_END = re.compile(r"[,.!;:，。！、；：\n]")
_LABEL = re.compile(r"[A-Za-z]{1,3}(?!\w)|\d{1,2}(?![A-Za-z0-9])")
"""A label, with or without the ending that a language puts to it."""
_PAIR = re.compile(r"(?<!\w)[A-Za-z]{0,8}(\d{1,2})\s{0,2}[:：=.)-]\s{0,2}([A-Za-z])(?!\w)")
"""An answer to a numbered question by a letter, such as `Q1: A`."""
_NUMBER = re.compile(r"(?<![\w.-])\d{1,2}(?![\w-]|\.\d)")
_NUMBERED = re.compile(r"^\s{0,4}\d{1,2}[.)]\s", re.MULTILINE)
"""A line of a message that answers point by point."""
_FIGURE = re.compile(r"(?<!\w)(?:\d|[A-Z]{1,5}-?\d)")
"""A figure, or a name with one."""
_SAID = ("statement", "wish", "choice")
"""Kinds of what is neither asked nor ruled nor put off."""
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
    is_tentative: bool = False
    """Whether the last reply settles something only if the agent then acts: a yes, a bare word."""

    def hear(self, said: str, own_words: str) -> None:
        """Take in what the agent says."""
        self.answer, self.own_words = said, own_words

    def read_reply(self, prose: str, sentences: Sequence[Sentence]) -> str:
        """Say what a person's message settles as a reply; empty where it settles nothing so."""
        self.is_tentative = False
        self.lists = _list_options(self.answer)
        if self.lists:
            self.earlier = [*self.earlier[1 - _MAX_LISTS :], self.lists]
        is_long = len(prose) > _MAX_REPLY_CHARS
        if not self.answer or is_long or begins_with(prose, QUESTION_WORDS):
            return ""
        proposed = list_last_sentences(self.own_words)
        question = find_question(proposed)
        if picked := self._read_pick(prose, question):
            return picked
        # What rules the agent's conduct stands among the rules; the rest may settle something.
        rest = tuple(s for s in sentences if s.kind != "rule")
        said = prose if len(rest) == len(sentences) else " ".join(s.text for s in rest)
        is_asking = bool(rest) and rest[0].kind == "question"
        if not said or not proposed or is_asking:
            return ""
        return self._read_words(said, rest, proposed, question)

    def _read_words(
        self, prose: str, sentences: Sequence[Sentence], proposed: Sequence[str], question: str
    ) -> str:
        """Say what a message settles by its own words: an objection, an approval, an answer."""
        shared = [(count_shared_words(prose, s), n, s) for n, s in enumerate(proposed)]
        n_shared, _, nearest = max(shared)
        asked = self._write_proposal(proposed, question, nearest if n_shared else proposed[-1])
        reply = gist(prose, _MAX_TEXT_CHARS)
        if begins_with(prose, OBJECTIONS):
            if question or len(reply) <= 2 * _SHORT_CHARS:
                is_said = bool(question) or count_telling_words(reply) >= _MIN_SHARED
                return f"{reply}{AGAINST}{asked})" if is_said else ""
            return reply if n_shared >= _MIN_SHARED else ""
        if _approves(prose, is_asked=bool(question), n_shared=n_shared):
            if _asks_for_thing([s for s in proposed if s in question]):
                return ""
            self.is_tentative = True
            is_clear = bool(question) or len(prose.split()) <= _FEW_WORDS
            asked += self._write_points(question)
            return f"{asked}{APPROVED}{reply})" if is_clear else f"{reply}{APPROVES}{asked})"
        is_last = bool(question) and proposed[-1] in question
        asks_back = bool(sentences) and sentences[-1].kind == "question"
        is_dense = read_wording(prose).is_unspaced
        is_long = len(prose) >= (_MAX_DENSE_CHARS if is_dense else _MAX_TEXT_CHARS)
        if not is_last or asks_back or is_long:
            return ""
        # A figure or a name with one answers a question for a thing, in whatever words.
        words = read_wording(question)
        has_figure = (
            (words.is_unspaced or not words.words.isdisjoint(QUESTION_WORDS.words))
            and len(prose) <= 2 * _SHORT_CHARS
            and _FIGURE.search(reply) is not None
        )
        n_least = max(_MIN_SHARED, count_telling_words(prose) // _MAX_OWN_WORDS)
        is_taken_up = has_figure or n_shared >= n_least or _says_way(sentences)
        self.is_tentative = not is_taken_up
        # A name in another script answers nothing: it asks for the thing.
        is_brief = _is_brief(prose) and is_dense >= words.is_unspaced
        return f"{reply}{IN_REPLY}{asked})" if is_taken_up or is_brief else ""

    def _write_proposal(self, sentences: Sequence[str], question: str, statement: str) -> str:
        """Write what a reply answers so that it is understood alone."""
        if question and count_telling_words(question) >= _MIN_TELLING:
            return gist(question, _MAX_TEXT_CHARS)
        whole = gist(self.answer, _MAX_ANSWER_CHARS)
        if not whole.endswith("…"):
            return remove_bold(whole)
        if not question:
            return gist(statement, _MAX_TEXT_CHARS)
        before = [s for s in sentences if s not in question and not s.endswith((":", "："))]
        last = remove_list_mark(before[-1]) if before else ""
        is_said = bool(before) and last == before[-1]
        return gist(f"{last} {question}" if is_said else question, 2 * _MAX_TEXT_CHARS)

    def _write_points(self, question: str) -> str:
        """Write in short the points of the answer that a question is about; empty without any."""
        points = self.lists[-1] if self.lists and len(self.answer) > _MAX_ANSWER_CHARS else {}
        if not question or len(points) < _MIN_SHARED:
            return ""
        named = "; ".join(f"{label}. {gist(text, _POINT_CHARS)}" for label, text in points.items())
        return f" [{gist(named, _MAX_TEXT_CHARS)}]"

    def settle(self, sentences: Sequence[Sentence], prose: str) -> tuple[Sentence, ...]:
        """Sort what a person says of the thing at hand: behind a first request it settles it."""
        is_feedback, self.is_begun = self.is_begun and len(prose) <= _MAX_FEEDBACK_CHARS, True
        return tuple(_settle(sentence, is_feedback=is_feedback) for sentence in sentences)

    def _read_pick(self, prose: str, question: str) -> str:
        """Give the options that a message picks by their labels."""
        pairs: list[tuple[str, str]] = _PAIR.findall(prose[:_MAX_TEXT_CHARS])
        if len(pairs) > 1:
            return self._read_pairs(pairs, prose)
        if len(_NUMBERED.findall(prose)) > 1:
            return ""
        clause = _CLAUSE_END.split(prose, maxsplit=1)[0] if self.lists else ""
        words = clause.split()
        if len(prose) > _SHORT_CHARS:
            # What is more than a label has to end its clause with it, and to say so of no point.
            is_point = prose[len(clause) :].startswith((":", "："))
            is_named = _names_option(words[-2:], self.answer)
            is_pick = not is_point and (is_named or len(words) < _PICK_WORDS)
            words = words[-1:] if is_pick else []
        elif len(labels := _NUMBER.findall(prose)) > 1 and not prose.endswith(QUESTION_MARKS):
            words = labels[:_PICK_WORDS]
        picked = [
            self._find_option(word, words, prose, is_asked=bool(question))
            for word in words[:_PICK_WORDS]
        ]
        options = "; ".join(dict.fromkeys(filter(None, picked)))
        asked = f"; asked: {gist(question, _MAX_TEXT_CHARS)}" if question else ""
        return f"{options}{CHOSEN}{gist(prose, _MAX_TEXT_CHARS)}{asked})" if options else ""

    def _find_option(self, word: str, words: Sequence[str], prose: str, *, is_asked: bool) -> str:
        """Give the option that a word names: of several lists, that whose words are taken up."""
        match = _LABEL.match(word.strip("()[]#*`\"'"))
        label = match[0].upper() if match else ""
        is_bare = len(words) < _MIN_TELLING and word == words[-1]
        if not label.isdecimal() and not is_bare:
            return ""
        # A point of their own has a label too: where nothing was asked, words are taken up.
        is_own = not is_asked and _NUMBERED.match(prose) is not None
        n_least = _MIN_SHARED if is_own else 0
        named = [
            options[label]
            for options in reversed(self.lists)
            if label in options and count_shared_words(options[label], prose) >= n_least
        ]
        return max(named, key=lambda option: count_shared_words(option, prose), default="")

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
    call_id: str


def read_answers(result: ToolResult) -> Iterator[Answer]:
    """Give what a person answered to a tool's questions, or why they refused it."""
    question = ""
    for speech in (s for part in result.content if isinstance(part, Text) for s in part.speech):
        if speech.speaker == "tool":
            question = gist(speech.text, _MAX_TEXT_CHARS)
        elif speech.speaker == "typed":
            yield Answer(text=speech.text, question=question, call_id=result.call_id)


def settles_question(answer: Answer, offered: str) -> bool:
    """Tell whether an answer names what the tool offered, or is short and says something itself.

    `offered` are the arguments of the call.
    """
    if all(part.replace('"', '\\"') in offered for part in answer.text.split(", ")):
        return True
    kinds = {sentence.kind for sentence in read_user_sentences(answer.text, 0)}
    # Letters alone tell that there is no answer: "idk".
    is_telling = not answer.text.isascii() or count_telling_words(answer.text) > 0
    is_short = len(answer.text) <= _SHORT_CHARS and (
        is_telling or _FIGURE.search(answer.text) is not None
    )
    return kinds.isdisjoint(("question", "open")) and (
        is_short
        or begins_with(answer.text, _APPROVALS)
        or begins_with(answer.text, OBJECTIONS)
        or count_shared_words(answer.text, answer.question) > 0
    )


def write_answer(answer: Answer, call: str) -> str:
    """Write an answer as what it settles; `call` is what a refusal is against, if it is seen."""
    note = f" (asked: {answer.question})" if answer.question else ""
    if not answer.question and call:
        note = f"{AGAINST}{call})"
    return gist(answer.text, _MAX_TEXT_CHARS) + note


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
    _, _, behind = prose.partition(" ")
    is_led = begins_with(prose, _LEAD_INS) and not begins_with(prose, _NODS)
    if begins_with(prose, _APPROVALS) or (is_led and begins_with(behind, _APPROVALS)):
        is_short = len(prose.split()) <= _FEW_WORDS or (is_asked and len(clause) <= _SHORT_CHARS)
        return is_short or n_shared >= _MIN_SHARED
    first = clause if is_asked and len(clause) <= _SHORT_CHARS else prose[: _SHORT_CHARS + 1]
    if len(first) <= _SHORT_CHARS and any(
        begins_with(part, _CLEAR_APPROVALS) for part in _CLAUSE_END.split(first)[1:]
    ):
        return True
    if not begins_with(prose, _NODS):
        return False
    is_near = n_shared >= _MIN_SHARED and len(prose) <= _MAX_TEXT_CHARS
    return is_near or (is_asked and len(prose) <= 2 * _BRIEF_CHARS)


def _names_option(words: Sequence[str], answer: str) -> bool:
    """Tell whether words name an option as the answer does at the beginning of a line: Option 1."""
    name = re.escape(" ".join(words))
    pattern = rf"^\W{{0,6}}{name}(?!\w)"
    return len(words) > 1 and re.search(pattern, answer, re.IGNORECASE | re.MULTILINE) is not None


def _asks_for_thing(questions: Sequence[str]) -> bool:
    """Tell whether the last question is for a thing, which a yes does not name."""
    last = questions[-1] if questions else ""
    words = read_wording(last)
    return begins_with(last, QUESTION_WORDS) or (
        words.is_unspaced and has_marker(words, QUESTION_WORDS)
    )


def _says_way(sentences: Sequence[Sentence]) -> bool:
    """Tell whether a message begins with what its writer is going to do, or they both."""
    first = sentences[0].wording if sentences and sentences[0].kind in _SAID else None
    return first is not None and not first.is_unspaced and has_marker(first, RESOLVES)


def _is_brief(prose: str) -> bool:
    n_chars = _BRIEF_CHARS if prose.isascii() else _BRIEF_CHARS // 3
    is_command = prose.startswith("/") or begins_with(prose, _LEAD_INS)
    return len(prose.split()) <= _FEW_WORDS and len(prose) <= n_chars and not is_command
