"""A word is one word to whichever shell runs it."""

import shlex
import shutil
import subprocess

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ullage.core.text.shell_word import is_quotable, quote_word

WINDOWS = r"C:\Users\An O'Nym\.pi\s.jsonl"


@given(st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"])))
def test_a_posix_shell_reads_the_word_that_was_quoted(text: str) -> None:
    assert shlex.split(quote_word(text)) == [text]


@pytest.mark.parametrize(
    "text", ["a b", "it's", WINDOWS, "a&b|c;d>e", "~/x", "#x", "(a)", "*", "", "a,b", "@a", "a=b"]
)
def test_a_word_of_any_shell_stands_in_double_quotes(text: str) -> None:
    assert is_quotable(text)
    assert quote_word(text) == f'"{text}"'
    script = f"printf %s {quote_word(text)}"
    for shell in filter(shutil.which, ("sh", "fish")):
        done = subprocess.run([shell, "-c", script], capture_output=True, check=True)
        assert done.stdout == text.encode()


def test_a_plain_word_needs_no_quotes() -> None:
    assert quote_word("/home/user/.pi/s-1_+.jsonl") == "/home/user/.pi/s-1_+.jsonl"


@pytest.mark.parametrize(
    "text",
    ["$(calc)", "`y`", "%PATH%", "a!b", 'a"b', "a”; calc; “b", "\\\\host\\a", "a\\", "a\x03b"],
)
def test_what_some_shell_reads_otherwise_is_not_quotable(text: str) -> None:
    assert not is_quotable(text)
