"""Quotations: what a message shows rather than says, told by its structure alone.

Quoted are fences, lines marked with `>`, blocks of markup, indented code, and lines that a program
wrote: logs, traces, diffs, tables, what a shell printed. Nothing in them is said by whoever quotes
them (docs/design/summaries.md, "Who may say what"). It reads text whose secrets are masked: a part
of a secret is no longer recognized.
"""

import re
from bisect import bisect_right
from collections.abc import Sequence
from functools import lru_cache

import msgspec

from ullage.core.text.lazy_pattern import lazy_pattern
from ullage.core.text.prose import PASTED, count_letters, gist, is_sentence

_MAX_CACHED = 4096
"""Messages that are remembered: a session that is followed is read again and again."""
_MAX_READ_CHARS = 500
"""Of a line, to tell what it is (chosen)."""
_MIN_LETTERS = 0.55
"""Share of letters below which a line is data rather than language; tried on sessions."""
_MAX_FENCES = 8
"""Fences within each other that are told apart; chosen."""
_CODE_INDENT = 4
_FENCE = lazy_pattern(r"(?P<mark>`{3,}|~{3,})(?P<info>.*)")
_ITEM = lazy_pattern(r"\s*(?:[-*+•]|\d{1,3}[.)])\s+")
_MARKED = lazy_pattern(r"[>＞](?![=])")
_UNSEEN = "\u200b\u200c\u200d\u2060\ufeff"
"""What may stand before a mark without being seen."""
_OPENING = lazy_pattern(r"\s*<(?P<tag>[A-Za-z][\w.:-]{0,60})(?:\s[^<>]*)?>")
_FILE = lazy_pattern(r"<(?P<tag>file|document)(?:\s[^<>]*)?>")
"""What agents and people put around a file; wherever it begins."""
_PROMPT_PARTS = frozenset(
    (
        *("constraints", "goal", "guidelines", "important", "instructions", "objective"),
        *("prompt", "question", "request", "requirements", "role", "rules", "steps", "task"),
    )
)
"""Elements in which people write what they ask for themselves, as models' makers advise."""
_NAMED = lazy_pattern(r"[ \t]+\S")
_CLOSING = lazy_pattern(r"</([A-Za-z][\w.:-]{0,60})\s*>")
_SENTENCE_END = lazy_pattern(r"[.!?。！？؟:][\"'”’)\]*`]{0,3}\s*\Z")
_USER_AND_HOST = (
    r"(?:\([\w.-]{1,40}\) ){0,3}\[?[\w.-]{1,60}@[\w.-]{1,60}[: ][\w~/.-]{0,80}(?: |\])?[$#%]"
)
_PROMPT = lazy_pattern(
    r"\$ [a-z./~]|" + _USER_AND_HOST + r"(?: \S|\Z)|PS [A-Z]:\\[^>\n]*>|"
    r"[A-Z]:\\[^>\n]*>|(?:\([\w.-]{1,40}\) )?➜ {1,3}\S|[a-z][\w.~/-]{2,60}\$ [a-z./~]|"
    r"❯ [a-z./~]|In \[\d+\]: |[⏺⎿] "
)
"""A command as a shell shows it; what follows is what it printed."""
_PROMPT_BEHIND = lazy_pattern(r"(?<=:)\s?(" + _USER_AND_HOST + r" \S)")
"""A prompt on the line of the words that announce it."""
_ELEMENT = r"<(?P<tag>[A-Za-z][\w.:-]{0,60})(?:\s[^<>]{0,200})?>.{0,400}</(?P=tag)>\Z"
_PROGRAM = lazy_pattern(
    # Logs.
    r"[\[(]?\d{4}[-/]\d\d[-/]\d\d[T _,]{1,2}\d\d:\d\d|[\[(]?\d\d:\d\d:\d\d|"
    r"[A-Z][a-z]{2} {1,2}\d{1,2} \d\d:\d\d:\d\d[ .,]|"
    r"[\[(](?i:info|debug|warn|warning|error|trace|fatal|critical|notice)[\])]|"
    r"(?:INFO|DEBUG|WARN|WARNING|ERROR|TRACE|FATAL|CRITICAL|NOTICE)(?: {2,}|\t| ?\[)|"
    r"(?:INFO|DEBUG|TRACE):|(?:WARNING|ERROR|CRITICAL):[\w.]+:|"
    r"npm (?:ERR!|WARN|error|warn|notice)\b|"
    # Traces and errors.
    r"Traceback \(most|File \"[^\"\n]{1,200}\", line \d|at .{0,160}\(.{1,160}:\d+\)\Z|"
    r"at \S{1,160}:\d+:\d+\Z|"
    r"(?:[\w.]+(?:Error|Exception)|Error)(?: \[\w+\])?: |Caused by: |goroutine \d+ |"
    r"error\[E\d+\]|thread '.{0,60}' panicked|"
    r"(?:[\w@.-]*/)*[\w@+-]+\.\w{1,6}[:(]\d+(?:[:,]\d+)*\)?:|"
    # Diffs, listings, tables, the frames of a terminal.
    r"diff --git |@@ -\d|(?:---|\+\+\+) (?:[ab]/|/dev/null)|index [0-9a-f]{7,40}\.\.|"
    r"commit [0-9a-f]{40}\b|\d{1,6}(?:→|\t|\s?\|)|[│┃╭╮╰╯├└┌┐┘┤┬┴┼─━═║╔╚╠]|"
    r"\+[-=+]{3,}\+|={3,} .{0,200} ={3,}|_{3,} .{0,200} _{3,}|E {2,}\S|"
    r"(?:FAILED|PASSED|ERROR) \S+::\S|--- (?:FAIL|PASS|SKIP): |=== (?:RUN|PAUSE|CONT|NAME) |"
    r"(?:FAIL|PASS|ok)(?:\t| {3})|Author: .{0,80}<.{0,80}>\Z|"
    # A command that goes on in the next line.
    r".{1,2000}\s\\\Z|"
    # An object, an element: nothing else is on the line.
    r"\{\s?\"[^\"\n]{1,60}\"\s?:.{0,400}\}[,;]?\Z|" + _ELEMENT
)
"""How a line begins that only a program writes."""
_CODE = lazy_pattern(
    r"from [\w.]+ import |import [\w.]+;?\Z|import .{1,200} from ['\"]|#include [<\"]|"
    r"(?:export |default |public |private |protected |static |async |pub |abstract )*"
    r"(?:def|class|func|function|fn|struct|enum|trait|impl|interface)\s+\w+\s*[(<:{\[].*[{:;,(]\Z|"
    r"(?:export )?(?:const|let|var|val)\s+[\w{\[][^=\n]{0,200}=|return\b.{0,200};\Z|"
    r"(?:if|for|while|switch)\s?\(.{0,300}\{\Z|\}? ?else\s*(?:if.{0,200})?\{\Z|"
    r"(?:SELECT|INSERT|UPDATE|DELETE|CREATE|ALTER) .{0,300}\b(?:FROM|INTO|SET|TABLE|VALUES)\b|"
    r"[})\]]+[;,]?\Z|<\w[^<>]{0,300}>.{0,300}</\w+>\Z|<\w[^<>]{0,300}/?>\Z|</\w[\w.:-]*>\Z|"
    r"\{.{0,500}\}[,;]?\Z|\[.{0,300}[\"'{\d,].{0,300}\][,;]?\Z|"
    r"[\w.\[\]]{1,60}\s?=\s?.{1,300}[;,{\[(]\Z|\"[\w.-]{1,60}\"\s?:\s?\S"
)
"""A line of code, where there are others beside it."""
_WEAK = lazy_pattern(
    r"(?:INFO|DEBUG|WARN|WARNING|ERROR|TRACE|FATAL|CRITICAL|NOTICE)\b|\|.{0,400}\|\s*\Z|"
    r"\w{1,60}(?:Error|Exception)\b|(?:FAIL|PASS)\Z|\d{1,6} {1,8}[+-]\S|[✓✔✗✘] "
)
"""How a line begins that may be a program's."""
_DIFF_BEGIN = lazy_pattern(r"diff --git |@@ -\d|(?:---|\+\+\+) (?:[ab]/|/dev/null)")
_DIFF_LINE = lazy_pattern(
    r"[ +\-\\@]|diff |index |(?:new|deleted) file|rename |similarity |Binary "
)
_DIFF_GOES_ON = lazy_pattern(r"[ +@\\]|-\S|diff ")
"""How a line of a diff begins behind an empty one, where a list may begin too."""


