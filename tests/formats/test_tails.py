"""What was appended to a transcript, read for the short way: strange lines are no fault."""

import json
from contextlib import suppress

import pytest

from ullage.formats.agents.claude_code import tail as claude_code
from ullage.formats.agents.codex import tail as codex

STRANGE = (None, [], {}, {"a": [1]}, [{}], "", "x", -1, 1.5, True, 10**400)
CLAUDE_CODE = {
    "type": "assistant",
    "uuid": "2",
    "parentUuid": "1",
    "isSidechain": False,
    "subtype": "x",
    "isCompactSummary": False,
    "isApiErrorMessage": False,
    "requestedModel": "m",
    "attachment": {"identity": 1},
    "modelUsage": {"m": {"contextWindow": 200_000}},
    "message": {"id": "m1", "model": "m", "usage": {"input_tokens": 9, "iterations": [{}]}},
}
CODEX = {
    "type": "event_msg",
    "payload": {
        "type": "token_count",
        "role": "assistant",
        "model": "m",
        "info": {"last_token_usage": {"total_tokens": 9, "input_tokens": 9}},
        "model_context_window": 200_000,
    },
}
KNOWN: dict[str, object] = {"leaf": "1", "model": "m", "window_tokens": 200_000, "answer_id": "m0"}


def _change_each(record: object, value: object) -> list[object]:
    """Give a record once for each of its fields, at any depth, with a value in its place."""
    if not isinstance(record, dict):
        return [value]
    return [record | {key: new} for key in record for new in _change_each(record[key], value)] + [
        value
    ]


@pytest.mark.parametrize("value", STRANGE, ids=repr)
@pytest.mark.parametrize(
    ("read_tail", "record"), [(claude_code.read_tail, CLAUDE_CODE), (codex.read_tail, CODEX)]
)
def test_no_value_of_a_field_is_a_fault(read_tail, record: object, value: object) -> None:
    for kind in ("assistant", "cost-state", "response_item", "turn_context", "event_msg"):
        for changed in _change_each(record | {"type": kind}, value):
            with suppress(ValueError):
                read_tail([json.dumps(changed).encode()] * 2, KNOWN)
