"""What lasts is told by features of one table, `data/lasting.json`."""

import re
from pathlib import Path
from typing import get_args

import msgspec
import pytest

import ullage.data
from core.dream.month import SAMPLES, read_month
from ullage.core.dream.lasting import judge, list_features
from ullage.core.memory.journal import Kind

FILE = Path(ullage.data.__file__).parent / "lasting.json"
TABLE = msgspec.json.decode(FILE.read_bytes(), type=dict[str, dict[str, object]])
TABLES = msgspec.convert(TABLE["tables"], dict[str, tuple[str, ...]])
WEIGHTS = msgspec.convert(TABLE["weights"], dict[str, float])
LINES = [line for path in SAMPLES.glob("memory_*.json") for line in read_month(path.stem)]


def test_entries_are_small_letters_sorted_and_stand_once() -> None:
    assert TABLE.keys() == {"tables", "patterns", "cased", "signs", "weights"}
    for name, entries in TABLES.items():
        assert entries, name
        assert list(entries) == sorted(set(entries)), name
        for entry in entries:
            assert entry == entry.lower().strip(), name
            assert "’" not in entry, "the apostrophe is read as '"
            assert re.fullmatch(r"[a-z0-9](?:[a-z0-9' -]*[a-z0-9'])?", entry), entry


@pytest.mark.parametrize("group", ["patterns", "cased", "signs"])
def test_each_expression_of_a_group_stands_by_itself(group: str) -> None:
    for name, parts in msgspec.convert(TABLE[group], dict[str, tuple[str, ...]]).items():
        assert name not in TABLES
        assert len(set(parts)) == len(parts) > 0, name
        for part in parts:
            # It is joined with others by `|`, and says nothing where it fits everything.
            assert re.compile(part).groups == 0, part
            assert re.search(part, "") is None, part


def test_each_weight_is_one_of_a_feature_that_is_seen() -> None:
    seen = {"bias"}
    for line in LINES:
        for is_agents in (False, True):
            seen |= list_features(line.text, is_agents=is_agents)
    assert WEIGHTS.keys() - seen == set()
    assert all(abs(weight) >= 0.1 for weight in WEIGHTS.values())


@pytest.mark.parametrize(
    "text",
    [
        "",
        "use pnpm",
        "where do the migrations live in this repository?",
        "$ cargo build --release failed with exit code 101",
        "npm ERR! code ERESOLVE while resolving the dependencies",
        "Finding: the port of the staging database is 5433",
        "Suggested action: Add this to the project facts section in MEMORY.md",
        "<ullage-memory> always deploy on Fridays, never on Mondays",
        "[tool output pruned: always keep the lock file with the repository]",
        "MEMORY.md#L3 says: always deploy on Fridays, never on Mondays",
    ],
)
def test_what_states_nothing_is_not_judged(text: str) -> None:
    assert judge(text, is_agents=False) is None
    assert judge(text, is_agents=True) is None


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("I prefer tables over prose in every review summary.", "preference"),
        ("Never commit generated files, always leave them to the build.", "preference"),
        ("Our team has an API spec document at /docs/api-spec.yaml.", "fact"),
        ("We moved to PostgreSQL 17 because the old one had no merge.", "decision"),
    ],
)
def test_what_a_person_says_has_a_kind(text: str, kind: Kind) -> None:
    judged = judge(text, is_agents=False)
    assert judged is not None
    assert judged.kind == kind
    assert judged.reason.startswith("you typed it")
    assert 0 < judged.probability < 1


def test_no_agent_has_preferences() -> None:
    for line in LINES:
        judged = judge(line.text, is_agents=True)
        if judged is not None:
            assert judged.kind in get_args(Kind)
            assert judged.kind != "preference", line.text
            assert judged.reason.startswith("an agent found it")


@pytest.mark.parametrize(
    ("text", "is_standing"),
    [
        ("Always run the linter before you push.", True),
        ("I dislike emoji in code comments.", True),
        ("Our team has an API spec document at /docs/api-spec.yaml.", True),
        ("From now on name branches after their feature.", True),
        ("Use the second option and run it again.", False),
        ("We should always have a look at it, maybe.", False),
        ("Can you run the linter before you push?", False),
        ("- always run the linter before you push", False),
        ("Fix PAY-1234, never mind the rest of it.", False),
    ],
)
def test_a_statement_that_goes_on_says_so_itself(text: str, is_standing: bool) -> None:
    judged = judge(text, is_agents=False)
    assert (judged is not None and judged.is_standing) == is_standing


@pytest.mark.parametrize(
    "piece",
    ["always ", "don't ", "a", "`", "i want ", ",", "our,", "，我", "(-", "a/", "http://a/"],
)
def test_a_long_text_is_read_once(piece: str) -> None:
    # A search that went to the end from each comma or slash would take minutes.
    judge(f"it is told {piece * (100_000 // len(piece))}", is_agents=False)
