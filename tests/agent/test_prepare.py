"""Before each request the whole decision is made in one call.

Its order: docs/design/layers.md, "Before each request".
"""

import random
from datetime import datetime, timedelta
from pathlib import Path

import msgspec
import pytest

from pi_files import Json
from service import RuntimeSession, Service, kinds, told
from ullage.agent.json_rpc import RpcError
from ullage.agent.protocol import (
    AskUser,
    CheckpointWritten,
    CompactNow,
    FlushTurn,
    MemoryFlushed,
    Prepared,
    Pruned,
)
from ullage.app.memory import flush
from ullage.core.change.edit import PRUNED_OUTPUT
from ullage.core.facts.pins import Pin, clean_pin
from ullage.errors import StorageError
from ullage.store.checkpoint.yaml_file import load
from ullage.store.files.places import Places
from ullage.store.state.pins import change_pins, pins_path

BIG = "a" * 40_000
"""Ten thousand tokens, as the tests count."""


def texts_below(folder: Path) -> list[str]:
    """Give all that stands in the files of a folder."""
    return [path.read_text("utf-8") for path in folder.rglob("*") if path.is_file()]


async def filled(session: RuntimeSession, n_outputs: int = 8) -> RuntimeSession:
    for number in range(n_outputs):
        session.turn(f"Please look at file number {number}.", output=f"{number}" + BIG)
    session.turn("And what do you think?")
    session.turn("Go on.")
    return session


@pytest.mark.parametrize(
    ("used", "line", "actions"),
    [
        (48_000, None, []),
        (139_999, None, []),
        (140_000, "[Context: 70% | 140k/200k tokens]", []),
        (148_000, "[Context: 74% | 148k/200k tokens]", []),
        (162_000, "[Context: 81% | 162k/200k tokens | Checkpoint saved]", ["checkpointWritten"]),
        (
            176_000,
            "[Context: 88% | 176k/200k tokens | Checkpoint saved]",
            ["checkpointWritten", "compact"],
        ),
        (
            192_000,
            "[Context: 96% | 192k/200k tokens | Checkpoint saved]",
            ["checkpointWritten", "compact"],
        ),
    ],
)
async def test_each_band_has_its_line_and_its_actions(
    service: Service, used: int, line: str | None, actions: list[str]
) -> None:
    session = await service.open()
    session.turn("Please rename the parser.")
    prepared = await session.prepare(used=used)
    assert (prepared.gauge_line, kinds(prepared)) == (line, actions)
    assert told(prepared) == (["advice"] if used >= 160_000 else [])
    assert prepared.replacements == []
    assert prepared.gauge.used_tokens == used


async def test_by_a_window_that_nobody_names_no_agent_is_told_to_stop(service: Service) -> None:
    """Neither line nor advice, flush or compaction; a checkpoint is written all the same."""
    (service.sessions.places.cwd / "memory").mkdir()
    session = await service.open(windowTokens=None)
    session.turn("Always run the tests with tox, never with pytest alone.", answer="I will.")
    assert session.opened.window_source == "default"
    done = await session.prepare(used=192_000)
    assert done.gauge.window_source == "default"
    assert done.gauge_line is None
    assert done.system_events == []
    assert [type(action).__name__ for action in done.actions] == ["CheckpointWritten"]


async def test_a_full_context_asks_for_the_full_layer(service: Service) -> None:
    session = await service.open()
    session.turn("Hello.")
    prepared = await session.prepare(used=191_000)
    asked = prepared.actions[-1]
    assert isinstance(asked, CompactNow)
    assert asked.layer == "full"


async def test_without_usage_the_messages_are_counted(service: Service) -> None:
    session = await service.open()
    session.turn("a" * 40_000)
    prepared = await session.prepare()
    assert prepared.gauge.source == "counted"
    assert prepared.gauge.used_tokens == 10_002
    assert prepared.gauge_line is None


