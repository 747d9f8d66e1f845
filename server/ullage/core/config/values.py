"""What a setting may be: its kinds, and how a value of a file becomes one of them."""

import math
import re
from typing import Literal, TypeAlias, assert_never

import msgspec

from ullage.core.config.tree import MAX_DIGITS, Code, Items, Leaf, Node, Table, shown

MIN_THRESHOLD_TOKENS = 1000
"""A threshold from here on is a number of tokens; up to 100 it is percent (chosen)."""
MAX_TOKENS = 100_000_000
"""Far above every window there is (chosen)."""
MAX_TEXT_CHARS = 20_000
MAX_TEXTS = 1000

# Patterns are texts, compiled when first used: that takes more time than all the rest of a start.
_PERCENT = r"([0-9]{1,3}(?:\.[0-9]{1,6})?)\s?%"
_CRON_FIELD = r"[0-9A-Za-z*/,-]{1,100}"
_CRON = rf"{_CRON_FIELD}(?: {{1,10}}{_CRON_FIELD}){{4}}"
_URL = r"https?://[^\s/?#@]{1,255}(?:/[^\s?#]{0,2000})?"
_WORDS = {
    **dict.fromkeys(("true", "1", "yes", "on"), True),
    **dict.fromkeys(("false", "0", "no", "off"), False),
}
_INTEGER = r"[+-]?[0-9]+"


class Threshold(msgspec.Struct, frozen=True, kw_only=True):
    """A share of the window, or a number of tokens: exactly one of the two."""

    ratio: float | None = None
    n_tokens: int | None = None

    def ratio_of(self, window_tokens: int) -> float:
        if self.ratio is not None:
            return self.ratio
        return (self.n_tokens or 0) / window_tokens

    @property
    def text(self) -> str:
        if self.ratio is not None:
            return f"{self.ratio * 100:g}%"
        return f"{self.n_tokens:,} tokens"


class Flag(msgspec.Struct, frozen=True, kw_only=True):
    """True or false. Every kind says in `wanted` what completes `must be`."""

    @property
    def wanted(self) -> str:
        return "true or false"


class Whole(msgspec.Struct, frozen=True, kw_only=True):
    minimum: int
    maximum: int
    unit: str
    """In the plural, for people."""

    @property
    def wanted(self) -> str:
        return f"a whole number of {self.unit} from {self.minimum:,} to {self.maximum:,}"


class Real(msgspec.Struct, frozen=True, kw_only=True):
    minimum: float
    maximum: float

    @property
    def wanted(self) -> str:
        return f"a number from {self.minimum:g} to {self.maximum:g}"


class Share(msgspec.Struct, frozen=True, kw_only=True):
    """A threshold: percent of the window or tokens."""

    @property
    def wanted(self) -> str:
        return f"percent, such as 80 or 80%, or tokens from {MIN_THRESHOLD_TOKENS:,} on"


class Words(msgspec.Struct, frozen=True, kw_only=True):
    """A text; `shape` says what it must look like."""

    shape: Literal["any", "url", "cron"] = "any"

    @property
    def wanted(self) -> str:
        return {
            "any": f"a text of at most {MAX_TEXT_CHARS:,} characters",
            "url": "an address such as https://host/v1, without user, query or fragment",
            "cron": 'five fields of cron, such as "0 3 * * *"',
        }[self.shape]


class Names(msgspec.Struct, frozen=True, kw_only=True):
    """A list of texts, which the places add to rather than replace."""

    shape: Literal["any", "file"] = "any"

    @property
    def wanted(self) -> str:
        return {
            "any": "a list of texts",
            "file": "a list of files inside the workspace, such as docs/RULES.md",
        }[self.shape]


Kind: TypeAlias = Flag | Whole | Real | Share | Words | Names
Value: TypeAlias = bool | int | float | str | tuple[str, ...] | Threshold | None


class Fault(msgspec.Struct, frozen=True, kw_only=True):
    """Why a value is none of its kind."""

    code: Code
    wanted: str
    """Completes the sentence `… must be`."""
    got: str
    """Completes `not`; never the value itself where that is a text."""
    node: Node


def read_value(kind: Kind, node: Node) -> Value | Fault:
    """Take a value of its kind, or say why it is none."""
    if isinstance(kind, Names):
        return _names(kind, node)
    if not isinstance(node, Leaf):
        return _fault(kind, node, "config-type")
    value = node.value
    match kind:
        case Flag():
            return value if isinstance(value, bool) else _fault(kind, node, "config-type")
        case Whole():
            return _whole(kind, node)
        case Real():
            return _real(kind, node)
        case Share():
            return _threshold(kind, node)
        case Words():
            return _words(kind, node)
        case _:
            assert_never(kind)


