"""Identifiers: exact values worth keeping, found in any text, such as the output of tools."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator

import msgspec

from ullage.core.text.prose import gist, is_sentence, remove_list_mark
from ullage.core.text.wording import read_wording, score_rarity

MAX_EXCERPT_CHARS = 150
MIN_DATA_SCORE = 0.55
"""Below this a line of data is mostly noise; tried on sessions."""
_MAX_LINE_CHARS = 320
"""Longer lines are cut into pieces of this size; chosen."""
_BREAK = re.compile(r"[\s,;|&]")
"""Where a line may be cut: paths and addresses are words."""
_MAX_PER_SHAPE = 3
_MAX_PER_FORM = 60
"""Lines of one shape or form that are looked at; the rest are a log's drone. Chosen."""
_MAX_RANKED = 1500
_MIN_RARITY = 0.75
_PROSE_WEIGHT = 0.8
"""Sentences in data without any identifier come last; tried on sessions."""
_IDENTIFIER = re.compile(
    r"(?P<url>\b[a-z][a-z0-9+]{1,12}://[^\s<>\"'`)\]]{3,200})"
    r"|(?<![\w@./-])(?P<path>(?:~?/)?(?:[\w@.-]{1,60}/){1,20}[\w@.-]{0,80}[\w@])"
    r"|(?<![\w.-])(?P<uuid>[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12})"
    r"|(?<![\w.])(?P<host>\d{1,3}(?:\.\d{1,3}){3}(?::\d{2,5})?|[a-z][a-z0-9-]{1,40}"
    r"(?:\.[a-z0-9-]{1,40}){0,6}:\d{2,5})\b"
    r"|(?<![\w.,#-])(?P<amount>[€$£¥]\s?\d[\d,.]{0,15}\b|\d[\d,.]{0,15}\s?(?:€|\$|£|(?:USD|EUR|GBP|CHF|JPY)\b))"
    r"|(?<![\w.])(?P<version>v?\d{1,4}(?:\.\d{1,5}){1,3}(?:-[a-z][\w.]{0,20})?)(?![\w:])"
    r"|\b(?P<code>[A-Z]{1,10}[-_]?\d{2,8}|E[A-Z]{4,20}|0x[0-9A-Fa-f]{3,16})\b"
    r"|\b(?P<env>[A-Z][A-Z0-9]{1,40}(?:_[A-Z0-9]{1,40}){1,8})\b"
    r"|\b(?P<hash>(?=[a-f]{0,16}\d)(?=\d{0,16}[a-f])[0-9a-f]{7,64}|(?:sha\d{1,3}|SHA\d{3}):[\w+/=]{8,100})\b"
    r"|\b(?P<tag>[A-Za-z]{2,20}(?:[-_][A-Za-z0-9]{1,20}){0,4}[-_]\d[\w-]{0,30})\b"
    r"|\b(?P<name>[a-z]{1,30}[a-z0-9]{0,20}(?:[A-Z][A-Za-z0-9]{1,40}|_[a-z0-9_]{1,40})(?:\(\))?)"
    r"|(?<![\w.#-])(?P<number>\d(?:[\d,_]{0,14}\d)?(?:\s?(?:ms|s|sec|seconds|min|minutes|hours|h|days|d|%|"
    r"[KMGT]i?B|kb|mb|gb|tokens|rows|requests|users))?)(?![\w.])"
)
_HINT = re.compile(r"[\d/_`]|[a-z][A-Z]|[A-Z]{2}")
"""Every identifier has one of these; most sentences have none."""
_WEIGHTS = {
    "url": 3.0,
    "path": 1.0,
    "uuid": 2.5,
    "host": 3.0,
    "amount": 2.0,
    "version": 2.0,
    "code": 2.5,
    "env": 2.0,
    "hash": 2.0,
    "tag": 2.5,
    "name": 0.5,
    "number": 0.8,
}
"""How likely a kind is to be asked for again and impossible to guess; chosen, then tried."""
_MIN_DIGITS = 4
"""Of a bare number that says something by itself; chosen."""
_ASSIGNED = re.compile(r"[\w)\]\"'`-][ \"'`]{0,2}(?:[:=]|=>|->| is| are| at| to)[ \"'`(]{0,3}$")
_LINE_NUMBER = re.compile(r"\s*\d{1,6}(?:\t|→|[:|] ?| {2})")
_LOG_PREFIX = re.compile(
    r"(?:[\[(]?[\dT:.,Z+/-]{5,32}(?: [\d:.,]{5,16})?[\])]?\s{1,3})?"
    r"(?:[\[(]?(?:INFO|DEBUG|WARN|WARNING|ERROR|TRACE|FATAL|info|debug|warn|error)[\])]?:?\s{1,3})?"
    r"(?:\[[^\]\n]{1,40}\]:?\s{1,3})?"
)
_WORDS = re.compile(
    r"\b[0-9]?[A-Za-z][\w-]*\d[\w-]*|\b\d[0-9a-f]{6,40}\b|[^\W\d_]+(?:[-'_][^\W\d_]+)*"
)
_BOILERPLATE = re.compile(
    r"Successfully (?:wrote|replaced|edited)|The file .{1,300} has been (?:updated|created)|"
    r"File (?:created|written|updated) successfully|Updated .{1,300} with \d+ addition"
)
"""What the agents' own tools answer; the file is listed anyway."""
_DIGIT = re.compile(r"\d")
_FIGURE = re.compile(r"0{2,}")
_REMARK = re.compile(
    r"(?:#|//|/\*|\*|--|<!--)\s?\w|\b(?:note|hint|notice|warning|caution)\b", re.IGNORECASE
)
_SECRET = re.compile(
    r"(?:secret|passw(?:or)?d|api[_-]?key|token|private[_-]?key|credential|authorization|bearer)"
    r"[\"']?\s{0,2}[:= ]\s{0,2}[\"']?[\w+/=.-]{8,}|\b(?:sk|pk|rk)-[\w-]{12,}|\bgh[pousr]_\w{12,}|"
    r"\bgithub_pat_\w{12,}|\bAKIA[0-9A-Z]{12,}|\bxox[abpr]-[\w-]{8,}|-----BEGIN|\beyJ[\w-]{16,}\.",
    re.IGNORECASE,
)


