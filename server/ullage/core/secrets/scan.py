"""Secrets in text that leaves a transcript: values that we know, and tokens by their beginnings.

Best effort: a secret that is neither known nor begins like one stays. What is masked is told by
a marker that is the same wherever the secret is the same. Transcripts themselves are never
changed; `ullage context show` prints the context as it is.
"""

from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from typing import cast
from urllib.parse import quote, quote_plus

import msgspec

from ullage.core.secrets.quick_gate import MIN_KNOWN_CHARS
from ullage.core.secrets.rules import Found, find_by_rules, find_by_rules_at, find_named, may_match
from ullage.core.text.lazy_pattern import lazy_pattern

MAX_KNOWN = 2_000
"""More values than this are no user's; the longest are kept (chosen)."""
PUBLIC_VALUES = frozenset(
    "changeme development localhost password password123 postgres postgresql production"
    " undefined".split()
)
"""Defaults that stand in every template: to mask them would hide words, not secrets (chosen)."""
MIN_WORD_CHARS = 16
"""A shorter word of letters alone, though it may be a secret by its name, stands in other texts
as well (chosen)."""
_SECRET_NAME = lazy_pattern(
    r"(?:KEY|TOKEN|SECRET|PASSWORD|PASSWD|PASSPHRASE|CREDENTIALS|_PASS|_PWD)S?"
    r"(?:_?\d{1,3}|_BASE)?\Z"
)
_URL_PASSWORD = lazy_pattern(r"://[^\s/:@]{0,100}:([^\s/@]{8,1000})@")


_QUOTED = lazy_pattern("%[0-9A-F]{2}")
_GAP = lazy_pattern(r"\s")
_END_OF_VALUE = lazy_pattern(r"""[\s"'`\\<>]""")
MAX_GAPS = 4
"""A value with more of them is a sentence, as `"password": "At least 8 characters, please"` of a
translation (chosen)."""
JUDGED_CHARS = 1_000
"""Of a value: no rule reads on (chosen)."""
_FEW_HEADS = 64
"""So many beginnings of forms are looked for one by one more quickly (measured); a value has 4."""
MARKER = lazy_pattern(r"\[REDACTED:[^\]]*\]")
_ANYTHING = lazy_pattern(r"[\s\S]+")
_LONG_WORD = lazy_pattern(rf"\S{{{MIN_KNOWN_CHARS},}}")
"""Where values can stand that have no space among their first characters: in few words."""
MAX_PASSES = 4
"""More secrets without a gap between them than this are no text any more (chosen)."""


class Secret(msgspec.Struct, frozen=True, kw_only=True):
    """A place in a text that holds a secret."""

    start: int
    end: int
    kind: str
    marker: str


def list_known_secrets(env: Mapping[str, str]) -> tuple[str, ...]:
    """List the values that are secret by the names of their variables, longest first.

    The password in a URL is one too, whatever the variable's name.
    """
    values = {value for name, value in env.items() if _SECRET_NAME.search(name.upper())}
    values.update(match[1] for value in env.values() for match in _URL_PASSWORD.finditer(value))
    kept = {v for v in values if len(v) >= MIN_KNOWN_CHARS and v.lower() not in PUBLIC_VALUES}
    return tuple(sorted(kept, key=lambda value: (-len(value), value))[:MAX_KNOWN])


def mask(text: str, known_values: Iterable[str] = ()) -> str:
    """Replace each secret by its marker, `[REDACTED:kind:…]`.

    A text that had one is read again: a token that another secret follows without a gap is
    told for one only when that is gone.
    """
    values = tuple(known_values)
    if not may_hold_secret(text, values):
        return text
    for _ in range(MAX_PASSES):
        masked = _mask_once(text, values)
        if masked == text:
            break
        text = masked
    return text


def may_hold_secret(text: str, known_values: tuple[str, ...]) -> bool:
    """Tell whether a text, or one of several joined by NUL, may hold a secret."""
    return may_match(text) or (bool(known_values) and any(_form_finder(known_values).find(text)))


