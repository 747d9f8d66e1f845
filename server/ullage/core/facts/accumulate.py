"""What messages say, gathered one after the other: a pass that can go on where it stopped."""

from collections import deque
from collections.abc import Callable, Iterable, Sequence
from typing import TypeAlias

import msgspec

from ullage.core.facts.command_runs import JudgedRun, read_run
from ullage.core.facts.previous_summary import OPEN_REQUEST, PreviousSummary, read_previous_summary
from ullage.core.facts.thread import SpokenMessage
from ullage.core.facts.tool_calls import read_call
from ullage.core.text.prose import gist, separate_injected, split_sentences
from ullage.core.text.said import SentenceClaims, read_sentence_claims
from ullage.core.text.sentences import Sentence, read_agent_sentences, read_user_sentences
from ullage.core.text.wording import is_directive, read_wording
from ullage.core.transcript.context import ContextItem
from ullage.core.transcript.message import Text, ToolCall, ToolResult, plain_text

_LONG_ANSWER_CHARS = 500
_SHORT_REPLY_CHARS = 50
"""A short reply to a long answer is a decision (docs/design/checkpoints.md, "Decisions")."""
_MAX_COMPARED = 1200
"""Sentences compared with one another for replaced values; the newest. Chosen."""
_REPLY_KINDS = ("statement", "choice", "rule")


class Choice(msgspec.Struct, frozen=True, kw_only=True):
    text: str
    is_user: bool
    is_guessed: bool
    """Whether only its place speaks for it: a short reply to a long answer."""
    n_item: int
    at_ms: int | None


class FileTouch(msgspec.Struct, frozen=True, kw_only=True):
    path: str
    is_modified: bool
    n_item: int
    """The last item that touched it."""


class OpenTurn(msgspec.Struct):
    """What a user wrote, and what the agent answered to it so far."""

    sentences: Sequence[Sentence]
    prose: str
    n_item: int
    at_ms: int | None
    answer: str = ""
    is_answered: bool = False


Call: TypeAlias = tuple[ToolCall, str | None, tuple[str, ...]]
"""A call, the command line that it runs if any, and the paths that it touches."""


class FactAccumulator(msgspec.Struct):
    """What one pass over the messages has seen so far."""

    clean: Callable[[str], str]
    """Every text that is looked into for what it says goes through it first, as a whole: a secret
    that was cut is not told for one any more. Of results that are most of a session only those do
    that are quoted."""
    carried: list[PreviousSummary] = []
    sentences: list[Sentence] = []
    replies: list[Choice] = []
    turns: list[OpenTurn] = []
    touches: dict[str, FileTouch] = {}
    runs: list[JudgedRun] = []
    tools: dict[str, None] = {}
    plan: tuple[tuple[str, bool], ...] = ()
    calls: dict[str, Call] = {}
    last_call: Call | None = None
    times: list[int | None] = []
    last_answer: str = ""
    results: list[str] = []
    said: list[SpokenMessage] = []
    compared: deque[SentenceClaims] = msgspec.field(
        default_factory=lambda: deque(maxlen=_MAX_COMPARED)
    )
    """The newest sentences, made ready to be compared for replaced values."""


def update(seen: FactAccumulator, items: Iterable[ContextItem]) -> None:
    """Go on with the messages that follow those seen so far."""
    n_before = len(seen.sentences)
    for n_item, item in enumerate(items, len(seen.times)):
        seen.times.append(item.at_ms)
        if item.category == "summary":
            _recall(seen, item, n_item)
        elif item.category == "user":
            _hear_user(seen, item, n_item)
        elif item.message.role == "assistant":
            _hear_agent(seen, item, n_item)
        _see_results(seen, item, n_item)
    for sentence in seen.sentences[max(n_before, len(seen.sentences) - _MAX_COMPARED) :]:
        seen.compared.append(
            read_sentence_claims(
                sentence.text,
                sentence.wording,
                is_user=sentence.is_user,
                is_rule=sentence.kind == "rule",
                is_choice=sentence.kind in ("rule", "choice"),
            )
        )


def _recall(seen: FactAccumulator, item: ContextItem, n_item: int) -> None:
    """Take up an earlier summary; what was open in it may be closed by what follows."""
    earlier = read_previous_summary(seen.clean(plain_text(item.message)))
    rest: list[Sentence] = []
    for line in earlier.lines["Remaining"]:
        ask = line.removeprefix(OPEN_REQUEST)
        is_request = ask != line
        sentence = Sentence(
            text=ask,
            kind="statement" if is_request else "open",
            n_item=n_item,
            is_user=is_request,
            is_bulk=False,
            wording=read_wording(ask),
        )
        if is_request:
            seen.turns.append(OpenTurn([sentence], ask, n_item, item.at_ms))
        rest.append(sentence)
    seen.sentences += rest
    seen.carried.append(
        PreviousSummary(is_ours=earlier.is_ours, lines={**earlier.lines, "Remaining": ()})
    )


