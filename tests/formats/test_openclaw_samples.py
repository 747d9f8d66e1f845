"""Sessions that the real pi wrote, against what pi itself says of them."""

import json
from pathlib import Path

import pytest

from reading import read_context, read_messages

SAMPLES = Path(__file__).parents[1] / "samples" / "openclaw"
EXPECTED = sorted((SAMPLES / "expected").glob("*.json"))


@pytest.fixture(params=EXPECTED, ids=lambda path: path.name.removesuffix(".json"))
def pair(request: pytest.FixtureRequest) -> tuple[bytes, dict]:
    expected: Path = request.param
    name = expected.name.rpartition(".pi")[0]
    return (SAMPLES / f"{name}.jsonl").read_bytes(), json.loads(expected.read_bytes())


def test_the_messages_are_those_that_pi_builds(pair: tuple[bytes, dict]) -> None:
    data, expected = pair
    assert json.loads(json.dumps(read_messages(data))) == expected["messages"]


def test_the_entries_are_counted_as_pi_counts_them(pair: tuple[bytes, dict]) -> None:
    data, expected = pair
    context = read_context(data)
    assert context.n_entries == expected["entryCount"]
    assert len(context.items) == expected["messageCount"]


def test_session_model_and_leaf_are_those_of_pi(pair: tuple[bytes, dict]) -> None:
    data, expected = pair
    context = read_context(data)
    assert context.header.session_id == expected["sessionId"]
    assert context.header.version == expected["fileVersion"]
    assert context.model == expected["model"]["modelId"]
    if context.header.version > 1:  # pi gives entries of version 1 random ids
        assert context.leaf_id == expected["leafId"]


@pytest.mark.parametrize(
    ("name", "n_problems"),
    [("pi-0.73.1-missing-newline-corrupted", 1), ("pi-0.73.1-tree-image-overflow", 0)],
)
def test_only_the_line_that_pi_damaged_is_reported(name: str, n_problems: int) -> None:
    context = read_context((SAMPLES / f"{name}.jsonl").read_bytes())
    assert len(context.problems) == n_problems


def test_every_compaction_on_the_path_is_listed_oldest_first() -> None:
    context = read_context((SAMPLES / "pi-0.73.1-default-summaries.jsonl").read_bytes())
    assert context.boundary is not None
    assert context.compactions[-1].entry_id == context.boundary.entry_id
    offsets = [ref.offset for ref in context.compactions]
    assert offsets == sorted(offsets)
    assert len(offsets) > 1
