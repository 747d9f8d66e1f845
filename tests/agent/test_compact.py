"""A summary that the runtime applies: its cut, its checkpoint first, and no transcript written."""

from collections.abc import Awaitable
from pathlib import Path

import pytest

from model_server import error_reply, serving
from pi_files import Json, conversation
from service import RuntimeSession, Service
from ullage.agent.json_rpc import RpcError
from ullage.store.files.places import Places
from ullage.store.state.auto_state import read_auto_state

PROSE = "The parser reads a line at a time and keeps what it cannot read. " * 40


async def talked(session: RuntimeSession, n_turns: int = 12) -> RuntimeSession:
    session.turn("Always use tabs, never spaces. Please rename the parser.", answer=PROSE)
    for number in range(n_turns):
        session.turn(f"Look at file {number}.", output="x = 1\n" * 2_000, answer=PROSE)
    return session


async def refusal(answer: Awaitable[object]) -> RpcError:
    with pytest.raises(RpcError) as caught:
        await answer
    return caught.value


async def test_the_summary_stands_for_what_is_before_the_cut(service: Service) -> None:
    session = await talked(await service.open())
    done = await session.compact()
    assert 1 < done.first_kept_index < len(session.messages)
    assert "tabs" in done.summary
    assert done.tokens_after < done.tokens_before
    assert done.author == "extractive"
    assert done.audit.left_out == 0
    assert done.checkpoint_id == "cp_001"
    assert done.details["by"] == "ullage"
    assert done.summary_message["summary"] == done.summary


async def test_the_runtime_may_choose_the_cut_by_place_or_by_id(service: Service) -> None:
    session = await talked(await service.open())
    ids = [f"e{number}" for number in range(len(session.messages))]
    by_place = await session.compact(firstKeptIndex=18, entryIds=ids)
    assert (by_place.first_kept_index, by_place.first_kept_entry_id) == (18, "e18")
    by_id = await session.compact(firstKeptEntryId="e18", entryIds=ids)
    assert (by_id.first_kept_index, by_id.summary) == (18, by_place.summary)


async def test_a_runtime_may_send_only_what_goes(service: Service) -> None:
    session = await talked(await service.open())
    await session.prepare(used=165_000)
    head = session.messages[:18]
    done = await session.compact(messages=head, firstKeptIndex=18, isSplitTurn=True)
    assert (done.first_kept_index, done.tokens_before) == (18, 165_000)
    assert done.first_kept_entry_id is None
    # What is kept is in the checkpoint all the same: it is what the agent works on.
    restored = await session.resume()
    assert "Look at file 11." in (restored.text or "")


async def test_a_cut_between_a_call_and_its_result_is_refused(service: Service) -> None:
    session = await talked(await service.open())
    at = next(n for n, m in enumerate(session.messages) if m["role"] == "toolResult" and n > 9)
    error = await refusal(session.compact(firstKeptIndex=at))
    assert (error.kind, str(error)) == (
        "nothing_to_compact",
        "the cut would part a tool call from its result",
    )


@pytest.mark.parametrize(
    "params",
    [
        {"firstKeptIndex": 0},
        {"firstKeptIndex": 10_000},
        {"firstKeptEntryId": "nowhere"},
        {"entryIds": ["one"]},
    ],
)
async def test_places_that_are_none_are_refused(
    service: Service, params: dict[str, object]
) -> None:
    session = await talked(await service.open())
    assert (await refusal(session.compact(**params))).kind == "bad_messages"


async def test_a_previous_summary_goes_into_the_new_one(service: Service) -> None:
    session = await talked(await service.open())
    previous = "## Constraints\n- Never touch the file `legacy/billing.py`.\n"
    done = await session.compact(previousSummary=previous)
    assert "legacy/billing.py" in done.summary
    assert done.first_kept_index == (await session.compact()).first_kept_index


async def test_the_answer_has_the_shape_of_the_specification_too(service: Service) -> None:
    session = await talked(await service.open())
    ids = [f"id{number}" for number in range(len(session.messages))]
    done = await session.compact(entryIds=ids)
    assert (done.ok, done.compacted, done.reason) == (True, True, None)
    result = done.result
    assert result.first_kept_entry_id == ids[done.first_kept_index]
    assert (result.summary, result.tokens_before) == (done.summary, done.tokens_before)
    assert result.details == done.details


async def test_nothing_to_gain_is_said_so(service: Service) -> None:
    session = await service.open()
    session.turn("Hello.")
    assert (await refusal(session.compact())).kind == "nothing_to_compact"


