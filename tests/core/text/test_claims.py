"""A value is found as a whole, wherever it stands."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ullage.core.text.claims import value_pattern

_VALUES = ("5", "8080", "1.5", "us-east-2", "v2", "m7g.large", "20秒", "Порт", "10.61.0.0/16")
_PARTS = st.sampled_from([*_VALUES, "US-EAST-2", "порт", "x", "_", ".", "1", " ", "用", "é", "-"])


@pytest.mark.parametrize("value", _VALUES)
@given(parts=st.lists(_PARTS, max_size=8))
def test_a_value_is_no_part_of_a_longer_number_or_name(value: str, parts: list[str]) -> None:
    text = "".join(parts)
    before, after = ("[A-Za-z0-9_]" if end.isascii() else r"\w" for end in (value[0], value[-1]))
    behind = "" if value.endswith("秒") else rf"(?!{after}|\.\d)"
    plain = re.compile(rf"(?<!{before})(?<!\d\.){re.escape(value)}{behind}", re.IGNORECASE)
    found = [match.span() for match in value_pattern(value).finditer(text)]
    assert found == [match.span() for match in plain.finditer(text)]
