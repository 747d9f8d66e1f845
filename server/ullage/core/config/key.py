"""What a key of the configuration is: its name, what its value may be, and who may set it."""

import math
import re
from datetime import datetime
from typing import Annotated, Literal, TypeAlias, cast, get_args

import msgspec
from msgspec import Meta

from ullage.core.text.positions import Positions
from ullage.core.text.tree import MAX_DIGITS, ListNode, Member, Node, ScalarNode
from ullage.core.transcript.agent_lines import MAX_WINDOW_TOKENS

MIN_THRESHOLD_TOKENS = 1000
"""A threshold from here on is a number of tokens; up to 100 it is percent (chosen)."""
MAX_TEXT_CHARS = 20_000
MAX_TEXTS = 1000
MAX_NAME_CHARS = 60
"""More of a name that somebody made up is not shown (chosen)."""
# Patterns are texts, compiled when first used: that takes more time than all the rest of a start.
_PERCENT = r"([0-9]{1,3}(?:\.[0-9]{1,6})?)\s?%"
_CRON = r"^[0-9A-Za-z*/,#-]{1,100}(?: {1,10}[0-9A-Za-z*/,#-]{1,100}){4}\Z"
_URL = r"^https?://[^\s/?#@]{1,255}(?:/[^\s?#]{0,2000})?\Z"
_INSIDE = r"^(?=\s*\S)(?!~?(?:[/\\]|\Z))(?!(?:[^:]*[/\\])?\.\.(?:[/\\]|\Z))[^:]*\Z"
"""Relative, without `..`, without a drive: a path that stays where it begins, on every system."""
_FLAG_WORDS = {
    **dict.fromkeys(("true", "1", "yes", "on"), True),
    **dict.fromkeys(("false", "0", "no", "off"), False),
}
PREFIX = "ULLAGE_"
"""Prefix of all our environment variables."""
OVERRIDES = "compaction.modelOverrides"
"""Below it stands the name of a model, and below that keys of `compaction` (as in pi)."""
Scope: TypeAlias = Literal["workspace", "trusted", "off", "user"]
"""Whose files may set a key: any workspace's; a trusted one's; any workspace's, but only to
false; only the user's own, as docs/safety.md, "Where text may be sent", has it."""
_SHARE_TEXT = f"percent, such as 80 or 80%, or tokens from {MIN_THRESHOLD_TOKENS:,} on"
Place: TypeAlias = Literal[
    "default", "openclaw", "user file", "workspace file", "editor", "environment", "flag"
]
"""Who says so, from the weakest to the strongest."""
PLACES: tuple[Place, ...] = get_args(Place)
Code: TypeAlias = Literal[
    "config-unreadable", "config-syntax", "config-duplicate", "config-unknown", "config-type",
    "config-range", "config-secret", "config-untrusted", "config-conflict", "config-order",
]  # fmt: skip
"""What is wrong, in words that stay the same."""


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


Value: TypeAlias = bool | int | float | str | tuple[str, ...] | Threshold | None


class Kind(msgspec.Struct, frozen=True):
    """What a value may be."""

    base: type
    wanted: str
    """Completes `must be`."""
    accepted: object
    """The type with its bounds, as msgspec takes it."""
    unit: str = ""
    """In the plural, for people."""


FLAG = Kind(bool, "true or false", bool)
SHARE = Kind(Threshold, _SHARE_TEXT, Threshold, "tokens")


class Key(msgspec.Struct, frozen=True):
    """A row of the table in `settings.py`."""

    name: str
    kind: Kind
    meaning: str
    source: str
    """The page that its figure stands on."""
    spellings: tuple[str, ...] = ()
    """Its other names."""
    scope: Scope = "trusted"
    is_per_model: bool = False
    is_nullable: bool = False
    """Whether `null` turns it off; elsewhere that is as if the line were not there."""
    default: Value = None
    """None where something else decides, as `meaning` says."""
    field: str = ""
    """Where `Config` has its value."""

    @property
    def description(self) -> str:
        """Say what it means and what it may be."""
        return f"{self.meaning}. Must be {self.kind.wanted}."

    @property
    def variable(self) -> str:
        """The environment variable that sets it: ULLAGE_COMPACTION_AUTO_ENABLED."""
        snake = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", self.name)
        return PREFIX + snake.replace(".", "_").upper()


