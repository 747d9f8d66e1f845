"""The thread of a session, by position and length alone."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from factories import assistant, numbered, summary, tool_result, user
from ullage.core.facts.collect import collect_facts
from ullage.core.facts.thread import Thread, cut_text, find_thread
from ullage.core.transcript.context import ContextItem

LONG = "x" * 501


def thread(*items: ContextItem) -> Thread:
    return find_thread(collect_facts(numbered(items)).messages)


def gists(found: Thread) -> list[tuple[str, str]]:
    return [(one.role, one.gist) for one in found.key_exchanges]


def test_no_messages_make_an_empty_thread() -> None:
    assert thread() == Thread(summary="", key_exchanges=())


def test_the_summary_joins_the_first_and_the_last_message_of_the_user() -> None:
    found = thread(user("a" * 150), assistant("yes"), user("b"), user("c" * 150))
    assert found.summary == "a" * 100 + " ... " + "c" * 100


def test_a_single_message_is_its_own_summary() -> None:
    assert thread(user("only this")).summary == "only this"


def test_a_gist_has_120_characters() -> None:
    assert gists(thread(user("a" * 130))) == [("user", "a" * 120)]


def test_the_first_message_and_the_last_two_pairs_are_kept() -> None:
    talk = [item for n in range(6) for item in (user(f"ask {n}"), assistant(f"answer {n}"))]
    assert gists(thread(*talk)) == [
        ("user", "ask 0"),
        ("user", "ask 4"),
        ("agent", "answer 4"),
        ("user", "ask 5"),
        ("agent", "answer 5"),
    ]


def test_a_message_after_a_long_answer_is_a_turning_point() -> None:
    talk = [item for n in range(6) for item in (user(f"ask {n}"), assistant(f"answer {n}"))]
    talk[3] = assistant(LONG)
    assert ("user", "ask 2") in gists(thread(*talk))


def test_an_answer_of_exactly_500_characters_is_not_long() -> None:
    talk = [item for n in range(6) for item in (user(f"ask {n}"), assistant(f"answer {n}"))]
    talk[3] = assistant("x" * 500)
    assert ("user", "ask 2") not in gists(thread(*talk))


def test_the_agents_last_word_before_the_next_message_counts() -> None:
    found = thread(user("go"), assistant("working"), tool_result("ok"), assistant("done"))
    assert gists(found) == [("user", "go"), ("agent", "done")]


def test_summaries_results_and_injected_tags_are_not_spoken() -> None:
    found = thread(
        summary("earlier"), user("<system-reminder>be nice</system-reminder>"), user("hello")
    )
    assert found == thread(user("hello"))


def test_a_message_without_an_answer_is_no_pair_and_is_kept() -> None:
    talk = [item for n in range(4) for item in (user(f"ask {n}"), assistant(f"answer {n}"))]
    assert gists(thread(*talk, user("and now?"))) == [
        ("user", "ask 0"),
        ("user", "ask 2"),
        ("agent", "answer 2"),
        ("user", "ask 3"),
        ("agent", "answer 3"),
        ("user", "and now?"),
    ]


def test_where_not_all_turning_points_fit_the_last_ones_stay() -> None:
    talk = [item for n in range(9) for item in (user(f"ask {n}"), assistant(LONG))]
    kept = [gist for role, gist in gists(thread(*talk)) if role == "user"]
    assert kept == ["ask 0", "ask 4", "ask 5", "ask 6", "ask 7", "ask 8"]


@pytest.mark.parametrize(
    ("text", "cut"),
    [
        ("move the header", "move the"),
        ("shift  header", "shift"),
        ("the header", "the header"),
        ("the header of the page", "the header"),
        ("a headerofthepage", "a headerof"),
    ],
)
def test_a_cut_ends_with_a_word_where_one_ends_in_the_second_half(text: str, cut: str) -> None:
    assert cut_text(text, 10) == cut


@pytest.mark.parametrize(
    ("text", "n_chars", "cut"),
    [
        ("abc", 5, "abc"),
        ("abcdef", 3, "abc"),
        ("abe\u0301f", 3, "ab"),
        ("ab\U0001f44d\U0001f3fdc", 3, "ab"),
        ("a\U0001f469\u200d\U0001f52cb", 3, "a"),
        ("a\U0001f469\u200d\U0001f52cb", 2, "a"),
        ("\u0301\u0301\u0301", 2, "\u0301\u0301"),
    ],
)
def test_what_belongs_to_one_character_is_not_parted(text: str, n_chars: int, cut: str) -> None:
    assert cut_text(text, n_chars) == cut


@given(
    st.lists(
        st.one_of(
            st.builds(user, st.text(max_size=600)), st.builds(assistant, st.text(max_size=600))
        )
        | st.just(assistant(LONG))
    )
)
def test_at_most_eight_exchanges_are_kept(items: list[ContextItem]) -> None:
    found = thread(*items)
    assert len(found.key_exchanges) <= 8
    assert all(len(one.gist) <= 120 for one in found.key_exchanges)
