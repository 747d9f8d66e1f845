"""What the words of a sentence say: a rule, an instruction to the agent, an announcement.

A rule binds the agent beyond its message. Whether a sentence is one is read clause by clause. What
a clause begins with decides: a negation forbids, unless a subject follows it; a word that holds for
good ("always") rules where the clause commands, which is where it begins with neither a subject nor
an article, or says what somebody must do. What else may be said of the thing that is built ("only",
"before", "prefer") rules where it governs the agent's conduct: what it commits, runs, asks.
"""

import re
from collections.abc import Sequence
from functools import lru_cache

import msgspec

from ullage.core.text.word_lists import (
    QUESTION_MARKS,
    TABLES,
    Table,
    WordList,
    list_entries,
    word_list,
)

_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)?")
_PARTED = bytes(n if chr(n).isalnum() or chr(n) == "'" else ord(" ") for n in range(128)).ljust(256)
"""What stands between words of ASCII made spaces: six times as quick as the pattern (measured)."""


_CODE_NAME = re.compile(r"`|\w\(|\w[_/]\w|[a-z][A-Z]|\w\.\w{2}|//")
_UNSPACED = re.compile("[\u0e00-\u0e7f\u1100-\u11ff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
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
    names_code: bool
    """Whether it names a call, a variable, a path: what tells of code rather than commands."""


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
        names_code=_CODE_NAME.search(text) is not None,
    )


def _split_words(lower: str) -> list[str]:
    if not lower.isascii():
        return _WORD.findall(lower)
    words = lower.encode("ascii").translate(_PARTED).decode("ascii").split()
    if "'" not in lower:
        return words
    return [part for word in words for part in (_WORD.findall(word) if "'" in word else (word,))]


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
    return table.fragments is not None and table.fragments.match(lower) is not None


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
    patterns = [table.fragments.pattern for table in tables if table.fragments is not None]
    return WordList(
        words=words,
        phrases={},
        heads=frozenset(),
        fragments=re.compile("|".join(patterns)) if patterns else None,
    )


STRONG_RULES = word_list("strong_rules")
OBLIGATIONS = word_list("obligations")
WEAK_RULES = word_list("weak_rules")
LIMITS = word_list("limits")
RULE_HEADINGS = word_list("rule_headings")
COMPLAINTS = word_list("complaints")
CHOICES = word_list("choices")
CONTRASTS = word_list("contrasts")
WISHES = word_list("wishes")
RESOLVES = word_list("resolves")
OFFERS = word_list("offers")
OBJECTIONS = word_list("objections")
INSPECTING = word_list("inspecting")
DECISION_HEADINGS = word_list("decision_headings")
DECISION_LABELS = word_list("decision_labels")
REASONS = word_list("reasons")
QUESTION_WORDS = word_list("question_words")
OPEN_POINTS = word_list("open_points")
DEFERRALS = word_list("deferrals")
UNDECIDED = word_list("undecided")
DONE = word_list("done")
FINDINGS = word_list("findings")
DEAD_ENDS = word_list("dead_ends")
MOMENTARY = word_list("momentary")
LESSONS = word_list("lessons")
AGENT_MARKERS = join_lists(
    CHOICES, CONTRASTS, DECISION_HEADINGS, DECISION_LABELS, OPEN_POINTS, DONE, FINDINGS
)
"""What an agent's sentence must have to be anything but a remark."""
_MARKED = frozenset(word for table in TABLES for word in join_lists(word_list(table)).words)
"""The words of all tables, and those that their phrases begin with."""
_INTENTIONS = (
    *list_entries("intentions"),
    *list_entries("intentions", has_spaces=False),
)


CLEAR, WEAK = 2, 1
_NEGATIONS = word_list("negations").words
_ABSENCES = word_list("absences").words
_EXCLUSIONS = word_list("exclusions").words
_REPROACHES = word_list("reproaches")
_REMARKS = word_list("remarks")
_UNIVERSALS = word_list("universals").words
SUBJECTS = word_list("subjects").words
_STATEMENT_HEADS = SUBJECTS | QUESTION_WORDS.words | word_list("statement_heads").words
_SPEAKING = word_list("speaking")
_TONGUES = word_list("tongues")
_CONDITIONS = word_list("conditions")
_QUOTES = " \t-*•\"'`"


