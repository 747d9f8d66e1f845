"""The pass over the messages that collects their facts, oldest first.

It can resume where it stopped, so that a session that grows costs what is new.
"""

import re
from collections.abc import Callable, Iterable
from typing import TypeAlias

import msgspec

from ullage.core.facts.choices import Choice, Dialog, read_answers, write_answer
from ullage.core.facts.command_runs import JudgedRun, read_run, summarize_runs
from ullage.core.facts.facts import Facts, FileTouch
from ullage.core.facts.plan import Plan, Step, TaskList
from ullage.core.facts.previous_summary import PreviousSummary, read_previous_summary
from ullage.core.facts.recalled_words import drop_recalled_sentences, list_recalled_lines
from ullage.core.facts.replaced import Statements
from ullage.core.facts.requests import OpenRequest, Requests
from ullage.core.facts.settled import IN_REPLY
from ullage.core.facts.summary_sections import OPEN_REQUEST
from ullage.core.facts.thread import SpokenMessage
from ullage.core.facts.tool_calls import list_new_texts, read_call, read_plan_title
from ullage.core.text.prose import (
    collapse_spaces,
    gist,
    remove_bold,
    remove_list_mark,
    split_sentences,
)
from ullage.core.text.quotations import mark_pasted, read_own_words
from ullage.core.text.sentences import Sentence, read_agent_sentences, read_user_sentences
from ullage.core.text.wording import is_directive, is_intention, read_wording
from ullage.core.transcript.context import ContextItem
from ullage.core.transcript.entries import Text, ToolCall, ToolResult, result_text
from ullage.core.transcript.recalled import leave_out_recalled
from ullage.core.transcript.speech import list_speech, read_speech

_MAX_PENDING = 5
_MAX_PASTED_CHARS = 200
"""Of a message that only quotes, to name it; chosen."""
_MAX_REPLY_CHARS = 100
"""A reply of more may ask for something too; chosen."""
_MIN_ECHO_CHARS = 30
"""A shorter line may say the same as the agent by itself; chosen."""
_MASKED = re.compile(r"\[REDACTED:[^\]]*\]")
Call: TypeAlias = tuple[ToolCall, str | None, tuple[str, ...]]
"""A call, the command line that it runs if any, and the paths that it touches."""


def collect_facts(items: Iterable[ContextItem]) -> Facts:
    """Collect the facts of the messages in one pass, oldest first."""
    accumulator = FactAccumulator(clean=str)
    accumulator.update(items)
    return accumulator.finish()


