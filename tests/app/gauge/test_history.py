"""The window over time, read from sessions that were really changed."""

from pathlib import Path

import pytest

from claude_files import ClaudeFile, call, result
from codex_files import CodexFile
from database_files import OpencodeSession
from pi_files import PiFile
from planning import compacted, loaded, undone
from running import Place
from ullage.app.change.prune import PruneRequest, PruningPlan, plan_pruning, prune
from ullage.app.gauge.history import history_text, read_history, read_past, window_history
from ullage.app.sessions.named import find_session
from ullage.app.sessions.open import open_session
from ullage.core.config.settings import Config, Policy
from ullage.store.files.demo import make_idle
from ullage.store.files.places import Places

EAGER = Config(policy=Policy(prune_protect_tokens=500, prune_minimum_tokens=1000))
USAGES = [3_000 + 260 * number for number in range(12)]


def pi_session() -> PiFile:
    pi = PiFile()
    for number, usage in enumerate(USAGES):
        pi.user(f"Please read file {number}.")
        pi.assistant(
            calls=[(f"c{number}", "read", {"path": f"src/{number}.py"})], usage=usage - 130
        )
        pi.result(f"c{number}", f"line of file {number}\n" * 50, name="read")
        pi.assistant(f"Read file {number}.", usage=usage)
    return pi


def claude_session() -> ClaudeFile:
    claude = ClaudeFile()
    for number, usage in enumerate(USAGES):
        claude.user(f"Please read file {number}.")
        path = f"src/{number}.py"
        claude.assistant(call(f"c{number}", "Read", file_path=path), usage=usage - 130)
        claude.user([result(f"c{number}", f"line of file {number}\n" * 50)])
        claude.assistant({"type": "text", "text": f"Read file {number}."}, usage=usage)
    return claude


def codex_session() -> CodexFile:
    codex = CodexFile()
    for number, usage in enumerate(USAGES):
        codex.user(f"Please read file {number}.")
        codex.tool(f"line of file {number}\n" * 50)
        codex.assistant(f"Read file {number}.", n_total=usage)
    return codex


def prune_session(path: Path, places: Places) -> tuple[PruningPlan, Path]:
    plan = plan_pruning(loaded(path, places, EAGER), PruneRequest())
    assert isinstance(plan, PruningPlan)
    made = prune(plan, EAGER, places).session.path
    make_idle(made)
    return plan, made


@pytest.mark.parametrize(
    "session", [pi_session(), claude_session(), codex_session()], ids=["pi", "claude", "codex"]
)
def test_a_prune_is_listed_beside_the_compactions_in_the_words_of_the_seed(
    session: PiFile | ClaudeFile | CodexFile, tmp_path: Path, places: Places
) -> None:
    path = tmp_path / "rollout-s.jsonl"
    path.write_bytes(session.data)
    make_idle(path)
    plan, made = prune_session(path, places)
    n_outputs, n_tokens = len(plan.plan.replacements), plan.n_tokens_before - plan.n_tokens_after
    line = f"[Tool outputs pruned. Dropped {n_outputs} outputs ({n_tokens} tokens).]"
    report = read_history(open_session(made), places)
    (event,) = report.compactions
    assert (event.kind, event.layer, event.summary) == ("prune", "prune", line)
    assert (event.tokens_before, event.n_messages) == (plan.n_tokens_before, n_outputs)
    assert event.at is not None
    assert report.degradation.n_compactions == 0
    assert line[:60] in history_text(report, 80)


def test_prunes_and_compactions_are_listed_as_they_stand(tmp_path: Path, places: Places) -> None:
    path = tmp_path / "s.jsonl"
    path.write_bytes(pi_session().data)
    make_idle(path)
    prune_session(path, places)
    compacted(path, places)
    make_idle(path)
    report = read_history(open_session(path), places)
    assert [event.kind for event in report.compactions] == ["prune", "compaction"]
    assert report.degradation.n_compactions == 1


def test_a_prune_that_was_taken_back_is_not_listed(tmp_path: Path, places: Places) -> None:
    path = tmp_path / "s.jsonl"
    path.write_bytes(pi_session().data)
    make_idle(path)
    prune_session(path, places)
    undone(path, places, EAGER)
    assert read_history(open_session(path), places).compactions == []