async def test_the_runtime_names_the_window(service: Service) -> None:
    session = await service.open(windowTokens=100_000)
    session.turn("Hello.")
    assert session.opened.thresholds.summarize_tokens == 88_000
    prepared = await session.prepare(used=71_000, window=100_000)
    assert prepared.gauge_line == "[Context: 71% | 71k/100k tokens]"
    assert prepared.gauge.window_source == "agent"


async def test_old_output_is_pruned_in_memory_and_stays_pruned(service: Service) -> None:
    session = await filled(await service.open())
    before = msgspec.json.encode(session.messages)
    prepared = await session.prepare(used=162_000)
    pruned = prepared.actions[0]
    assert isinstance(pruned, Pruned)
    # 80,000 tokens of output, of which the last 40,000 are protected.
    assert (pruned.n_outputs, len(prepared.replacements)) == (5, 5)
    assert prepared.gauge.used_tokens == 162_000 - pruned.n_tokens
    for replacement in prepared.replacements:
        original = session.messages[replacement.index]
        assert original["role"] == "toolResult"
        content = [{"type": "text", "text": PRUNED_OUTPUT}]
        assert replacement.message == original | {"content": content}
    assert msgspec.json.encode(session.messages) == before
    # The provider reports the smaller context now: without memory all would be sent again.
    session.turn("Next.")
    again = await session.prepare(used=113_000)
    assert [replacement.index for replacement in again.replacements] == [
        replacement.index for replacement in prepared.replacements
    ]
    assert again.gauge.used_tokens == 113_000
    assert kinds(again) == ["pruned"]


async def test_what_is_pinned_is_not_pruned_and_is_shown_again(
    service: Service, places: Places
) -> None:
    session = await filled(await service.open())
    pruned = [part.index for part in (await session.prepare(used=162_000)).replacements]
    text = session.messages[pruned[0]]["content"][0]["text"]
    pin = Pin(text=clean_pin(text), entry_id="an entry of the file")
    change_pins(pins_path("openclaw:one", places), lambda pins: (*pins, pin), places)
    session.turn("Next.")
    again = await session.prepare(used=162_000)
    assert [part.index for part in again.replacements] == pruned[1:]


def sent(session: RuntimeSession, prepared: Prepared) -> list[bytes]:
    """Give the messages that a runtime sends, with what is replaced in them."""
    changed = {replacement.index: replacement.message for replacement in prepared.replacements}
    return [
        msgspec.json.encode(changed.get(at, message)) for at, message in enumerate(session.messages)
    ]


@pytest.mark.parametrize("is_restarted", [False, True])
async def test_what_the_provider_has_cached_stays_until_20000_tokens_go(
    service: Service, *, is_restarted: bool
) -> None:
    session = await service.open()
    session.say({"role": "user", "content": "Please go through all of it."})
    before: list[bytes] = []
    moved_at: list[tuple[int, int]] = []
    for number in range(1, 61):
        session.round(f"{number:02}" + "a" * 7_998)
        if is_restarted:
            await session.close()
            messages, n_calls = session.messages, session.n_calls
            session = await service.open()
            session.messages, session.n_calls = messages, n_calls
        prepared = await session.prepare(used=5_000 + 2_000 * number)
        now = sent(session, prepared)
        if now[: len(before)] != before:
            moved_at.append((number, len(prepared.replacements)))
        before = now
    # Ten rounds and 40,000 tokens before them stay: the line moves by 20,000 tokens each time.
    assert moved_at == [(40, 10), (50, 20), (60, 30)]


async def test_counted_tokens_are_those_that_are_sent(service: Service) -> None:
    session = await filled(await service.open(), 17)
    first = await session.prepare()
    second = await session.prepare()
    assert first.replacements
    assert first.gauge == second.gauge


async def test_a_prune_that_is_enough_ends_the_cascade(service: Service) -> None:
    session = await filled(await service.open())
    prepared = await session.prepare(used=180_000)
    assert kinds(prepared) == ["pruned", "checkpointWritten"]
    assert prepared.gauge.used_tokens is not None
    assert prepared.gauge.used_tokens < 160_000


