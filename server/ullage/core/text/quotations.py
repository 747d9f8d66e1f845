"""Quotations: what a message shows rather than says, told by its structure alone.

Quoted are fences, lines marked with `>`, blocks of markup, indented code, and lines that a program
wrote: logs, traces, diffs, tables, what a shell printed. Nothing in them is said by whoever quotes
them (docs/design/summaries.md, "Who may say what"). It reads text whose secrets are masked: a part
of a secret is no longer recognized.
"""

from bisect import bisect_right
from collections.abc import Sequence
from functools import lru_cache

import msgspec

from ullage.core.text.lazy_pattern import lazy_pattern
from ullage.core.text.program_output import PROMPT_BEHIND, PROMPT_PARTS, mark_programs
from ullage.core.text.prose import PASTED, gist

_MAX_CACHED = 4096
"""Messages that are remembered: a session that is followed is read again and again."""
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
_NAMED = lazy_pattern(r"[ \t]+\S")
_CLOSING = lazy_pattern(r"</([A-Za-z][\w.:-]{0,60})\s*>")
_SENTENCE_END = lazy_pattern(r"[.!?。！？؟:][\"'”’)\]*`]{0,3}\s*\Z")


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
            prompt = PROMPT_BEHIND.search(line) if "@" in line else None
            cut = len(line) if prompt is None else prompt.start(1)
            parts = [line] if prompt is None else [line[:cut].rstrip(), line[cut:]]
            shown += parts
            marked += [False] * len(parts)
            at += 1
            continue
        shown += lines[at:end]
        marked += [True] * (end - at)
        at = end
    mark_programs(shown, marked)
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
        if opening is not None and opening["tag"].lower() in PROMPT_PARTS:
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
