"""Text is cut at words and shows it, and loses nothing but marks."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from ullage.core.text.prose import (
    MAX_SENTENCE_CHARS,
    collapse_spaces,
    gist,
    plural,
    remove_bold,
    remove_list_mark,
    split_sentences,
)

words = st.lists(st.text("ab,;é用", min_size=1, max_size=12), max_size=400).map(" ".join)


@given(words, st.integers(2, 300))
def test_a_gist_ends_with_a_word_or_shows_that_it_was_cut(text: str, n_chars: int) -> None:
    short = gist(text, n_chars)
    assert len(short) <= n_chars
    if short != collapse_spaces(text):
        assert short.endswith("…")
        assert collapse_spaces(text).startswith(short[:-1])


@pytest.mark.parametrize(
    ("text", "n_chars", "short"),
    [
        ("Run it on the shop/orders/archive/2026 folder", 20, "Run it on the…"),
        ("Port /srv/app/importer/rows.go", 24, "Port /srv/app/importer/…"),
        ("Port it: /srv/app/importer/rows.go", 24, "Port it:…"),
        ('New-Item "C:\\logs","C:\\inventions\\archive\\2026"', 40, 'New-Item "C:\\logs",…'),
        ("文件已经备份到云端，明天早上再检查一次权限设置", 20, "文件已经备份到云端，…"),
        ("文件已经备份到云端明天早上再检查一次权限设置", 12, "文件已经备份到云端明天…"),
        ("f(a, b) and then the_next_name_is_long", 30, "f(a, b) and then…"),
    ],
)
def test_a_gist_is_cut_in_no_path_nor_name(text: str, n_chars: int, short: str) -> None:
    assert gist(text, n_chars) == short


@pytest.mark.parametrize("text", ["Rename foo. … Then call baz.", "Rename foo. Then call baz."])
def test_a_gist_that_ends_with_a_sentence_shows_once_that_something_is_left_out(text: str) -> None:
    assert gist(text, 16) == "Rename foo…"


def test_a_gist_shows_what_blanks_pushed_out_of_sight() -> None:
    assert gist("Never drop it" + " " * 500 + "by hand.", 100) == "Never drop it…"


@given(words)
@example("and then " * 200 + "stop")
def test_the_parts_of_a_long_sentence_show_where_it_was_parted(text: str) -> None:
    parts = list(split_sentences(text))
    assert all(len(part) <= MAX_SENTENCE_CHARS for part in parts)
    assert all(part.endswith("…") for part in parts[:-1])
    assert all(part.startswith("…") for part in parts[1:])
    whole = " ".join(parts).replace("… …", " ")
    assert "".join(whole.split()) == "".join(text.split())


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        ("**Decision:** use `x`.", "Decision: use `x`."),
        ("It is (**done**), **all** of it", "It is (done), all of it"),
        ("Match src/**/*.py and lib/**/*.ts", None),
        ("`**kwargs` and `**options`", None),
        ("2**10 is not 3**2", None),
        ("**/*.py, **/*.ts", None),
        ("a ** b ** c", None),
    ],
)
def test_only_emphasis_is_removed(text: str, plain: str | None) -> None:
    assert remove_bold(text) == (text if plain is None else plain)


@pytest.mark.parametrize(
    ("line", "bare"),
    [
        ("- done", "done"),
        ("## 2. Result", "Result"),
        ("--no-verify is gone", "--no-verify is gone"),
        ("-1 is returned", "-1 is returned"),
        ("*args are gone", "*args are gone"),
        ("#123 is fixed", "#123 is fixed"),
    ],
)
def test_only_marks_of_lists_and_headings_are_removed(line: str, bare: str) -> None:
    assert remove_list_mark(line) == bare


@pytest.mark.parametrize(
    ("line", "n_sentences"),
    [
        ("It covers `install(true, ...)` in the agent.", 1),
        ("Log each step (load, check, etc.) so that it is seen.", 1),
        ("Well... never mind.", 1),
        ("build it. never touch main.", 2),
        ("never touch `a.py`. then build it.", 2),
        ("It was said (by Ilse.) Then it was done.", 2),
        ("Is it done? it is.", 2),
    ],
)
def test_a_sentence_goes_on_behind_dots_and_brackets(line: str, n_sentences: int) -> None:
    sentences = list(split_sentences(line))
    assert len(sentences) == n_sentences
    assert " ".join(sentences) == line


def test_one_thing_is_named_in_the_singular() -> None:
    assert [plural(n, "line") for n in (0, 1, 1200)] == ["0 lines", "1 line", "1,200 lines"]
    assert [plural(n, "entry", "entries") for n in (1, 2)] == ["1 entry", "2 entries"]