async def test_a_prune_that_is_not_enough_is_followed_by_a_compaction(service: Service) -> None:
    session = await filled(await service.open(windowTokens=200_000), 7)
    prepared = await session.prepare(used=230_000)
    assert kinds(prepared) == ["pruned", "checkpointWritten", "compact"]


async def test_the_checkpoint_is_not_written_again_for_little(service: Service) -> None:
    session = await service.open()
    session.turn("Please rename the parser.")
    assert "checkpointWritten" in kinds(await session.prepare(used=162_000))
    session.turn("Thanks.")
    second = await session.prepare(used=163_000)
    assert kinds(second) == []
    assert second.gauge_line == "[Context: 82% | 163k/200k tokens | Checkpoint saved]"
    session.turn("Now write the tests for it.")
    assert "checkpointWritten" in kinds(await session.prepare(used=174_000))


@pytest.mark.parametrize(
    ("params", "channel", "agent_id", "file"),
    [
        ({}, "agent", "openclaw", ""),
        ({"sessionKey": "telegram:user123"}, "telegram", "openclaw", ""),
        ({"sessionKey": "agent:work:slack:channel:c1"}, "slack", "work", ""),
        ({"sessionKey": "agent:main:main"}, "agent", "main", ""),
        ({"sessionKey": "openclaw:0199"}, "agent", "openclaw", ""),
        (
            {"sessionKey": "agent:a:b:c", "channel": "telegram", "agentId": "default"},
            "telegram",
            "default",
            "",
        ),
        ({"sessionFile": "/sessions/a.jsonl"}, "agent", "openclaw", "/sessions/a.jsonl"),
    ],
)
async def test_a_checkpoint_names_what_the_runtime_or_its_key_says(
    service: Service, params: dict[str, str], channel: str, agent_id: str, file: str
) -> None:
    session = await service.open(**params)
    session.turn("Please rename the parser.")
    written = (await session.prepare(used=162_000)).actions[0]
    assert isinstance(written, CheckpointWritten)
    meta = load(Path(written.path).read_bytes()).meta
    named = (meta.channel, meta.agent_id, Path(meta.session_file).as_posix())
    assert named == (channel, agent_id, Path(file).as_posix())
    assert (meta.session_file == "") == (file == "")


@pytest.mark.parametrize(("used", "is_written"), [(167_999, False), (168_000, True)])
async def test_a_checkpoint_follows_5_percent_of_the_one_before(
    service: Service, used: int, is_written: bool
) -> None:
    first = await service.open()
    first.turn("Please rename the parser.")
    assert "checkpointWritten" in kinds(await first.prepare(used=160_000))
    first.turn("Thanks.")
    assert ("checkpointWritten" in kinds(await first.prepare(used=used))) == is_written
    # Another process has the same one before it, however often it looked meanwhile.
    second = await service.open()
    second.messages = first.messages
    assert kinds(await second.prepare(used=166_000)) == []
    second.turn("Now write the tests for it.")
    used = 176_400 if is_written else 168_000
    assert "checkpointWritten" in kinds(await second.prepare(used=used))


async def test_advice_is_given_once_while_it_is_full(service: Service) -> None:
    session = await service.open()
    session.turn("Please rename the parser.")
    assert told(await session.prepare(used=162_000)) == ["advice"]
    assert told(await session.prepare(used=163_000)) == []
    assert told(await session.prepare(used=120_000)) == []
    assert told(await session.prepare(used=164_000)) == ["advice"]


async def test_the_user_is_asked_where_that_is_configured(service: Service, places: Places) -> None:
    places.env.clear()
    session = await service.open()
    session.turn("Please rename the parser.")
    asked = (await session.prepare(used=177_000)).actions[-1]
    assert isinstance(asked, AskUser)
    assert asked.layer == "summarize"
    await session.decline("summarize")
    assert "askUser" not in kinds(await session.prepare(used=178_000))
    # A fifth more than what was declined is past the last threshold, which asks again.
    assert "askUser" in kinds(await session.prepare(used=191_000))


