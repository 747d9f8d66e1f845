"""The provider refused the context: compact, send once more, then an error."""

from service import RuntimeSession, Service
from ullage.agent.protocol import Overflowed
from ullage.core.change.edit import PRUNED_OUTPUT

PROSE = "The parser reads a line at a time and keeps what it cannot read. " * 40


async def talked(session: RuntimeSession) -> RuntimeSession:
    for number in range(40):
        session.turn(f"Look at file {number}. " + PROSE, answer=PROSE)
    return session


def failed(answer: Overflowed) -> bool:
    return (answer.action, answer.kind) == ("fail", "context_overflow")


async def test_it_is_compacted_once_then_given_up(service: Service) -> None:
    session = await talked(await service.open(windowTokens=60_000))
    first = await session.overflow()
    assert first.action == "compact"
    assert first.plan is not None
    done = await session.compact(reason="overflow", layer="full")
    assert done.first_kept_index == first.plan.first_kept_index
    session.apply(done)
    await session.prepare()
    assert failed(await session.overflow())
    assert failed(await session.overflow())


async def test_a_runtime_that_compacts_by_itself_is_not_asked_forever(service: Service) -> None:
    session = await talked(await service.open(windowTokens=60_000))
    assert (await session.overflow()).action == "compact"
    assert failed(await session.overflow())


async def test_an_answer_of_the_model_ends_the_overflow(service: Service) -> None:
    session = await talked(await service.open(windowTokens=60_000))
    assert (await session.overflow()).action == "compact"
    session.apply(await session.compact(reason="overflow", layer="full"))
    await session.prepare()
    for number in range(40):
        session.turn(f"Look at file {number} again. " + PROSE, answer=PROSE + str(number))
    await session.prepare()
    assert (await session.overflow()).action == "compact"


async def test_a_prune_alone_is_tried_where_the_gauge_saw_it_full(service: Service) -> None:
    session = await service.open()
    for number in range(12):
        session.turn(f"Look at file {number}.", output=f"{number}" + "a" * 60_000)
    session.turn("Go on.")
    session.turn("Go on.")
    answer = await session.overflow(usage={"usedTokens": 199_000})
    assert answer.action == "retry"
    assert answer.replacements
    prepared = await session.prepare(used=199_000 - 130_000)
    assert prepared.replacements == answer.replacements
    assert (await session.overflow()).action == "compact"


async def test_one_huge_last_output_is_pruned_where_nothing_else_helps(service: Service) -> None:
    session = await service.open(windowTokens=60_000)
    session.turn("Print the log.", output="log line\n" * 40_000)
    session.messages.pop()
    answer = await session.overflow()
    assert answer.action == "retry"
    assert [replacement.index for replacement in answer.replacements] == [2]
    assert PRUNED_OUTPUT in repr(answer.replacements[0].message)
    assert failed(await session.overflow())


async def test_a_read_only_session_is_pruned_or_given_up(service: Service) -> None:
    session = await talked(await service.open(windowTokens=60_000, isReadOnly=True))
    assert failed(await session.overflow())


async def test_no_compaction_is_told_of_where_none_was_tried(service: Service) -> None:
    session = await service.open(windowTokens=60_000)
    session.turn("Hello. " * 40_000)
    session.messages.pop()
    answer = await session.overflow()
    assert failed(answer)
    assert "neither a prune nor a compaction makes room" in answer.message


async def test_an_overflow_is_kept_over_a_restart(service: Service) -> None:
    session = await service.open()
    for number in range(12):
        session.turn(f"Look at file {number}.", output=f"{number}" + "a" * 60_000)
    session.turn("Go on.")
    session.turn("Go on.")
    answer = await session.overflow(usage={"usedTokens": 199_000})
    restarted = await service.open()
    prepared = await restarted.prepare(messages=session.messages)
    assert prepared.replacements == answer.replacements
