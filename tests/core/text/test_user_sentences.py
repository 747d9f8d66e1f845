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
        "Rename the column, don't keep the old one",
        "The unused counter boxCount is incremented but never read",
        "Only the page's drawBox() exclusively uses the old frame",
        "The page is read with read_page() and no limit",
        "there should always be a box",
        "Don't care about the frame.",
    ],
)
def test_what_only_sounds_like_a_rule_is_none(said: str) -> None:
    assert [s.kind for s in read_user_sentences(said, 0) if s.kind == "rule"] == []


@pytest.mark.parametrize(
    "said",
    [
        "We should run the linter before committing.",
        "we ought to ask the team first",
        "prefer small commits",
        "only commit what I read",
        "You moved the table without asking me.",
        "you're supposed to read the notes",
        "Answer in Korean, please",
        "Puedes responder en español?",
        "回答请用中文",
        "No need to ask me for each file.",
        "I don't want a new dependency.",
        "deve corrigir a página sem quebrar a outra",
        "when I am away, don't push",
    ],
)
def test_what_governs_the_agents_conduct_is_a_rule(said: str) -> None:
    assert [sentence.kind for sentence in read_user_sentences(said, 0)] == ["rule"]


@pytest.mark.parametrize(
    "said",
    [
        "Only for those who voted.",
        "we can always draw it later on",
        "I don't want small icons.",
        "See if any changes are required.",
        "keep the red box - I only meant the frame",
        "make sure the box is red",
        "No box was found on the first page that I opened.",
        "The boxes (no frames) are drawn.",
        "When you are done, draw the box.",
        "so it says the same as before, not just in part",
        "put it there before the title",
        "I ran it before committing.",
        "把它做成一个页面，方便下次使用",
        "The page is in English.",
        "None.",
    ],
)
def test_what_is_said_of_the_thing_that_is_built_is_no_rule(said: str) -> None:
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


def test_a_heading_that_rules_stands_before_each_of_its_points() -> None:
    said = "Build the page.\n\nNever:\n- new colors\n- a second font\n\nThanks."
    sentences = read_user_sentences(said, 0)
    rules = [sentence.text for sentence in sentences if sentence.kind == "rule"]
    assert rules == ["Never: new colors", "Never: a second font"]
    assert [s.text for s in sentences if s.kind != "rule"] == ["Build the page.", "Thanks."]


_WORD = st.text(alphabet="abcdefghijklmnop", min_size=1, max_size=8)


@given(st.sampled_from(["only use", "each time", "from now", "not allowed"]), _WORD)
def test_no_phrase_is_found_within_other_words(phrase: str, letters: str) -> None:
    table = word_list("strong_rules")
    assert has_marker(read_wording(f"it is {phrase} here"), table)
    assert not has_marker(read_wording(f"it is {phrase}{letters} here"), table)
    assert not has_marker(read_wording(f"it is {letters}{phrase} here"), table)


_PLAN = """Do this, but never push.

# Plan
## Box
- never draws without a frame
- the frame must not be empty
{heading}
- never draw outside it
"""


@pytest.mark.parametrize(
    ("heading", "rules"),
    [
        ("## Frame", ["Do this, but never push."]),
        ("## Rules", ["Do this, but never push.", "never draw outside it"]),
    ],
)
def test_below_headings_only_those_of_rules_rule(heading: str, rules: list[str]) -> None:
    sentences = read_user_sentences(_PLAN.format(heading=heading), 0)
    assert [s.text.removeprefix("Rules ") for s in sentences if s.kind == "rule"] == rules


def test_a_sentence_with_requirement_in_it_heads_no_rules() -> None:
    said = "I wrote down one more requirement for the box:\n- the frame is drawn as well"
    assert [s.kind for s in read_user_sentences(said, 0) if s.kind == "rule"] == []