async def test_memory_is_flushed_by_the_agent_once_in_an_epoch(
    service: Service, places: Places
) -> None:
    (places.cwd / "memory").mkdir()
    session = await service.open(canTakeTurn=True)
    session.turn("Please rename the parser.")
    first = await session.prepare(used=177_000)
    assert kinds(first) == ["checkpointWritten", "flushTurn", "compact"]
    turn = first.actions[1]
    assert isinstance(turn, FlushTurn)
    assert turn.log_path.startswith(str(places.cwd / "memory"))
    assert turn.log_path in turn.prompt
    assert kinds(await session.prepare(used=178_000)) == ["compact"]
    again = await service.open(canTakeTurn=True)
    again.turn("Please rename the parser.")
    assert "flushTurn" not in kinds(await again.prepare(used=178_000))
    after = await session.prepare(used=177_000, compactionCount=1)
    assert "flushTurn" in kinds(after)


async def test_memory_is_flushed_by_us_where_no_turn_can_be_had(
    service: Service, places: Places
) -> None:
    (places.cwd / "memory").mkdir()
    session = await service.open()
    session.turn("Always run the tests with tox, never with pytest alone.", answer="I will.")
    session.turn("We decided to use SQLite instead of Postgres.", answer="Understood.")
    prepared = await session.prepare(used=177_000)
    assert kinds(prepared) == ["checkpointWritten", "memoryFlushed", "compact"]
    flushed = prepared.actions[1]
    assert isinstance(flushed, MemoryFlushed)
    assert flushed.by == "extract"
    assert any("tox" in text for text in texts_below(places.cwd))
    assert kinds(await session.prepare(used=178_000)) == ["compact"]


async def test_a_log_that_cannot_be_written_is_noted_once(service: Service, places: Places) -> None:
    (places.cwd / "MEMORY.md").write_text("We use tabs.\n")
    (places.cwd / "memory").write_text("no folder")
    session = await service.open()
    session.turn("Always run the tests with tox, never with pytest alone.", answer="I will.")
    first = await session.prepare(used=177_000)
    assert (len(first.notes), kinds(first)) == (1, ["checkpointWritten", "compact"])
    assert (await session.prepare(used=178_000)).notes == []


async def test_no_memory_is_begun_where_the_workspace_has_none(
    service: Service, places: Places
) -> None:
    session = await service.open()
    session.turn("Always run the tests with tox.")
    assert kinds(await session.prepare(used=177_000)) == ["checkpointWritten", "compact"]
    assert list(places.cwd.iterdir()) == []


async def test_the_working_state_is_given_back_once_after_a_compaction(service: Service) -> None:
    session = await filled(await service.open())
    await session.prepare(used=162_000)
    session.apply(await session.compact())
    after = await session.prepare()
    assert told(after) == ["checkpointRestore"]
    assert after.system_events[0].text.startswith("[Post-compaction checkpoint restore]")
    assert told(await session.prepare()) == []


@pytest.mark.parametrize("is_fetched", [True, False])
async def test_the_rules_of_the_workspace_come_with_it(
    service: Service, places: Places, is_fetched: bool
) -> None:
    (places.cwd / "AGENTS.md").write_text("## Red Lines\n- Never push.\n", "utf-8")
    session = await filled(await service.open())
    await session.prepare(used=162_000)
    session.apply(await session.compact())
    text = (await session.resume()).text if is_fetched else None
    after = await session.prepare()
    assert told(after) == ([] if is_fetched else ["checkpointRestore"])
    text = text or after.system_events[0].text
    assert text.startswith("[Post-compaction checkpoint restore]\n\nWorking on:")
    assert text.endswith("> ## Red Lines\n> - Never push.")


