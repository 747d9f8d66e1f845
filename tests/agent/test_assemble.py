"""A runtime builds its whole request with one call, and goes on with `context/prepare`."""

import msgspec
import pytest

from pi_files import conversation
from service import Service
from ullage.agent.assembly_protocol import ASSEMBLE, Assembled
from ullage.agent.json_rpc import INVALID_PARAMS, RpcError
from ullage.store.files.places import Places

TOOLS = [{"name": "read", "description": "Read a file.", "parameters": {"type": "object"}}]
SUMMARY = {"role": "system", "content": "[Prior conversation summary]\nWe built the mill."}


async def assemble(service: Service, params: dict[str, object], **opened: object) -> Assembled:
    session = await service.open(**opened)
    return await service.ask(ASSEMBLE.name, session=session.opened.session, **params)


async def test_the_whole_request_comes_with_one_call(service: Service, places: Places) -> None:
    (places.cwd / "AGENTS.md").write_text("Run the tests.\n", "utf-8")
    history = [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Hello"}]
    done = await assemble(
        service,
        {
            "parameters": {
                "tools": TOOLS,
                "runtimeInfo": {"model": "gpt-5", "channelActions": ["react"]},
                "defaultThinkLevel": "high",
                "userTime": "10:15",
            },
            "messages": history,
            "event": {"text": "Look", "media": [{"path": "a.png", "type": "image/png"}]},
        },
    )
    names = [section.name for section in done.sections]
    assert names == ["Runtime Context", "Agent Identity", "Tools Available", "Behavioral Hints"]
    for text in ("Run the tests.", "Model: gpt-5", "Time: 10:15", "react", "level: high"):
        assert text in done.system
    media = "[media attached: a.png (image/png)]\nLook"
    assert done.messages == [*history, {"role": "user", "content": media}]
    assert msgspec.to_builtins(done.tools) == TOOLS
    assert done.budget.available == 190_000
    parts = (done.budget.bootstrap, done.budget.tools, done.budget.history, done.budget.event)
    assert all(parts)


async def test_the_history_of_a_transcript_begins_with_its_summary(
    service: Service, places: Places
) -> None:
    pi = conversation(4)
    pi.compaction("We built the mill.", first_kept=None)
    path = places.cwd / "session.jsonl"
    path.write_bytes(pi.data)
    done = await assemble(service, {}, sessionFile=str(path))
    assert done.messages[0] == SUMMARY


async def test_a_compaction_of_assembled_messages_takes_the_summary_up(service: Service) -> None:
    session = await service.open()
    turns = [
        {"role": role, "content": f"{role} {number} " + "x" * 40_000}
        for number in range(12)
        for role in ("user", "assistant")
    ]
    assembled = await service.ask(
        ASSEMBLE.name,
        session=session.opened.session,
        messages=[SUMMARY, *turns],
        event={"text": "Go on"},
    )
    assert assembled.messages[0] == SUMMARY
    compacted = await service.ask(
        "context/compact", session=session.opened.session, messages=assembled.messages
    )
    assert compacted.standing_indexes == []
    assert "We built the mill." in compacted.summary


async def test_an_api_without_system_messages_gets_the_summary_as_the_users(
    service: Service,
) -> None:
    session = await service.open(agent="mine", messageFormat="claude-code")
    handle = session.opened.session
    turns = [{"role": "user", "content": "Go on"}, {"role": "assistant", "content": "Done."}]
    done = await service.ask(ASSEMBLE.name, session=handle, messages=[SUMMARY, *turns])
    assert [message["role"] for message in done.messages] == ["user", "user", "assistant"]
    assert "We built the mill." in done.messages[0]["content"]
    again = await service.ask(ASSEMBLE.name, session=handle, messages=done.messages)
    assert again.messages == done.messages


async def test_the_answer_says_where_each_skill_lies(service: Service, places: Places) -> None:
    path = places.cwd / "skills/git/SKILL.md"
    path.parent.mkdir(parents=True)
    path.write_text("---\nname: git\ndescription: Does git.\n---\n", "utf-8")
    done = await assemble(service, {})
    assert msgspec.to_builtins(done.skills.skills) == [
        {"name": "git", "path": str(path), "primaryEnv": None}
    ]


@pytest.mark.parametrize("event", [{"text": ""}, {"text": " \n", "media": []}])
async def test_an_event_that_says_nothing_is_refused(
    service: Service, event: dict[str, object]
) -> None:
    with pytest.raises(RpcError, match="the event has neither a text nor media") as caught:
        await assemble(service, {"event": event})
    assert caught.value.code == INVALID_PARAMS
    done = await assemble(service, {"event": {"text": "", "media": [{"path": "a.png"}]}})
    assert done.messages == [{"role": "user", "content": "[media attached: a.png]"}]


@pytest.mark.parametrize(
    ("message", "problem"),
    [
        ({}, "messages[1] has neither a `role` nor a `type`"),
        ({"content": "Hi"}, "messages[1] has neither a `role` nor a `type`"),
        ({"role": 1}, "messages[1] has neither a `role` nor a `type`"),
        ({"role": "user", "content": 5}, "the `content` of messages[1] is neither"),
        ({"role": "user", "content": ["Hi"]}, "the `content` of messages[1] is neither"),
    ],
)
@pytest.mark.parametrize("method", ["assemble", "prepare", "compact", "overflow"])
async def test_a_message_that_is_none_is_refused(
    service: Service, method: str, message: dict[str, object], problem: str
) -> None:
    session = await service.open()
    messages = [{"role": "user", "content": "Hi"}, message]
    with pytest.raises(RpcError) as caught:
        await session.ask(f"context/{method}", messages=messages)
    assert caught.value.code == INVALID_PARAMS
    assert problem in str(caught.value)


async def test_a_runtime_without_anything_gets_a_prompt_all_the_same(service: Service) -> None:
    done = await assemble(service, {})
    assert [section.name for section in done.sections] == ["Runtime Context"]
    assert (done.messages, done.tools) == ([], [])


async def test_a_mode_that_is_none_is_refused(service: Service) -> None:
    with pytest.raises(RpcError, match="mode"):
        await assemble(service, {"mode": "none"})
    with pytest.raises(RpcError, match="no session is open"):
        await service.ask(ASSEMBLE.name, session="s99")
