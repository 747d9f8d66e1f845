"""What the sessions of a folder used: each answer once, on its day, at the prices of its model."""

import re
from datetime import date, timedelta

import msgspec
import pytest

from claude_files import ClaudeFile, text
from codex_files import CodexFile
from database_files import OpencodeSession
from pi_files import MODEL, START, Json, PiFile, usage_of
from planning import compacted, undone
from running import Place
from ullage.app.gauge.usage import UsageReport, note_lines, report_usage, usage_text
from ullage.store.files.demo import make_idle

FIRST_DAY = START.astimezone().date()
SECOND_DAY = FIRST_DAY + timedelta(days=2)
AT_MS = int(START.timestamp() * 1000)
USAGE: Json = {
    "input_tokens": 1_000_000,
    "cache_read_input_tokens": 3_000_000,
    "cache_creation_input_tokens": 0,
    "output_tokens": 100_000,
}
USD = 3 + 3 * 0.3 + 0.1 * 15
"""By the row of the model in data/models.tsv."""


def write_claude(place: Place, session_id: str, data: bytes) -> None:
    folder = "".join(c if c.isalnum() else "-" for c in str(place.cwd))
    place.write(str(place.home / ".claude" / "projects" / folder / f"{session_id}.jsonl"), data)


def write_pi(place: Place, data: bytes) -> None:
    folder = f"--{str(place.cwd).lstrip('/').replace('/', '-')}--"
    place.write(str(place.home / ".pi" / "agent" / "sessions" / folder / "a.jsonl"), data)


def write_codex(place: Place, name: str, n_total: int, **meta: object) -> None:
    """Write a rollout of an answer and a compaction."""
    codex = CodexFile(id=name, cwd=str(place.cwd), **meta)
    codex.turn()
    codex.user("Add a parser.")
    codex.assistant("Done.", n_total=n_total)
    codex.compact("A parser was added.", "Add a parser.")
    data = codex.data.replace(b"2026-11-21T", b"2026-02-03T")
    place.write(str(place.home / ".codex/sessions/2026/02/03" / f"rollout-{name}.jsonl"), data)


def report(place: Place, *, today: date = SECOND_DAY, n_days: int = 7) -> UsageReport:
    return report_usage((place.cwd,), place.places(), today=today, n_days=n_days)


def used_tokens(place: Place) -> object:
    printed = place.run("context", "status", "--json").stdout
    return msgspec.json.decode(printed, type=dict[str, object])["used_tokens"]


@pytest.fixture
def claude(place: Place) -> ClaudeFile:
    claude = ClaudeFile(cwd=str(place.cwd))
    claude.user("Add a parser.")
    claude.assistant(text("I will."), text("Done."), usage=USAGE)
    return claude


def test_each_answer_counts_once_on_its_day_at_its_price(place: Place, claude: ClaudeFile) -> None:
    write_claude(place, claude.session_id, claude.data)
    pi = PiFile(cwd=str(place.cwd))
    pi.user("Look at it.")
    pi.assistant("Fine.", usage=120, model="nobody-knows-it")
    pi.compaction("## Goal\n- a parser", pi.ids[0])
    write_pi(place, pi.data.replace(b'"2026-02-03T', b'"2026-02-05T'))
    used = report(place)
    first, second = used.days
    assert (first.day, second.day) == (FIRST_DAY.isoformat(), SECOND_DAY.isoformat())
    assert (first.spent.requests, first.spent.sent_tokens) == (1, 4_000_000)
    assert (first.spent.cached_tokens, first.spent.answered_tokens) == (3_000_000, 100_000)
    assert first.spent.cost_usd == pytest.approx(USD)
    assert (first.compactions, second.compactions) == (0, 1)
    assert (second.spent.requests, second.spent.unpriced_requests) == (1, 1)
    assert [model.model for model in used.models] == [MODEL, "nobody-knows-it"]
    assert used.total.requests == 2


@pytest.mark.parametrize("stop", ["error", "aborted"])
def test_an_answer_that_was_broken_off_is_paid_for_and_no_figure_of_the_context(
    place: Place, stop: str
) -> None:
    pi = PiFile(cwd=str(place.cwd))
    pi.user("Look at it.")
    pi.assistant("Fine.", usage=120)
    pi.assistant("And", usage=400, stop=stop)
    pi.assistant("", usage=0, stop=stop)
    write_pi(place, pi.data)
    used = report(place)
    assert (used.total.requests, used.total.sent_tokens, used.total.answered_tokens) == (2, 480, 40)
    assert used_tokens(place) == 121


def test_the_summary_of_a_compaction_of_pi_counts(place: Place) -> None:
    pi = PiFile(cwd=str(place.cwd))
    first = pi.user("Look at it.")
    pi.assistant("Fine.", usage=120)
    pi.compaction("## Goal\n- a parser", first, usage=usage_of(900))
    write_pi(place, pi.data)
    used = report(place)
    assert (used.total.requests, used.total.sent_tokens, used.total.answered_tokens) == (2, 980, 40)