def _hear_user(seen: FactAccumulator, item: ContextItem, n_item: int) -> None:
    prose, _ = separate_injected(seen.clean(plain_text(item.message)))
    prose = prose.strip()
    if not prose:
        return
    seen.said.append(SpokenMessage(is_user=True, text=prose))
    sentences = read_user_sentences(prose, n_item)
    is_short = len(seen.last_answer) > _LONG_ANSWER_CHARS and len(prose) < _SHORT_REPLY_CHARS
    question = _question_of(seen.last_answer) if len(prose) < 4 * _SHORT_REPLY_CHARS else ""
    is_reply = bool(sentences) and all(s.kind in _REPLY_KINDS for s in sentences)
    if is_reply and (question or is_short):
        chosen = " ".join(s.text for s in sentences if s.kind != "rule") or prose
        text = gist(chosen, 200) + (f" (in reply to: {question})" if question else "")
        seen.replies.append(
            Choice(
                text=text,
                is_user=True,
                is_guessed=not question,
                n_item=n_item,
                at_ms=item.at_ms,
            )
        )
    if is_reply and question:
        # The rule stays among the rules too; what it answers is told here alone.
        sentences = tuple(s for s in sentences if s.kind == "rule")
    seen.sentences += sentences
    seen.turns.append(OpenTurn(sentences, prose, n_item, item.at_ms))


def _question_of(answer: str) -> str:
    """Find the question that an answer ends with."""
    last = answer[-1500:].rstrip().rsplit("\n", 1)[-1]
    if not last.endswith(("?", "？", "?**", "؟")):
        return ""
    return gist(list(split_sentences(last.replace("**", "")))[-1], 200)


def _hear_agent(seen: FactAccumulator, item: ContextItem, n_item: int) -> None:
    text = seen.clean(plain_text(item.message)).strip()
    is_calling = False
    for block in item.message.blocks:
        if isinstance(block, ToolCall):
            is_calling = True
            _see_call(seen, block, n_item)
    if not text:
        return
    if item.category == "assistant":
        seen.said.append(SpokenMessage(is_user=False, text=text))
    seen.sentences += [s for s in read_agent_sentences(text, n_item) if not _is_copied(seen, s)]
    seen.last_answer = text
    if seen.turns:
        seen.turns[-1].answer = text
        seen.turns[-1].is_answered = not is_calling


def _is_copied(seen: FactAccumulator, sentence: Sentence) -> bool:
    """Tell whether the agent only repeats an instruction that a tool's result held."""
    if sentence.kind not in ("choice", "open") or not is_directive(sentence.text):
        return False
    if any(sentence.text in result for result in seen.results):
        return True
    is_masked = "[REDACTED:" in sentence.text
    return is_masked and any(sentence.text in seen.clean(result) for result in seen.results)


def _see_call(seen: FactAccumulator, call: ToolCall, n_item: int) -> None:
    facts = read_call(call)
    seen.tools[seen.clean(call.name)] = None
    if facts.plan:
        seen.plan = tuple((seen.clean(step), is_done) for step, is_done in facts.plan)
    paths = tuple(seen.clean(touch.path) for touch in facts.touches)
    for path, touch in zip(paths, facts.touches, strict=True):
        before = seen.touches.pop(path, None)
        is_modified = touch.is_modified or (before is not None and before.is_modified)
        seen.touches[path] = FileTouch(path=path, is_modified=is_modified, n_item=n_item)
    command = None if facts.command is None else seen.clean(facts.command)
    seen.calls[call.call_id] = (call, command, paths)
    seen.last_call = seen.calls[call.call_id]


def _see_results(seen: FactAccumulator, item: ContextItem, n_item: int) -> None:
    for block in item.message.blocks:
        if not isinstance(block, ToolResult):
            continue
        call, command, paths = seen.calls.pop(block.call_id, (None, None, ()))
        name = seen.clean(block.name or (call.name if call else ""))
        if call is None and name:
            seen.tools[name] = None
        shown = command if command is not None or not paths else f"{name} {paths[0]}"
        run = read_run(name, shown, block, n_item) if name or shown else None
        if run is not None:
            seen.runs.append(run)
        seen.results += [part.text for part in block.content if isinstance(part, Text)]