def read_text(kind: Kind, text: str) -> Node:
    """Read what a variable holds as a value; lists are parted by commas."""
    text = text.strip()
    match kind:
        case Flag():
            return Leaf(value=_WORDS.get(text.lower(), text))
        case Whole() | Real() | Share():
            return Leaf(value=_number(text))
        case Words():
            return Leaf(value=text)
        case Names():
            parts = (part.strip() for part in text.split(","))
            return Items(nodes=tuple(Leaf(value=part) for part in parts if part))
        case _:
            assert_never(kind)


def is_secret(text: str) -> bool:
    """Tell whether a text holds what looks like a key."""
    # Most users have no configuration to be looked through; what finds secrets takes a while.
    from ullage.core.secrets.scan import mask

    return mask(text) != text


def _number(text: str) -> int | float | str:
    if re.fullmatch(_INTEGER, text):
        return int(text) if len(text) <= MAX_DIGITS else math.inf
    try:
        return float(text)
    except ValueError:
        return text


def _whole(kind: Whole, node: Leaf) -> Value | Fault:
    value = node.value
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if isinstance(value, bool) or not isinstance(value, int):
        is_number = isinstance(value, float) and not math.isfinite(value)
        return _fault(kind, node, "config-range" if is_number else "config-type")
    if not kind.minimum <= value <= kind.maximum:
        return _fault(kind, node, "config-range")
    return value


def _real(kind: Real, node: Leaf) -> Value | Fault:
    value = node.value
    if isinstance(value, bool) or not isinstance(value, int | float):
        return _fault(kind, node, "config-type")
    if not kind.minimum <= value <= kind.maximum:
        return _fault(kind, node, "config-range")
    return float(value)


def _threshold(kind: Share, node: Leaf) -> Value | Fault:
    """Percent from 1 to 100, with or without the sign, or tokens from 1,000 on.

    What lies between could be either, and 0.8 could be 80 % or less than one: neither is taken.
    """
    value = node.value
    if isinstance(value, str):
        written = re.fullmatch(_PERCENT, value)
        if written is None:
            return _fault(kind, node, "config-type")
        value = float(written[1])
        if value > 100:
            return _fault(kind, node, "config-range")
    if isinstance(value, bool) or not isinstance(value, int | float):
        return _fault(kind, node, "config-type")
    if 1 <= value <= 100:
        return Threshold(ratio=value / 100)
    if MIN_THRESHOLD_TOKENS <= value <= MAX_TOKENS and float(value).is_integer():
        return Threshold(n_tokens=int(value))
    return _fault(kind, node, "config-range")


def _words(kind: Words, node: Leaf) -> Value | Fault:
    value = node.value
    if not isinstance(value, str):
        return _fault(kind, node, "config-type")
    pattern = {"any": None, "url": _URL, "cron": _CRON}[kind.shape]
    if len(value) > MAX_TEXT_CHARS or (pattern and not re.fullmatch(pattern, value)):
        return _fault(kind, node, "config-range")
    return value


def _names(kind: Names, node: Node) -> Value | Fault:
    if not isinstance(node, Items):
        return _fault(kind, node, "config-type")
    if len(node.nodes) > MAX_TEXTS:
        return _fault(kind, node, "config-range")
    found: dict[str, None] = {}
    for part in node.nodes:
        if not isinstance(part, Leaf) or not isinstance(part.value, str):
            return _fault(kind, part, "config-type")
        if not part.value.strip() or len(part.value) > MAX_TEXT_CHARS:
            return _fault(kind, part, "config-range")
        if kind.shape == "file" and not _is_inside(part.value):
            return _fault(kind, part, "config-range")
        found[part.value] = None
    return tuple(found)


def _is_inside(path: str) -> bool:
    """Tell whether a path stays in the folder that it is relative to, on every system."""
    parts = path.replace("\\", "/").split("/")
    return ".." not in parts and parts[0] not in ("", "~") and ":" not in path


def _fault(kind: Kind, node: Node, code: Code) -> Fault:
    return Fault(code=code, wanted=kind.wanted, got=_described(node), node=node)


def _described(node: Node) -> str:
    match node:
        case Table():
            return "a mapping"
        case Items():
            return "a list"
        case Leaf(value=str() as text):
            # A text may be a key that was pasted into the wrong line.
            return "a text" if text else "nothing"
        case Leaf(value=bool() as flag):
            return "true" if flag else "false"
        case Leaf(value=None):
            return "nothing"
        case Leaf(value=float() as number) if not math.isfinite(number):
            return "so large a number"
        case Leaf(value=number):
            return shown(f"{number:,}")
        case _:
            assert_never(node)
