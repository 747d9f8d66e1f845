"""Redo of what was undone: byte for byte, in every kind of file, and never over more."""

import json
from pathlib import Path

import pytest

from claude_files import ClaudeFile, json_line, text
from pi_files import PiFile, conversation
from planning import SMALL, compacted, loaded, undone
from seed_files import flat_file
from ullage.app.change.compact import Request
from ullage.app.change.prune import PruneRequest, PruningPlan, plan_pruning, prune
from ullage.app.change.redo import plan_redo, redo
from ullage.app.change.undo import UndoResult, report_undo_plan, report_undone, undone_line
from ullage.app.sessions.open import open_session
from ullage.core.config.settings import Config, Policy
from ullage.errors import AlreadyChanged, ChangedMeanwhile, Refused, WriteNotSupported
from ullage.store.files.demo import make_idle
from ullage.store.files.places import Places


def redone(path: Path, places: Places) -> UndoResult:
    plan = plan_redo(open_session(path), SMALL, places)
    planned = report_undo_plan(plan.way)
    done = redo(plan, SMALL, places)
    make_idle(done.after.path)
    report = report_undone(done)
    assert (report.path, report.path_after) == (planned.path, planned.path_after)
    assert report.outcome == "redone"
    assert undone_line(done).startswith(f"Made again: the {plan.what} · ")
    return done


@pytest.fixture
def pi_session(tmp_path: Path) -> Path:
    path = tmp_path / "pi.jsonl"
    path.write_bytes(conversation(10, chars=800, usage=3_000).data)
    make_idle(path)
    return path


def pruned(path: Path, places: Places) -> None:
    plan = plan_pruning(loaded(path, places), PruneRequest(is_everything=True))
    assert isinstance(plan, PruningPlan)
    prune(plan, SMALL, places)
    make_idle(path)


def test_a_compaction_of_pi_is_made_again_to_the_byte_as_often_as_one_likes(
    pi_session: Path, places: Places
) -> None:
    compacted(pi_session, places)
    after = pi_session.read_bytes()
    for _ in range(2):
        undone(pi_session, places)
        assert pi_session.read_bytes() != after
        redone(pi_session, places)
        assert pi_session.read_bytes() == after


def test_a_torn_last_line_only_keeps_the_end_that_it_got(pi_session: Path, places: Places) -> None:
    compacted(pi_session, places)
    pi_session.write_bytes(pi_session.read_bytes().removesuffix(b"\n"))
    make_idle(pi_session)
    after = pi_session.read_bytes()
    undone(pi_session, places)
    redone(pi_session, places)
    assert pi_session.read_bytes() == after + b"\n"


def test_undos_in_a_row_are_made_again_in_a_row(tmp_path: Path, places: Places) -> None:
    pi = PiFile()
    for number in range(40):
        pi.user(f"Please read file {number}.")
        pi.assistant(calls=[(f"c{number}", "read", {"path": f"{number}.py"})], usage=None)
        pi.result(f"c{number}", f"word{number} " * 1_000, name="read")
        pi.assistant(f"Read file {number}.", usage=100_000)
    path = tmp_path / "pi.jsonl"
    path.write_bytes(pi.data)
    make_idle(path)
    pruned(path, places)
    compacted(path, places)
    states = [path.read_bytes()]
    for _ in range(2):
        undone(path, places)
        states.append(path.read_bytes())
    for state in reversed(states[:-1]):
        redone(path, places)
        assert path.read_bytes() == state
    with pytest.raises(Refused, match="is no undo"):
        plan_redo(open_session(path), SMALL, places)


@pytest.mark.parametrize("truncates", [False, True])
def test_a_compaction_of_a_flat_file_is_made_again(
    truncates: bool, tmp_path: Path, places: Places
) -> None:
    path = tmp_path / "flat.jsonl"
    path.write_bytes(flat_file(n_steps=40))
    make_idle(path)
    compacted(path, places, request=Request(truncates=truncates))
    after = path.read_bytes()
    undone(path, places)
    redone(path, places)
    assert path.read_bytes() == after


def test_a_session_of_its_own_comes_back_and_can_be_taken_back_again(
    claude_session: Path, places: Places
) -> None:
    _, made = compacted(claude_session, places)
    new, before = made.session.path, claude_session.read_bytes()
    data = new.read_bytes()
    for _ in range(2):
        undone(new, places)
        assert not new.exists()
        done = redone(claude_session, places)
        assert (new.read_bytes(), claude_session.read_bytes()) == (data, before)
        assert done.resume_command == f"claude --resume {new.stem}"
    assert plan_redo_fails(new, places) == "last"