async def test_a_read_only_session_is_not_compacted(service: Service) -> None:
    session = await talked(await service.open(isReadOnly=True))
    assert (await refusal(session.compact())).kind == "read_only"


async def test_no_transcript_is_written(service: Service, places: Places) -> None:
    path = places.cwd / "session.jsonl"
    path.write_bytes(conversation(3).data)
    before = path.read_bytes()
    session = await talked(await service.open(sessionFile=str(path)))
    await session.prepare(used=170_000)
    await session.compact()
    assert path.read_bytes() == before
    assert list(places.cwd.iterdir()) == [path]


async def test_a_model_that_fails_does_not_fail_the_call(service: Service, places: Places) -> None:
    async with serving(error_reply(400)) as server:
        places.env["ULLAGE_COMPACTION_MODEL_MODEL_NAME"] = "some-model"
        places.env["ULLAGE_COMPACTION_MODEL_BASE_URL"] = server.base_url
        session = await talked(await service.open())
        done = await session.compact()
    assert server.asked
    assert done.author == "extractive"
    assert any("summarized without a model" in note for note in done.notes)


async def test_secrets_of_the_workspace_stay_out_of_the_summary(
    service: Service, places: Places
) -> None:
    secret = "kx81-swordfish-77aa-blue"
    (places.cwd / ".env").write_text(f"API_TOKEN={secret}\n")
    session = await service.open()
    session.turn(f"Always send the token {secret} with each request.", answer=PROSE)
    session = await talked(session)
    done = await session.compact(customInstructions=f"keep {secret}")
    assert secret not in repr(done)


async def test_a_full_disk_is_noted(service: Service, places: Places) -> None:
    places.state_folder.write_text("no folder")
    session = await talked(await service.open())
    done = await session.compact()
    assert done.checkpoint_id is None
    assert "without a checkpoint" in done.notes[0]


@pytest.mark.parametrize("shape", ["openclaw", "claude-code", "codex", "openai-chat"])
async def test_the_message_of_a_summary_is_known_again(service: Service, shape: str) -> None:
    session = await service.open(agent="mine", messageFormat=shape)
    user = {"role": "user", "content": "Please look at the parser. " + PROSE}
    agent = {"role": "assistant", "content": [{"type": "text", "text": PROSE}]}
    if shape == "codex":
        agent = {"type": "message"} | agent
    messages = [user, agent] * 40
    await session.prepare(messages=messages, used=165_000)
    done = await session.compact(messages=messages, layer="full")
    kept = [done.summary_message, *messages[done.first_kept_index :]]
    after = await session.prepare(messages=kept)
    assert [event.kind for event in after.system_events] == ["checkpointRestore"]
    assert after.gauge.source == "estimated"
    assert after.gauge.used_tokens == done.tokens_after


SYSTEM = {"role": "system", "content": "You are careful. " * 100}
RULE = {"role": "developer", "content": "From now on, never push to main."}


async def chat(service: Service) -> tuple[RuntimeSession, list[Json]]:
    session = await service.open(agent="mine", messageFormat="openai-chat")
    messages: list[Json] = [SYSTEM]
    for number in range(40):
        messages.append({"role": "user", "content": f"Look at file {number}. {PROSE}"})
        messages.append({"role": "assistant", "content": PROSE})
        messages += [RULE] if number == 3 else []
    return session, messages


async def test_no_summary_stands_for_what_the_system_says(service: Service, places: Places) -> None:
    session, messages = await chat(service)
    before = await session.prepare(messages=messages)
    done = await session.compact(messages=messages)
    assert done.standing_indexes == [0, 9]
    assert "never push" not in done.summary
    head = [messages[at] for at in done.standing_indexes]
    kept = [*head, done.summary_message, *messages[done.first_kept_index :]]
    after = await session.prepare(messages=kept)
    assert [event.kind for event in after.system_events] == ["checkpointRestore"]
    assert before.gauge.used_tokens == done.tokens_before
    # With nothing reported, what stands is counted with the rest.
    recount = await service.open(agent="mine", messageFormat="openai-chat", sessionId="two")
    counted = await recount.prepare(messages=kept)
    assert counted.gauge.used_tokens is not None
    assert abs(counted.gauge.used_tokens - done.tokens_after) < 100
    latest = next(places.state_folder.rglob("cp_001*")).read_text("utf-8")
    assert "mine" in latest


