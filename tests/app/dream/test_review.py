"""Whatever a person decided of the inbox, undoing all of it gives the same bytes."""

from collections.abc import Iterable, Sequence
from datetime import date
from pathlib import Path
from tempfile import TemporaryDirectory

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from profiles import examples
from secret_samples import SAMPLES
from ullage.app.dream.review import (
    ReviewPlan,
    list_waiting,
    make_review,
    plan_review,
    undo_review,
)
from ullage.app.memory.origins import begin_memory, list_outside_changes, read_origins, record_lines
from ullage.core.config.memory_settings import MemorySettings
from ullage.core.config.settings import Config, Policy
from ullage.core.dream.review import Decision
from ullage.core.memory.inbox import format_item, propose_item, read_items
from ullage.core.memory.origin import ORIGINS, Origin
from ullage.errors import ChangedMeanwhile, LogRefused, Refused, UnknownItem
from ullage.store.files.places import Places
from ullage.store.memory.places import DREAMS, MEMORY, memory_folder

RULE = "Never commit generated files."
TUESDAY = "Releases go out on Tuesdays now."
THURSDAY = "Releases go out on Thursdays."
PORT = "The tests need Redis on port 6380."
TODAY = date(2026, 11, 21)


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    workspace = tmp_path / "ws"
    (workspace / "memory").mkdir(parents=True)
    return workspace


def inbox(*findings: str, replaces: tuple[str, ...] = (), own: str = "# DREAMS.md\n\n") -> str:
    for finding in findings:
        item = propose_item(
            "fact", finding, day="2026-11-20", title="Daily Log", source="s", replaces=replaces
        )
        own += format_item(item, own) + "\n"
    return own


def fill(workspace: Path, places: Places, text: str, origin: Origin = "user") -> None:
    begin_memory(workspace, places)
    (workspace / DREAMS).write_text(text, "utf-8")
    lines = {each.id: origin for each in list_waiting(workspace, places)}
    record_lines(lines, "", workspace, places)


def decide(
    workspace: Path, places: Places, *decisions: Decision, config: Config | None = None
) -> ReviewPlan:
    plan = plan_named(decisions, workspace, config or Config(), places)
    make_review(plan, workspace, places)
    return plan


def plan_named(
    decisions: Iterable[Decision], workspace: Path, config: Config, places: Places
) -> ReviewPlan:
    """Plan a review whose items are named by what they say."""
    ids = {
        each.finding: each.item_id
        for each in read_items((workspace / DREAMS).read_bytes().decode().replace("\r\n", "\n"))
    }
    named = [
        msgspec.structs.replace(each, ids=tuple(ids.get(name, name) for name in each.ids))
        for each in decisions
    ]
    return plan_review(named, workspace, config, places, today=TODAY)


def accept(*findings: str, text: str | None = None) -> Decision:
    return Decision(choice="accept", ids=findings, text=text)


def reject(*findings: str) -> Decision:
    return Decision(choice="reject", ids=findings)


def read_all(workspace: Path, places: Places) -> dict[str, bytes | None]:
    folder = memory_folder(workspace, places)
    paths = (
        workspace / MEMORY,
        workspace / DREAMS,
        workspace / "memory/superseded.md",
        folder / "rejected.txt",
    )
    return {path.name: path.read_bytes() if path.exists() else None for path in paths}


def test_what_waits_is_listed_with_its_place_and_origin(workspace: Path, places: Places) -> None:
    assert list_waiting(workspace, places) == ()
    fill(workspace, places, inbox(PORT, RULE), "agent")
    first, second = list_waiting(workspace, places)
    lines = (workspace / DREAMS).read_text("utf-8").split("\n")
    assert (first.item.finding, first.origin) == (PORT, "agent")
    assert lines[second.line - 1] == "### [2026-11-20 Daily Log]"
    assert lines[second.finding_line - 1] == f"Finding: {RULE}"
    (workspace / DREAMS).write_text(inbox("Put here by hand."), "utf-8")
    assert [each.origin for each in list_waiting(workspace, places)] == ["unknown"]
    assert list_waiting(workspace, places)[0].item.source == ""


def test_a_secret_that_waits_is_not_shown_and_none_is_accepted(
    workspace: Path, places: Places
) -> None:
    secret = SAMPLES["github"].secret
    fill(workspace, places, inbox(f"The token is {secret}.", PORT))
    assert secret not in repr(list_waiting(workspace, places))
    plan = plan_named([accept(PORT, text=f"Use {secret}")], workspace, Config(), places)
    assert secret not in repr(plan.outcome.accepted)
    decide(workspace, places, accept(f"The token is {secret}."))
    assert "- The token is " in (workspace / MEMORY).read_text("utf-8")
    assert secret.encode() not in b"".join(filter(None, read_all(workspace, places).values()))


@pytest.mark.parametrize("origin", ORIGINS)
def test_an_accepted_line_keeps_its_origin_and_an_edited_one_is_a_persons(
    workspace: Path, places: Places, origin: Origin
) -> None:
    fill(workspace, places, inbox(PORT, RULE), origin)
    decide(workspace, places, accept(PORT), accept(RULE, text="Leave out what tools write."))
    origins = read_origins(workspace, places)
    assert origins.tell(MEMORY, f"- {PORT}") == origin
    assert origins.tell(MEMORY, "- Leave out what tools write.") == "user"
    assert list_outside_changes(workspace, places) == ()