class FactAccumulator(msgspec.Struct):
    """What one pass over the messages has seen so far."""

    clean: Callable[[str], str]
    """Every text that is looked into for what it says goes through it first, as a whole: half of a
    secret is no longer recognized. Of results, which are most of a session, only those do that are
    quoted."""
    previous: list[PreviousSummary] = []
    sentences: list[Sentence] = []
    choices: list[Choice] = []
    """Those that answer something; the others are among the sentences."""
    answered: set[str] = set()
    """The questions that the choices answer."""
    dialog: Dialog = msgspec.field(default_factory=Dialog)
    requests: Requests = msgspec.field(default_factory=Requests)
    touches: dict[str, FileTouch] = {}
    runs: list[JudgedRun] = []
    tools: dict[str, None] = {}
    tasks: TaskList = msgspec.field(default_factory=TaskList)
    plan: Plan = msgspec.field(default_factory=Plan)
    calls: dict[str, tuple[Call, int]] = {}
    """Those without a result yet, each with its item."""
    early_results: set[str] = set()
    """The calls whose result came before them."""
    last_call_item: int = -1
    """The item of the newest call that has a result."""
    last_call: Call | None = None
    last_result_item: int = -1
    times: list[int | None] = []
    last_answer_item: int = -1
    reports: list[int] = []
    summary_items: list[int] = []
    results: list[str] = []
    recalled: list[str] = []
    """The lines that memory handed out: an agent that says them again learned nothing."""
    messages: list[SpokenMessage] = []
    statements: Statements = msgspec.field(default_factory=Statements)

    def update(self, items: Iterable[ContextItem]) -> None:
        """Go on with the messages that follow those seen so far."""
        for n_item, whole in enumerate(items, len(self.times)):
            self.recalled += list_recalled_lines(whole)
            item = leave_out_recalled(whole)
            self.times.append(item.at_ms)
            n_sentences, n_choices = len(self.sentences), len(self.choices)
            if item.category == "summary":
                self._read_summary(item, n_item)
            else:
                if item.category == "injected" and item.message.role == "user":
                    self._report(is_end=self.requests.is_end)
                    self.requests.settle(n_item)
                self._read_user(item, n_item)
                self._read_agent(item, n_item)
            self._read_results(item, n_item)
            said = self.sentences[n_sentences:]
            chosen = [(s.text, s.is_user) for s in said if s.kind == "choice"]
            chosen += [(choice.text, choice.is_user) for choice in self.choices[n_choices:]]
            self.statements.add(said, chosen, n_item)

    def _read_summary(self, item: ContextItem, n_item: int) -> None:
        """Read a previous summary; what was open in it may be closed by what follows."""
        self.summary_items.append(n_item)
        summary = read_previous_summary(self.clean(read_speech(item, "summary")))
        for name in ("Constraints", "Decisions"):
            self.statements.carry(summary.lines.get(name, ()))
        requests = [
            line
            for name, lines in summary.lines.items()
            for line in lines
            if name != "Remaining" and line.startswith(OPEN_REQUEST)
        ]
        for line in (*requests, *summary.lines["Remaining"]):
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
                self.requests.ask(OpenRequest([sentence], ask, n_item, item.at_ms))
            self.sentences.append(sentence)
        lines = {
            name: tuple(line for line in lines if line not in requests and name != "Remaining")
            for name, lines in summary.lines.items()
        }
        self.previous.append(PreviousSummary(is_ours=summary.is_ours, lines=lines))

    def _read_user(self, item: ContextItem, n_item: int) -> None:
        if item.message.role == "assistant" and not item.queued:
            return
        results = (block for block in item.message.blocks if isinstance(block, ToolResult))
        answers = [answer for result in results for answer in read_answers(result)]
        for answer in answers:
            self._add_choice(self.clean(write_answer(answer)), item, n_item)
        typed = [s.text for s in list_speech(item, with_results=False) if s.speaker == "typed"]
        refusals = [answer.text for answer in answers if not answer.question]
        prose = self._drop_echo(read_own_words(self.clean("\n".join((*refusals, *typed)))))
        if not prose:
            if typed or not answers:
                self._read_paste(item, n_item)
            return
        self.messages.append(SpokenMessage(is_user=True, text=prose))
        sentences = self.dialog.settle(read_user_sentences(prose, n_item), prose)
        reply = "" if refusals else self.dialog.read_reply(prose, sentences)
        if reply:
            self._add_choice(reply, item, n_item)
            # What it settles stands there alone, but for rules and what else is asked.
            sentences = tuple(
                s
                for s in sentences
                if s.kind in ("rule", "question", "open")
                or (s.kind != "choice" and len(prose) > _MAX_REPLY_CHARS)
            )
        self.sentences += sentences
        request = OpenRequest(sentences, prose, n_item, item.at_ms)
        request.is_aside = item.category == "tool results" or bool(item.queued)
        request.is_kept = not item.is_after_boundary
        request.reply = reply
        self._ask(request)

    def _drop_echo(self, prose: str) -> str:
        """Leave out the lines that a person copied from the agent's last words."""
        lines = prose.split("\n")
        if not self.dialog.answer or len(prose) < _MIN_ECHO_CHARS:
            return prose
        said = collapse_spaces(remove_bold(self.dialog.answer))
        echoed = [_is_echo(line, said) for line in lines]
        if not any(echoed):
            return prose
        kept = (line for line, is_echo in zip(lines, echoed, strict=True) if not is_echo)
        return "\n".join(kept).strip()

    def _add_choice(self, text: str, item: ContextItem, n_item: int) -> None:
        question = text[text.index(IN_REPLY) :] if IN_REPLY in text else ""
        if question in self.answered:
            # A question that is asked again was not answered.
            self.choices = [each for each in self.choices if not each.text.endswith(question)]
        if question:
            self.answered.add(question)
        self.choices.append(Choice(text=text, is_user=True, n_item=n_item, at_ms=item.at_ms))

    def _read_paste(self, item: ContextItem, n_item: int) -> None:
        """Read a message of a person that says nothing itself: what it shows is the request."""
        shown = self.clean(read_speech(item, "typed", "pasted"))
        if text := mark_pasted(shown, _MAX_PASTED_CHARS):
            self.messages.append(SpokenMessage(is_user=True, text=text))
            self._ask(OpenRequest((), text, n_item, item.at_ms, paste=text))

    def _report(self, *, is_end: bool) -> None:
        """Note the agent's last words as what ended a turn, where they did."""
        if is_end and self.requests.is_answered and self.last_answer_item not in self.reports[-1:]:
            self.reports.append(self.last_answer_item)

    def _ask(self, request: OpenRequest) -> None:
        # Whoever is spoken to after words without a call had ended its turn with them.
        self._report(is_end=True)
        self.requests.ask(request)
        if not request.is_aside:
            self.last_call_item = max(self.last_call_item, request.n_item)

    def _read_agent(self, item: ContextItem, n_item: int) -> None:
        said = self.clean(read_speech(item, "assistant"))
        said = drop_recalled_sentences(said, self.recalled).strip()
        calls = [block for block in item.message.blocks if isinstance(block, ToolCall)]
        for call in calls:
            self._read_call(call, n_item)
        if calls:
            self.requests.work()
        if said:
            self._read_words(said, item, n_item, has_calls=bool(calls))
        elif item.message.ends_turn and not calls and _has_text(item):
            self.requests.answer("", is_end=True, goes_on=False)

    def _read_words(self, said: str, item: ContextItem, n_item: int, *, has_calls: bool) -> None:
        text = read_own_words(said, is_agents=True)
        if text:
            self.messages.append(SpokenMessage(is_user=False, text=text))
        sentences = read_agent_sentences(text, n_item)
        self.sentences += [s for s in sentences if not self._is_copied(s)]
        self.dialog.hear(said, text)
        self.last_answer_item = n_item
        goes_on = _goes_on(text)
        if has_calls:
            self.requests.say(text or said, goes_on=goes_on)
        else:
            ends = item.message.ends_turn
            is_end = not goes_on if ends is None else ends
            self.requests.answer(text or said, is_end=is_end, goes_on=goes_on)

    def _is_copied(self, sentence: Sentence) -> bool:
        """Tell whether the agent only repeats an instruction that a tool's result held."""
        if sentence.kind not in ("choice", "open") or not is_directive(sentence.text):
            return False
        # Results are not masked: what stands around a secret is looked for.
        parts = _MASKED.split(sentence.text)
        return any(all(part in result for part in parts) for result in self.results)

    def _read_call(self, call: ToolCall, n_item: int) -> None:
        facts = read_call(call)
        self.tools[self.clean(call.name)] = None
        if facts.plan is not None and facts.plan.steps is not None:
            self.plan.change(facts.plan, "", n_item)
        paths = tuple(self.clean(touch.path) for touch in facts.touches)
        for path, touch in zip(paths, facts.touches, strict=True):
            before = self.touches.pop(path, None)
            is_modified = touch.is_modified or (before is not None and before.is_modified)
            self.touches[path] = FileTouch(path=path, is_modified=is_modified, n_item=n_item)
        if "[ ]" in call.arguments or "[x]" in call.arguments:
            for text in list_new_texts(call):
                self.tasks.read(text, n_item)
        command = None if facts.command is None else self.clean(facts.command)
        self.last_call = (call, command, paths)
        # Some files hold a result before its call.
        if call.call_id in self.early_results:
            self.early_results.remove(call.call_id)
        else:
            self.calls[call.call_id] = (self.last_call, n_item)

    def _read_results(self, item: ContextItem, n_item: int) -> None:
        for block in item.message.blocks:
            if not isinstance(block, ToolResult):
                continue
            held, asked_at = self.calls.pop(block.call_id, ((None, None, ()), -1))
            call, command, paths = held
            self.last_call_item = max(self.last_call_item, asked_at)
            if call is not None and not block.is_error and (title := read_plan_title(call)):
                self._add_choice(self.clean(f"plan approved: {title}"), item, n_item)
            name = self.clean(block.name or (call.name if call else ""))
            if call is None:
                self.early_results.add(block.call_id)
            if call is None and name:
                self.tools[name] = None
            shown = command if command is not None or not paths else f"{name} {paths[0]}"
            change = read_call(call).plan if call is not None else None
            if change is not None and change.steps is None and not block.is_error:
                self.plan.change(change, result_text(block), n_item)
            run = read_run(name, shown, block, n_item) if name or shown else None
            if run is not None:
                self.runs.append(run)
            parts = [part for part in block.content if isinstance(part, Text)]
            # A call that a person refused did not fail.
            self.last_result_item = -1 if any(part.speech for part in parts) else n_item
            texts = [part.text for part in parts]
            for text in texts:
                self.tasks.read(text, n_item)
            self.results += texts

    def finish(self) -> Facts:
        """Give the facts of everything seen so far; more messages may follow."""
        rules = {s.text: s for s in self.sentences if s.is_user and s.kind == "rule"}
        choices = [
            Choice(
                text=s.text,
                is_user=s.is_user,
                n_item=s.n_item,
                at_ms=self.times[s.n_item],
            )
            for s in self.sentences
            if s.kind == "choice"
        ]
        choices = sorted(choices + self.choices, key=lambda choice: choice.n_item)
        is_ended = self.requests.is_answered and self.requests.is_end
        last = self.last_answer_item
        return Facts(
            previous=tuple(self.previous),
            rules=tuple(rules.values()),
            choices=tuple({choice.text: choice for choice in choices}.values()),
            sentences=tuple(self.sentences),
            turns=self.requests.close(),
            begun=self.requests.begun if self.requests.begun_at >= 0 else "",
            reports=tuple(dict.fromkeys((*self.reports, *([last] if is_ended else ())))),
            summary_items=tuple(self.summary_items),
            findings=tuple(dict.fromkeys(s.text for s in self.sentences if s.kind == "finding")),
            files=tuple(self.touches.values()),
            runs=summarize_runs(self.runs, self.clean),
            tools=tuple(self.tools),
            plan=tuple(map(self._clean_step, self.plan.steps.values())),
            plan_item=self.plan.n_item,
            tasks=tuple(map(self._clean_step, self.tasks.list_steps())),
            pending_calls=tuple(map(self._shorten_call, self._list_pending())),
            last_call=self._shorten_call(self.last_call) if self.last_call else None,
            last_result_item=self.last_result_item,
            last_answer=self.dialog.own_words,
            last_answer_item=self.last_answer_item,
            is_turn_ended=is_ended,
            is_announced=not self.requests.is_end,
            n_items=len(self.times),
            times=tuple(self.times),
            messages=tuple(self.messages),
            replaced=self.statements.find_replacements(self.sentences),
        )

    def _list_pending(self) -> list[Call]:
        """List the calls that may be running: an older one was stopped, and never had a result."""
        return [call for call, n_item in self.calls.values() if n_item >= self.last_call_item][
            -_MAX_PENDING:
        ]

    def _clean_step(self, step: Step) -> Step:
        return Step(text=self.clean(step.text), state=step.state)

    def _shorten_call(self, held: Call) -> tuple[str, str]:
        call, command, paths = held
        about = command or ", ".join(paths) or self.clean(call.arguments)
        return self.clean(call.name), gist(about, 120)


def _has_text(item: ContextItem) -> bool:
    return any(isinstance(block, Text) for block in item.message.blocks)


def _is_echo(line: str, said: str) -> bool:
    text = collapse_spaces(remove_bold(remove_list_mark(line.strip())))
    return len(text) >= _MIN_ECHO_CHARS and text in said


def _goes_on(text: str) -> bool:
    """Tell whether words say that the agent is not at its end: they announce something."""
    last = text.rstrip().rsplit("\n", 1)[-1].rstrip("*_` ")
    if last.endswith((":", "：")):
        return True
    *_, sentence = split_sentences(last) if last else ("",)
    return is_intention(read_wording(sentence).lower)