async def test_a_chosen_cut_counts_all_messages(service: Service) -> None:
    session, messages = await chat(service)
    done = await session.compact(messages=messages, firstKeptIndex=18)
    assert (done.first_kept_index, done.standing_indexes) == (18, [0, 9])
    assert (await refusal(session.compact(messages=messages, firstKeptIndex=1))).kind == (
        "nothing_to_compact"
    )


async def test_a_second_compaction_takes_the_summary_before_into_its_own(service: Service) -> None:
    session, messages = await chat(service)
    first = await session.compact(messages=messages, firstKeptIndex=30)
    more = [SYSTEM, RULE, first.summary_message, *messages[30:]]
    second = await session.compact(messages=more, firstKeptIndex=20)
    assert second.standing_indexes == [0, 1]


async def test_an_overflow_plans_as_the_compaction_cuts(service: Service) -> None:
    session, messages = await chat(service)
    advised = await session.overflow(messages=messages, usage={"usedTokens": 210_000})
    assert advised.plan is not None
    done = await session.compact(messages=messages, layer="full")
    assert advised.plan.first_kept_index == done.first_kept_index


async def test_compactions_of_a_transcript_count(service: Service, tmp_path: Path) -> None:
    pi = conversation(3)
    pi.compaction("Earlier.", pi.ids[-2])
    path = tmp_path / "session.jsonl"
    path.write_bytes(pi.data)
    session = await talked(await service.open(sessionFile=str(path), sessionId="other"))
    handle = service.sessions._open[session.opened.session]
    assert handle.progress.n_compactions == 1


REPORTED: Json = {"input": 180_000, "output": 0, "totalTokens": 180_000}


@pytest.mark.parametrize("told_by", ["message", "usage", "nobody"])
async def test_what_is_left_is_told_by_the_metric_of_what_was_there(
    service: Service, told_by: str
) -> None:
    """Three that seemed to bring nothing ended automatic compaction."""
    session = await service.open()
    for number in range(75):
        session.turn(f"Look at file {number}.", output=f"{number}" + "a" * 8_000)
    if told_by == "message":
        session.messages[-1]["usage"] = REPORTED
    usage = {"usage": {"usedTokens": 180_000}} if told_by == "usage" else {}
    for _ in range(3):
        await session.prepare(**usage)
        done = await session.compact(**usage)
        assert done.tokens_after < 0.8 * done.tokens_before
    breaker = read_auto_state("pi:one", service.sessions.places).breaker
    assert breaker.strikes_ms == ()
    session.apply(done)
    after = await session.prepare()
    assert after.gauge.used_tokens == done.tokens_after
    # With what is hidden: 30,000 tokens more were reported than can be counted.
    fresh = await service.open(agent="mine", messageFormat="openclaw")
    counted = await fresh.prepare(messages=session.messages)
    n_hidden = done.tokens_after - (counted.gauge.used_tokens or 0)
    assert abs(n_hidden - (0 if told_by == "nobody" else 28_000)) < 3_000


@pytest.mark.parametrize("is_seen", [True, False])
async def test_what_was_kept_counts_once_after_a_restart(
    service: Service, *, is_seen: bool
) -> None:
    session, messages = await chat(service)
    await session.prepare(messages=messages)
    done = await session.compact(messages=messages)
    kept = [SYSTEM, RULE, done.summary_message, *messages[done.first_kept_index :]]
    if is_seen:
        await session.prepare(messages=kept)
    restarted = await service.open(agent="mine", messageFormat="openai-chat")
    after = await restarted.prepare(messages=kept)
    assert after.gauge.used_tokens == done.tokens_after


@pytest.mark.parametrize("is_reported", [True, False])
async def test_what_came_between_request_and_compaction_counts_once(
    service: Service, *, is_reported: bool
) -> None:
    session = await service.open(agent="mine", messageFormat="claude-code")
    messages: list[Json] = []
    for number in range(40):
        messages.append({"role": "user", "content": f"Look at file {number}. {PROSE}"})
        messages.append({"role": "assistant", "content": PROSE})
    await session.prepare(messages=messages)
    usage = {"usage": {"input_tokens": 60_000, "output_tokens": 0}} if is_reported else {}
    messages += [
        {"role": "assistant", "content": PROSE} | usage,
        {"role": "user", "content": PROSE},
    ]
    done = await session.compact(messages=messages, reason="manual")
    kept = [done.summary_message, *messages[done.first_kept_index :]]
    after = await session.prepare(messages=kept)
    assert after.gauge.used_tokens == done.tokens_after
