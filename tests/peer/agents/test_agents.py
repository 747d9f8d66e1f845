"""The real Claude Code and Codex resume the sessions that we begin, and send what we read there.

Each runs in a home of its own against a model on loopback, without a login; a proxy that nobody
answers at keeps everything else from leaving the machine. It takes 640 MB of packages:

    npm --prefix tests/peer/agents ci --ignore-scripts && python -m pytest tests/peer/agents
"""

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import cast

import pytest

from agents_lab import (
    ARE_INSTALLED,
    COMPACT_AT,
    HOW_TO_INSTALL,
    N_FULL,
    PROGRAMS,
    Lab,
)
from loopback_model import Answer, Json, LoopbackModel
from reading import read
from ullage.app.sessions.open import open_session
from ullage.app.sessions.title import title_of
from ullage.core.change.edit import (
    PRUNED_OUTPUT,
    CompactionEdit,
    NewSession,
    PruneEdit,
    Replacement,
    RestoreEdit,
    UndoEdit,
)
from ullage.core.gauge.gauge import measure
from ullage.core.gauge.window import Window
from ullage.core.transcript.context import Context, list_cuts
from ullage.core.transcript.entries import MemoryLines, ToolResult
from ullage.formats.agent_info import Editor
from ullage.formats.registry import agent_info, recognize

AT = "2026-11-21T10:00:00.000Z"
pytestmark = pytest.mark.skipif(not ARE_INSTALLED, reason=HOW_TO_INSTALL)


@pytest.fixture(params=tuple(PROGRAMS))
def lab(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Lab]:
    """Give an agent with a session of two turns, the first with calls side by side."""
    (tmp_path / "project").mkdir()
    with LoopbackModel() as model:
        lab = Lab(request.param, tmp_path, model)
        lab.configure()
        model.answers = [Answer("I look.", ("echo one", "echo two")), Answer("First is done.")]
        lab.ask("First.")
        session_id = context_of(lab.transcript()).header.session_id
        model.answers = [
            Answer("I look again.", ("echo three",), N_FULL),
            Answer("Second is done.", n_tokens=N_FULL),
        ]
        lab.ask("Second.", resume=session_id)
        yield lab


def test_a_compacted_session_goes_on_with_the_summary_and_what_was_kept(lab: Lab) -> None:
    path = lab.transcript()
    context = context_of(path)
    second = next(
        at for at in list_cuts(context.items) if "Second." in str(context.items[at].native)
    )
    edit = CompactionEdit(
        entry_id="cc000000",
        timestamp=AT,
        summary="## Goal\nA summary of the first turn.",
        first_kept_id=context.items[second].entry_id,
        n_tokens_before=N_FULL,
        n_tokens_after=900,
        details={"by": "ullage", "trigger": "threshold", "layer": "full"},
    )
    new = begin(path, editor(context).compact(MemoryLines(path.read_bytes()), context, edit))
    lab.configure(compact_at=COMPACT_AT)
    assert used_tokens(context_of(new)) == 900
    reached = go_on(lab, new)
    assert edit.summary in reached[0][-1]
    assert reached[1] == ("text", "Second.")
    assert "First is done." not in str(reached)
    assert reached[-2:] == [("text", "Second is done."), ("text", "Go on.")]


def test_a_pruned_session_goes_on_with_placeholders(lab: Lab) -> None:
    path = lab.transcript()
    context = context_of(path)
    results = [
        Replacement(entry_id=item.entry_id, what="output", call_id=block.call_id)
        for item in context.items
        for block in item.message.blocks
        if isinstance(block, ToolResult)
    ]
    edit = PruneEdit(
        entry_id="dd000000",
        timestamp=AT,
        replacements=tuple(results[:2]),
        n_tokens_before=N_FULL,
        n_tokens_after=1_200,
    )
    new = begin(path, editor(context).prune(MemoryLines(path.read_bytes()), context, edit))
    lab.configure(compact_at=COMPACT_AT)
    assert used_tokens(context_of(new)) == 1_200
    reached = go_on(lab, new)
    outputs = [text for kind, text in reached if kind == "result"]
    assert outputs[:2] == [PRUNED_OUTPUT] * 2
    assert outputs[2].rstrip().endswith("three")


TITLE = "What the first session was called"
TEXT = "[Post-compaction checkpoint restore]\n\nWorking on: the second thing\nStatus: idle"
RESTORE = RestoreEdit(entry_id="ff000000", timestamp=AT, checkpoint_id="cp_001", text=TEXT)


