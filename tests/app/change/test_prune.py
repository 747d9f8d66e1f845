"""Prunes of whole sessions: in memory for every agent, on disk where that is ours to do."""

from pathlib import Path

import pytest

from claude_files import ClaudeFile, call, result
from codex_files import CodexFile
from database_files import OpencodeSession, tool_part
from pi_files import PiFile
from planning import loaded, undone
from running import idle
from ullage.app.change.prune import (
    NothingToPrune,
    PruneRequest,
    PruningPlan,
    plan_pruning,
    prune,
    pruning_text,
)
from ullage.app.gauge.status_text import local_time
from ullage.app.sessions.load import read
from ullage.app.sessions.open import open_session
from ullage.core.change.edit import PRUNED_OUTPUT
from ullage.core.config.settings import Config, Policy
from ullage.errors import AlreadyChanged, Refused, UnknownItem, WriteNotSupported
from ullage.store.files.demo import make_idle
from ullage.store.files.places import Places

EAGER = Config(policy=Policy(prune_protect_tokens=500, prune_minimum_tokens=1000))
N_READS = 12


def reading_session(n_reads: int = N_READS) -> PiFile:
    """Read as many files, each of some 250 tokens, over as many turns."""
    pi = PiFile()
    for number in range(n_reads):
        pi.user(f"Please read file {number}.")
        pi.assistant(calls=[(f"c{number}", "read", {"path": f"src/{number}.py"})], usage=3_000)
        pi.result(f"c{number}", f"line of file {number}\n" * 50, name="read")
        pi.assistant(f"Read file {number}.", usage=3_000 + 260 * number)
    return pi


@pytest.fixture
def session(tmp_path: Path) -> Path:
    path = tmp_path / "s.jsonl"
    path.write_bytes(reading_session().data)
    make_idle(path)
    return path


def pruning_of(path: Path, places: Places, **request: object) -> PruningPlan:
    plan = plan_pruning(loaded(path, places, EAGER), PruneRequest(**request))
    assert isinstance(plan, PruningPlan), plan
    return plan


def outputs(path: Path, places: Places) -> list[object]:
    items = read(open_session(path), places).context.items
    return [item.native["content"] for item in items if item.native.get("role") == "toolResult"]


def test_what_is_previewed_is_what_the_file_then_holds(session: Path, places: Places) -> None:
    plan = pruning_of(session, places)
    made = prune(plan, EAGER, places)
    known = made.session.agent
    assert known.messages(made.context) == plan.messages
    placeholder = [{"type": "text", "text": PRUNED_OUTPUT}]
    n_pruned = outputs(session, places).count(placeholder)
    assert n_pruned == len(plan.plan.replacements) > 5
    gauge = loaded(session, places, EAGER).status.gauge
    assert gauge.used_tokens == plan.n_tokens_after < plan.n_tokens_before


def test_an_undone_prune_leaves_the_very_same_file(session: Path, places: Places) -> None:
    original = session.read_bytes()
    prune(pruning_of(session, places), EAGER, places)
    assert session.with_name("s.jsonl.bak").read_bytes() == original
    make_idle(session)
    undone(session, places, EAGER)
    assert session.read_bytes() == original


def test_what_came_after_a_prune_outlives_its_undo(session: Path, places: Places) -> None:
    pi = reading_session()
    made = prune(pruning_of(session, places), EAGER, places)
    pi.leaf = made.context.leaf_id
    n_lines = len(pi.lines)
    pi.user("And go on.")
    with session.open("ab") as file:
        file.write(b"".join(pi.lines[n_lines:]))
    make_idle(session)
    after = undone(session, places, EAGER).after
    assert "[output pruned for context]" not in session.read_text("utf-8")
    assert after.context.items[-1].native["content"] == "And go on."
    assert len(after.context.items) == 4 * N_READS + 1


def test_single_items_are_pruned_below_the_minimum(session: Path, places: Places) -> None:
    first = pruning_of(session, places).plan.items[0]
    plan = pruning_of(session, places, chosen=(first.item_id,))
    assert [one.entry_id for one in plan.plan.replacements] == [first.replacement.entry_id]
    prune(plan, EAGER, places)
    assert outputs(session, places).count([{"type": "text", "text": PRUNED_OUTPUT}]) == 1


def test_an_item_that_is_not_there_is_named(session: Path, places: Places) -> None:
    with pytest.raises(UnknownItem, match="nowhere/c9"):
        pruning_of(session, places, chosen=("nowhere/c9",))