class Origin(msgspec.Struct, frozen=True):
    """Where a value stands."""

    place: Place
    name: str
    """The file's path, the variable, the flag, or the editor's setting."""
    start: int = 0
    """In characters of the text, as `end`."""
    end: int = 0
    line: int | None = None
    """From 1, as the columns, which are characters; None where there is no text."""
    column: int | None = None
    end_line: int | None = None
    end_column: int | None = None

    @property
    def text(self) -> str:
        """Name it as compilers do: `file:line:column`."""
        return self.name if self.line is None else f"{self.name}:{self.line}:{self.column}"


class Finding(msgspec.Struct, frozen=True):
    """What is wrong with a configuration, and what to do about it."""

    code: Code
    origin: Origin
    message: str
    fix: str
    is_used: bool = False
    """Whether the value counts all the same; else the next weaker place decides."""
    replacement: str | None = None
    """The key that was probably meant, or its variable."""
    new_text: str | None = None
    """What to put in at the place: as much of that key as is not said by what it is nested in."""


class Setting(msgspec.Struct, frozen=True, kw_only=True):
    """One value that somebody set, and where."""

    key: Key
    value: Value
    origins: tuple[Origin, ...]
    """One, or for a list each place that added to it."""
    model: str | None = None
    """The beginning of a model's name; None for every model without a setting of its own."""

    @property
    def name(self) -> str:
        return self.key.name if self.model is None else override_name(self.key.name, self.model)


class Source(msgspec.Struct, frozen=True, kw_only=True):
    """What one file, or the editor, says."""

    place: Place
    name: str
    root: Node | None = None
    """None where it could not be read."""
    positions: Positions | None = None
    """Of its text; the editor's settings have none."""
    findings: tuple[Finding, ...] = ()

    def origin(self, at: Node | Member) -> Origin:
        if self.positions is None:
            return Origin(self.place, self.name)
        first, last = (
            self.positions.line_and_column(at.start),
            self.positions.line_and_column(at.end),
        )
        return Origin(self.place, self.name, at.start, at.end, *first, *last)


def whole(minimum: int, maximum: int, unit: str) -> Kind:
    wanted = f"a whole number of {unit} from {minimum:,} to {maximum:,}"
    return Kind(int, wanted, Annotated[int, Meta(ge=minimum, le=maximum)], unit)


def number(minimum: float, maximum: float) -> Kind:
    wanted = f"a number from {minimum:g} to {maximum:g}"
    return Kind(float, wanted, Annotated[float, Meta(ge=minimum, le=maximum)])


def tokens(minimum: int = 0) -> Kind:
    return whole(minimum, MAX_WINDOW_TOKENS, "tokens")


def _text(wanted: str, pattern: str | None = None) -> Kind:
    return Kind(str, wanted, Annotated[str, Meta(max_length=MAX_TEXT_CHARS, pattern=pattern)])


def _texts(wanted: str, pattern: str) -> Kind:
    each = Meta(min_length=1, max_length=MAX_TEXT_CHARS, pattern=pattern)
    texts = Annotated[tuple[Annotated[str, each], ...], Meta(max_length=MAX_TEXTS)]
    return Kind(tuple, wanted, texts)


def decode(kind: Kind, node: Node) -> Value:
    """Take a value of a kind.

    Raises:
        msgspec.ValidationError: it is none; `explain_misfit` says why.
    """
    if kind is SHARE:
        return _threshold(_plain(node))
    try:
        value = cast(Value, msgspec.convert(_plain(node), kind.accepted))
    except UnicodeEncodeError:  # half of a character, which JSON can hold
        raise msgspec.ValidationError("no text, got `str`") from None
    if kind is CRON and not _is_cron(cast(str, value)):
        raise msgspec.ValidationError("out of bounds")
    return tuple(dict.fromkeys(value)) if isinstance(value, tuple) else value


