"""The state of the task: what it is, what comes next, what is open.

It follows from who spoke last, from the agent's plan, from its last calls and from how its turns
ended; words only refine it (docs/design/checkpoints.md, "Task state").
"""

import re
from collections.abc import Iterator, Sequence, Set
from typing import Literal, TypeAlias

import msgspec

from ullage.core.facts.facts import Facts
from ullage.core.facts.plan import Step
from ullage.core.facts.requests import Request, is_bare, read_approved
from ullage.core.facts.settled import CHOSEN
from ullage.core.facts.summary_sections import ASKED
from ullage.core.facts.thread import TOPIC_CHARS
from ullage.core.text.lazy_pattern import lazy_pattern
from ullage.core.text.prose import count_letters, cut_sentences, gist, remove_bold
from ullage.core.text.questions import find_last_question
from ullage.core.text.sentences import (
    Sentence,
    count_telling_words,
    find_open_points,
    leave_out_quoted_words,
)
from ullage.core.text.word_lists import QUESTION_MARKS
from ullage.core.text.wording import (
    DONE,
    INSPECTING,
    OPEN_POINTS,
    Wording,
    begins_with,
    has_marker,
    is_intention,
    is_phrase_in,
    read_wording,
)

OpenState: TypeAlias = Literal["asked", "in progress", "planned", "failing", "question", "said"]
_MAX_QUOTE_CHARS = 240
_MIN_QUOTE_CHARS = 40
"""A shorter announcement is quoted with the sentence before it: "Let me fix this." Chosen."""
_MAX_TASKS = 6
"""Boxes of a task file that are listed: it may have a hundred. Chosen."""
_MAX_PUT_OFF_CHARS = 100
"""A longer sentence of a person asks for something, and says beside it what is later. Chosen."""
_BEGIN_WORDS = 5
"""Of an agent's sentence, in which a word must stand that says that something is left; chosen."""
_MIN_POINT_WORDS = 2
_MAX_ITEM_CHARS = 300
WAITING = "wait for the user's answer: "
"""How the next step begins where the agent asked something at the end of its turn."""
FAILING = "failing: "
"""How an open item begins that a check's failure leaves."""
_NOW = "now: "
"""Before what goes on in a task."""
_MAX_NOW_CHARS = 50
"""Of what goes on in a task, beside that; chosen."""
_MIN_TASK_WORDS = 5
_MIN_FORMER_WORDS = 3
"""Telling words of a message that says by itself what its task is, and of a task that says what a
part of it is for; chosen."""
_NAME = lazy_pattern(r"\w+(?:[._]\w+)+")
"""A name that is written as one word: what its parts say, such as `Next.js`, it does not."""
_NOTHING_LEFT = lazy_pattern(
    r"[\W_]*(?:there(?:'s| is| are) )?(?:nothing|none)\b(?!.*\b(?:but|except|yet)\b)", re.IGNORECASE
)
"""What says that no work is left names none; in English alone."""
_CLAUSE_END = lazy_pattern(r"[,;:，；：、](?:\s|(?<=[，；：、]))|\s[–—-]\s")


class Quote(msgspec.Struct, frozen=True, kw_only=True):
    text: str
    by: Literal["user", "agent", "plan", "call"]


class OpenItem(msgspec.Struct, frozen=True, kw_only=True):
    text: str
    state: OpenState
    n_item: int


class NamedTask(msgspec.Struct, frozen=True, kw_only=True):
    text: str
    is_part: bool
    """Whether it only picks or approves something, or is a command: the task is what was asked
    before."""
    is_reply: bool
    """Whether it is a part, answers something or is a rule: it says no more of a task that
    follows."""


class TaskState(msgspec.Struct, frozen=True, kw_only=True):
    topic: str
    """The task at hand, in whole clauses; at most `TOPIC_CHARS` characters."""
    request: str
    """The request that is open, whole; empty where none is."""
    next_step: Quote | None
    """What comes next and who said so; None where the agent waits for its user."""
    question: str
    """What the agent asked at the end of its turn."""
    open_items: tuple[OpenItem, ...]
    """Without doubles: what was asked first, then the plan, failures and points that remain."""


def read_task_state(facts: Facts) -> TaskState:
    """Read the state of the task from what a session holds."""
    open_requests = _list_at_hand(facts.turns)
    is_asked = facts.is_turn_ended and (facts.tools or any(map(_is_task, facts.turns)))
    question = find_last_question(leave_out_quoted_words(facts.last_answer)) if is_asked else ""
    request = _find_task(open_requests)
    return TaskState(
        topic=_find_topic(facts),
        request=_tell(request) if request else "",
        next_step=_find_next_step(facts, open_requests, question),
        question=question,
        open_items=tuple(_list_open_items(facts, open_requests, question)),
    )