class Passage(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """Whole lines of a message, all of them quoted or none."""

    text: str
    is_quoted: bool


@lru_cache(maxsize=_MAX_CACHED)
def split_quotations(text: str, *, is_agents: bool = False) -> tuple[Passage, ...]:
    """Part a text into what is said and what is quoted, in order; time is linear.

    What an agent puts into markup is its own, but for files.
    """
    lines, marked = _mark_blocks(text.split("\n"), is_agents=is_agents)
    passages: list[Passage] = []
    start = 0
    for end in range(1, len(lines) + 1):
        if end == len(lines) or marked[end] != marked[start]:
            part = "\n".join(lines[start:end])
            passages.append(Passage(text=part, is_quoted=marked[start]))
            start = end
    return tuple(passages)


def read_own_words(text: str, *, is_agents: bool = False) -> str:
    """Give what is said in a text, without what it quotes; empty where it only quotes."""
    passages = split_quotations(text, is_agents=is_agents)
    return "\n".join(part.text for part in passages if not part.is_quoted).strip()


def read_quoted(text: str, *, is_agents: bool = False) -> str:
    """Give what a text quotes."""
    passages = split_quotations(text, is_agents=is_agents)
    return "\n".join(part.text for part in passages if part.is_quoted)


def mark_pasted(text: str, n_chars: int) -> str:
    """Name what a person showed without a word of their own by its beginning."""
    return PASTED + gist(text, n_chars - len(PASTED)) if text.strip() else ""


def _mark_blocks(lines: list[str], *, is_agents: bool) -> tuple[list[str], list[bool]]:
    """Say of each line whether it is quoted; a line in which a block of markup ends becomes two."""
    shown: list[str] = []
    marked: list[bool] = []
    elements = _Elements(lines, is_agents=is_agents)
    at = 0
    while at < len(lines):
        line = lines[at]
        bare = _strip_items(line)
        fence = _FENCE.match(bare)
        if fence is not None and not (fence["mark"][0] == "`" and "`" in fence["info"]):
            end = _find_fence_end(lines, at + 1, fence["mark"])
        elif _MARKED.match(bare):
            end = _find_quote_end(lines, at)
        elif (place := elements.find(at, line)) is not None:
            begin, end, rest = place
            if before := line[:begin].strip():
                shown.append(before)
                marked.append(False)
            shown += [line[begin:], *lines[at + 1 : end]]
            marked += [True] * (end - at)
            if rest.strip():
                # What stands behind the end of the block is looked at for itself.
                shown[-1] = shown[-1].removesuffix(rest)
                at = end - 1
                lines[at] = rest
            else:
                at = end
            continue
        else:
            prompt = _PROMPT_BEHIND.search(line) if "@" in line else None
            cut = len(line) if prompt is None else prompt.start(1)
            parts = [line] if prompt is None else [line[:cut].rstrip(), line[cut:]]
            shown += parts
            marked += [False] * len(parts)
            at += 1
            continue
        shown += lines[at:end]
        marked += [True] * (end - at)
        at = end
    _mark_programs(shown, marked)
    _mark_indented(shown, marked)
    return shown, marked


def _strip_items(line: str) -> str:
    """Give a line without its indentation and the marks of lists before it."""
    line = line.lstrip(_UNSEEN)
    item = _ITEM.match(line)
    return (line[item.end() :] if item is not None else line.lstrip()).lstrip(_UNSEEN)


def _find_fence_end(lines: Sequence[str], start: int, mark: str) -> int:
    """Find the line behind a fence; one that is never closed goes to the end.

    Models put fences into fences: one with a language opens another, a few deep.
    """
    depth, first = 1, len(lines)
    for at in range(start, len(lines)):
        bare = lines[at].strip().lstrip("> ")
        if not bare.startswith(mark):
            continue
        if set(bare) == {mark[0]}:
            depth -= 1
            first = min(first, at + 1)
            if not depth:
                return at + 1
        elif mark[0] not in bare.lstrip(mark[0]):
            depth += 1
            if depth > _MAX_FENCES and first < len(lines):
                # Where nothing bounds it, each of many fences would be followed to the end.
                break
    return first


def _find_quote_end(lines: Sequence[str], start: int) -> int:
    """Find the line behind lines marked with `>`, with those that go on in the same sentence."""
    at = start + 1
    is_open = not _SENTENCE_END.search(lines[start])
    while at < len(lines):
        line = lines[at]
        is_marked = _MARKED.match(line.lstrip()) is not None
        if not is_marked and not (is_open and line.strip() and not _begins_block(line)):
            break
        is_open = not _SENTENCE_END.search(line) and bool(line.strip(" >"))
        at += 1
    return at


def _begins_block(line: str) -> bool:
    bare = line.lstrip()
    return bare.startswith(("#", "```", "~~~", "<")) or _ITEM.match(line) is not None


class _Elements:
    """Where blocks of markup begin and end."""

    def __init__(self, lines: Sequence[str], *, is_agents: bool) -> None:
        self._lines = lines
        self._is_agents = is_agents
        self._events: dict[str, list[tuple[int, int]]] = {}
        """By tag: (line, 1 for a beginning or -1 for an end), in order."""
        self._last_ends: dict[str, int] = {}
        for at, line in enumerate(lines):
            if "<" not in line:
                continue
            opening = _OPENING.match(line)
            if opening is not None:
                self._events.setdefault(opening["tag"], []).append((at, 1))
            for closing in _CLOSING.finditer(line):
                self._events.setdefault(closing[1], []).append((at, -1))
                self._last_ends[closing[1]] = at

    def find(self, at: int, line: str) -> tuple[int, int, str] | None:
        """Find the block that begins in a line: its column, the line behind it, and what stands
        behind its end on that last line; None where none does.

        A file may begin anywhere, be on one line, and lack its end where it begins a line.
        """
        opening = _OPENING.match(line) if "<" in line else None
        if opening is not None and opening["tag"].lower() in _PROMPT_PARTS:
            opening = None
        is_file = opening is not None and opening["tag"] in ("file", "document")
        if opening is None or (self._is_agents and not is_file):
            opening = _FILE.search(line) if "<" in line else None
            if opening is None:
                return None
        closing = f"</{opening['tag']}>"
        begin = line.find("<", opening.start())
        column = line.rfind(closing)
        if column >= opening.end():
            is_whole = is_file or opening.re is _FILE
            return (begin, at + 1, line[column + len(closing) :]) if is_whole else None
        last = self._find_end(opening["tag"], at)
        if last is None:
            # Whoever goes on in the same line talks of the tag.
            is_open = is_file and not _NAMED.match(line, opening.end())
            return (begin, len(self._lines), "") if is_open else None
        column = self._lines[last].rfind(closing)
        return begin, last + 1, self._lines[last][column + len(closing) :] if column >= 0 else ""

    def _find_end(self, tag: str, at: int) -> int | None:
        """Find the line where an element ends: a text that it holds may name its end before."""
        if self._last_ends.get(tag, -1) <= at:
            return None
        events = self._events[tag]
        depth, last = 1, None
        for n in range(bisect_right(events, (at, 1)), len(events)):
            line, step = events[n]
            if step > 0 and depth <= 0:
                break
            depth += step
            if step < 0:
                last = line
        return last


def _mark_programs(lines: Sequence[str], marked: list[bool]) -> None:
    """Mark what programs wrote, paragraph by paragraph."""
    start = 0
    diff_end = 0
    for end in range(len(lines) + 1):
        if end < len(lines) and not marked[end] and lines[end].strip():
            continue
        if diff_end <= start < end:
            diff_end = _mark_paragraph(lines, marked, start, end)
        start = end + 1


def _mark_paragraph(lines: Sequence[str], marked: list[bool], start: int, end: int) -> int:
    """Mark lines of one paragraph; give the line up to which a diff in it goes on."""
    bare = [line.strip()[:_MAX_READ_CHARS] for line in lines[start:end]]
    bare = ["" if _is_prompt_part(line) else line for line in bare]
    is_sure = [_PROGRAM.match(line) is not None for line in bare]
    prompt = next((n for n, line in enumerate(bare) if _PROMPT.match(line)), None)
    added = len(bare) - _is_added(lines, end)
    if prompt is not None:
        is_sure[prompt:added] = [True] * (added - prompt)
    if len(lines) > 1:
        is_sure = [
            sure or _CODE.match(line) is not None for sure, line in zip(is_sure, bare, strict=True)
        ]
    is_announced = start > 0 and _is_announced(lines, start)
    is_data = is_sure
    if len(bare) > 1 or is_announced:
        is_data = [sure or _may_be_data(line) for sure, line in zip(is_sure, bare, strict=True)]
    for n in range(len(bare)):
        beside = (n > 0 and is_data[n - 1]) or (n + 1 < len(bare) and is_data[n + 1])
        announced = is_announced if n == 0 else bare[n - 1].endswith(":")
        is_below = 0 < n < added and lines[start + n][:1] in (" ", "\t")
        continues = is_below and is_sure[n - 1]
        if is_sure[n] or (is_data[n] and (beside or announced)) or continues:
            marked[start + n] = True
            is_sure[n] = is_sure[n] or continues
    diff = next((n for n, line in enumerate(bare) if _DIFF_BEGIN.match(line)), None)
    return 0 if diff is None else _mark_diff(lines, marked, start + diff)


def _is_prompt_part(line: str) -> bool:
    element = re.match(_ELEMENT, line) if line.startswith("<") else None
    return element is not None and element["tag"].lower() in _PROMPT_PARTS


def _is_added(lines: Sequence[str], end: int) -> bool:
    """Whether a sentence was typed behind what was pasted: as the last line, behind one blank."""
    last = lines[end - 1]
    is_last = not any(lines[at].strip() for at in range(end, len(lines)))
    return is_last and last[:1] == " " and last[1:2].isalpha() and is_sentence(last)


def _is_announced(lines: Sequence[str], start: int) -> bool:
    before = next((lines[at] for at in range(start - 1, -1, -1) if lines[at].strip()), "")
    return before.rstrip().endswith((":", "："))


def _mark_diff(lines: Sequence[str], marked: list[bool], start: int) -> int:
    """Mark a diff, which may hold empty lines; give the line behind it."""
    at = start
    while at < len(lines):
        if lines[at].strip() or (at + 1 < len(lines) and _DIFF_GOES_ON.match(lines[at + 1])):
            if lines[at].strip() and not _DIFF_LINE.match(lines[at]):
                break
            marked[at] = True
            at += 1
        else:
            break
    return at


def _may_be_data(line: str) -> bool:
    """Tell whether a line may be a log's, code or figures rather than a sentence."""
    if _WEAK.match(line) or _CODE.match(line):
        return True
    return count_letters(line) < _MIN_LETTERS * len(line.replace(" ", ""))


def _mark_indented(lines: Sequence[str], marked: list[bool]) -> None:
    """Mark indented code: behind an empty line, and in no list."""
    margin = min((_indent(line) for line in lines if line.strip()), default=0)
    is_in_list = is_code = False
    is_after_blank = True
    for at, line in enumerate(lines):
        if not line.strip() or marked[at]:
            is_after_blank = True
            continue
        is_indented = _indent(line) - margin >= _CODE_INDENT
        is_item = _ITEM.match(line) is not None
        is_code = is_indented and not is_item and not is_in_list and (is_code or is_after_blank)
        marked[at] = is_code
        is_in_list = is_item or (is_in_list and _indent(line) > margin)
        is_after_blank = False


def _indent(line: str) -> int:
    wide = line.expandtabs(_CODE_INDENT)
    return len(wide) - len(wide.lstrip())