async def test_a_runtime_that_fetched_the_working_state_is_not_given_it_again(
    service: Service,
) -> None:
    session = await filled(await service.open())
    await session.prepare(used=162_000)
    session.apply(await session.compact())
    assert (await session.resume()).text is not None
    assert told(await session.prepare(used=61_000)) == []


async def test_a_compaction_of_the_runtimes_own_begins_an_epoch_too(service: Service) -> None:
    session = await filled(await service.open())
    await session.prepare(used=162_000)
    summary = {"role": "compactionSummary", "summary": "We looked at files.", "tokensBefore": 9}
    session.messages = session.messages[-2:]
    session.messages.insert(0, summary | {"timestamp": 1_800_000_000_000})
    after = await session.prepare()
    assert told(after) == ["checkpointRestore"]
    assert after.replacements == []


async def test_usage_from_before_a_compaction_says_nothing(service: Service) -> None:
    session = await filled(await service.open(), 3)
    usage = {"input": 150_000, "output": 10, "totalTokens": 150_010}
    session.messages[-1]["usage"] = usage
    first = await session.prepare()
    assert first.gauge.used_tokens == 150_010
    session.apply(await session.compact(layer="full", usage={"usedTokens": 150_010}))
    assert session.messages[-1]["usage"] == usage
    after = await session.prepare()
    assert after.gauge.source == "estimated"
    assert after.gauge.used_tokens is not None
    assert after.gauge.used_tokens < 140_000


async def test_read_only_prunes_and_warns_once_and_writes_nothing(
    service: Service, places: Places, tmp_path: Path
) -> None:
    (places.cwd / "memory").mkdir()
    before = texts_below(tmp_path)
    session = await filled(await service.open(isReadOnly=True))
    first = await session.prepare(used=250_000)
    # Results older than three rounds go, whatever they weigh together.
    assert kinds(first) == ["pruned", "warn"]
    assert told(first) == ["warning"]
    pressure = (
        "Context Window pressure high in read-only sandbox; consider increasing contextWindow"
    )
    assert first.system_events[0].text == f"[Context warning] {pressure}"
    assert first.notes == [
        "Sandbox read-only mode: skipping memory flush",
        "Sandbox read-only mode: skipping compaction",
    ]
    assert first.gauge_line is not None
    assert "Checkpoint" not in first.gauge_line
    assert len(first.replacements) == 7
    second = await session.prepare(used=251_000)
    assert (kinds(second), told(second), second.notes) == (["pruned"], [], [])
    await session.event({"type": "toolResult", "callId": "toolu_9", "name": "read"})
    await session.close()
    assert texts_below(tmp_path) == before


async def test_the_configuration_makes_a_session_read_only_as_well(
    service: Service, places: Places, tmp_path: Path
) -> None:
    (places.cwd / "memory").mkdir()
    places.env["ULLAGE_SANDBOX_READ_ONLY"] = "true"
    before = texts_below(tmp_path)
    session = await filled(await service.open())
    assert kinds(await session.prepare(used=250_000)) == ["pruned", "warn"]
    await session.event({"type": "toolResult", "callId": "toolu_9", "name": "read"})
    await session.close()
    assert texts_below(tmp_path) == before


async def test_read_only_warns_of_no_window_that_nobody_names(service: Service) -> None:
    session = await filled(await service.open(isReadOnly=True, windowTokens=None))
    prepared = await session.prepare(used=250_000)
    assert (kinds(prepared), told(prepared)) == (["pruned"], [])


async def test_read_only_says_nothing_where_pruning_is_enough(service: Service) -> None:
    session = await filled(await service.open(isReadOnly=True))
    prepared = await session.prepare(used=178_000)
    assert (kinds(prepared), told(prepared)) == (["pruned"], [])


