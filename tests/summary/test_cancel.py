"""A summary is cancelled in every phase: it ends at once, and its connections with it."""

import asyncio

import pytest

from model_server import Reply, chunked, delta, error_reply, event, head, serving, text_reply
from model_session import GOOD, SESSION, request_for, summarize
from virtual_time import run_virtual

START = head(transfer_encoding="chunked")
HALF = chunked(event(delta(GOOD[:100])))
FINE = text_reply(GOOD)

PHASES: dict[str, tuple[Reply, ...]] = {
    "before the headers": (("hang",),),
    "within the headers": ((START[:20], "hang"),),
    "before the first event": ((START, "hang"),),
    "in mid-stream": ((START, HALF, "hang"),),
    "within an error's body": ((head(500, "application/json"), b'{"err', "hang"),),
    "in a pause between tries": (error_reply(429, retry_after="50"),),
    "in the second request": (FINE, (START, HALF, "hang")),
    "in the merge": (FINE, FINE, (START, HALF, "hang")),
}


@pytest.mark.parametrize("phase", PHASES)
def test_a_cancelled_summary_leaves_nothing(phase: str) -> None:
    async def main() -> None:
        async with serving(*PHASES[phase]) as server:
            # The window makes two parts and a merge of the session.
            asking = asyncio.create_task(summarize(server, window_tokens=4000))
            await asyncio.sleep(0.5)
            assert not asking.done()
            before = asyncio.get_running_loop().time()
            asking.cancel()
            with pytest.raises(asyncio.CancelledError):
                await asking
            assert asyncio.get_running_loop().time() - before < 0.5
            assert len(server.asked) == len(PHASES[phase])

    run_virtual(main)


def test_a_summary_is_cancelled_by_a_timeout_around_it() -> None:
    async def main() -> None:
        async with serving(("hang",)) as server:
            with pytest.raises(TimeoutError):
                async with asyncio.timeout(5):
                    await summarize(server)

    run_virtual(main)


def test_two_summaries_at_once_do_not_know_each_other() -> None:
    async def main() -> None:
        async with serving((START, HALF, "hang"), FINE) as server:
            first = asyncio.create_task(summarize(server))
            await asyncio.sleep(0.1)
            second = await summarize(server, request_for(SESSION))
            first.cancel()
            await asyncio.gather(first, return_exceptions=True)
            assert first.cancelled()
            assert second.tier == "full"

    run_virtual(main)