def _join(entries: Sequence[str]) -> str:
    """Join entries, the longest first; `*` at the end of one leaves its last word open."""
    longest = sorted(entries, key=len, reverse=True)
    return "|".join(re.escape(e.rstrip("*")) + (r"\w*" if e.endswith("*") else "") for e in longest)


def _any_of(table: Table) -> str:
    """Match an entry as whole words, or as a part of a text without spaces."""
    fragments = _join([entry.strip("^$") for entry in list_entries(table, has_spaces=False)])
    return rf"(?:(?<!\w)(?:{_join(list_entries(table))})(?!\w)|{fragments})"


_LEAD = re.compile(
    rf"(?:(?:{_join(sorted({*list_entries('lead_ins')} - _NEGATIONS))})(?!\w)[\s,!.]*)+(?=\S)"
)
"""What may stand before the first word that counts, such as "also"."""
_NOT = _join(sorted(_NEGATIONS | _ABSENCES | _EXCLUSIONS))
_NEAR_WORDS = 6
"""Among which such a word stands where its clause commands; chosen."""
_BRIEF_WORDS = 5
"""Of what names a thing that is not wanted; a longer clause tells that there is none; chosen."""
_LEADING_WORDS = 2
"""Of a clause that only leads to the next; chosen."""
_CLAUSE_END = re.compile(r"[,;，；：、（）]|:\s|\.\.+|\s[-–—]+\s")
_JOINED = re.compile(
    rf"\s(?:{_join(list_entries('lead_ins'))})\s+"
    rf"(?=(?:{_join(sorted(_NEGATIONS - STRONG_RULES.words))})(?!\w))"
)
"""Where a clause goes on that forbids: "and don't"."""
_FORBIDDING_TABLES: tuple[Table, ...] = ("negations", "absences", "exclusions")
_NEGATED = re.compile(
    rf"({_join([e for t in _FORBIDDING_TABLES for e in list_entries(t)])})(?!\w)[\s'\"]*"
    rf"(?:(?:{_join(list_entries('lead_ins'))})\s+)?([^\W_]+)"
)
"""How a clause begins that forbids, and its next word."""
_ASIDE = re.compile(r"\(([^()]{1,200})\)")
CONDUCT = re.compile(_any_of("conduct"))
_VERBAL = r"(?:(?<=ing)|(?<=[aei]r)|(?<=re)|(?<=en)|(?<=ть)|(?<=[^\W\da-z]))"
"""How a word ends that says to do something: a gerund, an infinitive; not in all scripts."""
_ORDERED = re.compile(
    rf"{_any_of('orders')}\W*(?:(?:\w+\W+){{0,2}}?{_any_of('conduct')}{_VERBAL}|(?:you|i)(?!\w))"
)
_CAUTIOUS = re.compile(rf"{_any_of('cautions')}\W*(?:\w+\W+){{0,2}}?{_any_of('conduct')}")
_ORDERED_LAST = re.compile(rf"{_any_of('conduct')}.*{_any_of('orders')}\W*\Z")
_TOLD = re.compile(
    rf"(?<!\w)(?:{_join(sorted(SUBJECTS))})\s+(?:\w+\s+)?(?:{_join(list_entries('strong_rules'))})(?!\w)"
    rf"(?!\s+{_any_of('conduct')})"
)
"""What somebody always does, or can, unless it is the agent's conduct."""
_UNWISHED = re.compile(
    rf"(?<!\w)(?:{_join(sorted(SUBJECTS))})\s+(?:{_NOT})\s+(?:{_join(list_entries('wishes'))})(?!\w)"
)
_SUBJECT_OBLIGED = re.compile(
    rf"(?<!\w)(?:{_join(sorted(SUBJECTS))})\s+(?:{_join(list_entries('obligations'))})(?!\w)"
)
_EACH_TO_COME = re.compile(
    rf"(?<!\w)(?:{_join(sorted(_UNIVERSALS))})\s+(?:\w+\s+)?\w+,?\s+"
    rf"(?:{_join(list_entries('relatives'))})(?!\w)"
)
"""All of a kind that is still to come: a file that the agent will touch."""
_MUST_NOT = re.compile(
    rf"(?<!\w)(?:(?:{_join(list_entries('obligations'))})\s+(?:\w+\s+)?(?:{_NOT})"
    rf"|(?:{_NOT})\s+(?:{_join(list_entries('obligations'))}))(?!\w)"
)

