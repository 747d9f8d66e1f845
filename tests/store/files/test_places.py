"""Names of folders for session keys: readable where possible, unique always."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ullage.store.files.places import MAX_NAME_CHARS, earlier_folder_name, folder_name

SAFE = re.compile(r"[A-Za-z0-9._-]{1,129}\Z")
KEYS = (
    "a:b", "a_b", "a/b", "a\\b", "a b", "a\0b", "", ".", "..", "../x", "a.", "con", "CON", "con.x",
    "NUL", "com1", "COM0", "LPT9.log", "aux", "console", "agent:main:x", "agent_main_x", "nul.",
    "x" * 120, "x" * 121, "x" * 122, "ü", "u", "\ud800", "\udc00", "\u2028", "a\n", "/etc/passwd",
)  # fmt: skip


@pytest.mark.parametrize(
    "key", ["abc", "a_b", "claude-code", "019c2f00-0000-7000-8000-000000000001", "x" * 120, ".x"]
)
def test_a_key_that_is_a_good_name_stays_as_it_is(key: str) -> None:
    assert folder_name(key) == key


@pytest.mark.parametrize(
    "key", ["a:b", "a/b", "ü", "con", "NUL.txt", "a.", "", ".", "..", "x" * 121]
)
def test_a_key_that_is_none_gets_a_digest(key: str) -> None:
    assert re.search(r"-[0-9a-f]{8}\Z", folder_name(key))


def test_a_key_with_a_capital_letter_gets_a_digest() -> None:
    assert re.fullmatch(r"Work-[0-9a-f]{8}", folder_name("Work"))
    assert earlier_folder_name("Work") == "Work"


def test_the_name_begins_as_the_specification_sanitizes() -> None:
    assert folder_name("agent:main:telegram").startswith("agent_main_telegram-")


def test_different_keys_have_different_folders() -> None:
    assert len({folder_name(key) for key in KEYS}) == len(KEYS)


@given(st.text() | st.sampled_from(KEYS))
def test_every_name_is_safe_on_every_system(key: str) -> None:
    name = folder_name(key)
    assert SAFE.match(name)
    assert len(name) <= MAX_NAME_CHARS + 9
    assert not name.endswith(".")
    assert not re.match(r"(?i)(con|prn|aux|nul|com\d|lpt\d)(\.|\Z)", name)
    assert name not in (".", "..")


@given(st.lists(st.text(st.sampled_from("abAB:_/."), max_size=5), unique=True, max_size=20))
def test_no_two_keys_share_a_folder_even_where_case_is_ignored(keys: list[str]) -> None:
    assert len({folder_name(key).lower() for key in keys}) == len(keys)