def _is_task(turn: Request) -> bool:
    """Whether a message asks for something, in however few words: "hello" does not."""
    is_said = len(turn.prose.split()) > 1 and count_telling_words(turn.prose) > 0
    return is_said or not turn.is_bare


def _list_at_hand(turns: Sequence[Request]) -> list[Request]:
    """List the requests that are open; a yes goes on with the task that was named before."""
    at_hand = [turn for turn in turns if turn.is_open]
    goes_on = [turn.is_bare and (turn.is_nod or turn.reply) for turn in at_hand]
    if not at_hand or not all(goes_on) or any(turn.names_task for turn in at_hand):
        return at_hand
    before = [turn for turn in turns if turn.names_task and turn.n_item < at_hand[0].n_item]
    resumed = (msgspec.structs.replace(turn, fate="in progress") for turn in before[-1:])
    return [*resumed, *at_hand]


def _find_task(requests: Sequence[Request]) -> Request | None:
    """Find the newest request that names a task; else the newest."""
    named = [request for request in requests if request.names_task]
    return (named or list(requests) or [None])[-1]


def _find_topic(facts: Facts) -> str:
    """Name the task: the last request that names one, with the plan's step at work; where that is a
    reply or short, the task before it, with it as what goes on."""
    steps = [step.text for step in _list_current_steps(facts) if step.state == "in progress"]
    tasks = _list_named(facts)
    goals = [line.removeprefix(ASKED) for line in facts.previous_lines("Goal")[-1:]]
    said = [turn.prose for turn in facts.turns[-1:]]
    topics = [facts.begun, *(task.text for task in tasks[-1:]), *steps, *goals, *said]
    topic = next(filter(None, (cut_clauses(topic, TOPIC_CHARS) for topic in topics)), "")
    if steps and steps[0] not in topic:
        longer = f"{topic} ({steps[0]})"
        return longer if len(longer) <= TOPIC_CHARS else topic
    is_part = not facts.begun and bool(tasks) and tasks[-1].is_part
    is_whole = len(topic) > _MAX_NOW_CHARS or count_telling_words(topic) >= _MIN_TASK_WORDS
    if is_whole and not is_part:
        return topic
    former = [task.text for task in tasks if not (task.is_reply or task.text.startswith(topic))]
    # A pick or a yes has a task before it, a message of its own words goes on at most.
    telling = [text for text in (former if is_part else former[-1:]) if _tells_task(text)]
    note = f" ({_NOW}{cut_clauses(topic, _MAX_NOW_CHARS)})"
    return cut_clauses(telling[-1], TOPIC_CHARS - len(note)) + note if telling else topic


def _tells_task(text: str) -> bool:
    is_question = text.endswith(QUESTION_MARKS)
    return not is_question and count_telling_words(text) >= _MIN_FORMER_WORDS


def _list_named(facts: Facts) -> list[NamedTask]:
    """List what the requests name that name a task, or what they pick or approve."""
    rules = {rule.text for rule in facts.rules}
    tasks: list[NamedTask] = []
    for turn in facts.turns:
        option, mark, _ = turn.reply.partition(CHOSEN)
        own = read_approved(turn.reply) if turn.is_bare else _leave_out_rules(turn, rules)
        text = option if mark else own
        is_part = bool(mark) or turn.is_bare or text.startswith("/")
        is_reply = is_part or bool(turn.reply) or text in rules
        if turn.names_task and text:
            tasks.append(NamedTask(text=text, is_part=is_part, is_reply=is_reply))
    return tasks


def _leave_out_rules(request: Request, rules: Set[str]) -> str:
    """Give what a request says beside its rules; all of it where it has nothing else."""
    sentences = [piece.text for piece in cut_sentences(request.prose)]
    return " ".join(text for text in sentences if text not in rules) or request.prose