@pytest.mark.parametrize("session", [pi_session(), claude_session()], ids=["pi", "claude"])
def test_a_prune_is_an_event_behind_which_the_history_stays(
    session: PiFile | ClaudeFile, tmp_path: Path, places: Places
) -> None:
    path = tmp_path / "s.jsonl"
    path.write_bytes(session.data)
    make_idle(path)
    before = loaded(path, places, EAGER)
    known = window_history(before, read_past(before, None)).points
    plan = plan_pruning(before, PruneRequest())
    assert isinstance(plan, PruningPlan)
    made = loaded(prune(plan, EAGER, places).session.path, places, EAGER)
    found = window_history(made, read_past(made, None))
    (mark,) = found.marks
    # The last answer of Claude Code's copy reports what the pruned context has.
    assert mark.n_point in (23, 24)
    assert found.points[: mark.n_point] == known[: mark.n_point]
    assert [one.is_estimated for one in found.points[mark.n_point :]] == [True]
    assert (mark.kind, mark.n_tokens_before) == ("prune", plan.n_tokens_before)
    assert mark.n_tokens_after == plan.n_tokens_after == found.points[-1].n_tokens
    assert found.points[-1].at_ms == mark.at_ms


def sizes(folder: Path, data: bytes, places: Places) -> list[tuple[object, ...]]:
    path = folder / "rollout-s.jsonl"
    path.write_bytes(data)
    report = read_history(open_session(path), places)
    return [
        (one.tokens_before, one.tokens_before_source, one.tokens_after, one.tokens_after_source)
        for one in report.compactions
    ]


@pytest.mark.parametrize("n_noted", [None, 60], ids=["nothing noted", "without system and tools"])
def test_a_compaction_of_claude_code_came_to_what_the_next_answer_was_sent(
    n_noted: int | None, tmp_path: Path, places: Places
) -> None:
    claude = claude_session()
    claude.boundary(n_after=n_noted)
    claude.summary("Files were read.")
    source = "noted" if n_noted else None
    assert sizes(tmp_path, claude.data, places) == [(900, "noted", n_noted, source)]
    claude.assistant({"type": "text", "text": "On."}, usage=900)
    claude.assistant({"type": "text", "text": "And on."}, usage=1_900)
    assert sizes(tmp_path, claude.data, places) == [(900, "noted", 893, "reported")]


def test_a_compaction_of_codex_is_told_by_the_answers_around_it(
    tmp_path: Path, places: Places
) -> None:
    codex = codex_session()
    codex.compact("Files were read.")
    codex.assistant("On.", n_total=900)
    assert sizes(tmp_path, codex.data, places) == [(USAGES[-1], "reported", 895, "reported")]


def test_what_was_said_since_a_compaction_is_no_part_of_what_it_came_to(
    tmp_path: Path, places: Places
) -> None:
    pi = pi_session()
    for n_total in (900, 1_000):
        pi.compaction("Files were read.", pi.ids[-1])
        pi.user("Go on.")
        pi.assistant("On.", usage=n_total)
        pi.assistant("And on.", usage=2_000)
    pi.compaction("Files were read.", pi.ids[-1])
    # "Go on." is counted as three tokens.
    assert sizes(tmp_path, pi.data, places) == [
        (900, "noted", 877, "estimated"),
        (900, "noted", 977, "estimated"),
        (900, "noted", None, None),
    ]
    report = read_history(open_session(tmp_path / "rollout-s.jsonl"), places)
    text = history_text(report, 80)
    assert "     Files were…\n" in history_text(report, 18)
    assert "900 → ~877 tokens" in text
    assert "900 → ? tokens" in text


def test_of_a_database_the_last_compaction_is_told(place: Place) -> None:
    path = place.home / ".local" / "share" / "opencode" / "opencode.db"
    path.parent.mkdir(parents=True)
    session = OpencodeSession(path)
    session.execute("UPDATE session SET directory = ?", str(place.cwd))
    for n_total in (500, 600):
        session.user("Look at it.")
        session.assistant("Fine.", total=n_total)
        session.compaction("A parser was added.")
        session.assistant("Yes.", total=n_total // 4)
    report = read_history(find_session(None, place.places()), place.places())
    assert [(one.tokens_before, one.tokens_after) for one in report.compactions] == [
        (None, None),
        (600, 150),
    ]


@pytest.mark.parametrize(
    ("n_compactions", "end"), [(2, "Medium, about 20 % lost"), (3, "Session compacted 3 times.")]
)
def test_what_is_recommended_does_not_contradict_the_risk(
    n_compactions: int, end: str, tmp_path: Path, places: Places
) -> None:
    pi, path = pi_session(), tmp_path / "s.jsonl"
    for _ in range(n_compactions):
        pi.compaction("Files were read.", pi.ids[-1])
        pi.user("Go on.")
    path.write_bytes(pi.data)
    text = history_text(read_history(open_session(path), places), 80)
    assert end in text
    assert "healthy" not in text
