"""What the words of a sentence say: a rule, an instruction to the agent, an announcement."""

import re
from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from functools import lru_cache

import msgspec

from ullage.core.text.lazy_pattern import lazy_pattern
from ullage.core.text.word_lists import QUESTION_MARKS, TABLES, WordList, list_entries, word_list

_WORD = lazy_pattern(r"[^\W_]+(?:['’][^\W_]+)?")
_PARTED = bytes(n if chr(n).isalnum() or chr(n) == "'" else ord(" ") for n in range(128)).ljust(256)
"""What stands between words of ASCII made spaces: six times as quick as the pattern (measured)."""


_ECHOED = 2
"""A word that the user says and the agent echoes is new all the same."""
_UNSPACED = lazy_pattern("[\u0e00-\u0e7f\u1100-\u11ff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
"""Thai, Korean, Japanese and Chinese."""


class Wording(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """A sentence made ready for the questions below."""

    lower: str
    words: frozenset[str]
    marked: frozenset[str]
    """Those of them that any table knows: mostly a few."""
    first: str
    is_unspaced: bool
    """Whether it holds letters of a script whose words the tables have as fragments."""


def read_wording(text: str) -> Wording:
    """Split a sentence into lower-case words."""
    lower = text.lower().replace("’", "'")
    words = _split_words(lower)
    different = frozenset(words)
    return Wording(
        lower=lower,
        words=different,
        marked=different & _MARKED,
        # French puts its negation before the verb as n'.
        first="" if not words else "n" if words[0].startswith("n'") else words[0],
        is_unspaced=not lower.isascii() and _UNSPACED.search(lower) is not None,
    )


def _split_words(lower: str) -> list[str]:
    if not lower.isascii():
        return _WORD.findall(lower)
    words = lower.encode("ascii").translate(_PARTED).decode("ascii").split()
    if "'" not in lower:
        return words
    return [part for word in words for part in (_WORD.findall(word) if "'" in word else (word,))]


def score_novelty(words: AbstractSet[str], counts: Mapping[str, int]) -> float:
    """Say from 0 to 1 how much of a sentence nobody said more than twice."""
    total = 0.0
    for word in words:
        n_said = counts.get(word, 1)
        if n_said <= _ECHOED and (len(word) > 3 or not word.isascii()):
            total += 1 / n_said
    return min(1.0, total / 3)


def score_rarity(words: AbstractSet[str], counts: Mapping[str, int]) -> float:
    """Say from 0 to 1 how much of a sentence stands nowhere else; drone is near 0."""
    total = 0.0
    for word in words:
        if len(word) > 3 or not word.isascii():
            total += 1 / counts.get(word, 1)
    return min(1.0, total / 3)


def has_marker(sentence: Wording, table: WordList) -> bool:
    """Tell whether a sentence holds one of the table's words, phrases or fragments."""
    if not sentence.marked.isdisjoint(table.words) or is_phrase_in(sentence, table):
        return True
    fragments = table.fragments if sentence.is_unspaced else None
    return fragments is not None and fragments.search(sentence.lower) is not None


def is_phrase_in(sentence: Wording, table: WordList) -> bool:
    """Tell whether a sentence holds one of the table's phrases."""
    if sentence.marked.isdisjoint(table.heads):
        return False
    heads = sentence.marked & table.heads
    return any(_holds_phrase(sentence.lower, p) for head in heads for p in table.phrases[head])


def begins_with(text: str, table: WordList) -> bool:
    """Tell whether a text begins with one of the table's words, phrases or fragments."""
    lower = text[:100].lower().replace("’", "'").lstrip(" \t\n-*•\"'`(")
    first = _WORD.match(lower)
    if first is not None and first[0] in table.words:
        return True
    if first is not None and any(
        lower.startswith(phrase) and _is_word_end(lower, len(phrase))
        for phrase in table.phrases.get(first[0], ())
    ):
        return True
    fragments = None if lower.isascii() else table.fragments
    return fragments is not None and fragments.match(lower) is not None


def _holds_phrase(lower: str, phrase: str) -> bool:
    """Tell whether a phrase stands in a text as whole words; `*` leaves its last one open."""
    searched = phrase.rstrip("*")
    at = lower.find(searched)
    while at >= 0:
        is_begun = at == 0 or not lower[at - 1].isalnum()
        end = at + len(searched)
        if is_begun and (searched != phrase or _is_word_end(lower, end)):
            return True
        at = lower.find(searched, end)
    return False


def _is_word_end(lower: str, end: int) -> bool:
    return not lower[end : end + 1].isalnum()


def join_lists(*tables: WordList) -> WordList:
    """Join tables into one that is quick to say no: a phrase's first word is enough."""
    words = frozenset(word for table in tables for word in (*table.words, *table.phrases))
    return WordList(
        words=words,
        phrases={},
        heads=frozenset(),
        pattern="|".join(table.pattern for table in tables if table.pattern),
    )


STRONG_RULES = word_list("strong_rules")
OBLIGATIONS = word_list("obligations")
WEAK_RULES = word_list("weak_rules")
LIMITS = word_list("limits")
_REMARKS = word_list("remarks")
RULE_HEADINGS = word_list("rule_headings")
COMPLAINTS = word_list("complaints")
_ANY_RULE = join_lists(STRONG_RULES, OBLIGATIONS, WEAK_RULES, LIMITS)
_NEGATIONS = word_list("negations").words
CHOICES = word_list("choices")
CONTRASTS = word_list("contrasts")
WISHES = word_list("wishes")
RESOLVES = word_list("resolves")
OFFERS = word_list("offers")
GROUNDS = word_list("grounds")
OBJECTIONS = word_list("objections")
INSPECTING = word_list("inspecting")
DECISION_HEADINGS = word_list("decision_headings")
REASONS = word_list("reasons")
OPEN_POINTS = word_list("open_points")
DEFERRALS = word_list("deferrals")
UNDECIDED = word_list("undecided")
DONE = word_list("done")
FINDINGS = word_list("findings")
DEAD_ENDS = word_list("dead_ends")
_UNIVERSALS = word_list("universals").words
MOMENTARY = word_list("momentary")
LESSONS = word_list("lessons")
AGENT_MARKERS = join_lists(
    CHOICES, CONTRASTS, LIMITS, GROUNDS, DECISION_HEADINGS, OPEN_POINTS, DONE, FINDINGS
)
"""What an agent's sentence must have to be anything but a remark."""
_MARKED = frozenset(word for table in TABLES for word in join_lists(word_list(table)).words)
"""The words of all tables, and those that their phrases begin with."""
_INTENTIONS = (
    *list_entries("intentions"),
    *list_entries("intentions", has_spaces=False),
)
_TO_AGENT = lazy_pattern(
    r"ignore (?:all |any |the )?(?:previous|prior|above|earlier)|disregard|from now on|you must|"
    r"you should|you are now|your (?:new )?instructions|system prompt|new instructions?|"
    r"do not tell|(?:dear|attention,?) (?:ai|agent|assistant|model)|as an ai|"
    r"\b(?:ai|agent|assistant|model)s?\b[^.]{0,40}\b(?:must|should|shall|need)\b|<\s*system|"
    r"\bimportant\s*[:!]|\binstructions? (?:for|to) "
)


_EXCLUDED = lazy_pattern(rf"[,;] ?(?:{'|'.join(map(re.escape, list_entries('exclusions')))}) \w")
"""How a sentence ends that says what is not wanted."""


def _remark_pattern(remark: str) -> str:
    """Match a remark, unless it goes on as a rule does: "I don't want" begins as "I don't"."""
    rules = [rule[len(remark) :] for rule in _RULE_PHRASES if rule.startswith(remark + " ")]
    return re.escape(remark) + (f"(?!{'|'.join(map(re.escape, rules))})" if rules else "")


_RULE_PHRASES = list_entries("strong_rules")
_REMARKED = lazy_pattern(
    rf"(?<!\w)(?:{'|'.join(map(_remark_pattern, list_entries('remarks')))})(?!\w)"
    + f"|{_REMARKS.pattern}"
)
SUBJECTS = word_list("subjects").words
_NOT = "|".join(map(re.escape, sorted(_NEGATIONS)))
_SUBJECT_NEGATION = lazy_pattern(
    rf"(?<!\w)(?:{'|'.join(map(re.escape, sorted(SUBJECTS)))})\s+"
    rf"(?:do not|{_NOT})(?:\s+(\w+)|(?!\w))"
)
"""Whoever says what somebody does not do tells of it: "you don't have", "it never ends"."""


_EACH_TO_COME = lazy_pattern(
    rf"(?<!\w)(?:{'|'.join(map(re.escape, sorted(_UNIVERSALS)))})\s+(?:\w+\s+)?\w+,?\s+"
    rf"(?:{'|'.join(map(re.escape, list_entries('relatives')))})(?!\w)"
)
"""All of a kind that is still to come: a file that the agent will touch."""
_MUST = "|".join(map(re.escape, list_entries("obligations")))
_MUST_NOT = lazy_pattern(
    rf"(?<!\w)(?:(?:{_MUST})\s+(?:\w+\s+)?(?:{_NOT})|(?:{_NOT})\s+(?:{_MUST}))(?!\w)"
)


def _drop_remark(match: re.Match[str]) -> str:
    return match[0] if match[1] in WISHES.words else " "


_LEADS = sorted({*list_entries("lead_ins")} - _NEGATIONS)
_LEAD_INS = lazy_pattern(rf"(?:(?:{'|'.join(map(re.escape, _LEADS))})\s+)+(?=\S)")
"""What may stand before the first word that counts, such as "also"."""
_ALL_LEADS = frozenset(list_entries("lead_ins"))
_ASIDE = lazy_pattern(r"\([^()]{1,200}\)")
_CLAUSE_END = lazy_pattern(r"[,;，；]|\.\.")
_LABEL_WORDS = 2
"""Words before a colon that only name what follows, such as `Note:`; chosen."""


_FORBIDDING = lazy_pattern(
    "|".join(
        re.escape(entry.strip("^$"))
        for entry in list_entries("strong_rules", has_spaces=False)
        if len(entry.strip("^$")) > 1
    )
)
"""Parts of a rule wherever they stand: what has no authority is held for one too soon."""


def rule_strength(sentence: Wording) -> int:
    """Say how much a sentence reads as a rule: 2 clearly, 1 beside a clear one, 0 not."""
    # What only sounds like a rule is taken out; a rule beside it stays one.
    lower = sentence.lower
    if has_marker(sentence, _REMARKS):
        lower = _REMARKED.sub(" ", lower)
    if not sentence.words.isdisjoint(SUBJECTS):
        lower = _SUBJECT_NEGATION.sub(_drop_remark, lower)
    if lower is not sentence.lower:
        sentence = read_wording(lower.strip(" ,;.:-"))
    label, colon, rest = sentence.lower.partition(": ")
    if colon and rest.strip() and len(label.split()) <= _LABEL_WORDS:
        sentence = read_wording(rest)
    if (lead := _LEAD_INS.match(sentence.lower)) is not None:
        sentence = read_wording(sentence.lower[lead.end() :])
    excludes = is_excluding(sentence)
    is_lasting = _EACH_TO_COME.search(sentence.lower) is not None
    is_bare = sentence.first not in _NEGATIONS and not (excludes or is_lasting)
    if is_bare and not has_marker(sentence, _ANY_RULE):
        return 0
    is_question = sentence.lower.rstrip(" \"')").endswith(QUESTION_MARKS)
    if is_question and "please" not in sentence.words:
        return 0
    is_prohibition = _is_prohibition(sentence)
    if has_marker(sentence, COMPLAINTS) and not is_prohibition:
        return 0
    if is_prohibition or excludes or is_lasting or has_marker(sentence, STRONG_RULES):
        return 2
    if has_marker(sentence, OBLIGATIONS):
        # What a thing has to be is a wish on it; what must not be, or on all of a kind, a rule.
        is_general = not sentence.words.isdisjoint(_UNIVERSALS)
        is_forbidden = _MUST_NOT.search(sentence.lower) is not None
        return 1 + (is_general or is_forbidden or begins_with(sentence.lower, OBLIGATIONS))
    if has_marker(sentence, WEAK_RULES) or has_marker(sentence, LIMITS):
        return 2 if sentence.first in _UNIVERSALS else 1
    return 0


def is_excluding(sentence: Wording) -> bool:
    """Tell whether a sentence ends with what is not wanted: "Postgres, not Redis"."""
    return _EXCLUDED.search(sentence.lower) is not None


def is_corrective(sentence: Wording) -> bool:
    """Tell whether a sentence forbids or leaves out one thing and names the other."""
    if is_excluding(sentence) or has_marker(sentence, CONTRASTS):
        return True
    if not _is_prohibition(sentence):
        return False
    if not begins_with(sentence.lower, OBJECTIONS):
        return False
    clauses = _CLAUSE_END.split(_ASIDE.sub("", sentence.lower))
    others = [read_wording(clause) for clause in clauses[1:]]
    return any(
        len(clause.words) > 1
        and clause.first not in SUBJECTS | _NEGATIONS
        and not begins_with(clause.lower, REASONS)
        and not begins_with(clause.lower, GROUNDS)
        and clause.first not in _ALL_LEADS
        for clause in others
    )


def reads_as_rule(text: str) -> bool:
    """Tell whether a sentence clearly reads as a rule."""
    return rule_strength(read_wording(text)) > 1


def is_directive(text: str) -> bool:
    """Whether text without authority speaks to the agent or gives rules."""
    return _is_directive(text[:600].lower())


@lru_cache(maxsize=1024)
def _is_directive(lower: str) -> bool:
    wording = read_wording(lower)
    return (
        _TO_AGENT.search(lower) is not None
        or _FORBIDDING.search(lower) is not None
        or has_marker(wording, STRONG_RULES)
        or has_marker(wording, OBLIGATIONS)
        or has_marker(wording, RULE_HEADINGS)
    )


def is_intention(lower: str) -> bool:
    """Tell whether a sentence only announces what the agent is about to do."""
    # "Let me know" leaves it to the person.
    return lower.startswith(_INTENTIONS) and not begins_with(lower, OFFERS)


def _is_prohibition(sentence: Wording) -> bool:
    """Tell whether a sentence begins with what forbids or holds for good."""
    rest = sentence.lower.lstrip("-*• \"'")
    return (
        sentence.first in _NEGATIONS
        and len(sentence.words) > 2
        and not rest.startswith((sentence.first + ",", sentence.first + "."))
        and _split_words(rest)[1:2] != []
        and _split_words(rest)[1].partition("'")[0] not in SUBJECTS
    )