def test_the_summary_of_a_compaction_of_opencode_counts_for_its_model(place: Place) -> None:
    path = place.home / ".local" / "share" / "opencode" / "opencode.db"
    path.parent.mkdir(parents=True)
    session = OpencodeSession(path)
    session.execute("UPDATE session SET directory = ?, time_updated = ?", str(place.cwd), AT_MS)
    session.user("Look at it.")
    session.assistant("Fine.", total=120)
    session.compaction("A parser was added.", modelID="small-1")
    session.assistant("Yes.", total=130)
    used = report(place)
    assert [(m.model, m.spent.requests, m.spent.sent_tokens) for m in used.models] == [
        ("mock-1", 2, 250),
        ("small-1", 1, 9),
    ]
    assert used_tokens(place) == 130


def test_what_the_cache_keeps_for_an_hour_has_a_price_of_its_own(place: Place) -> None:
    claude = ClaudeFile(cwd=str(place.cwd))
    claude.user("Add a parser.")
    written = {"ephemeral_5m_input_tokens": 600_000, "ephemeral_1h_input_tokens": 400_000}
    usage = {**USAGE, "cache_creation_input_tokens": 1_000_000, "cache_creation": written}
    claude.assistant(text("Done."), usage=usage)
    write_claude(place, claude.session_id, claude.data)
    (day,) = report(place).days
    assert day.spent.cost_usd == pytest.approx(USD + 0.6 * 3.75 + 0.4 * 6)


def test_what_a_copy_of_a_session_holds_too_counts_once(place: Place, claude: ClaudeFile) -> None:
    write_claude(place, claude.session_id, claude.data)
    other = claude.session_id.replace("3", "4")
    copy = claude.data.replace(claude.session_id.encode(), other.encode())
    write_claude(place, other, copy)
    assert report(place).total.requests == 1


def test_answers_at_the_same_offset_of_two_rollouts_both_count(place: Place) -> None:
    write_codex(place, "a", 120)
    write_codex(place, "b", 130)
    assert (report(place).total.requests, report(place).total.sent_tokens) == (2, 240)


def test_a_fork_of_a_rollout_with_a_longer_header_counts_once(place: Place) -> None:
    write_codex(place, "a", 120)
    write_codex(place, "b", 120, forked_from_id="a")
    used = report(place)
    assert (used.total.requests, used.days[0].compactions) == (1, 1)


@pytest.mark.parametrize(
    "at",
    [
        pytest.param(b'"9999-12-31T23:59:59Z"', id="the last second of the calendar"),
        pytest.param(b"9000000000000000", id="no time at all"),
        pytest.param(b'"2026-02-06T10:00:00Z"', id="tomorrow"),
    ],
)
def test_what_no_day_up_to_today_has_is_left_out(
    place: Place, claude: ClaudeFile, at: bytes
) -> None:
    claude.boundary()
    claude.summary("A parser was added.")
    data = re.sub(rb'(?<="timestamp":)"[^"]+"', at, claude.data)
    write_claude(place, claude.session_id, data)
    used = report(place)
    assert (used.days, used.total.requests, used.problems) == ([], 0, [])


def test_what_was_compacted_away_is_still_told(place: Place, claude: ClaudeFile) -> None:
    claude.boundary()
    claude.summary("A parser was added.")
    claude.user("Go on.")
    claude.assistant(text("Yes."), usage=USAGE)
    write_claude(place, claude.session_id, claude.data)
    used = report(place)
    assert (used.total.requests, used.days[0].compactions) == (2, 1)


def test_older_days_are_left_out(place: Place, claude: ClaudeFile) -> None:
    write_claude(place, claude.session_id, claude.data)
    assert report(place, n_days=2).days == []
    assert report(place, n_days=3).total.requests == 1


def test_a_row_a_day_fits_the_terminal_and_the_longest_bar_its_width(
    place: Place, claude: ClaudeFile
) -> None:
    write_claude(place, claude.session_id, claude.data)
    for n_columns, n_bar_chars in ((60, 8), (80, 10), (200, 40)):
        lines = usage_text(report(place), n_columns).split("\n")
        assert lines[1].count("█") == n_bar_chars
        assert max(map(len, lines)) <= max(80, n_columns)
    assert "$5.40" in lines[1]
    assert f"{MODEL}: 1 request, $5.40" in lines


def test_a_folder_where_no_model_answered_says_so(place: Place) -> None:
    used = report(place)
    assert (used.days, used.total.requests) == ([], 0)
    none, further = usage_text(used, 80).split("\n")
    assert none.startswith(f"No model answered in {place.cwd} since ")
    assert further == "`ullage usage --days N` looks further back."
    assert note_lines(used) == ()
    torn = msgspec.structs.replace(used, problems=["a torn file"])
    assert note_lines(torn) == ("Not counted: a torn file.",)


def test_what_was_paid_in_a_copy_that_was_taken_back_counts(
    place: Place, claude: ClaudeFile
) -> None:
    for number in range(6):
        claude.user(f"please do number {number} " * 200)
        claude.assistant(text(f"did {number} " * 400))
    write_claude(place, claude.session_id, claude.data)
    (origin,) = (place.home / ".claude" / "projects").rglob("*.jsonl")
    _, made = compacted(origin, place.places())
    n_requests = report(place).total.requests
    n_before = len(claude.data)
    claude.user("And now?")
    claude.assistant(text("Done."), usage=USAGE)
    later = claude.data[n_before:].replace(
        claude.session_id.encode(), made.session.path.stem.encode()
    )
    made.session.path.write_bytes(made.session.path.read_bytes() + later)
    make_idle(made.session.path)
    assert report(place).total.requests == n_requests + 1
    undone(made.session.path, place.places())
    assert report(place).total.requests == n_requests + 1
