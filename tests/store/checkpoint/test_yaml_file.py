"""Checkpoints survive YAML whatever text they hold; YAML that is no checkpoint is refused."""

import msgspec
import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from profiles import examples
from ullage.core.checkpoint.checkpoint import (
    Checkpoint,
    Decision,
    LastToolCall,
    Meta,
    Resources,
    TokenUsage,
    Working,
)
from ullage.core.facts.thread import Exchange, Thread
from ullage.errors import CorruptCheckpoint
from ullage.store.checkpoint.yaml_file import dump, load

EXAMPLE = Checkpoint(
    meta=Meta(
        checkpoint_id="cp_003",
        session_key="telegram:user123",
        session_file="sessions/telegram-user123.jsonl",
        created_at="2026-02-24T15:30:00Z",
        trigger="auto-80pct",
        compaction_count=2,
        token_usage=TokenUsage(input_tokens=162431, context_window=200000, utilization=0.81),
        previous_checkpoint="cp_002",
        channel="telegram",
        agent_id="default",
    ),
    working=Working(
        topic="Helping user plan a trip to Japan",
        status="in_progress",
        interrupted=False,
        last_tool_call=LastToolCall(name="web_search", params_summary="visa: Serbia"),
        next_action="User asked about visa requirements -- need to answer",
    ),
    decisions=(Decision(id="d1", what="User prefers budget: low", when="2026-02-24T14:15:00Z"),),
    resources=Resources(
        files_read=(), files_modified=("a: b.md",), tools_used=("no", "web_search")
    ),
    thread=Thread(summary="Planning.", key_exchanges=(Exchange(role="user", gist="# hi\n- x"),)),
    open_items=("Visa", "- dash"),
    learnings=(),
)

# What is hard for YAML, beside whatever hypothesis finds.
HARD = [
    "",
    " ",
    "a\x85b",
    "\x85",
    "a\u2028b\u2029",
    "\ufeffbom",
    "no",
    "null",
    "~",
    "2024-01-01",
    "0x1F",
    "1_000",
    "---",
    "...",
    "- a",
    "a: b",
    "a #b",
    "&a",
    "*a",
    "!!str x",
    "{a: b}",
    "[",
    "|",
    "%YAML",
    "tab\tin",
    "\ttab",
    " lead",
    "trail ",
    "a \nb",
    "a\n\nb\n",
    "\n",
    "\na",
    "a\n\n",
    "\r\n",
    "\x00\x07\x1b",
    "🚀你好",
    "\x7f",
    "x" * 5000,
    "'\"\\",
]
texts = st.text(st.characters(exclude_categories=["Cs"])) | st.sampled_from(HARD)
lists = st.lists(texts, max_size=3).map(tuple)
counts = st.integers(0, 2**53)
checkpoints = st.builds(
    Checkpoint,
    schema=st.just("openclaw/checkpoint"),
    schema_version=st.just(1),
    meta=st.builds(
        Meta,
        checkpoint_id=texts,
        session_key=texts,
        session_file=texts,
        created_at=texts,
        trigger=texts,
        compaction_count=counts,
        token_usage=st.builds(
            TokenUsage,
            input_tokens=counts,
            context_window=counts,
            utilization=st.floats(0, 1e9, allow_nan=False),
        ),
        previous_checkpoint=st.none() | texts,
        channel=texts,
        agent_id=texts,
    ),
    working=st.builds(
        Working,
        topic=texts,
        status=st.sampled_from(["in_progress", "idle", "waiting_for_user"]),
        interrupted=st.booleans(),
        last_tool_call=st.none() | st.builds(LastToolCall, name=texts, params_summary=texts),
        next_action=texts,
    ),
    decisions=st.lists(st.builds(Decision, id=texts, what=texts, when=texts), max_size=2).map(
        tuple
    ),
    resources=st.builds(Resources, files_read=lists, files_modified=lists, tools_used=lists),
    thread=st.builds(
        Thread,
        summary=texts,
        key_exchanges=st.lists(
            st.builds(Exchange, role=st.sampled_from(["user", "agent"]), gist=texts), max_size=2
        ).map(tuple),
    ),
    open_items=lists,
    learnings=lists,
    pins=lists,
    dead_ends=lists,
    trust_anchors=lists,
)


@settings(max_examples=examples(300))
@given(checkpoints)
def test_what_is_dumped_is_loaded(checkpoint: Checkpoint) -> None:
    assert load(dump(checkpoint)) == checkpoint


@pytest.mark.parametrize("text", HARD)
def test_hard_text_survives_in_every_place(text: str) -> None:
    working = msgspec.structs.replace(EXAMPLE.working, topic=text, next_action=text)
    resources = msgspec.structs.replace(EXAMPLE.resources, tools_used=(text,))
    checkpoint = msgspec.structs.replace(
        EXAMPLE, working=working, resources=resources, pins=(text,), open_items=(text, text)
    )
    assert load(dump(checkpoint)) == checkpoint