async def test_a_disk_that_takes_nothing_holds_up_no_request(
    service: Service, places: Places
) -> None:
    places.state_folder.write_text("no folder")
    session = await filled(await service.open())
    prepared = await session.prepare(used=162_000)
    assert kinds(prepared) == ["pruned"]
    assert len(prepared.notes) == 1
    assert str(places.state_folder) in prepared.notes[0]
    assert prepared.gauge_line is None


def shuffled(value: object, order: random.Random) -> object:
    if isinstance(value, dict):
        keys = list(value)
        order.shuffle(keys)
        return {key: shuffled(value[key], order) for key in keys}
    if isinstance(value, list):
        return [shuffled(part, order) for part in value]
    return value


async def test_the_order_of_keys_changes_nothing(service: Service) -> None:
    answers = []
    for number in range(4):
        session = await filled(await service.open(sessionId=f"s{number}"))
        messages = shuffled(session.messages, random.Random(number))
        prepared = await session.prepare(messages=messages, used=162_000)
        answers.append(msgspec.structs.replace(prepared, actions=prepared.actions[:1]))
    assert all(answer == answers[0] for answer in answers)


@pytest.mark.parametrize("shape", ["claude-code", "codex", "openai-chat"])
async def test_own_runtimes_use_the_messages_of_their_provider(
    service: Service, shape: str
) -> None:
    session = await service.open(agent="my-runtime", messageFormat=shape)
    messages: list[Json] = []
    for number in range(8):
        messages += turn_of(shape, f"call_{number:08}", BIG)
    messages += turn_of(shape, "call_90000001", "x") + turn_of(shape, "call_90000002", "x")
    prepared = await session.prepare(messages=messages, used=162_000)
    assert len(prepared.replacements) == 4  # and four times 10,000 tokens are protected
    assert PRUNED_OUTPUT in msgspec.json.encode(prepared.replacements[0].message).decode()
    assert session.opened.session_key == "my-runtime:one"


def turn_of(shape: str, call_id: str, output: str) -> list[Json]:
    if shape == "codex":
        return [
            {"role": "user", "content": "Look at it."},
            {"type": "function_call", "call_id": call_id, "name": "read", "arguments": "{}"},
            {"type": "function_call_output", "call_id": call_id, "output": output},
            {"type": "message", "role": "assistant", "content": "Done."},
        ]
    if shape == "openai-chat":
        function = {"name": "read", "arguments": "{}"}
        call = {"id": call_id, "type": "function", "function": function}
        return [
            {"role": "user", "content": "Look at it."},
            {"role": "assistant", "content": None, "tool_calls": [call]},
            {"role": "tool", "tool_call_id": call_id, "content": output},
            {"role": "assistant", "content": "Done."},
        ]
    call = {"type": "tool_use", "id": call_id, "name": "read", "input": {}}
    result = {"type": "tool_result", "tool_use_id": call_id, "content": output}
    return [
        {"role": "user", "content": "Look at it."},
        {"role": "assistant", "content": [call]},
        {"role": "user", "content": [result]},
        {"role": "assistant", "content": "Done."},
    ]


async def test_what_we_put_into_the_conversation_is_no_turn_of_the_user(
    service: Service,
) -> None:
    session = await service.open(agent="my-runtime", messageFormat="claude-code")
    messages: list[Json] = []
    for number in range(8):
        messages += turn_of("claude-code", f"call_{number:08}", BIG)
    first = await session.prepare(messages=messages, used=162_000)
    notes = [{"role": "user", "content": event.text} for event in first.system_events]
    notes += [{"role": "user", "content": "[Context: 81% | 162k/200k tokens]"}] * 2
    again = await service.open(agent="my-runtime", messageFormat="claude-code", sessionId="two")
    second = await again.prepare(messages=messages + notes, used=162_000)
    assert len(second.replacements) == len(first.replacements)


async def test_two_sessions_do_not_touch_each_other(service: Service) -> None:
    one = await filled(await service.open(sessionId="one"))
    two = await filled(await service.open(sessionId="two"), 3)
    assert len((await one.prepare(used=162_000)).replacements) == 5
    assert (await two.prepare(used=100_000)).replacements == []
    await one.close()
    assert (await two.prepare(used=100_000)).gauge.used_tokens == 100_000