_TO_AGENT = re.compile(
    r"ignore (?:all |any |the )?(?:previous|prior|above|earlier)|disregard|from now on|you must|"
    r"you should|you are now|your (?:new )?instructions|system prompt|new instructions?|"
    r"\bdo not\b|\bdon't\b|(?:dear|attention,?) (?:ai|agent|assistant|model)|as an ai|"
    r"\b(?:ai|agent|assistant|model)s?\b[^.]{0,40}\b(?:must|should|shall|need)\b|<\s*system|"
    r"\bimportant\s*[:!]|\binstructions? (?:for|to) "
)


_FORBIDDING = re.compile(
    "|".join(
        re.escape(entry.strip("^$"))
        for entry in list_entries("strong_rules", has_spaces=False)
        if len(entry.strip("^$")) > 1
    )
)
"""Parts of a rule wherever they stand: what has no authority is held for one too soon."""


def rule_strength(sentence: Wording) -> int:
    """Say how much a sentence reads as a rule: 2 clearly, 1 beside a clear one, 0 not."""
    if has_marker(sentence, _TONGUES) and has_marker(sentence, _SPEAKING):
        return CLEAR
    is_question = sentence.lower.rstrip(" \"')").endswith(QUESTION_MARKS)
    if is_question and "please" not in sentence.words:
        return 0
    if has_marker(sentence, _REPROACHES) or _EACH_TO_COME.search(sentence.lower):
        return CLEAR
    clauses = _read_clauses(_ASIDE.sub(" ", sentence.lower))
    asides = [
        clause for aside in _ASIDE.finditer(sentence.lower) for clause in _read_clauses(aside[1])
    ]
    names_code = sentence.names_code
    if any(_list_forbidding(clauses, names_code=names_code)) or any(
        _list_forbidding(asides, is_aside=True)
    ):
        return CLEAR
    if has_marker(sentence, COMPLAINTS):
        return 0
    following = (*clauses[1:], None)
    if any(
        _rules(clause, after, is_told=not _commands(clauses[0]), names_code=names_code)
        for clause, after in zip(clauses, following, strict=False)
    ):
        return CLEAR
    return WEAK if any(has_marker(sentence, table) for table in _MAY_RULE) else 0


_MAY_RULE = (OBLIGATIONS, WEAK_RULES, LIMITS)


def _read_clauses(lower: str) -> list[Wording]:
    """Split a sentence into clauses, each without what only leads to its first word.

    Behind a statement what "and", "but" join goes on with it.
    """
    clauses: list[Wording] = []
    for part in _CLAUSE_END.split(lower):
        bare = part.strip(_QUOTES)
        if lead := _LEAD.match(bare):
            bare = bare[lead.end() :]
        clause = read_wording(bare)
        joined = map(read_wording, _JOINED.split(bare)) if _commands(clause) else (clause,)
        clauses += [each for each in joined if each.words]
    return clauses


def _list_forbidding(
    clauses: Sequence[Wording], *, is_aside: bool = False, names_code: bool = False
) -> list[bool]:
    """Tell of each clause whether it forbids; an aside only tells of what is not there."""
    return [
        _forbids(clause, before, is_aside=is_aside, names_code=names_code)
        for clause, before in zip(clauses, (None, *clauses), strict=False)
    ]


