"""The order of the chunks that answer a question, and when none does."""

from collections.abc import Mapping, Sequence
from datetime import date, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ullage.core.memory.ranking import (
    CONTEXT_WEIGHT,
    MAX_GATHERED,
    MAX_PER_FILE_BITS,
    Candidate,
    Posting,
    Question,
    Ranked,
    choose_gathering,
    file_of,
    gather,
    has_answer,
    rank,
    weigh_age,
    weigh_question,
)
from ullage.core.memory.words import read_query, read_words

FILLER = "cats sleep on warm stones all day long"


class Memory:
    """Chunks of files, as an index would give them: a text and what stands around it."""

    def __init__(self, *files: Sequence[tuple[str, str]]) -> None:
        self.candidates = [
            Candidate(
                chunk_id=(number << MAX_PER_FILE_BITS) + at,
                words=_joined(text),
                context=_joined(around),
            )
            for number, file in enumerate(files, 1)
            for at, (text, around) in enumerate(file)
        ]

    def question(self, text: str) -> Question:
        words = read_query(text)
        counts = {word: sum(map(len, self._find(word))) for word in words}
        return weigh_question(words, counts, len(self.candidates))

    def ask(self, text: str) -> list[Ranked]:
        question = self.question(text)
        found = {word: self._find(word) for word in question.known}
        postings = {
            word: Posting(in_text=in_text, in_context=in_context)
            for word, (in_text, in_context) in found.items()
        }
        gathered = gather(question, postings)
        known = dict(gathered)
        candidates = [chunk for chunk in self.candidates if chunk.chunk_id in known]
        mean = sum(len(chunk.words) + len(chunk.context) for chunk in candidates) or 1
        return rank(question, gathered, candidates, mean / max(1, len(candidates)))

    def first(self, text: str) -> tuple[int, int]:
        """Give the best chunk's file, from 1, and its number in the file, from 0."""
        best = self.ask(text)[0].chunk_id
        return file_of(best), best % (1 << MAX_PER_FILE_BITS)

    def _find(self, word: str) -> tuple[list[int], list[int]]:
        word = f" {word} "
        in_text = [chunk.chunk_id for chunk in self.candidates if word in chunk.words]
        in_context = [chunk.chunk_id for chunk in self.candidates if word in chunk.context]
        return in_text, [chunk for chunk in in_context if chunk not in in_text]


def _joined(text: str) -> str:
    return f" {' '.join(read_words(text))} "


@pytest.mark.parametrize(
    ("question", "better", "worse"),
    [
        pytest.param(
            "refreshToken.ts",
            "see refreshToken.ts then",
            "refresh token ts refreshtoken ts token refresh refreshtoken",
            id="an identifier before its parts, however often",
        ),
        pytest.param("E0502", "E0502 was a borrow", "E0503 and E05020 too", id="a whole code"),
        pytest.param(
            "redis port",
            "our redis port is open",
            "our redis is open port",
            id="words that stand together before words apart",
        ),
        pytest.param(
            "harbor wine barrel",
            "on barrel then harbor then wine",
            "on harbor wine harbor wine harbor wine",
            id="all words before some words often",
        ),
        pytest.param(
            "anna",
            "Anna goes home late",
            "late goes Anna home",
            id="what begins with a word of the question, as a label does",
        ),
        pytest.param(
            "harbor",
            "our harbor",
            f"our harbor, where {FILLER} and {FILLER}",
            id="a short text before a long one",
        ),
    ],
)
def test_the_better_answer_comes_first_wherever_it_stands(
    question: str, better: str, worse: str
) -> None:
    others = [(f"{FILLER} number {n}", "") for n in range(8)]
    assert Memory([(better, "")], [(worse, "")], others).first(question) == (1, 0)
    assert Memory([(worse, "")], [(better, "")], others).first(question) == (2, 0)


def test_a_word_around_a_chunk_counts_for_it_but_less_than_one_in_it() -> None:
    memory = Memory(
        [("the barrel is full", "wine")], [("the wine of a barrel", "")], [("the barrel", "")],
        [(FILLER, "")],
    )  # fmt: skip
    scores = {file_of(each.chunk_id): each.score for each in memory.ask("wine barrel")}
    assert scores[2] > scores[1] > scores[3] > 0
    assert 4 not in scores
    question = memory.question("wine")
    found = gather(question, {"wine": Posting(in_text=(7,), in_context=(8,))})
    assert found == [(7, question.weights["wine"]), (8, CONTEXT_WEIGHT * question.weights["wine"])]


