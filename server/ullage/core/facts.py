"""Facts: what a run of messages holds that a summary or a checkpoint has to carry."""

from collections.abc import Callable, Sequence
from typing import TypeAlias

import msgspec

from ullage.core.arguments import read_call
from ullage.core.context import ContextItem
from ullage.core.earlier import OPEN_REQUEST, Carried, read_earlier
from ullage.core.message import Text, ToolCall, ToolResult, plain_text
from ullage.core.prose import gist, own_words, split_sentences
from ullage.core.runs import RawRun, Run, read_run, settle_runs
from ullage.core.sentences import Sentence, agent_sentences, opened, reworded, user_sentences
from ullage.core.supersede import Retired, Said, masked, resolve, retired_values
from ullage.core.thread import Words
from ullage.core.wording import is_directive, worded

_LONG_ANSWER_CHARS = 500
_SHORT_REPLY_CHARS = 50
"""A short reply to a long answer is a decision: S1 §7.2, Layer B."""
_MAX_PENDING = 5
_MAX_COMPARED = 1200
"""Sentences compared with one another for replaced values; the newest. Chosen."""


_REPLY_KINDS = ("statement", "choice", "rule")


class Turn(msgspec.Struct, frozen=True, kw_only=True):
    """What a user asked, and how the agent's last words on it began."""

    ask: str
    """The user's sentences that are not rules, bounded; empty where there are none."""
    prose: str
    """All that the user wrote."""
    answer: str
    is_answered: bool
    n_item: int
    at_ms: int | None


class Choice(msgspec.Struct, frozen=True, kw_only=True):
    text: str
    is_user: bool
    is_guessed: bool
    """Whether only its place speaks for it: a short reply to a long answer (S1 §7.2)."""
    n_item: int
    at_ms: int | None


class FileTouch(msgspec.Struct, frozen=True, kw_only=True):
    path: str
    is_modified: bool
    n_item: int
    """The last item that touched it."""


class Facts(msgspec.Struct, frozen=True, kw_only=True):
    carried: tuple[Carried, ...]
    rules: tuple[Sentence, ...]
    choices: tuple[Choice, ...]
    sentences: tuple[Sentence, ...]
    """Everything said, replaced values resolved, in order."""
    turns: tuple[Turn, ...]
    open_points: tuple[str, ...]
    findings: tuple[str, ...]
    files: tuple[FileTouch, ...]
    runs: tuple[Run, ...]
    tools: tuple[str, ...]
    plan: tuple[tuple[str, bool], ...]
    retired: tuple[Retired, ...]
    pending_calls: tuple[tuple[str, str], ...]
    """Calls without a result: tool and arguments in short."""
    last_call: tuple[str, str] | None
    last_answer: str
    n_items: int
    times: tuple[int | None, ...]
    """When each item was written."""
    said: tuple[Words, ...]


class _Turn(msgspec.Struct):
    sentences: Sequence[Sentence]
    prose: str
    n_item: int
    at_ms: int | None
    answer: str = ""
    is_answered: bool = False


_Call: TypeAlias = tuple[ToolCall, str | None, tuple[str, ...]]
"""A call, the command line that it runs if any, and the paths that it touches."""


class _Gathering(msgspec.Struct):
    """What one pass over the messages has seen so far."""

    clean: Callable[[str], str]
    carried: list[Carried] = []
    sentences: list[Sentence] = []
    replies: list[Choice] = []
    turns: list[_Turn] = []
    touches: dict[str, FileTouch] = {}
    runs: list[RawRun] = []
    tools: dict[str, None] = {}
    plan: tuple[tuple[str, bool], ...] = ()
    calls: dict[str, _Call] = {}
    last_call: _Call | None = None
    times: list[int | None] = []
    last_answer: str = ""
    results: list[str] = []
    said: list[Words] = []


def _as_it_is(text: str) -> str:
    return text