@pytest.mark.parametrize(
    ("n_columns", "label"),
    [(80, "read …he/whole/workspace/0.py"), (200, "read src/a/rather/special/")],
)
def test_a_line_tells_when_an_output_came_and_where_its_path_ends(
    tmp_path: Path, places: Places, n_columns: int, label: str
) -> None:
    pi, path = PiFile(), tmp_path / "s.jsonl"
    for number in range(N_READS):
        file = f"src/a/rather/special/folder/of/the/whole/workspace/{number}.py"
        pi.user("Go on.")
        pi.assistant(calls=[(f"c{number}", "read", {"path": file})])
        pi.result(f"c{number}", "line\n" * 500, name="read")
    path.write_bytes(pi.data)
    plan = pruning_of(path, places)
    lines = pruning_text(plan, n_columns).split("\n")
    first = plan.plan.items[0]
    line = next(line for line in lines if first.item_id[:8] in line)
    assert len(line) <= n_columns
    assert f"old output       {local_time(first.at_ms):<11}  {first.item_id[:8]}  {label}" in line


def test_a_gain_below_the_minimum_shows_what_could_go(session: Path, places: Places) -> None:
    policy = Policy(prune_protect_tokens=500, prune_minimum_tokens=50_000)
    plan = plan_pruning(loaded(session, places, Config(policy=policy)), PruneRequest())
    assert isinstance(plan, NothingToPrune)
    assert "fewer than the minimum of 50,000" in plan.reason
    assert plan.plan.items


def test_a_rescue_takes_the_largest_outputs_until_the_rest_fits(
    tmp_path: Path, places: Places
) -> None:
    pi = PiFile()
    pi.user("Print the log.")
    pi.assistant(calls=[("c1", "bash", {"command": "cat log"})], usage=None)
    pi.result("c1", "a line of a very long log\n" * 3_000)
    path = tmp_path / "s.jsonl"
    path.write_bytes(pi.data)
    make_idle(path)
    config = Config(window_tokens=12_000, policy=Policy(reserve_tokens=2_000))
    plan = plan_pruning(loaded(path, places, config), PruneRequest(is_rescue=True))
    assert isinstance(plan, PruningPlan)
    made = prune(plan, config, places)
    after = loaded(made.session.path, places, config)
    assert (after.status.gauge.used_tokens or 0) < 10_000


def test_a_read_only_workspace_is_not_written_to(session: Path, places: Places) -> None:
    policy = Policy(prune_protect_tokens=500, prune_minimum_tokens=1000, is_read_only=True)
    config = Config(policy=policy)
    plan = plan_pruning(loaded(session, places, config), PruneRequest())
    assert isinstance(plan, PruningPlan)
    before = session.read_bytes()
    with pytest.raises(WriteNotSupported, match="read-only"):
        prune(plan, config, places)
    assert session.read_bytes() == before
    assert not (places.state_folder / "context").exists()


def test_a_database_is_pruned_in_memory_alone(tmp_path: Path, places: Places) -> None:
    path = tmp_path / "opencode.db"
    database = OpencodeSession(path)
    for number in range(N_READS):
        database.user(f"Please read file {number}.")
        output = f"line of file {number}\n" * 50
        parts = [tool_part(f"c{number}{part}", output) for part in "ab"]
        database.assistant(f"Read file {number}.", *parts)
    shown = loaded(path, places)
    plan = pruning_of(path, places)
    assert plan.change is None
    assert str(plan.messages).count(PRUNED_OUTPUT) == len(plan.plan.replacements) > 5
    assert len(plan.messages) == len(shown.session.agent.messages(shown.context))
    with pytest.raises(Refused, match="only reads sessions of opencode"):
        prune(plan, EAGER, places)


CLAUDE_READS = ClaudeFile()
CODEX_READS = CodexFile()
for number in range(N_READS):
    CLAUDE_READS.user(f"Please read file {number}.")
    CLAUDE_READS.assistant(call(f"c{number}", "Read", file_path=f"src/{number}.py"), usage=3_000)
    CLAUDE_READS.user([result(f"c{number}", f"line of file {number}\n" * 50)])
    CODEX_READS.user(f"Please read file {number}.")
    CODEX_READS.tool(f"line of file {number}\n" * 50)


@pytest.mark.parametrize("data", [CLAUDE_READS.data, CODEX_READS.data], ids=["claude", "codex"])
def test_a_preview_names_the_file_that_is_made(data: bytes, tmp_path: Path, places: Places) -> None:
    path = tmp_path / "rollout-s.jsonl"
    path.write_bytes(data)
    make_idle(path)
    previewed = pruning_of(path, places).change
    made = prune(pruning_of(path, places), EAGER, places)
    assert previewed is not None
    assert previewed.path_after == made.session.path != path
    with pytest.raises(AlreadyChanged, match=made.session.header.session_id[-8:]):
        pruning_of(path, places)
    # Where the old session was touched since, the next one is another file.
    idle(path, 7200)
    again = pruning_of(path, places).change
    assert again is not None
    assert not again.path_after.exists()