def _forbids(clause: Wording, before: Wording | None, *, is_aside: bool, names_code: bool) -> bool:
    """Tell whether a clause begins with what forbids, or with what a command leaves out.

    What is forbidden behind a request only says how to do that, unless it is the agent's conduct;
    behind few words, an interjection or a label, it stands for itself.
    """
    negation = _NEGATED.match(clause.lower)
    if negation is None or has_marker(clause, _REMARKS) or negation[2] in SUBJECTS:
        return False
    if CONDUCT.match(negation[2]):
        return True
    if negation[1] not in _ABSENCES | _EXCLUSIONS:
        return before is None or len(before.words) <= _LEADING_WORDS
    is_told = before is not None and (names_code or not _commands(before))
    if is_aside or (is_told and (names_code or negation[1] in _EXCLUSIONS)):
        return False
    is_limited = has_marker(clause, WEAK_RULES) or has_marker(clause, LIMITS)
    return is_limited or len(clause.words) <= _BRIEF_WORDS


def _rules(clause: Wording, following: Wording | None, *, is_told: bool, names_code: bool) -> bool:
    """Tell whether a clause commands what is to be done from now on."""
    is_obliging = has_marker(clause, OBLIGATIONS)
    is_bound = is_obliging or has_marker(clause, WEAK_RULES)
    is_about_conduct = CONDUCT.search(clause.lower) is not None
    is_remark = has_marker(clause, _REMARKS)
    if not is_remark and begins_with(clause.lower, _CONDITIONS):
        return following is not None and _commands(following)
    is_general = is_obliging and not clause.words.isdisjoint(_UNIVERSALS)
    if (
        (is_general and not _SUBJECT_OBLIGED.search(clause.lower))
        or (is_bound and clause.first in _UNIVERSALS)
        or (is_about_conduct and not is_remark and _UNWISHED.search(clause.lower))
        or _MUST_NOT.search(clause.lower)
    ):
        return True
    if is_remark or not (is_bound or _commands(clause)):
        return False
    if _stands(clause, names_code=names_code) and not _TOLD.search(clause.lower):
        return True
    if is_bound and _ORDERED_LAST.search(clause.lower):
        return True
    is_ordered = _ORDERED.search(clause.lower, 1) or _CAUTIOUS.match(clause.lower)
    return is_ordered is not None and (is_bound or not is_told)


def _stands(clause: Wording, *, names_code: bool) -> bool:
    """Tell whether a clause holds what holds for good: a word of it near its beginning, or as its
    first where it tells of code."""
    if clause.is_unspaced or is_phrase_in(clause, STRONG_RULES):
        return has_marker(clause, STRONG_RULES)
    return not STRONG_RULES.words.isdisjoint(
        _split_words(clause.lower)[: 1 if names_code else _NEAR_WORDS]
    )


def _commands(clause: Wording) -> bool:
    return clause.first not in _STATEMENT_HEADS


def is_corrective(sentence: Wording) -> bool:
    """Tell whether a sentence forbids or leaves out one thing and names the other.

    Of the agent's conduct that is a rule all the same.
    """
    if CONDUCT.search(sentence.lower) or has_marker(sentence, STRONG_RULES):
        return False
    if has_marker(sentence, CONTRASTS):
        return True
    return any(
        map(
            _names_other,
            (
                _ASIDE.sub(" ", sentence.lower),
                *(aside[1] for aside in _ASIDE.finditer(sentence.lower)),
            ),
        )
    )


def _names_other(text: str) -> bool:
    clauses = _read_clauses(text)
    forbidding = _list_forbidding(clauses)
    return any(forbidding) and any(
        len(clause.words) > 1
        and not is_forbidding
        and _commands(clause)
        and not begins_with(clause.lower, REASONS)
        for clause, is_forbidding in zip(clauses, forbidding, strict=True)
    )


def reads_as_rule(text: str) -> bool:
    """Tell whether a sentence clearly reads as a rule."""
    return rule_strength(read_wording(text)) == CLEAR


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