class DataLine(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """A line of data, and the identifiers in it."""

    text: str
    names: tuple[str, ...]
    exact: tuple[str, ...] = ()
    """Those of them that nobody can guess, but for files."""
    score: float
    n_item: int


class _Candidate(msgspec.Struct, frozen=True, gc=False):
    text: str
    form: str
    """Words as `w`, figures as `0`, punctuation as it is."""
    shape: str
    """The same with every figure's length: lines of a log share forms, exceptions do not."""
    n_item: int
    weight: float


def find_identifiers(text: str) -> list[tuple[str, str]]:
    """List the identifiers of a text as (kind, name)."""
    return [(match.lastgroup or "", match[0]) for match in _IDENTIFIER.finditer(text)]


def contains_whole(text: str, value: str) -> bool:
    """Whether a text holds a value that is not part of a longer one."""
    start = text.find(value)
    while start >= 0:
        end = start + len(value)
        before, after = text[start - 1 : start], text[end : end + 1]
        if not _is_joined(before, value[0]) and not _is_joined(after, value[-1]):
            return True
        start = text.find(value, start + 1)
    return False


def _is_joined(neighbor: str, edge: str) -> bool:
    # Chinese puts no space before a value, so its letters are no part of a Latin one.
    is_word = neighbor.isalnum() and (neighbor.isascii() or not edge.isascii())
    return (is_word or neighbor == "_") and (edge.isalnum() or edge == "_")


def _is_exact(kind: str, name: str) -> bool:
    if kind == "number":
        return sum(map(str.isdigit, name)) >= _MIN_DIGITS
    return kind not in ("path", "name")


def score_identifiers(text: str) -> float:
    """Say how much exact matter a sentence holds, from 0 to 6."""
    if not _HINT.search(text):
        return 0.0
    total = 0.0
    for match in _IDENTIFIER.finditer(text[:_MAX_LINE_CHARS]):
        total += _WEIGHTS[match.lastgroup or "name"]
    return min(total + 0.5 * text.count("`"), 6.0)


def looks_secret(text: str) -> bool:
    """Tell whether a line of data seems to hold a key or a password."""
    return _SECRET.search(text[:2000]) is not None


def rank_lines(sources: Iterable[tuple[str, int, float]], spoken: str) -> list[DataLine]:
    """Rank lines of data by how exact and rare their values are, best first.

    Sources are (text, number of the item, weight); spoken is what user and agent said, whose
    names count more.
    """
    shapes: Counter[str] = Counter()
    candidates = list(_candidates(sources, shapes))
    counts: Counter[str] = Counter()
    exact: list[tuple[_Candidate, list[tuple[str, str, float]]]] = []
    prose: list[tuple[_Candidate, frozenset[str]]] = []
    for candidate in candidates:
        named = list(_weigh_identifiers(candidate.text)) if _HINT.search(candidate.text) else []
        if named:
            exact.append((candidate, named))
            counts.update({name for _, name, _ in named})
        elif is_sentence(candidate.text):
            prose.append((candidate, read_wording(candidate.text).words))
    lines = [
        DataLine(
            text=_excerpt(candidate.text, named),
            # A small bare number is no reason to show a line.
            names=tuple(dict.fromkeys(name for _, name, weight in named if weight >= 0.5)),
            exact=tuple(dict.fromkeys(name for kind, name, _ in named if _is_exact(kind, name))),
            score=_score_candidate(candidate, named, shapes, counts),
            n_item=candidate.n_item,
        )
        for candidate, named in exact
    ]
    lines += _rank_prose(prose, spoken)
    lines.sort(key=lambda line: (-line.score, -line.n_item))
    return _raise_spoken(lines[:_MAX_RANKED], spoken)


def _rank_prose(prose: list[tuple[_Candidate, frozenset[str]]], spoken: str) -> Iterator[DataLine]:
    """Give the sentences without identifiers whose words stand nowhere else."""
    counts = Counter(word for _, words in prose for word in words)
    counts.update(read_wording(spoken).words)
    for candidate, words in prose:
        rare = score_rarity(words, counts)
        if rare > _MIN_RARITY:
            yield DataLine(
                text=gist(candidate.text, MAX_EXCERPT_CHARS),
                names=(),
                score=candidate.weight * rare * _PROSE_WEIGHT,
                n_item=candidate.n_item,
            )


def _raise_spoken(lines: list[DataLine], spoken: str) -> list[DataLine]:
    words = set(re.findall(r"[\w./:-]{4,80}", spoken))
    raised = [
        msgspec.structs.replace(line, score=line.score * 1.5)
        if any(name in words for name in line.names)
        else line
        for line in lines
    ]
    raised.sort(key=lambda line: (-line.score, -line.n_item))
    return raised


def _candidates(
    sources: Iterable[tuple[str, int, float]], shapes: Counter[str]
) -> Iterator[_Candidate]:
    seen: set[str] = set()
    for text, n_item, weight in sources:
        for raw in text.split("\n"):
            for line in _cut_line(raw.strip()):
                if len(line) < 4 or line in seen:
                    continue
                seen.add(line)
                if _BOILERPLATE.match(line):
                    continue
                numbered = _LINE_NUMBER.match(line)
                bare = line[numbered.end() :] if numbered else line
                shape = _shape(bare)
                form = "~" + _FIGURE.sub("0", shape)
                shapes[shape] += 1
                shapes[form] += 1
                if shapes[shape] <= _MAX_PER_SHAPE and shapes[form] <= _MAX_PER_FORM:
                    unmarked = remove_list_mark(bare.strip())
                    yield _Candidate(unmarked, form, shape, n_item, weight)


def _cut_line(line: str) -> Iterator[str]:
    start = 0
    while len(line) - start > _MAX_LINE_CHARS:
        breaks = _BREAK.finditer(line, start + 80, start + _MAX_LINE_CHARS)
        end = max((mark.end() for mark in breaks), default=start + _MAX_LINE_CHARS)
        yield line[start:end].strip()
        start = end
    yield line[start:].strip()


def _shape(line: str) -> str:
    prefix = _LOG_PREFIX.match(line)
    body = line[prefix.end() :] if prefix else line
    return _DIGIT.sub("0", _WORDS.sub("w", body[:100]))


def _weigh_identifiers(text: str) -> Iterator[tuple[str, str, float]]:
    prefix = _LOG_PREFIX.match(text)
    start = prefix.end() if prefix else 0
    for match in _IDENTIFIER.finditer(text, start):
        kind = match.lastgroup or "name"
        weight = _WEIGHTS[kind]
        before = text[max(start, match.start() - 8) : match.start()]
        if _ASSIGNED.search(before):
            weight += 1.0 if kind != "name" else 0.2
        elif kind == "number" and len(match[0]) < 4:
            weight = 0.2
        yield kind, match[0], weight


def _score_candidate(
    candidate: _Candidate,
    named: list[tuple[str, str, float]],
    shapes: Counter[str],
    counts: Counter[str],
) -> float:
    total = 0.0
    for _, name, weight in named[:8]:
        total += weight / (1 + 0.2 * (counts[name] - 1))
    total = min(total, 5.0)
    if _REMARK.search(candidate.text[:60]):
        total += 1.0
    n_letters = sum(map(str.isalpha, candidate.text[:80]))
    if n_letters > 0.6 * min(80, len(candidate.text)) and candidate.text.count(" ") > 3:
        total += 0.7
    length = 1 + min(len(candidate.text), MAX_EXCERPT_CHARS) / 200
    drone = 1 + 0.5 * (shapes[candidate.shape] - 1) + 0.04 * (shapes[candidate.form] - 1)
    return candidate.weight * total / length / drone


def _excerpt(text: str, named: list[tuple[str, str, float]]) -> str:
    """Cut a line around its best name, at words."""
    if len(text) <= MAX_EXCERPT_CHARS:
        return text
    best = max(named, key=lambda item: item[2])[1]
    middle = text.find(best)
    start = max(0, middle - MAX_EXCERPT_CHARS // 2)
    until = middle + len(best)
    end = max(start + MAX_EXCERPT_CHARS, until)
    if start:
        start = min((mark.end() for mark in _BREAK.finditer(text, start, middle)), default=middle)
    if end < len(text):
        end = max((mark.start() for mark in _BREAK.finditer(text, until, end)), default=until)
    return ("…" if start else "") + text[start:end].strip() + ("…" if end < len(text) else "")