@lru_cache(maxsize=4096)
def mask_cached(text: str, known_values: tuple[str, ...]) -> str:
    """Mask a message of a session that is followed: the same ones are masked again and again."""
    return mask(text, known_values)


def _mask_once(text: str, known_values: tuple[str, ...]) -> str:
    parts: list[str] = []
    end = 0
    for secret in find_secrets(text, known_values):
        parts += (text[end : secret.start], secret.marker)
        end = secret.end
    return "".join((*parts, text[end:])) if parts else text


def mask_value(value: object, known_values: Iterable[str] = ()) -> object:
    """Mask every text in a value of JSON, keys of objects included."""
    return _mask_value(value, tuple(dict.fromkeys((*known_values, *list_member_secrets(value)))))


def _mask_value(value: object, known_values: tuple[str, ...]) -> object:
    if isinstance(value, str):
        return mask(value, known_values)
    if isinstance(value, dict):
        pairs = cast(dict[str, object], value).items()
        return {mask(key, known_values): _mask_value(item, known_values) for key, item in pairs}
    if isinstance(value, list | tuple):
        return [_mask_value(item, known_values) for item in cast(list[object], value)]
    return value


def list_texts(value: object) -> Iterator[str]:
    """Give every text in a value of JSON, keys of objects included."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for key, item in cast(dict[str, object], value).items():
            yield key
            yield from list_texts(item)
    elif isinstance(value, list | tuple):
        for item in cast(list[object], value):
            yield from list_texts(item)


def list_member_secrets(value: object) -> Iterator[str]:
    """Give what is secret of the members of objects in a value of JSON by their names alone."""
    left = [value]
    while left:
        value = left.pop()
        if isinstance(value, dict):
            members = cast(dict[str, object], value)
            left += members.values()
            for key, item in members.items():
                if isinstance(item, str) and _SECRET_NAME.search(key.upper()):
                    yield from _list_member(key, item.strip())
        elif isinstance(value, list | tuple):
            left += cast(list[object], value)


def _list_member(key: str, item: str) -> tuple[str, ...]:
    """List a member's value if it is secret, whatever signs would end it in a text."""
    is_prose = len(_GAP.findall(item)) > MAX_GAPS
    plain = _END_OF_VALUE.sub("!", item[:JUDGED_CHARS])
    return (item,) if not is_prose and list_named_secrets(f'"{key}": "{plain}"') else ()


def list_named_secrets(text: str) -> tuple[str, ...]:
    """List the values that a text calls secret, to be masked where their names do not stand."""
    return _list_named(text, find_named(text))


def _list_named(text: str, places: Iterable[Found]) -> tuple[str, ...]:
    # Of a header of cookies, the first.
    named = (text[at.start : at.end].partition(";")[0] for at in places if at.is_labelled)
    return tuple(dict.fromkeys(value for value in named if _is_masked_alone(value)))


def may_hold_named(text: str) -> bool:
    """Tell whether what another text calls secret may stand in this one: most titles have none."""
    return any(map(_is_unusual, text.split()))


def _is_masked_alone(value: str) -> bool:
    return _is_unusual(value) and value.lower() not in PUBLIC_VALUES


def _is_unusual(word: str) -> bool:
    return len(word) >= (MIN_WORD_CHARS if word.isalpha() else MIN_KNOWN_CHARS)


def find_secrets(text: str, known_values: Iterable[str] = ()) -> tuple[Secret, ...]:
    """Find the secrets of a text, in order; where two overlap, one covers both."""
    values, by_rules = tuple(known_values), list(find_by_rules(text))
    known_here = list(_form_finder(values).find(text)) if values else []
    if named := _list_named(text, by_rules):
        known_here += _FormFinder(named).find(text)
    by_rules += find_by_rules_at(text, (secret.end for secret in known_here))
    secrets = [
        Secret(start=start, end=end, kind=kind, marker=_write_marker(kind, text[start:end]))
        for start, end, kind, _ in by_rules
    ]
    secrets += known_here
    secrets.sort(key=lambda secret: (secret.start, -secret.end))
    merged: list[Secret] = []
    for secret in secrets:
        if merged and secret.start < merged[-1].end:
            if secret.end > merged[-1].end:
                merged[-1] = msgspec.structs.replace(merged[-1], end=secret.end)
        else:
            merged.append(secret)
    return tuple(merged)


