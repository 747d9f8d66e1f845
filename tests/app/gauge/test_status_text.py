"""The words of a status: figures marked as elsewhere, a title without what is secret."""

import re
import time

import pytest

from claude_files import ClaudeFile, text
from running import Place
from ullage.app.gauge.status_line import leave_snapshot
from ullage.app.gauge.status_text import local_time, name_text, status_text, title_text
from ullage.app.sessions.load import load
from ullage.app.sessions.open import open_session
from ullage.core.config.settings import Config
from ullage.core.gauge.gauge import gauge_text

SECRET = "gr33n-Fr0g-77"
DAY_S = 86_400


@pytest.mark.parametrize(
    ("n_days", "pattern"),
    [
        (0, r"\d\d:\d\d"),
        (150, r"\d\d-\d\d \d\d:\d\d"),
        (331, r"\d{4}-\d\d-\d\d"),
        (-2, r"\d\d-\d\d \d\d:\d\d"),
    ],
)
def test_a_day_that_is_far_has_its_year(n_days: int, pattern: str) -> None:
    assert re.fullmatch(pattern, local_time(round((time.time() - n_days * DAY_S) * 1000)))


def test_a_title_has_nothing_that_a_message_calls_secret(place: Place) -> None:
    file = ClaudeFile(cwd=str(place.cwd))
    for prompt in (f"Connect with {SECRET} now", f"password: {SECRET}"):
        file.user(prompt)
        file.assistant(text("Done."), usage=1000)
    places = place.places()
    loaded = load(open_session(place.write("claude.jsonl", file.data)), Config(), places)
    leave_snapshot(loaded, places)
    files = [path for path in places.state_folder.rglob("*") if path.is_file()]
    told = [title_text(loaded), name_text(loaded), *(path.read_text("utf-8") for path in files)]
    assert any("Connect with [REDACTED:" in kept for kept in told[2:])
    assert not any(SECRET in kept for kept in told)


@pytest.mark.parametrize(
    ("model", "share", "short"),
    [("claude-sonnet-4-5", "(5.0%)", "5%"), ("nobody-knows-it", "(~5.0%)", "~5%")],
)
def test_a_share_of_a_window_that_is_a_guess_is_marked_everywhere(
    model: str, share: str, short: str, place: Place
) -> None:
    file = ClaudeFile(cwd=str(place.cwd))
    file.user("Add a parser.")
    file.assistant(text("Done."), usage=10_000, model=model)
    path = place.write("claude.jsonl", file.data)
    loading = load(open_session(path), Config(), place.places())
    assert f"10,000 / 200,000 {share}" in status_text(loading)
    assert gauge_text(loading.status.gauge) == short