@pytest.mark.parametrize("text", HARD)
def test_any_yaml_parser_reads_the_same_text(text: str) -> None:
    thread = Thread(summary=text, key_exchanges=(Exchange(role="agent", gist=text),))
    read = yaml.safe_load(dump(msgspec.structs.replace(EXAMPLE, thread=thread)))
    assert read["thread"]["summary"] == text
    assert read["thread"]["key_exchanges"][0]["gist"] == text


def test_a_lone_surrogate_is_replaced() -> None:
    checkpoint = msgspec.structs.replace(EXAMPLE, learnings=("half \ud83d here",))
    assert load(dump(checkpoint)).learnings == ("half \ufffd here",)


def test_the_file_looks_as_the_design_shows_it() -> None:
    text = dump(EXAMPLE).decode()
    assert text.startswith(
        '# OpenClaw Checkpoint Schema v1\nschema: "openclaw/checkpoint"\nschema_version: 1\nmeta:\n'
    )
    assert "  topic: |-\n    Helping user plan a trip to Japan\n" in text
    assert 'tools_used:\n  - "no"\n  - "web_search"\n' in text
    assert "what: |-\n" in text
    assert "pins" not in text


def test_a_file_with_unquoted_text_and_fields_of_its_own_is_read() -> None:
    text = (
        dump(EXAMPLE)
        .decode()
        .replace('"cp_003"', "cp_003")
        .replace('"2026-02-24T15:30:00Z"', "2026-02-24T15:30:00Z")
    )
    assert load((text + "extra:\n  kept: [1, 2.5, true]\n").encode()) == EXAMPLE


GOOD = dump(EXAMPLE).decode()
BROKEN = {
    "nothing": b"",
    "no YAML": b"a: [1",
    "no mapping": b"- a\n- b\n",
    "only text": b"hello",
    "not UTF-8": b"a: \xff",
    "control characters": b"a: \x01\n",
    "another schema": GOOD.replace("openclaw/checkpoint", "other").encode(),
    "a torn file": GOOD[: len(GOOD) // 2].encode(),
    "an alias": b"a: &x [1]\nb: *x\n",
    "an anchor": b"a: &x 1\n",
    "a tag": b"a: !!python/object:os.system 1\n",
    "a plain tag": b"a: !!str 1\n",
    "a key twice": b"a: 1\na: 2\n",
    "a key that is a list": b"? [a]\n: 1\n",
    "deep nesting": b"a: " + b"[" * 200 + b"]" * 200,
    "very deep nesting": b"[" * 100_000,
    "too large": b"#" * (4 * 1024 * 1024 + 1),
    "a merge key": b"a: &x {b: 1}\nc:\n  <<: *x\n",
    "two documents": GOOD.encode() + b"---\nmore: 1\n",
}


@pytest.mark.parametrize("data", BROKEN.values(), ids=BROKEN)
def test_what_is_no_checkpoint_is_refused_in_one_way(data: bytes) -> None:
    with pytest.raises(CorruptCheckpoint):
        load(data)


@pytest.mark.parametrize(
    ("good", "bad", "named"),
    [
        ("input_tokens: 162431", "input_tokens: many", "$.meta.token_usage.input_tokens"),
        ("input_tokens: 162431", "input_tokens: " + "9" * 5000, "$.meta.token_usage.input_tokens"),
        ("interrupted: false", "interrupted: perhaps", "$.working.interrupted"),
        ('status: "in_progress"', 'status: "asleep"', "$.working.status"),
        ('channel: "telegram"', "channel: {a: 1}", "$.meta.channel"),
        ('agent_id: "default"', "", "agent_id"),
    ],
)
def test_the_error_names_the_key(good: str, bad: str, named: str) -> None:
    assert good in GOOD
    with pytest.raises(CorruptCheckpoint) as error:
        load(GOOD.replace(good, bad).encode())
    assert named in str(error.value)


@settings(max_examples=examples(200))
@given(
    st.binary(max_size=300)
    | st.text(max_size=300).map(lambda text: text.encode("utf-8", "replace"))
)
def test_no_bytes_raise_anything_else(data: bytes) -> None:
    with pytest.raises(CorruptCheckpoint):
        load(data)


@pytest.mark.parametrize("text", ["a\n", "a\nb\n", "\na", " a\n  b", "- x\n\n# y", "é", "a\n\n"])
def test_free_text_is_a_block_wherever_it_can_be(text: str) -> None:
    changed = msgspec.structs.replace(
        EXAMPLE, working=msgspec.structs.replace(EXAMPLE.working, topic=text)
    )
    data = dump(changed)
    assert b"  topic: |" in data
    assert load(data) == changed


@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
        (b"", dump(EXAMPLE), "second document"),
        (b"0.81", b"1e999", "beyond all numbers"),
        (b"0.81", b"-0.5", "less than nothing"),
        (b"162431", b"-1", "less than nothing"),
        (b"compaction_count: 2", b"compaction_count: -2", "less than nothing"),
    ],
)
def test_what_no_checkpoint_says_is_damage(old: bytes, new: bytes, problem: str) -> None:
    data = dump(EXAMPLE)
    damaged = data.replace(old, new, 1) if old else data + b"---\n" + new
    assert damaged != data
    with pytest.raises(CorruptCheckpoint, match=problem):
        load(damaged)
