"""The weight of vectors: fusion on one scale, and a self-test that lowers it."""

from collections.abc import Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ullage.core.memory.vector_weight import (
    MIN_QUERIES,
    START_WEIGHT,
    UNTESTED_WEIGHT,
    QueryKind,
    SelfTestQuery,
    choose_weight,
    fuse_scores,
)

CHUNKS = [f"c{n}" for n in range(200)]
Side = dict[str, float]


def test_both_sides_are_on_one_scale() -> None:
    fused = fuse_scores({"a": 80.0, "b": 40.0}, {"b": 0.9, "c": 0.8, "d": 0.7}, 0.6)
    assert fused == pytest.approx({"b": 0.8, "a": 0.4, "c": 0.3, "d": 0.0})
    assert list(fused) == ["b", "a", "c", "d"]


def test_a_direction_that_all_vectors_share_changes_nothing() -> None:
    words = {"a": 3.0, "b": 1.0}
    plain = fuse_scores(words, {"b": 0.5, "c": 0.2, "d": -0.1}, 0.7)
    shifted = fuse_scores(words, {"b": 0.97, "c": 0.94, "d": 0.91}, 0.7)
    assert list(plain) == list(shifted)
    assert shifted == pytest.approx(plain)


@pytest.mark.parametrize(
    ("words", "vectors", "weight", "expected"),
    [
        ({}, {}, 0.7, {}),
        ({"a": 2.0, "b": 1.0}, {}, 0.7, {"a": 0.3, "b": 0.15}),
        ({"a": 2.0}, {"b": 0.9, "a": 0.1}, 0.0, {"a": 1.0}),
        ({}, {"a": 0.9, "b": 0.1}, 0.7, {"a": 0.7, "b": 0.0}),
        ({"a": 2.0}, {"a": 0.5, "b": 0.5}, 0.7, {"a": 0.3}),
        ({"a": 2.0}, {"a": -0.2, "b": -0.4}, 0.5, {"a": 1.0, "b": 0.0}),
        ({"a": -1.0, "b": 0.0}, {}, 0.5, {}),
    ],
)
def test_lists_that_are_empty_equal_or_negative_are_fused_too(
    words: Side, vectors: Side, weight: float, expected: Side
) -> None:
    assert fuse_scores(words, vectors, weight) == pytest.approx(expected)


def test_what_has_no_vector_yet_counts_by_its_words_alone() -> None:
    fused = fuse_scores({"new": 4.0, "old": 2.0}, {"old": 0.9, "far": 0.1}, 0.7, {"new"})
    assert fused == pytest.approx({"new": 1.0, "old": 0.85, "far": 0.0})


SCORES = st.dictionaries(
    st.sampled_from(CHUNKS[:12]), st.floats(-1e6, 1e6, allow_subnormal=False), max_size=12
)


@given(SCORES, SCORES, st.sampled_from((0.0, 0.1, 0.3, 0.5, 0.7)))
def test_a_fused_score_lies_between_0_and_1_and_they_fall(
    words: Side, vectors: Side, weight: float
) -> None:
    values = list(fuse_scores(words, vectors, weight).values())
    assert all(0 <= value <= 1.0001 for value in values)
    assert values == sorted(values, reverse=True)


def ranking(wanted: str, rank: int | None, side: str) -> Side:
    """Make a list of twenty in which the wanted chunk has a rank, or does not stand."""
    others = [f"{side} {n}" for n in range(20)]
    if rank is not None:
        others[rank - 1] = wanted
    return {chunk: 1.0 / place for place, chunk in enumerate(others, 1)}


def queries(
    kind: QueryKind, ranks: Mapping[str, tuple[int | None, ...]], n: int = 60
) -> list[SelfTestQuery]:
    """Make queries whose wanted chunk has, by each side, one rank after the other."""
    made: list[SelfTestQuery] = []
    for number in range(n):
        wanted = CHUNKS[number]
        sides = {
            side: ranking(wanted, each[number % len(each)], side) for side, each in ranks.items()
        }
        made.append(SelfTestQuery(kind=kind, wanted=frozenset((wanted,)), **sides))
    return made


GOOD: dict[str, tuple[int | None, ...]] = {"words": (5, None, 9), "vectors": (1, 2, 1)}
BAD: dict[str, tuple[int | None, ...]] = {"words": (1, 7, 10), "vectors": (None,)}
EVEN: dict[str, tuple[int | None, ...]] = {"words": (1, None), "vectors": (None, 1)}


def test_vectors_that_find_more_keep_their_weight() -> None:
    assert choose_weight(queries("neighbors", GOOD)) == START_WEIGHT


def test_vectors_that_find_nothing_have_none() -> None:
    assert choose_weight(queries("neighbors", BAD)) == 0


def test_sides_that_find_different_things_share() -> None:
    assert 0.2 < choose_weight(queries("neighbors", EVEN)) < START_WEIGHT


def test_short_questions_that_are_read_badly_lower_the_weight() -> None:
    own = queries("own", {"words": (1, 2), "vectors": (None,)})
    assert choose_weight([*queries("neighbors", GOOD), *own]) < 0.5


def test_short_questions_alone_do_not_raise_it() -> None:
    own = queries("own", GOOD)
    assert choose_weight([*queries("neighbors", BAD), *own]) < 0.5
    assert choose_weight(own) == UNTESTED_WEIGHT


def test_too_little_memory_tells_nothing() -> None:
    assert choose_weight([]) == UNTESTED_WEIGHT
    assert choose_weight(queries("neighbors", GOOD, MIN_QUERIES - 1)) == UNTESTED_WEIGHT


def test_the_chunk_that_is_the_question_counts_for_neither_side() -> None:
    """Both would find it first: with it among the results vectors would look as good as words."""

    def with_itself(query: SelfTestQuery, number: int) -> SelfTestQuery:
        itself = f"q{number}"
        return SelfTestQuery(
            kind=query.kind,
            wanted=query.wanted,
            held_out=itself,
            words={itself: 99.0, **query.words},
            vectors={itself: 99.0, **query.vectors},
        )

    for ranks in (GOOD, BAD, EVEN):
        plain = queries("neighbors", ranks)
        held_out = [with_itself(query, number) for number, query in enumerate(plain)]
        assert choose_weight(held_out) == choose_weight(plain)