async def test_what_follows_the_reported_messages_is_counted(service: Service) -> None:
    session = await service.open()
    session.turn("Read it.", output=BIG)
    session.messages.pop()
    session.messages[-2]["usage"] = {"input": 7, "output": 1, "totalTokens": 8}
    for usage, n_tokens in (
        ({"usedTokens": 1_000}, 11_000),
        ({"usedTokens": 1_000, "nMessages": 2}, 11_000),
        ({"usedTokens": 1_000, "nMessages": 3}, 1_000),
        ({"usedTokens": None}, 10_008),
    ):
        assert (await session.prepare(usage=usage)).gauge.used_tokens == n_tokens
    with pytest.raises(RpcError, match="nMessages"):
        await session.prepare(usage={"usedTokens": 1, "nMessages": 4})


async def test_a_figure_from_before_a_compaction_says_nothing(service: Service) -> None:
    session = await filled(await service.open())
    stale = {"usage": {"usedTokens": 180_000}}
    await session.prepare(**stale)
    done = await session.compact(**stale)
    session.apply(done)
    assert (await session.prepare(**stale)).gauge.used_tokens == done.tokens_after


async def test_a_prune_is_taken_from_a_figure_until_the_model_has_answered(
    service: Service,
) -> None:
    session = await filled(await service.open())
    figure = {"usage": {"usedTokens": 162_000}}
    first = await session.prepare(**figure)
    pruned = first.actions[0]
    assert isinstance(pruned, Pruned)
    assert first.gauge.used_tokens == 162_000 - pruned.n_tokens
    again = await session.prepare(**figure)
    assert (again.gauge, again.replacements) == (first.gauge, first.replacements)
    restarted = await service.open()
    restarted.messages = session.messages
    assert (await restarted.prepare(**figure)).gauge == first.gauge
    restarted.turn("Next.")
    after = await restarted.prepare(usage={"usedTokens": 112_500})
    assert (after.gauge.used_tokens, after.replacements) == (112_500, first.replacements)
    # Without what the first process left, the prune would be taken from this figure again.
    third = await service.open()
    same = await third.prepare(messages=restarted.messages, usage={"usedTokens": 112_500})
    assert (same.gauge, same.replacements) == (after.gauge, after.replacements)


async def restored_after(service: Service, before: str, after: str) -> list[str]:
    """Compact between some calls, and prepare a request with the summary in its place."""
    session = await filled(await service.open())
    calls = {"prepare": session.prepare, "resume": session.resume}
    for name in before.split():
        await calls[name]()
    session.apply(await session.compact())
    if after == "restart":
        messages, session = session.messages, await service.open()
        session.messages = messages
    found = told(await session.prepare())
    assert told(await session.prepare()) == []
    return found


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("", ""),
        ("resume", ""),
        ("prepare", ""),
        ("prepare resume", ""),
        ("", "restart"),
        ("prepare", "restart"),
    ],
)
async def test_a_compaction_is_followed_by_the_working_state(
    service: Service, before: str, after: str
) -> None:
    assert await restored_after(service, before, after) == ["checkpointRestore"]


async def test_the_count_of_compactions_outlives_the_process(service: Service) -> None:
    session = await filled(await service.open())
    for _ in range(3):
        session.apply(await session.compact(reason="manual"))
        await session.prepare()
        await filled(session)
    assert n_compactions(service, session) == 3
    assert n_compactions(service, await service.open()) == 3
    # One that is answered and never applied does not count.
    await session.compact()
    await session.prepare()
    restarted = await service.open()
    restarted.messages = session.messages
    await restarted.prepare()
    assert n_compactions(service, restarted) == 3


def talk(session: RuntimeSession) -> None:
    for number in range(80):
        session.turn(f"Tell me of file {number}.", answer=f"{number}" + "a" * 8_000)


