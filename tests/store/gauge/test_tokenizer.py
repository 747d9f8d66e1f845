"""Tokens are counted as tiktoken counts them, without a download and without a quadratic case."""

import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from profiles import examples
from ullage.store.gauge.tokenizer import (
    MAX_RUN_CHARS,
    PIECE_CHARS,
    accelerator,
    count_tokens,
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


@given(text=st.text(max_size=400) | LINES, encoding=st.sampled_from(ENCODINGS))
def test_any_text_counts_as_tiktoken_counts_it(text: str, encoding: str) -> None:
    assert count_tokens(text, encoding) == len(load_encoding(encoding).encode_ordinary(text))


@given(
    text=st.text(st.characters(max_codepoint=127), max_size=600),
    encoding=st.sampled_from(ENCODINGS),
)
@settings(max_examples=examples(300))
def test_the_accelerator_counts_ascii_as_tiktoken_does(text: str, encoding: str) -> None:
    count_fast = accelerator()
    assert count_fast is not None
    assert count_fast([text], encoding, 1)[0] == len(load_encoding(encoding).encode_ordinary(text))


@pytest.mark.parametrize("ending", ["\n", "\r\n", "\n\n", " \n"])
def test_a_text_of_many_pieces_counts_like_one(ending: str) -> None:
    text = ending.join(f"Zeile {n}: größer als zuvor, {'x' * (n % 90)}" for n in range(6000))
    assert len(text) > 3 * PIECE_CHARS
    assert count_tokens(text) == len(load_encoding("o200k_base").encode_ordinary(text))


def test_a_run_of_spaces_that_makes_tiktoken_panic_is_counted() -> None:
    assert count_tokens("ä" + " " * (3 * MAX_RUN_CHARS) + "x") > 0


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
