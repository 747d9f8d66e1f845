"""Whether a text is surely without secrets, told with nothing but operations on strings.

For the hook of a tool call, which has no time for `scan.py`. The answer errs on one side: what
`scan.mask` would change is never called clean, and much that it would not change is not either.
"""

from binascii import b2a_base64

MIN_KNOWN_CHARS = 8
"""A shorter value, such as `true`, would be masked all over a text (chosen)."""
_NAME_PARTS = ("KEY", "TOKEN", "SECRET", "PASSW", "PASSPHRASE", "CREDENTIALS", "_PASS", "_PWD")
"""One of them is in each name of a variable that `scan.list_known_secrets` takes for a secret."""


def is_clean(text: str, signs: list[str], env: dict[str, str], env_texts: list[str]) -> bool:
    """Tell whether neither a rule nor a known value can match in a text, nor in a part of it.

    Args:
        signs: texts such that every secret of a rule holds one.
        env_texts: the contents of `.env` files.
    """
    if any(sign in text for sign in signs):
        return False
    for env_text in env_texts:
        assignments = _read_assignments(env_text)
        if assignments is None or _holds_any(text, assignments):
            return False
    return not _holds_any(text, list(env.items()))


def _holds_any(text: str, assignments: list[tuple[str, str]]) -> bool:
    return any(
        len(value) >= MIN_KNOWN_CHARS and _may_hold(text, value)
        for name, whole in assignments
        for value in _list_secrets(name, whole)
    )


def _list_secrets(name: str, value: str) -> list[str]:
    """List what may be secret of a variable: its value by its name, a password in a URL."""
    upper = name.upper()
    values = [value] if any(part in upper for part in _NAME_PARTS) else []
    values += (url.partition("@")[0].partition(":")[2] for url in value.split("://")[1:])
    return values


def _may_hold(text: str, value: str) -> bool:
    """Tell whether a value may be in a text, as it is, escaped, quoted or in base64.

    No way to escape or to quote touches letters and digits, so the longest run of them is there.
    """
    if _longest_word(value) in text:
        return True
    data = value.encode("utf-8", "surrogatepass")
    for n_before in range(3):
        encoded = b2a_base64(b"\0" * n_before + data, newline=False).decode("ascii")
        n_partial = (n_before + len(data)) % 3
        if (
            _longest_word(encoded[(0, 2, 3)[n_before] : len(encoded) - (0, 3, 2)[n_partial]])
            in text
        ):
            return True
    return False


def _longest_word(value: str) -> str:
    plain = (char if char.isascii() and char.isalnum() else " " for char in value)
    return max("".join(plain).split(), key=len, default="")


def _read_assignments(env_text: str) -> list[tuple[str, str]] | None:
    """Read a `.env` file whose values stand on one line each; None for any other."""
    assignments: list[tuple[str, str]] = []
    for line in env_text.replace("\r", "\n").split("\n"):
        name, _, value = line.partition("=")
        value = value.strip()
        quote = value[:1]
        if quote in ("'", '"'):
            value, closing, _ = value[1:].partition(quote)
            if not closing or "\\" in value:
                return None
        else:
            value = value.replace("\t#", " #").partition(" #")[0].strip()
        assignments.append((name, value))
    return assignments