def gather(
    items: Sequence[ContextItem],
    clean: Callable[[str], str] = _as_it_is,
    earlier: Carried | None = None,
) -> Facts:
    """Collect the facts of the messages in one pass, oldest first.

    What was settled `earlier`, out of sight by now, comes first of what is carried.

    Every text that is looked into for what it says goes through `clean` first, as a whole: a
    secret that was cut is not told for one any more. Of results that are most of a session only
    those do that are quoted.
    """
    seen = _Gathering(clean=clean, carried=[] if earlier is None else [earlier])
    for n_item, item in enumerate(items):
        seen.times.append(item.at_ms)
        if item.category == "summary":
            _recall(seen, item, n_item)
        elif item.category == "user":
            _hear_user(seen, item, n_item)
        elif item.message.role == "assistant":
            _hear_agent(seen, item, n_item)
        _see_results(seen, item, n_item)
    return _settle(seen, len(items))


def _recall(seen: _Gathering, item: ContextItem, n_item: int) -> None:
    """Take up an earlier summary; what was open in it may be closed by what follows."""
    earlier = read_earlier(seen.clean(plain_text(item.message)))
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
            ready=worded(ask),
        )
        if is_request:
            seen.turns.append(_Turn([sentence], ask, n_item, item.at_ms))
        rest.append(sentence)
    seen.sentences += rest
    seen.carried.append(Carried(is_ours=earlier.is_ours, lines={**earlier.lines, "Remaining": ()}))


def _hear_user(seen: _Gathering, item: ContextItem, n_item: int) -> None:
    prose, _ = own_words(seen.clean(plain_text(item.message)))
    prose = prose.strip()
    if not prose:
        return
    seen.said.append(Words(is_user=True, text=prose))
    sentences = user_sentences(prose, n_item)
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
    seen.turns.append(_Turn(sentences, prose, n_item, item.at_ms))


def _question_of(answer: str) -> str:
    """Find the question that an answer ends with."""
    last = answer[-1500:].rstrip().rsplit("\n", 1)[-1]
    if not last.endswith(("?", "？", "?**", "؟")):
        return ""
    return gist(list(split_sentences(last.replace("**", "")))[-1], 200)


def _hear_agent(seen: _Gathering, item: ContextItem, n_item: int) -> None:
    text = seen.clean(plain_text(item.message)).strip()
    is_calling = False
    for block in item.message.blocks:
        if isinstance(block, ToolCall):
            is_calling = True
            _see_call(seen, block, n_item)
    if not text:
        return
    if item.category == "assistant":
        seen.said.append(Words(is_user=False, text=text))
    seen.sentences += [s for s in agent_sentences(text, n_item) if not _is_copied(seen, s)]
    seen.last_answer = text
    if seen.turns:
        seen.turns[-1].answer = text
        seen.turns[-1].is_answered = not is_calling


def _is_copied(seen: _Gathering, sentence: Sentence) -> bool:
    """Tell whether the agent only repeats an instruction that a tool's result held."""
    if sentence.kind not in ("choice", "open") or not is_directive(sentence.text):
        return False
    if any(sentence.text in result for result in seen.results):
        return True
    is_masked = "[REDACTED:" in sentence.text
    return is_masked and any(sentence.text in seen.clean(result) for result in seen.results)


def _see_call(seen: _Gathering, call: ToolCall, n_item: int) -> None:
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


def _see_results(seen: _Gathering, item: ContextItem, n_item: int) -> None:
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


