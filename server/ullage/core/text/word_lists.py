"""Word lists: what words of many languages say of a sentence, read from `data/words`.

There is one file a language; `data/words/README.md` says what each table is for. All languages
count at once, as sessions mix them. The lists only sort sentences into sections: a sentence that
no list has a word of is still kept as something that the user said.
"""

import re
from collections.abc import Iterable
from functools import cache
from typing import Literal, TypeAlias, get_args

import msgspec

from ullage.data.packaged import read_packaged

QUESTION_MARKS = ("?", "？", "؟")
_CLAUSE_BEGIN = r"(?:\A|(?<=[\s,，、。；;:：!！?？(（「\"'-]))"
_WORD_END = r"(?=\Z|[\s,，、。．.；;:：!！?？)）」\"'~…])"
LANGUAGES = tuple(
    "en de fr es pt it nl pl cs ru uk bg sr hr sv da nb fi tr hu ro el id vi tl ar he fa hi"
    " zh ja ko th".split()
)
Table: TypeAlias = Literal[
    "strong_rules", "obligations", "weak_rules", "limits", "rule_headings", "remarks", "subjects",
    "complaints", "negations", "exclusions", "reversals", "choices", "contrasts", "wishes",
    "resolves", "grounds", "inspecting", "decision_headings", "pick_verbs", "approvals", "nods",
    "objections", "suggestions", "offers", "reasons", "open_points", "deferrals", "done",
    "findings", "dead_ends", "intentions", "empty_stems", "doing_stems", "abbreviations",
    "universals", "relatives", "undecided", "own_facts", "lead_ins", "locations", "momentary",
    "lessons",
]  # fmt: skip
TABLES: tuple[Table, ...] = get_args(Table)


class Language(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The words of one language, in small letters."""

    name: str
    has_spaces: bool = True
    """Whether words stand apart; where not, they are looked for as parts of the text."""
    tables: dict[Table, tuple[str, ...]]


class WordList(msgspec.Struct, frozen=True, kw_only=True):
    """One table, in all languages."""

    words: frozenset[str]
    phrases: dict[str, tuple[str, ...]]
    """Phrases by their first word, which spares most searches for them."""
    heads: frozenset[str]
    """These first words."""
    pattern: str
    """Of what is looked for in scripts that put no spaces between words; empty without any. No text
    of ASCII matches it."""

    @property
    def fragments(self) -> re.Pattern[str] | None:
        """Compile the pattern when a text needs it first; None without one."""
        return _compile(self.pattern) if self.pattern else None


@cache
def _compile(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern)


@cache
def read_languages() -> tuple[Language, ...]:
    decoder = msgspec.json.Decoder(Language)
    return tuple(decoder.decode(read_packaged(f"words/{code}.json")) for code in LANGUAGES)


@cache
def word_list(table: Table) -> WordList:
    """Join a table over all languages; what holds a space or a hyphen is a phrase."""
    words: set[str] = set()
    phrases: dict[str, tuple[str, ...]] = {}
    fragments: list[str] = []
    for language in read_languages():
        entries = language.tables.get(table, ())
        if not language.has_spaces:
            fragments += entries
            continue
        for entry in entries:
            first, *others = entry.replace("-", " ").split()
            if others:
                phrases[first] = (*phrases.get(first, ()), entry)
            else:
                words.add(entry)
    return WordList(
        words=frozenset(words),
        phrases=phrases,
        heads=frozenset(phrases),
        pattern=_join_fragments(fragments),
    )


def _join_fragments(entries: Iterable[str]) -> str:
    """Join parts of text into one pattern: `^` begins a clause in it, `$` ends a word."""
    return "|".join(
        (_CLAUSE_BEGIN if entry.startswith("^") else "")
        + re.escape(entry.strip("^$"))
        + (_WORD_END if entry.endswith("$") else "")
        for entry in entries
    )


def list_entries(table: Table, *, has_spaces: bool = True) -> tuple[str, ...]:
    """List a table over the languages whose words stand apart, or else over the others."""
    return tuple(
        entry
        for language in read_languages()
        if language.has_spaces == has_spaces
        for entry in language.tables.get(table, ())
    )
