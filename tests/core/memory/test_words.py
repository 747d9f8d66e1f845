"""Words of memory: what is asked in one spelling meets what was written in another."""

import tracemalloc

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ullage.core.memory.words import (
    MAX_IDENTIFIER_CHARS,
    MAX_WORD_CHARS,
    is_identifier,
    read_names,
    read_query,
    read_words,
    stop_words,
)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("Refresh tokens expire", ["refresh", "token", "expir"]),
        ("don't, John’s and the user's", ["don", "john", "and", "the", "user"]),
        ("“quoted” (word)… 50%", ["quot", "word", "50"]),
        ("naïve Ångström İstanbul", ["naiv", "angstrom", "istanbul"]),
        ("шёл кофе-брейк", ["шел", "кофе", "бреик", "кофе-бреик"]),
        ("λόγος", ["λογος"]),
        ("שָׁלוֹם مُحَمَّد", ["שלום", "محمد"]),
        ("हिन्दी भाषा।", ["हिन्दी", "भाषा"]),
        ("ＡＰＩ ﬁle", ["api", "file"]),
        ("1,234,567 bytes and 80, 443", ["1234567", "byte", "and", "80", "443"]),
        ("and/or input/output", ["and", "or", "input", "output"]),
        ("データ", ["デー", "ータ", "データ"]),
        ("ﾃﾞｰﾀ", ["デー", "ータ", "データ"]),
        ("猫 서버", ["猫", "서버"]),
        ("日本のtext", ["日本", "本の", "日本の", "text"]),
        ("พอร์ต", ["พอ", "อร", "ร์", "์ต", "พอร", "อร์", "ร์ต"]),
        ("", []),
        ("--- … !? \t\n", []),
    ],
)
def test_words_are_stems_without_accents_and_grams_where_no_spaces_are_written(
    text: str, words: list[str]
) -> None:
    assert read_words(text) == words


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("`refreshToken.ts`,", ["refreshtoken", "ts", "refresh", "token", "refreshtoken.ts"]),
        ("E0502:", ["e0502"]),
        ("snake_case", ["snake", "case", "snake_case"]),
        ("__init__", ["init", "__init__"]),
        ("src/app/main.py", ["src", "app", "main", "py", "main.py", "src/app/main.py"]),
        ("v1.2.3", ["v1", "2", "3", "v1.2.3"]),
        ("--no-verify", ["no", "verifi", "no-verify"]),
        ("HTTPServer's", ["httpserver", "http", "server"]),
        ("parseJSON", ["parsejson", "pars", "json"]),
        ("2026-11-21", ["2026", "11", "21", "2026-11-21"]),
        ("foo::bar", ["foo", "bar", "foo::bar"]),
        ("me@example.org", ["me", "exampl", "org", "me@example.org"]),
        ("Ullage's", ["ullag"]),
        ("#12345", ["12345"]),
    ],
)
def test_an_identifier_is_a_word_of_its_own_beside_its_parts(text: str, words: list[str]) -> None:
    assert read_words(text) == words
    assert set(words) <= set(read_words(f"see {text} there"))


@pytest.mark.parametrize(
    ("word", "is_one"),
    [
        ("e0502", True),
        ("refreshtoken.ts", True),
        ("snake_case", True),
        ("no-verify", True),
        ("token", False),
        ("8123", False),
        ("हिन्दी", False),
        ("ร์ต", False),
        ("データ", False),
    ],
)
def test_a_sign_or_a_number_in_a_word_makes_it_an_identifier(word: str, *, is_one: bool) -> None:
    assert is_identifier(word) == is_one


def test_what_nobody_would_ask_for_is_no_word() -> None:
    assert read_words("x" * MAX_WORD_CHARS) == ["x" * MAX_WORD_CHARS]
    assert read_words("x" * (MAX_WORD_CHARS + 1)) == []
    path = "a1/" * (MAX_IDENTIFIER_CHARS // 3 + 2)
    assert set(read_words(path)) == {"a1"}


@pytest.mark.parametrize(
    ("question", "words"),
    [
        ("What is the port of the port server?", ["port", "server"]),
        ("what’s the user's port", ["user", "port"]),
        ("Wie heißt der Server in der Übersicht?", ["heißt", "server", "ubersicht"]),
        ("Où est le café ?", ["cafe"]),
        ("¿Dónde está el servidor?", ["servidor"]),
        ("which die is in the war room", ["die", "war", "room"]),
        ("who are you", ["who", "are", "you"]),
        ("who are you - ?", ["who", "are", "you"]),
        ("der die das", ["der", "die", "das"]),
        ("", []),
        ("?!", []),
    ],
)
def test_a_question_loses_the_stop_words_of_its_own_language_unless_it_has_no_others(
    question: str, words: list[str]
) -> None:
    assert read_query(question) == words


@pytest.mark.parametrize(
    ("question", "names"),
    [
        ("Which Kafka topic holds MySQL's order?", {"kafka", "mysql", "my", "sql"}),
        ("How long? Receipts: Are they kept", set[str]()),
        ("Is Élodie at 日本 now", {"elodi"}),
        ("kafka", set[str]()),
        ("", set[str]()),
    ],
)
def test_a_name_has_a_capital_that_no_sentence_begins_with(question: str, names: set[str]) -> None:
    assert read_names(question) == names
    assert names <= set(read_query(question))


def test_each_language_has_stop_words_as_a_question_is_read() -> None:
    assert len(stop_words()) >= 8
    assert "what" in stop_words()[0]
    for words in stop_words():
        assert len(words) > 50
        assert all(word == word.lower() for word in words)


@given(st.text(max_size=200))
def test_no_word_has_a_blank_and_a_question_finds_its_own_text(text: str) -> None:
    words = read_words(text)
    for word in words:
        assert word
        assert word.split() == [word]
        assert "\0" not in word
    assert set(read_query(text)) <= set(words)
    assert len(set(read_query(text))) == len(read_query(text))
    assert bool(read_query(text)) == bool(words)


def test_texts_without_spaces_are_not_kept() -> None:
    read_words("初回")
    tracemalloc.start()
    try:
        for n in range(500):
            read_words("".join(chr(0x4E00 + (n * 31 + k * 7) % 0x5000) for k in range(40)))
        n_bytes, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert n_bytes < 500_000
