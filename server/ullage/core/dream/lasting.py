"""Which statements last: whether one will still be true and useful in a session of next month.

A statement is weighed by what can be seen of it: words that tie it to today, to one ticket or to
who is in the room; words of rules, habits and owners; how it is built. Features and words are one
table, `data/lasting.json`, whose weights `benchmarks/memory/lasting.py` fits on labelled logs. The
words are English: of another language the shape and the word lists of `core/text` alone are seen,
and less is proposed.
"""

import math
import re
from collections.abc import Iterator
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
_PATTERNS: dict[str, re.Pattern[str]] = {
    "weekday": re.compile(r"\b(?:mon|tues|wednes|thurs|fri|satur|sun)day\b"),
    "clock": re.compile(r"\b\d\d?:\d\d\b|\b\d{1,2} ?(?:am|pm)\b"),
    "consequence": re.compile(r", so |; so |\bhence\b|, which "),
    "request": re.compile(
        r"(?:[,.;:] |\b(?:and|so|then|please|pls|just|only|or|but) )(?:look|check|make|pass|prepare"
        r"|change|try|add|build|put|group|leave|run|start|write|cite|explain|say|pull|see|find|fix"
        r"|move|give|tell|remind|begin|think|go|do|take|let|rename|update|remove|delete)\b"
        r"|\b(?:can|could|would) (?:you|we)\b|\blet'?s\b|\bi want (?:the|it|this|that|a)\b"
    ),
    "now": re.compile(r"\bnow\b|\bstill\b|\bagain\b"),
    "hearsay": re.compile(
        r"\b(?:wants?|asked|complained|says|said|thinks?|mailed|wrote|told|reported|probably)\b"
    ),
    "one case": re.compile(r"\b(?:one|two|three|a|the) (?:customer|user|person|guy|row|case)s?\b"),
    "asking": re.compile(
        r"^(?:does|do|did|should|can|could|would|is|are|was|were|why|how|what|where|which|who)"
        r" (?:i|we|you|it|the|this|that|there|a|an)\b(?!.*[,:;] )"
        r"|\bshould (?:i|we)\b|\bit might be\b|\bcan you\b"
    ),
    "intention": re.compile(r"^(?:i'll|i'm|i've|i will|let me|let's|we'll|after that|next)\b"),
    "fault": re.compile(
        r"\b(?:root cause|cause is|bugs?(?: \d+)?|the (?:fix|issue|problem|error)s?)\b"
    ),
    "obliges": re.compile(r"\b(?:must|shall|(?:has|have|needs?) to)\b"),
    "points": re.compile(
        r"^(?:and |but |so |then |ok |yeah )?(?:this|that|these|those|it|they|there|he|she|here"
        r"|it's|that's)\b|\b(?:this|that) one\b"
        r"|\b(?:do|did|does|fix|use|keep|leave|like|want|put|make) (?:it|that|this|them)\b"
    ),
    "refers": re.compile(r"\b(?:this|that|these|those|here|it|they|them|he|she|him|her|there)\b"),
    "speaker": re.compile(r"\b(?:i|me|my|mine)\b"),
    "group": re.compile(r"\b(?:we|our|us)\b"),
    "number": re.compile(
        r"\b\d[\d.,]*\s?(?:%|ms|s|sec|seconds?|min(?:utes)?|hours?|h|days?|weeks?|months?|years?"
        r"|[kmgt]b|k|rows|lines|chars|characters|columns|cols|px|bytes|bit|mv|v|ma|[kmg]?hz"
        r"|requests?|connections|workers|retries|credits)\b"
        r"|\b(?:port|version|node|python|java|go|rust|swift|kotlin|ios|android) v?\d[\d.]*"
        r"|\bv?\d+\.\d+(?:\.\d+)?\b|\b\d{4,5}\b"
    ),
    "program": re.compile(
        r"^(?:\$|>|sudo|git|npm|pnpm|yarn|cargo|kubectl|docker|psql|curl|cd|ls|cat|export|uv"
        r"|pip|python|node|brew|helm|terraform|adb|xcodebuild) |^\S+=\S+ "
        r"|error:|exception|traceback|\bat /\S+:\d|:\d+:\d+|npm err|panicked|failed with|exit code"
        r"|stack trace| \| |^warn(?:ing)?\b|^[a-z]+error\b|^npm |` → | → \S+ failed"
    ),
    "report": re.compile(
        r"^\[|^\((?:context: \d|post-compaction |output pruned)"
        r"|^recalled from|ullage-memory|finding: |suggested action: |^context (?:is )?at"
        r"|^[-=#>$]|^\s*<|^memory_get |^memory/\S+\.md#l\d|^memory\.md#l\d"
    ),
    "label": re.compile(
        r"^(?:completed|remaining|changed|failing|open|todo|fixed|done|next|progress|started|ran"
        r"|rebased|blocked|wip)\b"
    ),
}
"""Of a statement in small letters."""
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
_CASED: dict[str, re.Pattern[str]] = {
    "reference": re.compile(
        r"\b[A-Z]{2,6}-\d+\b|(?<!\w)#\d+|\b(?i:bug|line|pr|run|build|ticket|issue|order|case|commit|job"
        r"|attempt|epoch|row)s? #?\d+|\b(?=[a-f]{0,9}\d)[0-9a-f]{7,10}\b"
    ),
    "capitals": re.compile(r"\b[A-Z][A-Z0-9_.]{2,}\b"),
    "name": re.compile(r"(?<!^)(?<![.!?] )\b[A-Z][a-z]{2,}"),
    "sentences": re.compile(r"[.;] \w"),
}
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


