"""What programs wrote in a text that a person or a model brings: logs, traces, diffs, tables, code,
what a shell printed; told line by line."""

import re
from collections.abc import Sequence

from ullage.core.text.lazy_pattern import lazy_pattern
from ullage.core.text.prose import count_letters, is_sentence

_MAX_READ_CHARS = 500
"""Of a line, to tell what it is (chosen)."""
_MIN_LETTERS = 0.55
"""Share of letters below which a line is data rather than language; tried on sessions."""
PROMPT_PARTS = frozenset(
    (
        *("constraints", "goal", "guidelines", "important", "instructions", "objective"),
        *("prompt", "question", "request", "requirements", "role", "rules", "steps", "task"),
    )
)
"""Elements in which people write what they ask for themselves, as models' makers advise."""
_USER_AND_HOST = (
    r"(?:\([\w.-]{1,40}\) ){0,3}\[?[\w.-]{1,60}@[\w.-]{1,60}[: ][\w~/.-]{0,80}(?: |\])?[$#%]"
)
_PROMPT = lazy_pattern(
    r"\$ [a-z./~]|" + _USER_AND_HOST + r"(?: \S|\Z)|PS [A-Z]:\\[^>\n]*>|"
    r"[A-Z]:\\[^>\n]*>|(?:\([\w.-]{1,40}\) )?➜ {1,3}\S|[a-z][\w.~/-]{2,60}\$ [a-z./~]|"
    r"❯ [a-z./~]|In \[\d+\]: |[⏺⎿] "
)
"""A command as a shell shows it; what follows is what it printed."""
PROMPT_BEHIND = lazy_pattern(r"(?<=:)\s?(" + _USER_AND_HOST + r" \S)")
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


def mark_programs(lines: Sequence[str], marked: list[bool]) -> None:
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
    return element is not None and element["tag"].lower() in PROMPT_PARTS


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
