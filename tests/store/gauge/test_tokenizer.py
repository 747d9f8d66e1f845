"""Tokens are counted as tiktoken counts them, without a download and without a quadratic case."""

import subprocess
import sys
from base64 import b64encode
from hashlib import sha256
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from profiles import examples
from ullage.store.gauge import ranks
from ullage.store.gauge.light_counter import MAX_WORD_BYTES, PATTERNS, LightCounter, is_plain
from ullage.store.gauge.tokenizer import (
    MAX_RUN_CHARS,
    PIECE_CHARS,
    accelerator,
    count_tokens,
    count_with_tokenizer,
    load_encoding,
)

ENCODINGS = ("o200k_base", "cl100k_base")
LINES = st.lists(st.text(max_size=40), max_size=30).map("\n".join)


@pytest.mark.parametrize(
    ("encoding", "text", "n_tokens"),
    [
        ("o200k_base", "hello world", 2),
        ("cl100k_base", "hello world", 2),
        ("o200k_base", "", 0),
        ("o200k_base", "\ud83d", 1),
        ("o200k_base", "<|endoftext|>", 7),
    ],
)
def test_known_texts_have_their_known_counts(encoding: str, text: str, n_tokens: int) -> None:
    assert count_tokens(text, encoding) == n_tokens


ODD = st.text("abcdefgHIJ'\u017f 0123\n\té世ⅷ", max_size=400)
WORDS = st.text("etaoinsrhldcu ", max_size=400)
"""Letters that make up tokens of many lengths: merging has many ways to go."""
TEXTS = st.text(max_size=400) | LINES | ODD | WORDS
light = {encoding: LightCounter(encoding, max_cost=1 << 60) for encoding in ENCODINGS}


def count_as_tiktoken(text: str, encoding: str) -> int:
    return len(load_encoding(encoding).encode_ordinary(text))


@given(text=TEXTS, encoding=st.sampled_from(ENCODINGS))
@settings(max_examples=examples(300))
def test_any_text_counts_as_tiktoken_counts_it(text: str, encoding: str) -> None:
    expected = count_as_tiktoken(text, encoding)
    assert accelerator(encoding) is not None
    assert count_with_tokenizer(text, encoding) == expected
    assert light[encoding].count(text) in (None, expected)


@pytest.mark.parametrize("encoding", ENCODINGS)
@pytest.mark.parametrize(
    "odd", ["'\u017f", "\ua7ce", "\U00010940", "\U000323b0", "\u1ae0", "\ud83d"]
)
def test_characters_that_tokenizers_part_in_two_ways_are_left_to_tiktoken(
    odd: str, encoding: str
) -> None:
    for text in (odd, f"I{odd}", f"Don{odd}t é{odd}é", f"1{odd}2\n{odd}"):
        assert not is_plain(text)
        assert count_with_tokenizer(text, encoding) == count_as_tiktoken(text, encoding)


def test_characters_of_daily_use_are_plain() -> None:
    text = "größer — “naïve” │ ✓ 😀 你好 русский हिन्दी العربية 한국어 ｱ ﬁ 𠀋"
    assert is_plain(text)
    assert light["o200k_base"].count(text) == count_as_tiktoken(text, "o200k_base")


def test_characters_that_are_not_assigned_yet_are_left_to_a_tokenizer() -> None:
    assert light["o200k_base"].count("\u0558's") is None


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_the_light_counter_parts_words_by_the_pattern_of_tiktoken(encoding: str) -> None:
    assert PATTERNS[encoding] == load_encoding(encoding)._pat_str


def test_the_light_counter_ends_where_a_tokenizer_costs_less() -> None:
    counter = LightCounter("o200k_base", max_cost=30)
    assert counter.count("one two three") == 3
    assert counter.count("one two three four five") is None
    assert counter.count("xqzj wvkq") == count_as_tiktoken("xqzj wvkq", "o200k_base")
    assert counter.count("one") is None, "merging costs more"


def test_a_word_that_would_take_long_to_merge_is_left_to_a_tokenizer() -> None:
    assert LightCounter("o200k_base").count("a" * (2 * MAX_WORD_BYTES)) is None
    assert count_tokens("a" * 20_000) == count_as_tiktoken("a" * 20_000, "o200k_base")


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_the_ranks_are_those_of_the_file_that_tiktoken_downloads(encoding: str) -> None:
    ranks_of = ranks.read_ranks(encoding) or {}
    lines = (b"%b %d\n" % (b64encode(token), rank) for token, rank in ranks_of.items())
    assert sha256(b"".join(lines)).hexdigest() == ranks.SHA256[encoding]


def test_damaged_ranks_count_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    packed = ranks.read_packaged("tokenizers/cl100k_base.ranks")
    for damaged in (packed[:-9], b"", packed[:5000] + b"x" + packed[5001:]):
        monkeypatch.setattr(ranks, "read_packaged", lambda _, damaged=damaged: damaged)
        assert LightCounter("cl100k_base").count("one") is None


LEFT_TO_TIKTOKEN = "\ua7ce"


@pytest.mark.parametrize("ending", ["\n", "\r\n", "\n\n", " \n"])
def test_a_text_of_many_pieces_counts_like_one(ending: str) -> None:
    lines = (f"Zeile {n}: größer als zuvor, {'x' * (n % 90)}" for n in range(6000))
    text = LEFT_TO_TIKTOKEN + ending.join(lines)
    assert len(text) > 3 * PIECE_CHARS
    assert count_tokens(text) == len(load_encoding("o200k_base").encode_ordinary(text))


def test_a_run_of_spaces_that_makes_tiktoken_panic_is_counted() -> None:
    assert count_tokens(LEFT_TO_TIKTOKEN + " " * (3 * MAX_RUN_CHARS) + "x") > 0


def test_nothing_is_downloaded(tmp_path: Path) -> None:
    """With every socket refused and an empty cache, both encodings load."""
    script = (
        "import socket\n"
        "def refuse(*_, **__): raise OSError('no network in this test')\n"
        "socket.socket = refuse\n"
        "from ullage.store.gauge.tokenizer import load_encoding\n"
        "for name in ('o200k_base', 'cl100k_base'):\n"
        "    print(len(load_encoding(name).encode_ordinary('one two three')))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script],
        env={"TIKTOKEN_CACHE_DIR": str(tmp_path), "PATH": ""},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.split() == ["3", "3"]
    assert list(tmp_path.iterdir()) == []
