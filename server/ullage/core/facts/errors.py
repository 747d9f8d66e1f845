"""Errors that cost work, and what cured them: a failed run, what was done, the run that passed."""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from operator import attrgetter

import msgspec

from ullage.core.facts.command_runs import CHANGE_DIR, CommandRun, is_looking, run_key
from ullage.core.facts.facts import Facts
from ullage.core.facts.summary_sections import NOT_CURED, PASSED_LATER
from ullage.core.facts.tool_calls import read_call
from ullage.core.text.prose import gist
from ullage.core.text.wording import is_intention
from ullage.core.transcript.context import ContextItem
from ullage.core.transcript.entries import ToolCall, ToolResult

_MAX_FILES = 3
"""Edited files that are named as the cure, the last of them; chosen."""
_MAX_CURE_CHARS = 120
_MAX_BETWEEN = 200
"""Calls before a run that passed among which its cure is looked for; bounds the time, chosen."""
_MIN_DIAGNOSIS_CHARS = 20
_MAX_DIAGNOSIS_CHARS = 160
"""Of what the agent says of an error: less only confirms, more tells of other things; chosen."""
_MISSING = "command not found"
"""What shells say of a program that is not there."""
_MAX_SAME_CHARS = 60
"""So much of an error is alike where it is the same error; chosen."""
_PROGRAM = re.compile(r"\S{1,200}(?:\s{1,4}[a-z][\w:-]{0,40})?")
"""A program and what it is told to do: `git push`."""


class Error(msgspec.Struct, frozen=True, kw_only=True):
    command: str
    outcome: str
    """The line that tells what went wrong; may be empty."""
    cure: str
    """What was edited or run before it passed; empty where that is not known."""
    is_cured: bool
    is_check: bool
    n_item: int
    cured_at: int | None
    """The item of the run that passed."""


