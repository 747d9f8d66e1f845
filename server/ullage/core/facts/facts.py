"""Facts: what a run of messages holds that a summary or a checkpoint has to carry."""

import msgspec

from ullage.core.facts.choices import Choice
from ullage.core.facts.command_runs import CommandRun, is_looking
from ullage.core.facts.plan import Step
from ullage.core.facts.previous_summary import PreviousSummary
from ullage.core.facts.replaced import Replacement
from ullage.core.facts.requests import Request
from ullage.core.facts.thread import SpokenMessage
from ullage.core.text.sentences import Sentence


class FileTouch(msgspec.Struct, frozen=True, kw_only=True):
    path: str
    is_modified: bool
    n_item: int
    """The last item that touched it."""


class Facts(msgspec.Struct, frozen=True, kw_only=True):
    previous: tuple[PreviousSummary, ...]
    rules: tuple[Sentence, ...]
    choices: tuple[Choice, ...]
    sentences: tuple[Sentence, ...]
    """Everything said, in order."""
    turns: tuple[Request, ...]
    """All that a person said, in order; those with an `ask` are requests."""
    begun: str
    """What the agent said first of a command that nobody spoke after; mostly empty."""
    reports: tuple[int, ...]
    """The items of the agent's answers that ended a turn."""
    summary_items: tuple[int, ...]
    findings: tuple[str, ...]
    files: tuple[FileTouch, ...]
    runs: tuple[CommandRun, ...]
    tools: tuple[str, ...]
    plan: tuple[Step, ...]
    """The agent's own list of steps."""
    plan_item: int
    """The item that changed it last; negative where there is none."""
    tasks: tuple[Step, ...]
    """The boxes of the task file that the agent ticks."""
    pending_calls: tuple[tuple[str, str], ...]
    """Calls without a result: tool and arguments in short."""
    last_call: tuple[str, str] | None
    last_result_item: int
    """The item of the newest result of a tool; negative where there is none."""
    last_answer: str
    last_answer_item: int
    """The item of the agent's last words; negative where it said nothing."""
    is_turn_ended: bool
    """Whether the agent's last words end its turn, and nothing followed them."""
    is_announced: bool
    """Whether these words were said on the way, and so say what comes."""
    n_items: int
    times: tuple[int | None, ...]
    """When each item was written."""
    messages: tuple[SpokenMessage, ...]
    replaced: tuple[Replacement, ...]
    """The statements that a later one may stand for."""

    @property
    def requests(self) -> list[Request]:
        return [turn for turn in self.turns if turn.ask]

    @property
    def failing_checks(self) -> list[CommandRun]:
        failed = [run for run in self.runs if run.is_failed and run.is_check]
        return [run for run in failed if not run.is_passed_later]

    @property
    def last_failure(self) -> CommandRun | None:
        """The newest command, where it failed and nothing was done since."""
        last = self.runs[-1] if self.runs else None
        if last is None or last.n_item != self.last_result_item:
            return None
        # A script that is written into the command line mostly looks at something.
        is_look = is_looking(last.command) or "<<" in last.command
        return last if last.is_failed and last.is_shell and not is_look else None

    @property
    def last_at_ms(self) -> int | None:
        """When the newest message was written."""
        return max((at_ms for at_ms in self.times if at_ms), default=None)

    def previous_lines(self, section: str) -> list[str]:
        """List what all previous summaries say in a section, the oldest first."""
        return [line for summary in self.previous for line in summary.lines.get(section, ())]
