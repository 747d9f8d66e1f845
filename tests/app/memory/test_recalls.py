"""What memory handed out is found again: today's, a line's, and what a person chose."""

from datetime import date, timedelta
from pathlib import Path

import pytest

from running import Place
from ullage.app.memory.open_memory import OpenMemory
from ullage.app.memory.origins import begin_memory, record_lines
from ullage.app.memory.recalls import (
    count_recalls_on,
    find_recalled,
    read_line_history,
    record_chosen,
)
from ullage.app.memory.search import search_memory
from ullage.core.config.memory_settings import EmbeddingSettings
from ullage.core.memory.journal import Asker
from ullage.core.memory.origin import digest_line

TODAY = date(2026, 11, 23)
MEMORY = "# Decisions\n\n- Ledgers are kept in PostgreSQL.\n- Releases go out on Thursdays.\n"
LEDGERS = "when did we choose PostgreSQL for ledgers"


@pytest.fixture
def workspace(place: Place) -> Path:
    place.write("MEMORY.md", MEMORY.encode())
    place.write("docs/page.md", b"# Page\n\nThe cache is Redis.\n")
    return place.cwd


def search(place: Place, query: str, by: Asker | None, today: date = TODAY) -> int:
    memory = OpenMemory(place.cwd, place.places(), EmbeddingSettings())
    try:
        return len(search_memory(memory, query, by=by, today=today).results)
    finally:
        memory.close()


def recalled(place: Place) -> list[tuple[str, int, int, int]]:
    memory = OpenMemory(place.cwd, place.places(), EmbeddingSettings())
    try:
        found = find_recalled(memory, count_recalls_on(TODAY, place.cwd, place.places()))
    finally:
        memory.close()
    return [(each.path, each.first_line, each.n_by_user, each.n_by_agent) for each in found]


def test_what_was_recalled_today_is_listed_where_it_stands_now_the_latest_first(
    place: Place, workspace: Path
) -> None:
    assert search(place, "release on Thursdays", "agent", TODAY - timedelta(days=1))
    assert recalled(place) == []
    assert search(place, LEDGERS, "agent")
    assert search(place, "cache Redis", "user")
    assert search(place, LEDGERS, "user")
    found = recalled(place)
    assert (found[0], found[-1]) == (("MEMORY.md", 3, 1, 1), ("docs/page.md", 3, 1, 0))
    (workspace / "MEMORY.md").write_text("# Decisions\n\nNew.\n" + MEMORY[12:], "utf-8")
    assert recalled(place)[0] == ("MEMORY.md", 5, 1, 1)
    (workspace / "MEMORY.md").write_text("# Decisions\n", "utf-8")
    assert [path for path, *_ in recalled(place)] == ["docs/page.md"]


def test_ullages_own_searches_and_questions_still_typed_are_no_recalls(
    place: Place, workspace: Path
) -> None:
    assert search(place, LEDGERS, "ullage")
    assert search(place, LEDGERS, None)
    assert recalled(place) == []


def test_what_a_person_chose_counts_unless_nothing_may_be_written(
    place: Place, workspace: Path
) -> None:
    quiet = place.places().for_reading(is_read_only=True)
    assert not record_chosen("MEMORY.md", 3, LEDGERS, workspace, quiet, TODAY)
    assert not record_chosen("MEMORY.md", 99, LEDGERS, workspace, place.places(), TODAY)
    assert recalled(place) == []
    assert record_chosen("MEMORY.md", 3, LEDGERS, workspace, place.places(), TODAY)
    assert recalled(place) == [("MEMORY.md", 3, 1, 0)]


def test_a_line_tells_where_it_comes_from_when_and_how_often_it_was_recalled(
    place: Place, workspace: Path
) -> None:
    places = place.places()
    before = read_line_history("MEMORY.md", MEMORY, 3, workspace, places)
    assert before is not None
    assert (before.origin, before.written_at) == ("file", None)
    begin_memory(workspace, places)
    typed = "- Never deploy on a Friday."
    record_lines({digest_line(typed): "user"}, "s", workspace, places)
    text = MEMORY + typed + "\n- from nowhere\n"
    history = read_line_history("MEMORY.md", text, 5, workspace, places)
    assert history is not None
    assert history.origin == "user"
    assert history.written_at is not None
    assert (history.n_by_user, history.n_by_agent, history.last_day) == (0, 0, None)
    unknown = read_line_history("MEMORY.md", text, 6, workspace, places)
    assert unknown is not None
    assert (unknown.origin, unknown.written_at) == ("unknown", None)
    search(place, LEDGERS, "agent")
    record_chosen("MEMORY.md", 3, LEDGERS, workspace, places, TODAY)
    often = read_line_history("MEMORY.md", text.replace("\n", "\r\n"), 3, workspace, places)
    assert often is not None
    assert (often.n_by_user, often.n_by_agent, often.last_day) == (1, 1, TODAY.isoformat())
    for empty in (1, 2, 99):
        assert read_line_history("MEMORY.md", text, empty, workspace, places) is None