def test_a_session_goes_on_with_a_checkpoint_at_its_end(lab: Lab) -> None:
    path = lab.transcript()
    context = context_of(path)
    change = editor(context).restore(MemoryLines(path.read_bytes()), context, RESTORE)
    reached = go_on(lab, begin(path, change))
    assert reached[-3:] == [("text", "Second is done."), ("text", TEXT), ("text", "Go on.")]


def test_a_session_begins_with_a_checkpoint(lab: Lab) -> None:
    path = lab.transcript()
    context = context_of(path)
    change = editor(context).begin(MemoryLines(path.read_bytes()), context, RESTORE)
    reached = go_on(lab, begin(path, change))
    assert reached == [("text", TEXT), ("text", "Go on.")]


def test_what_the_agent_compacted_is_undone_in_a_new_session(lab: Lab) -> None:
    path = lab.transcript()
    before = context_of(path)
    if lab.agent == "claude":
        lab.ask("/compact", resume=before.header.session_id)
    else:
        lab.configure(compact_at=COMPACT_AT)
        lab.model.answers = [Answer("What the model summed up.")]
        lab.ask("Third.", resume=before.header.session_id)
        lab.configure()
    context = context_of(path)
    assert context.boundary is not None
    change = editor(context).undo_compaction(
        MemoryLines(path.read_bytes()),
        context,
        context.boundary,
        UndoEdit(entry_id="ee000000", timestamp=AT),
    )
    new = begin(path, change)
    assert [i.native for i in context_of(new).items] == [i.native for i in before.items]
    reached = go_on(lab, new)
    assert ("text", "First.") in reached
    assert "summed up" not in str(reached)


def go_on(lab: Lab, path: Path) -> list[tuple[str, str]]:
    """Resume a session; what reaches the model is what we read in the file, and the prompt."""
    data = path.read_bytes()
    context = context_of(path)
    found = recognize(MemoryLines(data))
    assert found is not None
    expected = flat(cast(list[Json], found[0].messages(context)))
    requests = lab.ask("Go on.", resume=context.header.session_id)
    assert len(requests) == 1, "the agent does not take the window for full and compact at once"
    body = requests[0]
    reached = flat(cast(list[Json], body["messages"] if "messages" in body else body["input"]))
    assert reached == [*expected, ("text", "Go on.")]
    assert path.read_bytes().startswith(data)
    assert title_of(open_session(path)) == TITLE
    now = context_of(path)
    assert flat(cast(list[Json], found[0].messages(now)))[: len(reached)] == reached
    return reached


MADE_UP = ("text", "No response requested.")
"""What Claude Code puts behind a user's message that nobody answered."""


_REMINDER = re.compile(r"\s*<system-reminder>.*?</system-reminder>\s*", re.DOTALL)
"""What Claude Code puts behind the last result, such as how many tokens are left."""


def flat(messages: Sequence[Json]) -> list[tuple[str, str]]:
    """List what messages hold, in order, without what the agents announce by themselves."""
    found: list[tuple[str, str]] = []
    for message in messages:
        content = message.get("content", message)
        if message.get("role") in ("developer", "system"):
            continue
        if isinstance(content, str):
            content = [{"type": "text", "text": content}]
        blocks = cast(list[Json], content if isinstance(content, list) else [message])
        found += [_told(block) for block in blocks]
    return [
        one
        for one in found
        if one != MADE_UP and not one[1].startswith(("<system-reminder>", "<environment_"))
    ]


def _told(block: Json) -> tuple[str, str]:
    match block["type"]:
        case "tool_use":
            return "call", str(block["id"])
        case "function_call":
            return "call", str(block["call_id"])
        case "tool_result":
            return "result", _REMINDER.sub("", str(block["content"]))
        case "function_call_output":
            return "result", str(block["output"])
        case "reasoning":
            return "thought", str(block["encrypted_content"])
        case _:
            return "text", str(block["text"]).rstrip()


def begin(old: Path, change: object) -> Path:
    assert isinstance(change, NewSession)
    titled = editor(context_of(old)).entitle(change, TITLE)
    path = old.with_name(titled.name)
    path.write_bytes(titled.data)
    return path


def context_of(path: Path) -> Context:
    return read(path.read_bytes()).context


def used_tokens(context: Context) -> int | None:
    window = Window(n_tokens=200_000, source="setting", detail="test")
    return measure(context, window, len).used_tokens


def editor(context: Context) -> Editor:
    found = agent_info(context.header.known_agent).editor
    assert found is not None
    return found
