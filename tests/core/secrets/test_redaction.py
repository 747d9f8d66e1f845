"""What is handed on: masked, without what cannot be searched, and whole in everything else."""

import json

import msgspec
import pytest

from factories import user
from ullage.core.secrets.redaction import MAX_DEPTH, Redactor, mask_items
from ullage.core.transcript.entries import Speech, Text, ToolResult
from ullage.core.transcript.speech import read_speech

KEY = "ghp_CANARY0123456789abcdefghijklmnopqr"


def redacted(value: object, home: str = "/home/marvin") -> str:
    (record,) = Redactor((), home).redact([{"it": value}])
    return json.dumps(record["it"])


def test_what_one_record_calls_secret_goes_from_all() -> None:
    records: list[dict[str, object]] = [{"it": f"use {KEY[4:]} here"}, {"password": KEY[4:]}]
    assert KEY[4:] not in str(Redactor((), "/home/marvin").redact(records))


@pytest.mark.parametrize(
    "value",
    [
        {"type": "image", "data": KEY},
        {"type": "image", "source": {"type": "base64", "data": KEY}},
        {"type": "input_image", "image_url": f"data:image/png;base64,{KEY}"},
        {"inlineData": {"data": KEY}},
        {"type": "redacted_thinking", "data": KEY},
        {"type": "thinking", "thinking": "", "redacted": True, "thinkingSignature": KEY},
        {"type": "reasoning", "encrypted_content": KEY},
        {KEY: 1},
        {"clientSecret": KEY[4:]},
        {"password": KEY[4:], "again": [f"use {KEY[4:]} here"]},
        [[{"deep": [KEY]}]],
    ],
    ids=str,
)
def test_no_part_lets_a_secret_through(value: object) -> None:
    assert KEY[4:] not in redacted(value)


def test_who_speaks_in_a_message_stays_and_is_masked_too() -> None:
    speech = (
        Speech(speaker="tool", text="Which key?"),
        Speech(speaker="typed", text=f"Take {KEY}"),
    )
    text = Text(text=f"Answers: {KEY}", speech=speech)
    asked = user("")
    items = [
        msgspec.structs.replace(
            asked, message=msgspec.structs.replace(asked.message, blocks=(block,))
        )
        for block in (text, ToolResult(call_id="c", name="ask", content=(text,), is_error=False))
    ]
    for masked in mask_items(items, ()):
        assert read_speech(masked, "typed").startswith("Take ")
        assert KEY not in str(masked.message)


def test_what_was_typed_while_the_agent_worked_is_masked_too() -> None:
    (masked,) = mask_items([msgspec.structs.replace(user(""), queued=(f"Take {KEY}",))], ())
    assert masked.queued[0].startswith("Take ")
    assert KEY not in masked.queued[0]


def test_what_is_nested_too_deeply_is_left_out() -> None:
    value: object = KEY
    for _ in range(3 * MAX_DEPTH):
        value = [value]
    assert "[nesting left out" in redacted(value)
    assert KEY not in redacted(value)


def test_numbers_and_names_of_fields_stay() -> None:
    value = {"usage": {"input": 12, "cost": 0.5}, "isError": False, "details": None}
    assert json.loads(redacted(value)) == value


@pytest.mark.parametrize(
    ("home", "text", "expected"),
    [
        ("/home/marvin", "cd /home/marvin/x", "cd ~/x"),
        ("/home/marvin", "cd /home/marvins/x", "cd /home/marvins/x"),
        ("/home/marvin", "~/.pi/sessions/--home-marvin-x--", "~/.pi/sessions/-~-x--"),
        ("/home/marvin", "marvin: hi", "[USER]: hi"),
        ("C:\\Users\\marvin", "C:\\Users\\marvin\\x", "~\\x"),
        ("C:\\Users\\marvin", '{"a":"C:\\\\Users\\\\marvin\\\\x"}', '{"a":"~\\\\x"}'),
        ("/root", "root of /root/x", "root of ~/x"),
        ("/home/al", "al in /home/al/x", "al in ~/x"),
        ("/", "/a/b", "/a/b"),
        ("", "a b", "a b"),
    ],
)
def test_home_and_name_are_masked_where_they_tell_who_it_was(
    home: str, text: str, expected: str
) -> None:
    assert json.loads(redacted(text, home)) == expected
