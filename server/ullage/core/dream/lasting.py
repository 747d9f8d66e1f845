"""Which statements last: whether one will still be true and useful in a session of next month.

A statement is weighed by what can be seen of it: words that tie it to today, to one ticket or to
who is in the room; words of rules, habits and owners; how it is built. Features and words are one
table, `data/lasting.json`, whose weights `benchmarks/memory/lasting.py` fits on labelled logs. The
words are English: of another language the shape and the word lists of `core/text` alone are seen,
and less is proposed.
"""

import math
import re
from collections.abc import Mapping, Sequence
from functools import cache

import msgspec

from ullage.core.facts.learnings import find_place, tells_own_fact
from ullage.core.memory.journal import Kind
from ullage.core.text.identifiers import find_identifiers
from ullage.core.text.word_lists import QUESTION_MARKS
from ullage.core.text.wording import (
    COMPLAINTS,
    DEAD_ENDS,
    LESSONS,
    MOMENTARY,
    has_marker,
    is_excluding,
    read_wording,
    rule_strength,
)
from ullage.data.packaged import read_packaged

MIN_WORDS = 4
"""Less says nothing by itself (chosen)."""
_WORD = re.compile(r"[\w'`/.-]+")
_CODE = re.compile(r"`[^`\n]+`")
_COMMAND = re.compile(r"`(?:[A-Z_]+=\S+ )*(?:[a-z][\w.-]*)(?: [^`\n]+)`")
_NEVER = frozenset(("question", "program", "report", "label", "asking"))
"""What no weight makes up for: a question, what a program printed, what Ullage itself wrote, and
what tells of progress."""
_NEVER_OF_AGENT = frozenset(
    (
        *("passing", "now", "points", "reference", "order", "request", "speaker", "group"),
        *("intention", "fault"),
    )
)
"""An agent's log is full of reports, plans and bugs, which read as facts do: of 106 that weights
alone let through, a reader would have kept 17 (recorded sessions, flushed by rule)."""
_COUNTED = ("passing", "events", "states", "recurring", "surroundings", "limits")
"""Tables of which two words say more than one."""
_OF_AGENT = (
    "passing",
    "now",
    "events",
    "states",
    "recurring",
    "limits",
    "surroundings",
    "work_items",
    "reasons",
    "obliges",
)
"""Tables whose words weigh otherwise where an agent wrote them."""

_BOUND = frozenset(
    (
        *("passing", "now", "points", "reference", "presence", "clock", "momentary"),
        *("complaint", "request"),
    )
)
"""What ties a statement to the work at hand."""
_INTERJECTION = re.compile(
    r"\A(?:(?:ok|okay|hm+|yeah|yes|well|btw|by the way|also|and|so|but|alright)\b[,.:!]?\s+)+",
    re.IGNORECASE,
)
_RULE_WITHIN = re.compile(
    r".*\bthat ((?:every|each|all|no|any)\b.{5,300}\bmust (?:not|never|always)\b.*)",
    re.IGNORECASE | re.DOTALL,
)
_MARKUP = ("//", "# ", "- ", "* ", "+ ", "+/")


class Judgment(msgspec.Struct, frozen=True, kw_only=True):
    """What is thought of a statement."""

    probability: float
    """That it is worth keeping, 0 to 1."""
    kind: Kind
    reason: str
    """Why, in words for a person."""
    is_standing: bool
    """Whether its words say that it goes on: most that is said in a session does not."""


