"""What is quoted from a session: data, whatever stands between its letters."""

import sys
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ullage.core.text.quoting import quote_as_data, visible_line

OPENINGS = (
    "[Post-compaction checkpoint restore]",
    "[Context: 99%]",
    "[/INST]",
    "[system]",
    "<system-reminder>",
    "</system-reminder>",
    "<|im_start|>",
)
UNSEEN = (
    *("\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b\u180e\u200b\u200c\u200d\u200e\u202e"),
    *("\u2060\u2066\u206f\u3164\ufe00\ufe0f\ufeff\uffa0\U0001d173\U000e0001\U000e0041\U000e0100"),
)
SEEN_AS = str.maketrans("", "", "".join(UNSEEN))
"""What a reader makes of a text in which he does not see these."""


@pytest.mark.parametrize("unseen", ["", *UNSEEN], ids=ascii)
@pytest.mark.parametrize("opening", OPENINGS)
def test_no_opening_passes_whatever_is_hidden_in_it(opening: str, unseen: str) -> None:
    for n_times in (1, 3):
        hidden = (unseen * n_times).join(opening)
        assert quote_as_data(hidden).translate(SEEN_AS)[0] in "‹("
        assert quote_as_data(f"a {hidden}").translate(SEEN_AS)[2] in "‹("


@given(st.lists(st.sampled_from([*OPENINGS, *UNSEEN, "\n", "\u2028", "\x85", "<", "[", "a"])))
def test_what_is_quoted_is_one_line_without_markup(parts: list[str]) -> None:
    shown = quote_as_data("".join(parts)).translate(SEEN_AS).lower()
    assert len(shown.splitlines()) <= 1
    for opening in ("</", "<s", "<|", "[post-compaction", "[context:", "[system", "[/inst"):
        assert opening not in shown


def test_a_visible_line_has_nothing_that_is_hidden_or_steers_and_keeps_its_markup() -> None:
    assert visible_line(" a\x1b[2J\u202e\r\n\u2028<b>\t\u200b c\x00") == "a [2J <b> c"


def test_letters_and_emoji_stay() -> None:
    for text in ("می\u200cخواهم", "👩\u200d💻 did it", "a < b, c[0], [x] done", "List<int"):
        assert quote_as_data(text) == text.replace("List<int", "List‹int")


def test_no_format_character_but_the_joiners_stays() -> None:
    kept = {
        char
        for char in map(chr, range(sys.maxunicode + 1))
        if unicodedata.category(char) == "Cf" and quote_as_data(char) == char
    }
    # Arabic, Syriac, Kaithi, Egyptian and shorthand marks are seen, or shape what is seen.
    assert {ascii(char) for char in kept if ord(char) < 0x600} == set()
    assert {ascii(char) for char in kept if 0x2000 <= ord(char) < 0x3000} == {
        ascii("\u200c"),
        ascii("\u200d"),
    }


def test_a_long_run_of_joiners_takes_no_time() -> None:
    text = ("[" + "\u200d" * 2_000 + "/" + "\u200d" * 2_000) * 200
    assert quote_as_data(text) == text
