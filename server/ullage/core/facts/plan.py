"""The agent's own list of steps, as its plan tools write it, or a task file with boxes.

Some agents write the whole list at each call (TodoWrite, `update_plan`, todowrite, write_todos),
Claude Code's task tools add and change one step at a time.
"""

import re
from collections.abc import Iterator
from typing import Literal, TypeAlias, cast

import msgspec

from ullage.core.text.lazy_pattern import lazy_pattern

StepState: TypeAlias = Literal["pending", "in progress", "done"]
_STATES: dict[str, StepState] = {
    "in_progress": "in progress",
    "in-progress": "in progress",
    "active": "in progress",
    "completed": "done",
    "complete": "done",
    "done": "done",
}
_GONE = ("cancelled", "canceled", "deleted")
"""States of steps that nobody takes any more."""
_LISTS = ("todos", "plan", "items", "tasks")
_TEXTS = ("content", "step", "subject", "text", "title", "description")
"""Keys of a call's arguments: of the list, and of a step's words."""
_BOX = lazy_pattern(r"^[ \t\d→|+:]{0,20}[-*+] \[([ xX])\] (\S[^\n]{2,300})", re.MULTILINE)
"""A point with a box, behind the number of its line or the sign of a diff."""
_NUMBER = lazy_pattern(r"#(\d{1,9})\b")


class Step(msgspec.Struct, frozen=True, kw_only=True):
    text: str
    state: StepState


class PlanChange(msgspec.Struct, frozen=True, kw_only=True):
    """What a call does to the list."""

    steps: tuple[Step, ...] | None = None
    """The whole list, where the call writes it; None where it changes one step."""
    added: str = ""
    """The words of a new step."""
    changed_id: str = ""
    """The step that gets a state; `state` None takes it off the list."""
    state: StepState | None = None


def read_plan_change(name: str, arguments: dict[str, object]) -> PlanChange | None:
    """Read a call of a plan tool, its name in small letters; None for other calls."""
    if name == "taskcreate":
        text = _read_text(arguments)
        return PlanChange(added=text) if text else None
    if name == "taskupdate":
        return _read_update(arguments)
    if "todo" not in name and name != "update_plan":
        return None
    lists = [arguments[key] for key in _LISTS if isinstance(arguments.get(key), list)]
    if not lists:
        return None
    return PlanChange(steps=tuple(_read_steps(cast("list[object]", lists[0]))))


def _read_update(arguments: dict[str, object]) -> PlanChange | None:
    changed_id, status = arguments.get("taskId"), arguments.get("status")
    if not isinstance(changed_id, str) or not isinstance(status, str):
        return None
    state = None if status in _GONE else _STATES.get(status, "pending")
    return PlanChange(changed_id=changed_id, state=state)


def _read_steps(members: list[object]) -> Iterator[Step]:
    for member in members:
        if not isinstance(member, dict):
            continue
        step = cast("dict[str, object]", member)
        status, text = step.get("status"), _read_text(step)
        if text and status not in _GONE:
            is_done = step.get("completed") is True or step.get("done") is True
            state = _STATES.get(status, "pending") if isinstance(status, str) else "pending"
            yield Step(text=text, state="done" if is_done else state)


def _read_text(step: dict[str, object]) -> str:
    texts = (step.get(key) for key in _TEXTS)
    return next((text.strip() for text in texts if isinstance(text, str) and text.strip()), "")


class Plan(msgspec.Struct):
    """The list as the calls so far have left it."""

    steps: dict[str, Step] = {}
    """By number, which a list as a whole does not tell."""
    n_item: int = -1
    """The item of the last change."""

    def change(self, change: PlanChange, result: str, n_item: int) -> None:
        """Do what a call did, whose result tells the number of a new step."""
        self.n_item = n_item
        if change.steps is not None:
            self.steps = {str(n): step for n, step in enumerate(change.steps, 1)}
        elif change.added:
            number = _NUMBER.search(result)
            step_id = number[1] if number else str(len(self.steps) + 1)
            self.steps[step_id] = Step(text=change.added, state="pending")
        elif change.changed_id in self.steps:
            text = self.steps[change.changed_id].text
            if change.state is None:
                del self.steps[change.changed_id]
            else:
                self.steps[change.changed_id] = Step(text=text, state=change.state)


class TaskList(msgspec.Struct):
    """Boxes of task files, as they were shown and ticked: a list counts once one was ticked.

    Templates and checklists have boxes too, which nobody works by.
    """

    boxes: dict[str, bool] = {}
    """Whether each is ticked, by its words, in the order of the file."""
    lists: dict[str, int] = {}
    """The list of each box: boxes that stood in one text are of one list."""
    ticked: dict[int, int] = {}
    """The item of the last box that was ticked, by list."""

    def read(self, text: str, n_item: int) -> None:
        """Take the boxes of what was shown or written."""
        if "[ ]" not in text and "[x]" not in text and "[X]" not in text:
            return
        found = [(match[2].strip(), match[1] != " ") for match in _BOX.finditer(text)]
        known = (self.lists[words] for words, _ in found if words in self.lists)
        n_list = next(known, len(self.lists))
        for words, is_ticked in found:
            if is_ticked and self.boxes.get(words) is False:
                self.ticked[self.lists[words]] = n_item
            self.boxes[words] = is_ticked
            self.lists.setdefault(words, n_list)

    def list_steps(self) -> Iterator[Step]:
        """Give the boxes of the list that was ticked last."""
        if not self.ticked:
            return
        newest = max(self.ticked, key=lambda n_list: self.ticked[n_list])
        for words, is_ticked in self.boxes.items():
            if self.lists[words] == newest:
                yield Step(text=words, state="done" if is_ticked else "pending")
