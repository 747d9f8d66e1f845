"""Words are parted alike by the table for ASCII and by the pattern for every script."""

import re

from hypothesis import given
from hypothesis import strategies as st

from ullage.core.text.wording import read_wording

_TEXTS = st.text(alphabet=st.sampled_from("aB9_'’-.` \n\t\x1c(é用й")) | st.text()


@given(_TEXTS)
def test_words_are_runs_of_letters_and_digits_with_one_apostrophe_within(text: str) -> None:
    found = re.findall(r"[^\W_]+(?:'[^\W_]+)?", text.lower().replace("’", "'"))
    assert read_wording(text).words == frozenset(found)