def _settle(seen: _Gathering, n_items: int) -> Facts:
    spoken, retired, successors = _without_replaced(seen)
    rules = tuple(s for s in spoken if s.is_user and s.kind == "rule")
    choices = [
        Choice(
            text=s.text,
            is_user=s.is_user,
            is_guessed=False,
            n_item=s.n_item,
            at_ms=seen.times[s.n_item],
        )
        for s in spoken
        if s.kind == "choice" or any(s is successor for successor in successors)
    ]
    choices = sorted(choices + seen.replies, key=lambda choice: choice.n_item)
    kept: dict[tuple[int, bool], list[Sentence]] = {}
    for sentence in spoken:
        kept.setdefault((sentence.n_item, sentence.is_user), []).append(sentence)
    changed = {touch.path: touch.n_item for touch in seen.touches.values() if touch.is_modified}
    return Facts(
        carried=tuple(seen.carried),
        rules=tuple({rule.text: rule for rule in rules}.values()),
        choices=tuple({choice.text: choice for choice in choices}.values()),
        sentences=tuple(spoken),
        turns=tuple(
            _turn(turn, kept, retired, is_last=at == len(seen.turns) - 1)
            for at, turn in enumerate(seen.turns)
        ),
        open_points=tuple(dict.fromkeys(s.text for s in opened(spoken, changed))),
        findings=tuple(dict.fromkeys(s.text for s in spoken if s.kind == "finding")),
        files=tuple(seen.touches.values()),
        runs=settle_runs(seen.runs, seen.clean),
        tools=tuple(seen.tools),
        plan=seen.plan,
        retired=tuple(retired),
        pending_calls=tuple(
            _shown_call(call, seen.clean) for call in list(seen.calls.values())[-_MAX_PENDING:]
        ),
        last_call=_shown_call(seen.last_call, seen.clean) if seen.last_call else None,
        last_answer=masked(seen.last_answer, retired),
        n_items=n_items,
        times=tuple(seen.times),
        said=tuple(seen.said),
    )


def _shown_call(held: _Call, clean: Callable[[str], str]) -> tuple[str, str]:
    call, command, paths = held
    return clean(call.name), gist(command or ", ".join(paths) or clean(call.arguments), 120)


def _turn(
    turn: _Turn,
    kept: dict[tuple[int, bool], list[Sentence]],
    retired: Sequence[Retired],
    *,
    is_last: bool,
) -> Turn:
    said = [s for s in kept.get((turn.n_item, True), []) if s.kind not in ("rule", "choice")]
    # What is asked stands before or after a pasted document, not within it.
    asked = [s.text for s in said if not s.is_bulk] or [s.text for s in said]
    is_plain = any(s.kind not in ("rule", "choice") for s in turn.sentences)
    return Turn(
        ask=" ".join(asked) if is_plain else "",
        prose=masked(turn.prose, retired),
        answer=masked(turn.answer, retired),
        # A turn that the user followed up on after some answer does not stay open.
        is_answered=turn.is_answered or (bool(turn.answer) and not is_last),
        n_item=turn.n_item,
        at_ms=turn.at_ms,
    )


def _without_replaced(
    seen: _Gathering,
) -> tuple[list[Sentence], list[Retired], list[Sentence]]:
    """Drop or mask the values that were replaced since, in all that was said or carried.

    The third list are the user's sentences that replaced one, rules aside: what holds instead
    is settled by them, though they read as a request.
    """
    carried = [
        (at, section, line)
        for at, earlier in enumerate(seen.carried)
        for section, lines in earlier.lines.items()
        for line in lines
    ]
    fresh = seen.sentences[-_MAX_COMPARED:]
    said = [
        Said(
            text=line,
            is_user=section == "Constraints",
            is_rule=section == "Constraints",
            is_choice=section == "Decisions",
            ready=worded(line),
        )
        for _, section, line in carried
    ]
    said += [
        Said(
            text=sentence.text,
            is_user=sentence.is_user,
            is_rule=sentence.kind == "rule",
            is_choice=sentence.kind in ("rule", "choice"),
            ready=sentence.ready,
        )
        for sentence in fresh
    ]
    retired = retired_values(said)
    changed, retired = resolve(said, retired)
    for at, earlier in enumerate(seen.carried):
        lines: dict[str, list[str]] = {section: [] for section in earlier.lines}
        for n_said, (owner, section, line) in enumerate(carried):
            if owner == at and (text := changed.get(n_said, line)):
                lines[section].append(text)
        seen.carried[at] = Carried(
            is_ours=earlier.is_ours, lines={name: tuple(found) for name, found in lines.items()}
        )
    spoken = seen.sentences[: len(seen.sentences) - len(fresh)]
    successors: list[Sentence] = []
    replacing = {item.n_sentence for item in retired if item.is_by_user}
    for n_said, sentence in enumerate(fresh, len(carried)):
        text = changed.get(n_said, sentence.text)
        if not text:
            continue
        spoken.append(sentence if text == sentence.text else reworded(sentence, text))
        if n_said in replacing and sentence.kind not in ("rule", "choice"):
            successors.append(spoken[-1])
    return spoken, retired, successors