def cut_clauses(text: str, n_chars: int) -> str:
    """Give the first whole sentences of a text that fit, else its first clauses, else words.

    It begins with a sentence that names something: "beautiful!" does not.
    """
    sentences = [piece.text for piece in cut_sentences(remove_bold(text)) if piece.text]
    telling = [sentence for sentence in sentences if not is_bare(sentence)]
    sentences = sentences[sentences.index(telling[0]) :] if telling else sentences
    shown = ""
    for sentence in sentences:
        longer = f"{shown} {sentence}".strip()
        if len(longer) <= n_chars:
            shown = longer
            continue
        if len(shown) >= n_chars // 3:
            break
        # A few words alone say too little: they go on.
        least = max(len(shown) + 1, n_chars // 3)
        ends = [end.start() for end in _CLAUSE_END.finditer(longer, least, n_chars)]
        return longer[: ends[-1]].rstrip() if ends else gist(longer, n_chars)
    return shown


def _find_next_step(facts: Facts, open_requests: Sequence[Request], question: str) -> Quote | None:
    """Find what comes next; nothing where the agent waits for the answer to its question.

    In the midst of a turn that is what the agent announced last, or the step of its plan that it
    took up since, or what it was asked if it said nothing yet.
    """
    if facts.is_turn_ended:
        return None if question else _find_offered_step(facts)
    asked_at = open_requests[-1].n_item if open_requests else -1
    failure = facts.last_failure
    if failure is not None and failure.n_item > max(facts.last_answer_item, asked_at):
        return Quote(text=FAILING + failure.failure, by="call")
    active = [step.text for step in facts.plan if step.state == "in progress"]
    if active and facts.plan_item > max(facts.last_answer_item, asked_at):
        return Quote(text=gist(active[0], _MAX_QUOTE_CHARS), by="plan")
    is_begun = bool(open_requests) and open_requests[-1].fate == "in progress"
    if facts.is_announced and facts.last_answer_item > asked_at:
        is_seen = facts.last_result_item > facts.last_answer_item and not facts.pending_calls
        is_seen = is_seen and bool(open_requests)
        announced = _quote_end(facts.last_answer, is_seen=is_seen)
        if announced and _is_long(read_wording(announced)):
            return Quote(text=announced, by="agent")
    if active and is_begun:
        return Quote(text=gist(active[0], _MAX_QUOTE_CHARS), by="plan")
    said = [request for request in open_requests if not request.is_bare] or open_requests
    if not said:
        return None
    return Quote(text=gist(_tell(said[-1]), _MAX_QUOTE_CHARS), by="user")


def _tell(request: Request) -> str:
    """Give a request's words, where they are few with what they approve or pick."""
    return request.reply if request.is_bare and request.reply else request.prose


def _find_offered_step(facts: Facts) -> Quote | None:
    """Find the first step of the plan or of the last report that is left where a turn ended."""
    for step in (*_list_current_steps(facts), *_list_tasks(facts)):
        return Quote(text=gist(step.text, _MAX_QUOTE_CHARS), by="plan")
    for sentence in _list_said_open(facts):
        if sentence.n_item == facts.last_answer_item:
            return Quote(text=gist(sentence.text, _MAX_QUOTE_CHARS), by="agent")
    return None


def _quote_end(said: str, *, is_seen: bool) -> str:
    """Quote what an agent's words announce at their end, else the sentences that they end with.

    A look that has its results (`is_seen`) comes no more: what was said before it does, unless that
    is a report.
    """
    pieces = [piece.text for piece in cut_sentences(remove_bold(said)) if count_letters(piece.text)]
    wordings = [read_wording(text) for text in pieces]
    is_report = [has_marker(wording, DONE) for wording in wordings]
    if is_seen and wordings and has_marker(wordings[-1], INSPECTING):
        pieces, wordings = pieces[:-1], wordings[:-1]
        if not pieces or is_report[len(pieces) - 1]:
            return ""
    announced = [at for at, wording in enumerate(wordings) if is_intention(wording.lower)]
    start = announced[-1] if announced else len(pieces) - 1
    while start > 0 and len(" ".join(pieces[start:])) < _MIN_QUOTE_CHARS:
        if is_report[start - 1]:
            break
        start -= 1
    return gist(" ".join(pieces[start:]), _MAX_QUOTE_CHARS)


def _list_current_steps(facts: Facts) -> list[Step]:
    """List the steps that are not done of a plan that the last named request still goes by.

    Agents leave the lists of former tasks unticked.
    """
    named = [turn.n_item for turn in facts.turns if turn.names_task]
    is_current = not named or facts.plan_item > named[-1] or not facts.is_turn_ended
    return [step for step in facts.plan if step.state != "done"] if is_current else []


def _list_tasks(facts: Facts) -> list[Step]:
    """List what comes next in the task file that the agent ticks: behind the last box ticked."""
    left = [at for at, step in enumerate(facts.tasks) if step.state != "done"]
    last = max((at for at, step in enumerate(facts.tasks) if step.state == "done"), default=-1)
    following = [at for at in left if at > last]
    return [facts.tasks[at] for at in (following or left)[:_MAX_TASKS]]


def _list_open_items(
    facts: Facts, open_requests: Sequence[Request], question: str
) -> Iterator[OpenItem]:
    written: set[str] = set()
    for item in _list_all_open(facts, open_requests, question):
        text = gist(item.text, _MAX_ITEM_CHARS)
        if text and text not in written:
            written.add(text)
            yield msgspec.structs.replace(item, text=text)


def _list_all_open(
    facts: Facts, open_requests: Sequence[Request], question: str
) -> Iterator[OpenItem]:
    for request in open_requests:
        is_told = not request.is_bare or request.names_task or CHOSEN in request.reply
        if is_told or len(open_requests) == 1:
            state: OpenState = "asked" if request.fate == "asked" else "in progress"
            text = _tell(request) if request.is_bare else request.ask or request.prose
            yield OpenItem(text=text, state=state, n_item=request.n_item)
    for step in _list_current_steps(facts):
        state = "in progress" if step.state == "in progress" else "planned"
        yield OpenItem(text=step.text, state=state, n_item=facts.plan_item)
    for step in _list_tasks(facts):
        yield OpenItem(text=step.text, state="planned", n_item=facts.n_items)
    begin = _find_last_begin(facts)
    for run in facts.failing_checks:
        if run.n_item > begin:
            yield OpenItem(text=f"{FAILING}{run.failure}", state="failing", n_item=run.n_item)
    if facts.last_failure is not None and not facts.last_failure.is_check:
        text = FAILING + facts.last_failure.failure
        yield OpenItem(text=text, state="failing", n_item=facts.last_failure.n_item)
    if question:
        yield OpenItem(text=question, state="question", n_item=facts.last_answer_item)
    for sentence in _list_said_open(facts):
        yield OpenItem(text=sentence.text, state="said", n_item=sentence.n_item)


def _find_last_begin(facts: Facts) -> int:
    """Find the item where the agent's last turn began: a check that failed before was left."""
    ended = [n_item for n_item in facts.reports if n_item != facts.last_answer_item]
    return ended[-1] if ended else -1


def _list_said_open(facts: Facts) -> Iterator[Sentence]:
    """List what the user put off, and what a summary or the agent's last report leaves."""
    points = [s for s in facts.sentences if s.kind == "open" and _names_work(s)]
    put_off = [s for s in points if s.is_user and len(s.text) <= _MAX_PUT_OFF_CHARS]
    counted = _find_last_list(facts, points)
    left = [*put_off, *(s for s in points if not s.is_user and s.n_item == counted)]
    edited = {touch.path: touch.n_item for touch in facts.files if touch.is_modified}
    done = [s for s in facts.sentences if s.kind == "done"]
    return find_open_points([*left, *done], edited)


def _find_last_list(facts: Facts, points: Sequence[Sentence]) -> int:
    """Find where it was said last what is left: in a report if it is the last one, in a summary
    only if the agent has made no list of its own since."""
    reports = {*facts.reports, facts.last_answer_item}
    sources = {*facts.summary_items, *reports}
    last = max((s.n_item for s in points if not s.is_user and s.n_item in sources), default=-1)
    if last in facts.summary_items and facts.plan_item > last:
        return -1
    later = [report for report in facts.reports if report > last]
    acted = [*(run.n_item for run in facts.runs), *(touch.n_item for touch in facts.files)]
    # The agent worked on, and its report on that leaves nothing.
    is_past = bool(later) and any(last < n_item <= later[-1] for n_item in acted)
    return -1 if is_past and last in reports else last


def _names_work(sentence: Sentence) -> bool:
    """Tell whether a sentence says what is left rather than announces a list of that."""
    wording, text = sentence.wording, sentence.text.rstrip("*_`) ")
    if text.endswith(QUESTION_MARKS) or _NOTHING_LEFT.match(text):
        return False
    if has_marker(wording, OPEN_POINTS) and not sentence.is_user:
        named = read_wording(_NAME.sub("…", text))
        is_begun = not wording.is_unspaced or begins_with(text, OPEN_POINTS)
        if not is_begun or not has_marker(named, OPEN_POINTS):
            return False
    words = [] if sentence.is_user else sorted(wording.marked & OPEN_POINTS.words)
    if words and not is_phrase_in(wording, OPEN_POINTS):
        # "Remaining: …" says what is left, "what to do next" hardly.
        begin = read_wording(" ".join(text.split()[:_BEGIN_WORDS])).words
        if begin.isdisjoint(words):
            return False
    return _is_long(wording) and not text.endswith((":", "："))


def _is_long(wording: Wording) -> bool:
    """Tell whether there are words enough for a point: "Great!" is none."""
    return wording.is_unspaced or len(wording.words) >= _MIN_POINT_WORDS