def test_nothing_comes_back_beside_a_session_made_since(
    claude_session: Path, places: Places
) -> None:
    compacted(claude_session, places)
    undone(claude_session, places)
    _, made = compacted(claude_session, places)
    assert plan_redo_fails(claude_session, places) == "last"
    undone(claude_session, places)
    assert redone(claude_session, places).after.path == made.session.path


def test_a_copy_that_stays_with_what_came_since_is_told_before_any_question(
    claude_session: Path, places: Places
) -> None:
    _, made = compacted(claude_session, places)
    new = made.session.path
    claude = ClaudeFile(cwd=f"{claude_session.parent}", session_id=new.stem)
    claude.user("And now?")
    new.write_bytes(new.read_bytes() + claude.data)
    make_idle(new)
    undone(new, places)
    with pytest.raises(Refused, match="holds what came since"):
        plan_redo(open_session(claude_session), SMALL, places)


def test_a_session_with_another_beginning_is_not_what_was_taken_back(
    claude_session: Path, places: Places
) -> None:
    compacted(claude_session, places)
    undone(claude_session, places)
    data = claude_session.read_bytes()
    claude_session.write_bytes(data.replace(b"number 0", b"number 9"))
    make_idle(claude_session)
    assert plan_redo_fails(claude_session, places) == "last"


def test_what_changed_since_the_plan_stops_a_redo(claude_session: Path, places: Places) -> None:
    compacted(claude_session, places)
    undone(claude_session, places)
    plan = plan_redo(open_session(claude_session), SMALL, places)
    data = claude_session.read_bytes()
    claude_session.write_bytes(data.replace(b"number 0", b"number 9"))
    with pytest.raises(ChangedMeanwhile):
        redo(plan, SMALL, places)
    claude_session.write_bytes(data)
    make_idle(claude_session)
    plan = plan_redo(open_session(claude_session), SMALL, places)
    _, again = compacted(claude_session, places)
    data = again.session.path.read_bytes()
    with pytest.raises(AlreadyChanged):
        redo(plan, SMALL, places)
    assert again.session.path.read_bytes() == data


def plan_redo_fails(path: Path, places: Places) -> str:
    with pytest.raises(Refused) as refused:
        plan_redo(open_session(path), SMALL, places)
    return "went on" if "went on since" in f"{refused.value}" else "last"


def test_what_the_agent_compacted_itself_is_its_again(claude_session: Path, places: Places) -> None:
    claude = ClaudeFile(cwd=f"{claude_session.parent}")
    for number in range(4):
        claude.user(f"please do number {number} " * 30)
        claude.assistant(text(f"did {number} " * 40))
    claude.boundary()
    claude.summary("What was done so far.")
    claude.user("Go on.")
    claude_session.write_bytes(claude.data)
    make_idle(claude_session)
    copy = undone(claude_session, places).after.path
    assert copy != claude_session
    done = redone(copy, places)
    assert (done.after.path, copy.exists()) == (claude_session, False)


def test_nothing_is_made_again_over_what_came_since(pi_session: Path, places: Places) -> None:
    compacted(pi_session, places)
    undone(pi_session, places)
    last = json.loads(pi_session.read_bytes().splitlines()[-1])
    message = {"role": "user", "content": "More."}
    later = {"type": "message", "id": "late", "parentId": last["id"], "message": message}
    with pi_session.open("ab") as file:
        file.write(json_line({**later, "timestamp": last["timestamp"]}))
    make_idle(pi_session)
    assert plan_redo_fails(pi_session, places) == "went on"


def test_another_change_since_leaves_nothing_to_make_again(
    pi_session: Path, places: Places
) -> None:
    assert plan_redo_fails(pi_session, places) == "last"
    compacted(pi_session, places)
    undone(pi_session, places)
    compacted(pi_session, places)
    assert plan_redo_fails(pi_session, places) == "last"


def test_nothing_is_made_again_where_nothing_may_be_written(
    claude_session: Path, places: Places
) -> None:
    _, made = compacted(claude_session, places)
    undone(made.session.path, places)
    plan = plan_redo(open_session(claude_session), SMALL, places)
    with pytest.raises(WriteNotSupported, match="read-only"):
        redo(plan, Config(policy=Policy(is_read_only=True)), places)
    assert not made.session.path.exists()
