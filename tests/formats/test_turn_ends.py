"""Whether an answer ends the agent's turn stands in each agent's record, in its own words."""

import pytest

from ullage.core.transcript.entries import Entry, JsonObject
from ullage.formats.agents.claude_code.messages import to_message as to_claude_message
from ullage.formats.agents.codex.messages import to_message as to_codex_message
from ullage.formats.agents.openclaw.messages import to_message as to_pi_message
from ullage.formats.agents.opencode.messages import items_of


def entry(kind: str, native: JsonObject) -> Entry:
    return Entry(entry_id="e1", parent_id=None, kind=kind, offset=0, size_bytes=1, native=native)


@pytest.mark.parametrize(
    ("reason", "ends_turn"),
    [("end_turn", True), ("stop_sequence", True), ("tool_use", False), (None, None)],
)
def test_claude_codes_stop_reason(reason: str | None, ends_turn: bool | None) -> None:
    native: JsonObject = {
        "role": "assistant",
        "content": [{"type": "text", "text": "Done."}],
        "stop_reason": reason,
    }
    message, _ = to_claude_message(entry("assistant", {"message": native}), native, {})
    assert message.ends_turn is ends_turn


@pytest.mark.parametrize(
    ("reason", "ends_turn"), [("stop", True), ("toolUse", False), ("length", None)]
)
def test_pis_stop_reason(reason: str, ends_turn: bool | None) -> None:
    content = [{"type": "text", "text": "Done."}]
    native: JsonObject = {"role": "assistant", "content": content, "stopReason": reason}
    assert to_pi_message(native)[0].ends_turn is ends_turn


@pytest.mark.parametrize(
    ("phase", "ends_turn"), [("final_answer", True), ("commentary", False), (None, None)]
)
def test_codexs_phase(phase: str | None, ends_turn: bool | None) -> None:
    content = [{"type": "output_text", "text": "Done."}]
    native: JsonObject = {"type": "message", "role": "assistant", "content": content}
    if phase is not None:
        native["phase"] = phase
    assert to_codex_message(native, {})[0].ends_turn is ends_turn


@pytest.mark.parametrize(
    ("finish", "expected"), [("stop", [False, True]), ("tool-calls", [False, False])]
)
def test_opencodes_finish_is_that_of_the_last_step(finish: str, expected: list[bool]) -> None:
    parts = [
        {"id": f"p{n}", "type": kind, **({"text": "Done."} if kind == "text" else {})}
        for n, kind in enumerate(["step-start", "text", "step-start", "text"])
    ]
    native: JsonObject = {"info": {"role": "assistant", "finish": finish}, "parts": parts}
    items = items_of(entry("assistant", native), is_after_boundary=True)
    assert [item.message.ends_turn for item in items] == expected
