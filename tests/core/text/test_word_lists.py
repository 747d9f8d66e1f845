"""The word lists of all languages have the form that `data/words/README.md` asks for."""

from pathlib import Path
from typing import get_args

import pytest

import ullage.data
from ullage.core.text.word_lists import (
    LANGUAGES,
    Language,
    Table,
    list_entries,
    read_languages,
    word_list,
)

FOLDER = Path(ullage.data.__file__).parent / "words"
ALL = pytest.mark.parametrize("language", read_languages(), ids=LANGUAGES)


def test_every_file_is_a_language_and_every_language_a_file() -> None:
    assert {path.stem for path in FOLDER.glob("*.json")} == set(LANGUAGES)
    assert len({language.name for language in read_languages()}) == len(LANGUAGES)


@ALL
def test_entries_are_small_letters_and_stand_once(language: Language) -> None:
    for table, entries in language.tables.items():
        assert entries, table
        assert len(set(entries)) == len(entries), table
        for entry in entries:
            assert entry == entry.lower(), table
            assert entry.lstrip() == entry, table
            assert entry.strip(), table
            assert entry.rstrip() == entry or table == "intentions", table
            assert "’" not in entry, "the apostrophe is read as '"


def test_every_table_is_used_and_explained() -> None:
    page = (FOLDER / "README.md").read_text("utf-8")
    for table in get_args(Table):
        assert f"`{table}`" in page
        assert list_entries(table) or list_entries(table, has_spaces=False)


def test_no_text_of_ascii_has_a_fragment() -> None:
    """So most texts are not looked through for any."""
    for table in get_args(Table):
        assert not any(map(str.isascii, list_entries(table, has_spaces=False)))


def test_a_list_joins_the_languages() -> None:
    rules = word_list("strong_rules")
    assert {"never", "niemals", "никогда"} <= rules.words
    assert "make sure" in rules.phrases["make"]
    assert "follow-up" in word_list("open_points").phrases["follow"]
    assert rules.fragments is not None
    assert rules.fragments.search("严禁上传")
    assert rules.heads == rules.phrases.keys()