class _FormFinder:
    """Known values in all forms in which a text may hold them, found in one reading.

    A text's every run of `MIN_KNOWN_CHARS` characters is looked up in a set: the time does not
    grow with the number of values, and nothing has to be compiled. (A regular expression of all
    forms tries them one after the other: for 1,000 values and 1 MB it took 45 s, this 0.1 s.)
    """

    def __init__(self, values: tuple[str, ...]) -> None:
        self._markers: dict[str, str] = {}
        for value in values:
            marker = _write_marker("known", value)
            for form in _spell_forms(value):
                self._markers.setdefault(form, marker)
        lengths: dict[str, set[int]] = {}
        for form in self._markers:
            lengths.setdefault(form[:MIN_KNOWN_CHARS], set()).add(len(form))
        self._lengths = {head: sorted(sizes, reverse=True) for head, sizes in lengths.items()}
        has_gap = any(_GAP.search(head) for head in self._lengths)
        self._runs = _ANYTHING if has_gap else _LONG_WORD

    def find(self, text: str) -> Iterator[Secret]:
        """Give the longest form at each place, from left to right."""
        heads = self._lengths
        n = MIN_KNOWN_CHARS
        end = 0
        if len(heads) <= _FEW_HEADS and not any(head in text for head in heads):
            return
        starts = [
            at
            for run in self._runs.finditer(text)
            for at in range(run.start(), run.end() - n + 1)
            if text[at : at + n] in heads
        ]
        for start in starts:
            if start < end:
                continue
            for length in heads[text[start : start + n]]:
                # At the end of a text there may be less, which is another form.
                form = text[start : start + length]
                marker = self._markers.get(form)
                if marker is not None:
                    end = start + len(form)
                    yield Secret(start=start, end=end, kind="known", marker=marker)
                    break


@lru_cache(maxsize=4)
def _form_finder(values: tuple[str, ...]) -> _FormFinder:
    return _FormFinder(values)


def _spell_forms(value: str) -> Iterator[str]:
    """Give a value as it is, as JSON has it (in JSON, too), as URLs have it, and in base64."""
    import json  # as long as the others here: 3 ms, and most hooks mask nothing

    plain = (value, value.strip())
    escaped = [json.dumps(v, ensure_ascii=a)[1:-1] for v in plain for a in (True, False)]
    escaped += [json.dumps(v)[1:-1] for v in escaped]
    data = value.encode("utf-8", "surrogatepass")
    quoted = [quote(data, safe=safe) for safe in ("", "/", "!'()*")] + [quote_plus(data)]
    lowered = [_QUOTED.sub(lambda code: code[0].lower(), form) for form in quoted if "%" in form]
    for form in (*plain, *escaped, *quoted, *lowered, *_spell_base64(data)):
        if len(form) >= MIN_KNOWN_CHARS:
            yield form


def _spell_base64(data: bytes) -> Iterator[str]:
    """Give what base64 of any longer text has for these bytes, at each of three alignments.

    A character that also holds bits of a neighbor is left out.
    """
    import base64

    for n_before in range(3):
        encoded = base64.b64encode(b"\0" * n_before + data).decode("ascii")
        n_partial = (n_before + len(data)) % 3
        form = encoded[(0, 2, 3)[n_before] : len(encoded) - (0, 3, 2)[n_partial]]
        yield form
        yield form.translate({ord("+"): "-", ord("/"): "_"})
    yield base64.b64encode(data).decode("ascii")


def _write_marker(kind: str, secret: str) -> str:
    import hashlib

    digest = hashlib.sha256(secret.encode("utf-8", "surrogatepass")).hexdigest()
    return f"[REDACTED:{kind}:{digest[:6]}]"