class _Deed(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """A call, what it changed or ran, and whether that failed."""

    program: str
    command: str
    paths: tuple[str, ...]
    is_failed: bool
    n_item: int
    """Of its result."""


def find_errors(runs: Sequence[CommandRun], items: Sequence[ContextItem]) -> Iterator[Error]:
    """Give the failed runs, oldest first, each with what was done until it passed.

    Failures of looking around (`ls`, `grep`) are no errors, but for a program that is not there.
    Other commands than checks passed where the same program was run again without an error; else
    what was run next took their place. Another tool's call is told where it worked later, each
    error of a tool once.
    """
    failed = [run for run in runs if run.is_failed and _cost_work(run)]
    if not failed:
        return
    told: set[tuple[str, str]] = set()
    deeds = _Deeds(_list_deeds(items, {run.n_item for run in failed}))
    for run in failed:
        cured_at = run.passed_at if run.is_check else deeds.find_pass(run)
        if not run.is_shell:
            error = (run.key.partition(" ")[0], run.outcome[:_MAX_SAME_CHARS])
            if cured_at is None or not run.outcome or error in told:
                continue
            told.add(error)
        elif cured_at is None and not run.is_check:
            # Something else was done in its place.
            instead = deeds.find_next_command(run)
            if instead is None:
                continue
            cured_at = instead + 1
        between = deeds.list_between(run.n_item, cured_at) if cured_at else ()
        yield Error(
            command=run.command,
            outcome=run.outcome,
            cure=_word_cure(between, run) if cured_at else "",
            is_cured=cured_at is not None,
            is_check=run.is_check,
            n_item=run.n_item,
            cured_at=cured_at,
        )


class _Deeds:
    """Deeds in their order, with where those that worked are, each kind to be found at once."""

    def __init__(self, deeds: Iterator[_Deed]) -> None:
        self._deeds = tuple(deeds)
        self._places = [deed.n_item for deed in self._deeds]
        self._passed: dict[str, list[int]] = {}
        self._commands: list[int] = []
        for deed in self._deeds:
            if not deed.is_failed:
                self._passed.setdefault(deed.program, []).append(deed.n_item)
                if deed.command:
                    self._commands.append(deed.n_item)

    def find_pass(self, run: CommandRun) -> int | None:
        """Find where the same program was run again without an error."""
        program = _name_program(run.command) if run.is_shell else run.key
        return _find_after(self._passed.get(program, ()), run.n_item)

    def find_next_command(self, run: CommandRun) -> int | None:
        """Find where the next command was run without an error."""
        return _find_after(self._commands, run.n_item)

    def list_between(self, n_item: int, end: int) -> tuple[_Deed, ...]:
        """List the last deeds after an item and before another."""
        stop = bisect_left(self._places, end)
        start = max(bisect_right(self._places, n_item), stop - _MAX_BETWEEN)
        return self._deeds[start:stop]


def _find_after(places: Sequence[int], n_item: int) -> int | None:
    at = bisect_right(places, n_item)
    return places[at] if at < len(places) else None


def write_error(error: Error, facts: Facts) -> str:
    """Write an error onto one line, with its cause in the agent's words and with what cured it."""
    outcome = f" → {error.outcome}" if error.outcome else ""
    if not error.is_cured:
        return f"{error.command}{outcome}{NOT_CURED}"
    diagnosis = _find_diagnosis(error, facts)
    told = f"“{diagnosis}”" if diagnosis else ""
    cure = "; ".join(filter(None, (told, error.cure)))
    return f"{error.command}{outcome}" + (f" → {cure}" if cure else PASSED_LATER)


def _cost_work(run: CommandRun) -> bool:
    return not (run.is_shell and is_looking(run.command)) or _MISSING in run.outcome


def _list_deeds(items: Sequence[ContextItem], failed_at: set[int]) -> Iterator[_Deed]:
    calls: dict[str, ToolCall] = {}
    for n_item, item in enumerate(items):
        for block in item.message.blocks:
            if isinstance(block, ToolCall):
                calls[block.call_id] = block
            elif isinstance(block, ToolResult) and (call := calls.pop(block.call_id, None)):
                facts = read_call(call)
                command = facts.command or ""
                # What a command changes it says itself, but for a patch.
                is_edit = not command or "*** " in command
                touches = facts.touches if is_edit else ()
                paths = tuple(touch.path for touch in touches if touch.is_modified)
                name = block.name or call.name
                target = next((f"{name} {touch.path}" for touch in facts.touches), name)
                yield _Deed(
                    program=_name_program(command) if command else run_key(target, is_check=False),
                    command=command,
                    paths=paths,
                    is_failed=block.is_error or n_item in failed_at,
                    n_item=n_item,
                )


def _name_program(command: str) -> str:
    match = _PROGRAM.match(CHANGE_DIR.sub("", command[:400]).strip())
    return match[0] if match else ""


def _word_cure(between: Sequence[_Deed], run: CommandRun) -> str:
    """Name what was edited before the run passed, else the last other command."""
    paths = list(dict.fromkeys(path for deed in reversed(between) for path in deed.paths))
    if paths:
        more = f" and {len(paths) - _MAX_FILES} more" if len(paths) > _MAX_FILES else ""
        return f"edited {', '.join(paths[:_MAX_FILES][::-1])}{more}"
    program = _name_program(run.command)
    others = [
        deed.command
        for deed in between
        if deed.command and deed.program != program and not deed.is_failed
        if not is_looking(deed.command)
    ]
    return f"ran {gist(others[-1], _MAX_CURE_CHARS)}" if others else ""


def _find_diagnosis(error: Error, facts: Facts) -> str:
    """Give the first thing that the agent said of an error before it was cured, in its turn."""
    ended_at = _find_after(facts.reports, error.n_item - 1)
    ends = [n_item for n_item in (error.cured_at, ended_at) if n_item is not None]
    start = bisect_left(facts.sentences, error.n_item, key=attrgetter("n_item"))
    for at in range(start, len(facts.sentences)):
        sentence = facts.sentences[at]
        if sentence.is_user or any(sentence.n_item >= end for end in ends):
            break
        is_telling = len(sentence.text) >= _MIN_DIAGNOSIS_CHARS and sentence.kind != "question"
        if is_telling and not is_intention(sentence.text.lower()):
            return sentence.text if len(sentence.text) <= _MAX_DIAGNOSIS_CHARS else ""
    return ""
