"""What a session said, quoted where an agent reads it: as data, on one line.

A quotation can neither begin a line nor look like markup, one of our headings or a role,
whatever invisible characters stand between its letters.
"""

import re
from functools import cache

from ullage.core.text.lazy_pattern import lazy_pattern

_UNPRINTABLE = lazy_pattern("[\x00-\x08\x0a-\x1f\x7f-\x9f\u2028\u2029]")
_SURROGATE = lazy_pattern("[\ud800-\udfff]")
_STEERING = lazy_pattern(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff]"
)
"""What steers a terminal or turns the direction of text; tabs and line ends do neither."""
_HIDDEN = (
    "\u00ad\u034f\u061c\u180e\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\ufe00-\ufe0f\ufeff"
    "\ufff0-\ufff8\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff"
)
"""Characters without a width, which hide or reorder text."""
_JOINERS = "\u115f\u1160\u17b4\u17b5\u180b-\u180d\u180f\u200c\u200d\u3164\uffa0"
"""The other characters that Unicode calls default-ignorable: emoji and scripts need them."""
_INVISIBLE = lazy_pattern(f"[{_HIDDEN}]+")
_UNSEEN = f"[{_JOINERS}]*+"
_BLANK = rf"[\s{_JOINERS}]*+"


def _letters_apart(word: str) -> str:
    return _UNSEEN.join(re.escape(letter) for letter in word)


_MARKUP = lazy_pattern(rf"<(?={_UNSEEN}[A-Za-z/!?|])")


@cache
def _bracket() -> re.Pattern[str]:
    """Give what could pass for our own heading, for the line of the gauge, or for a role.

    Not when this is imported: hooks read settings, quote nothing, and would pay 6 ms for it.
    """
    roles = (rf"{_letters_apart(role)}{_UNSEEN}(?!\w)" for role in ("inst", "sys", "system"))
    gauge = rf"{_letters_apart('context')}{_BLANK}:"
    headings = "|".join((_letters_apart("post-compaction"), gauge, *roles))
    return re.compile(rf"\[(?={_BLANK}(?:/{_BLANK})?(?:{headings}))", re.IGNORECASE)


def _write_code(hidden: re.Match[str]) -> str:
    return "".join(f"<U+{ord(char):04X}>" for char in hidden[0])


def one_line(text: str) -> str:
    """Bring text onto one line that every reader takes as one, without lone surrogates."""
    return _UNPRINTABLE.sub(" ", _SURROGATE.sub("\ufffd", text))


def replace_steering(text: str) -> str:
    """Replace what would steer a terminal or turn the direction of text, so that it is seen."""
    return _STEERING.sub("\N{REPLACEMENT CHARACTER}", text)


def visible_line(text: str) -> str:
    """Bring text onto one line of what can be seen, with single spaces between words."""
    return " ".join(_INVISIBLE.sub("", one_line(text)).split())


def show_hidden(text: str) -> str:
    """Write what cannot be seen in a line as its code, `<U+200B>`, for a person to judge."""
    return _UNPRINTABLE.sub(_write_code, _INVISIBLE.sub(_write_code, text))


def quote_as_data(text: str) -> str:
    """Bring text onto one line that no reader can take for markup, a heading or a role."""
    text = _INVISIBLE.sub("", one_line(text))
    return _bracket().sub("(", _MARKUP.sub("‹", text))
