"""A word as a shell takes it for nothing but that word; which shell is not known."""

import re
import shlex

_PLAIN = re.compile(r"[\w./:+-]+", re.ASCII)
"""What no shell takes for more: PowerShell parts at `,` and expands `@`, zsh `=`, cmd `%`."""
_EXPANDED = re.compile(r'[$`%!"“”„]|\\\\|\\\Z')
"""What a POSIX shell, fish, PowerShell or `cmd` does not leave as it is between double quotes:
PowerShell takes quotation marks of print for its own."""


def is_quotable(text: str) -> bool:
    """Whether a word can be quoted for every shell; a control character is a terminal's to read."""
    return text.isprintable() and _EXPANDED.search(text) is None


def quote_word(text: str) -> str:
    """Quote a word for every shell, where that can be done; else for a POSIX shell."""
    if _PLAIN.fullmatch(text):
        return text
    return f'"{text}"' if is_quotable(text) else shlex.quote(text)