def test_a_file_that_has_more_to_say_lifts_its_chunks() -> None:
    telling = [("the harbor tax", ""), ("harbor and tax", ""), ("tax of the harbor", "")]
    alone = [("the harbor tax", "")]
    others = [(FILLER, "")] * 5
    assert Memory(telling, alone, others).first("harbor tax") == (1, 0)
    assert Memory(alone, telling, others).first("harbor tax") == (2, 0)


def test_the_rarest_words_bring_the_candidates_as_far_as_they_are_few() -> None:
    counts = {"rare": 3, "medium": MAX_GATHERED - 3, "common": 1}
    known = ("rare", "medium", "common")
    assert choose_gathering(known, counts) == ("rare", "medium")
    assert choose_gathering(known[1:], {"medium": MAX_GATHERED + 1, "common": 9}) == ("medium",)
    assert choose_gathering((), {}) == ()


def test_a_rare_word_weighs_more_and_an_unknown_one_brings_nothing() -> None:
    question = weigh_question(["rare", "none", "common"], {"rare": 1, "none": 0, "common": 90}, 100)
    assert question.weights["none"] > question.weights["rare"] > question.weights["common"] > 0
    assert question.known == ("rare", "common")
    assert weigh_question([], {}, 0).known == ()


def held(*n_held: int) -> list[Ranked]:
    return [Ranked(chunk_id=n, score=0.5, n_held=held) for n, held in enumerate(n_held)]


@pytest.mark.parametrize(
    ("counts", "n_held", "is_answered"),
    [
        ({"a": 3}, 1, True),
        ({"a": 0}, 0, False),
        ({"a": 3, "b": 3}, 1, False),
        ({"a": 3, "b": 3}, 2, True),
        ({"a": 3, "b": 3, "c": 3, "d": 3, "e": 3}, 2, True),
        ({"a": 3, "b": 0}, 1, False),
        ({"a": 3, "b": 3, "c": 0, "d": 0}, 2, False),
        ({"a": 3, "b": 3, "c": 3, "d": 0}, 3, True),
        ({"a": 3, "b": 3, "c": 3, "d": 3, "e": 0}, 3, True),
        ({"a": 3, "b": 3, "c": 3, "d": 3, "Name": 0}, 3, False),
        ({"a": 3, "b": 3, "c": 3, "d": 3, "Name": 0}, 4, True),
        ({"a": 3, "b": 3, "c": 3, "d": 3, "Name": 3}, 2, True),
    ],
)
def test_one_word_of_several_or_much_that_nobody_wrote_is_no_answer(
    counts: Mapping[str, int], n_held: int, *, is_answered: bool
) -> None:
    question = weigh_question(list(counts), counts, 100)
    assert has_answer(question, {"Name"}, held(n_held)) == is_answered


def test_only_the_best_chunks_tell_whether_there_is_an_answer() -> None:
    question = weigh_question(["a", "b"], {"a": 3, "b": 3}, 100)
    assert has_answer(question, (), held(0, 0, 0, 0, 0, 0, 0, 2))
    assert not has_answer(question, (), held(0, 0, 0, 0, 0, 0, 0, 0, 2))
    assert not has_answer(question, (), [])
    assert not has_answer(weigh_question([], {}, 0), (), [])


def test_age_takes_a_tenth_at_most() -> None:
    today = date(2026, 11, 23)
    ages = [weigh_age((today - timedelta(days=n)).isoformat(), today) for n in (0, 30, 365, 9000)]
    assert ages[0] == 1
    assert ages[2] == pytest.approx(0.95)
    assert sorted(ages, reverse=True) == ages
    assert ages[-1] >= 0.9
    assert weigh_age("2027-01-01", today) == 1


WORDS = st.sampled_from("harbor tax wine barrel E0502 refreshToken.ts the port".split())
TEXTS = st.lists(WORDS, min_size=1, max_size=6).map(" ".join)
CHUNKS = st.lists(st.tuples(TEXTS, TEXTS), min_size=1, max_size=5)


@given(st.lists(CHUNKS, min_size=1, max_size=4), TEXTS)
def test_scores_fall_from_one_to_nought_and_all_that_holds_a_word_is_there(
    files: list[list[tuple[str, str]]], question: str
) -> None:
    memory = Memory(*files)
    ranked = memory.ask(question)
    assert [each.score for each in ranked] == sorted((r.score for r in ranked), reverse=True)
    assert all(0 < each.score <= 1 for each in ranked)
    wanted = memory.question(question).weights
    holding = {
        chunk.chunk_id
        for chunk in memory.candidates
        if any(f" {word} " in chunk.words for word in wanted)
    }
    assert {each.chunk_id for each in ranked} == holding
    assert all(each.n_held <= len(wanted) + 1 for each in ranked)
