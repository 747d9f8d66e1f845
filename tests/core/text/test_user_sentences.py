"""What a user's sentence does."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ullage.core.text.sentences import read_user_sentences
from ullage.core.text.word_lists import word_list
from ullage.core.text.wording import has_marker, read_wording


@pytest.mark.parametrize(
    "said",
    [
        "Hotel or hostel I haven't decided yet.",
        "Karte oder bar ist noch unentschieden.",
        "No he decidido el color.",
        "颜色还没决定。",
    ],
)
def test_what_a_user_leaves_undecided_is_open_and_no_decision(said: str) -> None:
    assert [sentence.kind for sentence in read_user_sentences(said, 0)] == ["open"]


def test_a_request_beside_a_rule_is_no_rule() -> None:
    said = "Please move the logic in auth, it has grown over the years. Never touch the old one."
    assert [sentence.kind for sentence in read_user_sentences(said, 0)] == ["statement", "rule"]


@pytest.mark.parametrize(
    ("said", "kind"),
    [
        ("Every new function should get JSDoc comments.", "rule"),
        ("Jede neue Funktion sollte einen Kommentar haben.", "rule"),
        ("All tests pass in the branch.", "statement"),
        ("The button should be blue.", "wish"),
        ("The page must load in a second.", "wish"),
        ("El botón debe ser azul.", "wish"),
        ("Every button must have a label.", "rule"),
        ("The page must not ask for a password.", "rule"),
    ],
)
def test_a_wish_for_all_of_a_kind_is_a_rule(said: str, kind: str) -> None:
    assert [sentence.kind for sentence in read_user_sentences(said, 0)] == [kind]


@pytest.mark.parametrize(
    "said",
    [
        "Never push to main.",
        "also remember the plan in docs/plan.md",
        "IMPORTANT: don't touch the schema.",
        "don't worry about the tests, but never push",
        "From now on write the test first.",
        "When you name a file, give its path.",
        "I don't want a new dependency.",
        "Use tabs, not spaces.",
        "Write down each value that you change.",
        "Anota cada valor que cambies",
        "Notiere jeden Wert, den du änderst.",
        "Ab jetzt nur noch auf Deutsch antworten.",
        "a partir de ahora escribe primero la prueba",
        "Не трогай таблицу пользователей.",
        "禁止使用 base 环境",
        "下次手動下單，需要詢問",
        "今後は必ず確認してください。",
        "앞으로는 커밋하지 마세요.",
        "ห้ามลบไฟล์",
    ],
)
def test_what_outlives_the_message_is_a_rule(said: str) -> None:
    assert [sentence.kind for sentence in read_user_sentences(said, 0)] == ["rule"]


@pytest.mark.parametrize(
    "said",
    [
        "The file has no newline at its end.",
        "don't worry about it",
        "You don't need to run the tests.",
        "I have never done anything like that.",
        "how come i dont see the page",
        "we don't have a lot of time",
        "it never ends",
        "она никогда не кончается",
        "yo no veo la página",
        "I always wanted to try this.",
        "Work on the epic until all of its subtasks are done.",
        "Is it never closed?",
        "It always crashes at the start.",
        "로그인 페이지를 만들어줘",
        "메뉴를 마지막에 넣어줘",
        "这个功能特别慢，看一下",
        "服务不可用了",
        "要不要换一个方案",
        "まだ絶対パスのままです",
    ],
)
def test_what_only_sounds_like_a_rule_is_none(said: str) -> None:
    assert [s.kind for s in read_user_sentences(said, 0) if s.kind == "rule"] == []


def test_what_may_be_a_rule_is_one_beside_a_rule() -> None:
    said = "The code should be clean and simple."
    assert [s.kind for s in read_user_sentences(said, 0)] == ["wish"]
    beside = f"No new packages. {said} Never use a framework."
    assert [s.kind for s in read_user_sentences(beside, 0)] == ["rule", "rule", "rule"]


def test_points_below_a_heading_of_rules_are_rules() -> None:
    said = "Build the page.\n\nRules:\n- small commits\n- one test each"
    kinds = [sentence.kind for sentence in read_user_sentences(said, 0)]
    assert kinds == ["statement", "statement", "rule", "rule"]


_WORD = st.text(alphabet="abcdefghijklmnop", min_size=1, max_size=8)


@given(st.sampled_from(["no new", "make sure", "from now", "at most"]), _WORD)
def test_no_phrase_is_found_within_other_words(phrase: str, letters: str) -> None:
    table = word_list("strong_rules")
    assert has_marker(read_wording(f"it is {phrase} here"), table)
    assert not has_marker(read_wording(f"it is {phrase}{letters} here"), table)
    assert not has_marker(read_wording(f"it is {letters}{phrase} here"), table)
