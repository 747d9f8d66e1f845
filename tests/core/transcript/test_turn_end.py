"""An agent waits for its user where nothing of its own follows what it said last."""

import msgspec
import pytest

from factories import assistant, numbered, summary, tool_result, user
from ullage.core.transcript.context import ContextItem
from ullage.core.transcript.turn_end import TurnEnd, find_turn_end

ASKING = ("AskUserQuestion",)
RUN = ("c1", "bash", {"command": "make"})
QUESTION = ("c2", "AskUserQuestion", {"questions": []})


def ending(item: ContextItem, *, ends_turn: bool | None) -> ContextItem:
    message = msgspec.structs.replace(item.message, ends_turn=ends_turn)
    return msgspec.structs.replace(item, message=message)


@pytest.mark.parametrize(
    ("items", "asks"),
    [
        ([user("go"), assistant("Done.")], False),
        ([user("go"), ending(assistant("Done."), ends_turn=True)], False),
        ([user("go"), assistant("", [RUN]), tool_result("ok"), assistant("Done.")], False),
        ([user("go"), assistant("Which one?", [QUESTION])], True),
    ],
)
def test_an_agent_that_is_done_or_asks_waits(items: list[ContextItem], asks: bool) -> None:
    last = f"e{len(items)}"
    assert find_turn_end(numbered(items), ASKING) == TurnEnd(entry_id=last, asks=asks)


@pytest.mark.parametrize(
    "items",
    [
        [],
        [user("go")],
        [summary("what was")],
        [user("go"), assistant("I look.", [RUN])],
        [user("go"), assistant("", [RUN]), tool_result("ok")],
        [user("go"), assistant("")],
        [user("go"), ending(assistant("First I look."), ends_turn=False)],
        [user("go"), assistant("Done."), user("and now?")],
    ],
)
def test_an_agent_that_works_or_was_asked_does_not_wait(items: list[ContextItem]) -> None:
    assert find_turn_end(numbered(items), ASKING) is None