def explain_misfit(
    kind: Kind, node: Node, error: msgspec.ValidationError
) -> tuple[Literal["config-type", "config-range"], Node, str]:
    """Say what is wrong with a value: a code, the part of it that is meant, and the words."""
    part = re.search(r"at `\$\[(\d+)\]`", str(error))
    if part and isinstance(node, ListNode):
        node = node.items[int(part[1])]
    code = "config-type" if ", got `" in str(error) else "config-range"
    return code, node, f"must be {kind.wanted}, not {_describe(node)}"


def text_node(kind: Kind, text: str) -> Node:
    """Make a value from a variable's text; commas separate the items of lists."""
    text = text.strip()
    if kind.base is tuple:
        parts = (part.strip() for part in text.split(","))
        return ListNode(tuple(ScalarNode(part) for part in parts if part))
    if kind.base is bool:
        return ScalarNode(_FLAG_WORDS.get(text.lower(), text))
    return ScalarNode(text if kind.base is str else _number(text))


def shorten(name: str) -> str:
    """Shorten a name that somebody made up to a part of one line."""
    line = " ".join(name.split())
    return line if len(line) <= MAX_NAME_CHARS else line[: MAX_NAME_CHARS - 1] + "…"


def _number(text: str) -> int | float | str:
    if re.fullmatch(r"[+-]?[0-9]+", text):
        return int(text) if len(text) <= MAX_DIGITS else math.inf
    try:
        return float(text)
    except ValueError:
        return text


def _plain(node: Node) -> object:
    """Give a value as msgspec takes it: numbers as whole ones where they are."""
    if isinstance(node, ListNode):
        return [_plain(item) for item in node.items]
    if not isinstance(node, ScalarNode):
        return {}
    value = node.value
    if not isinstance(value, float):
        return value
    if not math.isfinite(value):
        return 2 * MAX_WINDOW_TOKENS  # Beyond every bound.
    return int(value) if value.is_integer() else value


def _threshold(value: object) -> Threshold:
    """Take percent from 1 to 100, with or without the sign, or tokens from 1,000 on.

    What lies between could be either, and 0.8 could be 80 % or less than one: neither is taken.
    """
    percent = re.fullmatch(_PERCENT, value) if isinstance(value, str) else None
    amount = msgspec.convert(float(percent[1]) if percent else value, float)
    if 1 <= amount <= 100:
        return Threshold(ratio=amount / 100)
    if MIN_THRESHOLD_TOKENS <= amount <= MAX_WINDOW_TOKENS and amount.is_integer():
        return Threshold(n_tokens=int(amount))
    raise msgspec.ValidationError("out of bounds")


def _is_cron(text: str) -> bool:
    from cronsim import CronSim, CronSimError  # most have no such setting

    try:
        CronSim(text, datetime.min)
    except CronSimError:
        return False
    return True


def _describe(node: Node) -> str:
    """Describe a value; never quote a text, which could be an API key on the wrong line."""
    if not isinstance(node, ScalarNode):
        return "a list" if isinstance(node, ListNode) else "a mapping"
    match node.value:
        case None | "":
            return "nothing"
        case str():
            return "a text"
        case bool(flag):
            return "true" if flag else "false"
        case number if not math.isfinite(number):
            return "so large a number"
        case number:
            return shorten(f"{number:,}")


def override_name(key: str, model: str) -> str:
    """Write a key as it stands for one model."""
    return f"{OVERRIDES}.{model}.{key.removeprefix('compaction.')}"


TEXT = _text(f"a text of at most {MAX_TEXT_CHARS:,} characters")


URL = _text("an address such as https://host/v1, without user, query or fragment", _URL)


CRON = _text('five fields of cron, such as "0 3 * * *"', _CRON)


STORE = Kind(str, "inbox or log", Literal["inbox", "log"])
APPLY = Kind(str, "review or unread", Literal["review", "unread"])
OFFER = Kind(str, "never, ask or always", Literal["never", "ask", "always"])


TEXTS = _texts("a list of texts", r"\S")
"""Lists are what places add to rather than replace."""


FILES = _texts("a list of files inside the workspace, such as docs/RULES.md", _INSIDE)