_LEADS = r"^(?:(?:and|also|but|so|please|pls|note|remember|ok|okay|btw|by the way)\W+)*"
_STANDING = re.compile(
    _LEADS + r"(?:(?:always|never|don't ever|do not ever|whenever|every time|each time|from now on"
    r"|going forward|in the future|in general|as a rule|for future)\b(?!-)"
    r"|(?:please )?(?:don't|dont|do not|avoid|keep|use|prefer|ask me|show me|tell me|write)"
    r" .{3,120}\b(?:ever|always|from now on|going forward|in the future|every time|each time"
    r"|whenever|unless i|in general)\b)|\bmust (?:never|always|not)\b"
)
"""A rule that says itself that it goes on."""
_LIKING = re.compile(
    r"\b(?:i(?: do)? (?:(?:really|generally|usually|much|strongly|always|also) )?"
    r"(?:prefer|like|love|hate|dislike|don't like|do not like|can't stand|always want|never want)"
    r"|i(?:'d| would) (?:rather|prefer|take))\b (?!to |this|that|it|the |your|how"
    r"|what|where|option|you\b|these|those|them)"
    r"|\bi want .{3,80}\b(?:all|every|each|any|no) "
)
_CUSTOM = re.compile(
    r"\b(?:we|the team|everyone here|nobody here) (?:\w+ )?(?:use|only|always|never|deploy"
    r"|host|keep)\b"
)
_SUPPOSED = re.compile(
    r"\b(?:if|should|can|when|once|could) (?:we|the team)\b|\bwe used\b|\bso we\b|\bshould\b"
    r"|\bthe (?:first|second|last|other) (?:part|one|point|option|step)\b|\bother places\b"
    r"|\b(?:we|i)(?: (?:can|could|would|will)|'(?:d|ll))\b|\beventually\b"
    r"|\bi might\b|\bmaybe\b|\bi guess\b|\bnot sure\b|\bprobably\b"
)
"""What is only thought of, or says what it means elsewhere."""
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
_THROWN_AWAY = re.compile(
    r"/(?:tmp|var/folders)/|\b(?:downloads|desktop|screenshots?|tempor\w+)\b", re.IGNORECASE
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


class _Table(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    tables: dict[str, tuple[str, ...]]
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
    seen = set(_list_patterns(text, wording.lower))
    words = _WORD.findall(wording.lower)
    counts = {name: len(found.findall(wording.lower)) for name, found in _compile_tables().items()}
    seen |= {name for name, n in counts.items() if n and name != "orders"}
    seen |= {f"{name} twice" for name in _COUNTED if counts[name] > 1}
    if words and words[0] in _read_table().tables["orders"]:
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
        "liking": _LIKING.search(wording.lower) is not None,
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


def _list_patterns(text: str, lower: str) -> Iterator[str]:
    for name, pattern in _PATTERNS.items():
        if pattern.search(lower):
            yield name
    for name, pattern in _CASED.items():
        if pattern.search(text):
            yield name


def _is_standing(text: str, features: frozenset[str]) -> bool:
    lower = text.lower().replace("’", "'")
    bound = _BOUND - {"now"} if "from now on" in lower else _BOUND
    if not bound.isdisjoint(features) or text.startswith(_MARKUP):
        return False
    if _SUPPOSED.search(lower) is not None:
        return False
    return (
        _CUSTOM.search(lower) is not None
        or _tells_place(text, features)
        or _STANDING.search(lower) is not None
        or _LIKING.search(lower) is not None
    )


def _tell_kind(text: str, features: frozenset[str], *, is_agents: bool) -> Kind:
    """Tell what a statement is, by which it finds its section in `MEMORY.md`."""
    if "lesson" in features or {"evidence", "limits twice"} <= features:
        return "dead-end"
    is_custom = _CUSTOM.search(text.lower()) is not None
    if is_custom or _tells_place(text, features):
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
    if _THROWN_AWAY.search(text) is not None:
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


@cache
def _read_table() -> _Table:
    return msgspec.json.decode(read_packaged("lasting.json"), type=_Table)


@cache
def _compile_tables() -> dict[str, re.Pattern[str]]:
    return {
        name: re.compile(
            r"(?<![\w'])(?:"
            + "|".join(re.escape(word) for word in sorted(words, key=len, reverse=True))
            + r")(?!\w)"
        )
        for name, words in _read_table().tables.items()
    }
