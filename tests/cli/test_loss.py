"""What was measured of a session's compactions is shown beside the estimate."""

import json
from pathlib import Path

import pytest

from pi_files import PiFile
from running import Place

NOTED = {
    "audit": {
        "found": 36,
        "kept": 31,
        "inserted": 1,
        "tokensReplaced": 9000,
        "summaryTokens": 1000,
        "invented": 0,
        "byKind": {"constraint": {"found": 3, "kept": 2, "inserted": 1}},
    }
}
TOLD = "put back 1 constraint · summary 9.0:1"


@pytest.fixture
def compacted(place: Place) -> Path:
    """A session whose first compaction was pi's own, and whose second was audited."""
    pi = PiFile()
    kept = pi.user("hello")
    pi.assistant("hi")
    pi.compaction("## Goal\nGreet", kept)
    kept = pi.user("go on")
    pi.assistant("going on")
    pi.compaction("## Goal\nGo on", kept, fromHook=True, details=NOTED)
    pi.user("more")
    pi.assistant("more it is")
    return place.write("s.jsonl", pi.data)


def test_the_history_shows_what_was_measured(place: Place, compacted: Path) -> None:
    text = place.run("context", "history", "--session", compacted).stdout
    assert text.count(TOLD) == 2
    assert f"Measured: {TOLD}" in text
    assert "facts" not in text
    assert "(1 of 2 compactions measured)" in text
    report = json.loads(place.run("context", "history", "--json", "--session", compacted).stdout)
    assert [one["measured"] is not None for one in report["compactions"]] == [False, True]
    assert report["measured"]["put_back"] == {"constraint": 1}
    assert report["degradation"]["loss_percent"] == 20


def test_the_status_shows_what_was_measured_of_the_last_compaction(
    place: Place, compacted: Path
) -> None:
    assert TOLD in place.run("context", "status", "--session", compacted).stdout
    report = json.loads(place.run("context", "status", "--json", "--session", compacted).stdout)
    assert report["last_measured"]["text"] == TOLD
    assert report["information_loss_percent"] == 20
