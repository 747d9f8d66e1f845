"""What a server may do to us: a summary, or one line that says why not, and never more."""

import asyncio
import logging
import sys
import time
from contextlib import AbstractAsyncContextManager

import pytest

from model_faults import FINE, NOTE, ROWS, SUMMARY, Row, shown
from model_server import ModelServer, deaf_server, head, no_server, serving
from model_session import CANARY, KEY, PASSWORD, summarize
from ullage.errors import ModelDenied, ModelError, ModelUnreachable
from ullage.summary.limits import REMOTE
from ullage.summary.request import ModelSummary
from virtual_time import run_virtual


def opened(row: Row) -> AbstractAsyncContextManager[ModelServer]:
    return serving(*row.replies)


@pytest.fixture(autouse=True)
def everything_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)


def judged(opening: AbstractAsyncContextManager[ModelServer]) -> tuple[object, ModelServer, float]:
    """Ask for a summary; give what came of it, and the seconds that it would have taken."""

    async def main() -> tuple[object, ModelServer, float]:
        loop = asyncio.get_running_loop()
        async with opening as server:
            began = loop.time()
            try:
                outcome: object = await summarize(server, limits=REMOTE)
            except Exception as error:  # noqa: BLE001 -- what a test is to judge
                outcome = error
            return outcome, server, loop.time() - began

    return run_virtual(main)


def check(row: Row, outcome: object, caplog: pytest.LogCaptureFixture) -> None:
    if isinstance(outcome, ModelSummary):
        assert row.outcome == (NOTE if outcome.tier == "note" else SUMMARY), outcome.text
        assert row.outcome == NOTE or "ROUND_HALF_EVEN" in outcome.text
        told = outcome.text
    else:
        assert isinstance(outcome, Exception)
        assert type(outcome) is row.outcome, shown(outcome)
        message = str(outcome)
        assert len(message.splitlines()) == 1
        assert CANARY not in message
        assert outcome.__cause__ is None
        told = shown(outcome)
    assert KEY not in told + caplog.text
    assert PASSWORD not in told + caplog.text
    assert CANARY not in caplog.text


@pytest.mark.parametrize("name", ROWS)
def test_a_server_gives_a_summary_or_one_line(name: str, caplog: pytest.LogCaptureFixture) -> None:
    row = ROWS[name]
    outcome, server, elapsed_s = judged(opened(row))
    check(row, outcome, caplog)
    assert len(server.asked) == row.n_tries
    assert elapsed_s <= row.at_most_s


def test_there_are_forty_kinds_of_faults_and_more() -> None:
    assert len(ROWS) >= 40


def test_nobody_listens(caplog: pytest.LogCaptureFixture) -> None:
    outcome, _, elapsed_s = judged(no_server())
    check(Row(ModelUnreachable, 4, ()), outcome, caplog)
    assert elapsed_s < 10


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux lets a full backlog wait")
def test_a_connection_that_is_never_made(caplog: pytest.LogCaptureFixture) -> None:
    outcome, _, elapsed_s = judged(deaf_server())
    check(Row(ModelUnreachable, 4, ()), outcome, caplog)
    assert 40 <= elapsed_s < 50


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_a_redirect_is_not_followed_and_no_key_leaves(
    status: int, caplog: pytest.LogCaptureFixture
) -> None:
    async def main() -> tuple[object, int]:
        async with serving(FINE) as other:
            away = (head(status, location=f"{other.base_url}/chat/completions"),)
            async with serving(away) as server:
                try:
                    outcome: object = await summarize(server)
                except ModelError as error:
                    outcome = error
                assert len(server.asked) == 1
            return outcome, other.n_connections

    outcome, n_connections = run_virtual(main)
    check(Row(ModelDenied, 1, ()), outcome, caplog)
    assert "redirects elsewhere" in str(outcome)
    assert n_connections == 0


def test_the_whole_matrix_needs_no_waiting() -> None:
    began = time.monotonic()
    _, _, elapsed_s = judged(opened(ROWS["hangs before its headers"]))
    assert time.monotonic() - began < elapsed_s