async def compact_as_asked(session: RuntimeSession) -> str:
    """Fill a session, do what it is asked for, and say what that was."""
    talk(session)
    asked = kinds(await session.prepare(used=177_000))[-1]
    done = await session.compact(usage={"usedTokens": 177_000})
    assert done.tokens_after < 0.8 * done.tokens_before
    session.apply(done)
    await session.prepare()
    return asked


async def test_a_compaction_that_freed_enough_holds_up_no_other(service: Service) -> None:
    session = await service.open()
    asked = [await compact_as_asked(session) for _ in range(3)]
    messages, session = session.messages, await service.open()
    session.messages = messages
    asked += [await compact_as_asked(session) for _ in range(4)]
    # From the limit on the user decides: no command compacts what a runtime holds.
    assert asked == ["compact"] * 5 + ["askUser"] * 2


async def test_a_compaction_that_is_not_applied_is_not_asked_for_again(service: Service) -> None:
    session = await service.open()
    talk(session)
    assert "compact" in kinds(await session.prepare(used=177_000))
    await session.compact(usage={"usedTokens": 177_000})
    assert "compact" not in kinds(await session.prepare(used=178_000))
    restarted = await service.open()
    restarted.messages = session.messages
    assert "compact" not in kinds(await restarted.prepare(used=178_000))


def n_compactions(service: Service, session: RuntimeSession) -> int:
    return service.sessions._open[session.opened.session].progress.n_compactions


@pytest.mark.parametrize(
    "params",
    [
        {"compactionCount": -1},
        {"compactionCount": 20_000_000},
        {"usage": {"usedTokens": -5}},
        {"usage": {"windowTokens": -1}},
        {"usage": {"nMessages": -1}},
        {"usage": {"usedTokens": 10**18}},
    ],
)
async def test_figures_that_cannot_be_are_refused(
    service: Service, params: dict[str, object]
) -> None:
    session = await service.open()
    with pytest.raises(RpcError, match="wrong params"):
        await session.prepare(**params)
    assert len((await session.prepare(compactionCount=10_000)).notes) == 0


@pytest.mark.parametrize("can_take_turn", [True, False])
async def test_a_planted_link_is_noted_once_and_neither_written_nor_given_to_the_agent(
    service: Service, places: Places, *, can_take_turn: bool
) -> None:
    hook = places.cwd / "hook"
    hook.write_text("theirs\n", "utf-8")
    (places.cwd / "memory").mkdir()
    now = datetime.now().astimezone()
    try:
        for day in (now, now + timedelta(days=1)):
            (places.cwd / "memory" / f"{day:%Y-%m-%d}.md").symlink_to(hook)
    except OSError:
        pytest.skip("the system lets us make no links")
    session = await service.open(canTakeTurn=can_take_turn)
    session.turn("Always run the tests with tox, never with pytest alone.", answer="I will.")
    first = await session.prepare(used=177_000)
    assert (len(first.notes), kinds(first)) == (1, ["checkpointWritten", "compact"])
    assert (await session.prepare(used=178_000)).notes == []
    assert hook.read_text("utf-8") == "theirs\n"


async def test_a_flush_that_failed_once_is_tried_again(
    service: Service, places: Places, monkeypatch: pytest.MonkeyPatch
) -> None:
    (places.cwd / "memory").mkdir()
    session = await service.open()
    session.turn("Always run the tests with tox, never with pytest alone.", answer="I will.")

    def full(*_: object) -> str:
        raise StorageError("no space")

    with monkeypatch.context() as patched:
        patched.setattr(flush, "append_block", full)
        first = await session.prepare(used=177_000)
        assert (first.notes, kinds(first)) == (["no space"], ["checkpointWritten", "compact"])
    assert kinds(await session.prepare(used=178_000)) == ["memoryFlushed", "compact"]
    assert kinds(await session.prepare(used=179_000)) == ["compact"]