class _File(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """`data/lasting.json`: entries that are joined, and weights of features."""

    tables: dict[str, tuple[str, ...]]
    """Words and phrases, in small letters."""
    patterns: dict[str, tuple[str, ...]]
    """Expressions that are looked for in small letters."""
    cased: dict[str, tuple[str, ...]]
    """And those for which capitals count."""
    signs: dict[str, tuple[str, ...]]
    """Expressions that are no features: what goes on, what is only thought of, what is a liking."""
    weights: dict[str, float]


class _Table(msgspec.Struct, frozen=True, kw_only=True):
    """What that file says, compiled."""

    tables: dict[str, re.Pattern[str]]
    patterns: dict[str, re.Pattern[str]]
    cased: dict[str, re.Pattern[str]]
    signs: dict[str, re.Pattern[str]]
    weights: dict[str, float]


def judge(text: str, *, is_agents: bool) -> Judgment | None:
    """Judge what a person or an agent said, given on one line; None where it states nothing."""
    if len(_WORD.findall(text)) < MIN_WORDS:
        return None
    features = list_features(text, is_agents=is_agents)
    never = _NEVER | _NEVER_OF_AGENT if is_agents else _NEVER
    if not never.isdisjoint(features):
        return None
    weights = _read_table().weights
    total = sum(weights.get(name, 0.0) for name in ("bias", *features))
    return Judgment(
        probability=1 / (1 + math.exp(-total)),
        kind=_tell_kind(text, features, is_agents=is_agents),
        reason=_tell_reason(features, weights, is_agents=is_agents),
        is_standing=_is_standing(text, features),
    )


def cut_to_statement(text: str) -> str:
    """Leave out of a sentence what only leads to its statement; no word of that is changed."""
    within = _RULE_WITHIN.match(text)
    text = within[1] if within is not None else _INTERJECTION.sub("", text)
    is_aside = text[:1] == "(" and text.rstrip(".").endswith(")") and text.count("(") == 1
    return text.rstrip(".")[1:-1] if is_aside else text


def list_features(text: str, *, is_agents: bool) -> frozenset[str]:
    """List what can be seen of a statement, by the names that have weights."""
    wording = read_wording(text)
    table = _read_table()
    seen = {name for name, pattern in table.patterns.items() if pattern.search(wording.lower)}
    seen |= {name for name, pattern in table.cased.items() if pattern.search(text)}
    words: list[str] = [match[0] for match in _WORD.finditer(wording.lower)]
    counts = {name: len(found.findall(wording.lower)) for name, found in table.tables.items()}
    seen |= {name for name, n in counts.items() if n and name != "orders"}
    seen |= {f"{name} twice" for name in _COUNTED if counts[name] > 1}
    if words and table.tables["orders"].fullmatch(words[0]):
        seen.add("order")
        seen |= {"general order"} if seen & {"recurring", "occasions", "kinds"} else set()
        seen |= {"order with a ground"} if seen & {"evidence", "reasons"} else set()
        seen |= {"order for now"} if "passing" in seen else set()
    if "events" in seen and "states" not in seen:
        seen.add("events alone")
    strength = rule_strength(wording)
    told = {
        "question": wording.lower.rstrip(" \"')").endswith(QUESTION_MARKS),
        "rule": strength == 2,
        "weak rule": strength == 1,
        "left out": is_excluding(wording),
        "own fact": tells_own_fact(wording.lower),
        "place": find_place(wording.lower) is not None,
        "liking": _has_sign("liking", wording.lower),
        "lesson": has_marker(wording, LESSONS) or has_marker(wording, DEAD_ENDS),
        "complaint": has_marker(wording, COMPLAINTS),
        "momentary": has_marker(wording, MOMENTARY),
        "under 8 words": len(words) < 8,
        "under 12 words": len(words) < 12,
        "16 words": len(words) >= 16,
        "22 words": len(words) >= 22,
    }
    seen |= {name for name, is_so in told.items() if is_so}
    n_breaks = len(re.findall(r"[;:,]|[.!] ", text))
    seen |= {"2 clauses"} if n_breaks >= 2 else set()
    seen |= {"3 clauses"} if n_breaks >= 3 else set()
    if is_agents:
        seen |= {f"agent's {name}" for name in (*_OF_AGENT, "22 words", "number") if name in seen}
        seen |= {"agent's code"} if _CODE.search(text) else set()
        seen |= {"agent's events alone"} if "events alone" in seen else set()
        seen.add("agent")
    return frozenset(seen)


def _is_standing(text: str, features: frozenset[str]) -> bool:
    lower = text.lower().replace("’", "'")
    bound = _BOUND - {"now"} if "from now on" in lower else _BOUND
    if not bound.isdisjoint(features) or text.startswith(_MARKUP):
        return False
    return not _has_sign("supposed", lower) and (
        "liking" in features
        or _has_sign("custom", lower)
        or _has_sign("standing", lower)
        or _tells_place(text, features)
    )


def _tell_kind(text: str, features: frozenset[str], *, is_agents: bool) -> Kind:
    """Tell what a statement is, by which it finds its section in `MEMORY.md`."""
    if "lesson" in features or {"evidence", "limits twice"} <= features:
        return "dead-end"
    if _has_sign("custom", text.lower()) or _tells_place(text, features):
        return "fact"
    if not is_agents and "owners" not in features and _is_preference(features):
        return "preference"
    if _COMMAND.search(text):
        return "command"
    return "decision" if features & {"replacing", "reasons"} else "fact"


def _is_preference(features: frozenset[str]) -> bool:
    is_own = "speaker" in features
    if features & {"order", "rule"}:
        return is_own or features.isdisjoint(("states", "obliges"))
    return is_own and bool(features & {"preferences", "occasions"})


def _tells_place(text: str, features: frozenset[str]) -> bool:
    """Tell whether a statement says where something of the project is, for more than a day."""
    if _has_sign("passing place", text.lower()):
        return False
    names = {kind for kind, _ in find_identifiers(text)}
    is_ours = {"own fact", "group"} <= features
    return "place" in features or (is_ours and not names.isdisjoint(("path", "url", "host")))


_REASONS = (
    ("preferences", "it says what somebody likes"),
    ("rule", "it is worded as a rule"),
    ("occasions", "it says what to do when something comes again"),
    ("recurring", "it holds each time"),
    ("owners", "it says who has a say"),
    ("replacing", "it says what holds instead of something"),
    ("evidence", "it was learned at a cost"),
    ("own fact", "it tells of the user or the project"),
    ("number", "it names a value"),
    ("states", "it says how something is"),
)
"""The first that holds is told."""


def _tell_reason(features: frozenset[str], weights: dict[str, float], *, is_agents: bool) -> str:
    who = "an agent found it" if is_agents else "you typed it"
    # Without a name, who "goes to" something is hardly its owner.
    told = features if "name" in features else features - {"owners"}
    why = next((why for name, why in _REASONS if name in told and weights.get(name, 0) > 0), "")
    return f"{who}; {why}" if why else who


def _has_sign(name: str, lower: str) -> bool:
    return _read_table().signs[name].search(lower) is not None


@cache
def _read_table() -> _Table:
    file = msgspec.json.decode(read_packaged("lasting.json"), type=_File)
    return _Table(
        tables={
            name: re.compile(rf"(?<![\w'])(?:{'|'.join(map(re.escape, reversed(words)))})(?!\w)")
            for name, words in file.tables.items()
        },
        patterns=_compile(file.patterns),
        cased=_compile(file.cased),
        signs=_compile(file.signs),
        weights=file.weights,
    )


def _compile(groups: Mapping[str, Sequence[str]]) -> dict[str, re.Pattern[str]]:
    return {name: re.compile("|".join(parts)) for name, parts in groups.items()}