def test_what_replaces_something_leaves_no_change_from_outside(
    workspace: Path, places: Places
) -> None:
    (workspace / MEMORY).write_text(f"# Memory\n\n- {THURSDAY}\n", "utf-8")
    fill(workspace, places, inbox(TUESDAY, replaces=(THURSDAY,)))
    plan = decide(workspace, places, accept(TUESDAY))
    assert plan.what == "1 item accepted into MEMORY.md, 1 line replaced there"
    assert THURSDAY in (workspace / "memory/superseded.md").read_text("utf-8")
    assert list_outside_changes(workspace, places) == ()
    undo_review(workspace, Config(), places)
    assert list_outside_changes(workspace, places) == ()


@pytest.mark.parametrize(
    "config",
    [Config(memory=MemorySettings(is_enabled=False)), Config(policy=Policy(is_read_only=True))],
)
def test_where_nothing_may_be_written_nothing_is_decided(
    workspace: Path, places: Places, config: Config
) -> None:
    fill(workspace, places, inbox(PORT))
    before = read_all(workspace, places)
    with pytest.raises(Refused):
        decide(workspace, places, accept(PORT), config=config)
    assert read_all(workspace, places) == before


@pytest.mark.parametrize(
    "decision", [accept("nothing of the kind"), accept(PORT, text="  "), accept(PORT, text="\x00")]
)
def test_what_cannot_be_done_is_refused(
    workspace: Path, places: Places, decision: Decision
) -> None:
    fill(workspace, places, inbox(PORT))
    before = read_all(workspace, places)
    with pytest.raises(Refused):
        decide(workspace, places, decision)
    assert read_all(workspace, places) == before


def test_a_file_that_changed_since_the_plan_is_not_written(workspace: Path, places: Places) -> None:
    fill(workspace, places, inbox(PORT))
    plan = plan_named([accept(PORT)], workspace, Config(), places)
    (workspace / MEMORY).write_text("- mine, just now\n", "utf-8")
    before = read_all(workspace, places)
    with pytest.raises(ChangedMeanwhile):
        make_review(plan, workspace, places)
    assert read_all(workspace, places) == before


def test_a_memory_that_is_no_text_is_refused(workspace: Path, places: Places) -> None:
    fill(workspace, places, inbox(PORT))
    (workspace / MEMORY).write_bytes(b"\xff\xfe\x00m")
    with pytest.raises(LogRefused):
        decide(workspace, places, accept(PORT))


MEMORIES = (
    None,
    b"",
    b"# Memory\n\n## Project\n\n- Ada answers for payments.\n- Releases go out on Thursdays.\n",
    b"\xef\xbb\xbf## Facts\r\n\r\n* Releases go out on Thursdays.\r\n* no end",
    b"mixed\r\nlines\n- Releases go out on Thursdays.\n",
)
OWN = ("", "# DREAMS.md\n\n", "my words\n\n## Mine\n\ntext\n\n", "\ufeffmine\n")
FINDINGS = [PORT, RULE, TUESDAY, THURSDAY, "Ada answers for payments."]
CHOICES = st.lists(st.sampled_from(["accept", "reject", "edit", "leave"]), min_size=5, max_size=5)


@settings(max_examples=examples(200))
@given(
    st.sampled_from(MEMORIES),
    st.sampled_from(OWN),
    st.booleans(),
    st.permutations(FINDINGS).flatmap(lambda order: st.integers(0, 5).map(lambda n: order[:n])),
    st.sampled_from([(), (THURSDAY,), (THURSDAY, "earlier words")]),
    CHOICES,
    st.booleans(),
)
def test_undoing_all_gives_the_same_bytes(
    memory: bytes | None,
    own: str,
    has_crlf: bool,
    findings: Sequence[str],
    replaces: tuple[str, ...],
    choices: list[str],
    is_at_once: bool,
) -> None:
    with TemporaryDirectory() as folder:
        root = Path(folder)
        workspace = root / "ws"
        (workspace / "memory").mkdir(parents=True)
        places = Places(cwd=workspace, home=root, env={}, state_folder=root / "state")
        if memory is not None:
            (workspace / MEMORY).write_bytes(memory)
        text = inbox(*findings, replaces=replaces, own=own)
        end = "\r\n" if has_crlf else "\n"
        (workspace / DREAMS).write_bytes(text.replace("\n", end).encode())
        begin_memory(workspace, places)
        states = [read_all(workspace, places)]
        decisions: list[Decision] = []
        for finding, choice in zip(findings, choices, strict=False):
            if choice == "reject":
                decisions.append(reject(finding))
            elif choice != "leave":
                words = f"In other words: {finding}" if choice == "edit" else None
                decisions.append(accept(finding, text=words))
        for group in [decisions] if is_at_once else [[each] for each in decisions]:
            try:
                plan = plan_named(group, workspace, Config(), places)
            except Refused:
                # Of an item that an accepted line stood for, or by the gate.
                assert read_all(workspace, places) == states[-1]
                continue
            if not group:
                continue
            make_review(plan, workspace, places)
            states.append(read_all(workspace, places))
        while len(states) > 1:
            assert read_all(workspace, places) == states.pop()
            undo_review(workspace, Config(), places)
        assert read_all(workspace, places) == states[0]
        with pytest.raises(UnknownItem):
            undo_review(workspace, Config(), places)
