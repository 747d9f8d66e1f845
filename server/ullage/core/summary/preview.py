"""A previewed compaction: its two texts, and what an edited proposal would lose or invent."""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from hashlib import sha256
from typing import Final, TypeAlias

import msgspec

from ullage.core.facts.tool_calls import describe_call
from ullage.core.summary.audit import Audit, Fact, FactKind
from ullage.core.summary.insert_missing import SECTION_OF, insert_facts
from ullage.core.text.prose import gist, plural
from ullage.core.text.quoting import one_line
from ullage.core.transcript.context import ContextItem
from ullage.core.transcript.entries import Image, Text, Thinking, ToolCall, ToolResult, result_text

MARKER: Final = "<!-- Ullage: what follows stays as it is; only the text above is the summary"
"""How the line begins that ends the summary; its end names the proposal, by what that said."""
MAX_MESSAGE_CHARS: Final = 4_000
"""Shown of one message; a reader wants to know what it was, not to read a log (chosen)."""
MAX_WHOLE_CHARS: Final = 400_000
"""Beyond these, messages have a line each: editors turn off folding and diffs (chosen)."""
_CALL_CHARS: Final = 60
"""Shown of what a call was about (chosen)."""
MAX_GIST_CHARS: Final = 160

Age: TypeAlias = Callable[[int | None], str]
"""Says how long ago something was, by its milliseconds."""

_LINE_BREAK = re.compile(r"\r\n|\r|\n")
_MARKER_LINE = re.compile(
    rf"^[ \t]*({re.escape(MARKER)} \([0-9a-f]{{12}}\) -->)[ \t]*$", re.MULTILINE
)
MAX_FINDINGS: Final = 200
"""More than an editor's list is read to its end (chosen); `Insert all` knows them all."""
LOST_CODES: Final[dict[FactKind, str]] = {
    "pin": "preview-lost-pin",
    "constraint": "preview-lost-constraint",
    "open item": "preview-lost-open-item",
    "decision": "preview-lost-decision",
    "identifier": "preview-lost-identifier",
    "file": "preview-lost-file",
}
INVENTED: Final = "preview-invented"
MARKER_MISSING: Final = "preview-marker-missing"
OUTDATED: Final = "preview-outdated"
REPLACED: Final = "preview-replaced"
HINDRANCES: Final[dict[str, str]] = {
    OUTDATED: "the session went on",
    REPLACED: "another summary was proposed since",
    MARKER_MISSING: "the line that ends the summary is missing",
}
"""Why a proposal cannot be applied, by what is found at it."""
_NAMES: dict[FactKind, str] = {"constraint": "rule"}
_MESSAGE_HEADING = re.compile(r"^## \d+\. ", re.MULTILINE)
_MESSAGE_LINE = re.compile(r"^- ", re.MULTILINE)
_KEPT_HEADING = re.compile(r"^## Kept as it is: ", re.MULTILINE)


class Proposal(msgspec.Struct, frozen=True, kw_only=True):
    """A proposal as the user left it."""

    summary: str
    """What stands above the marker; all of it where there is none."""
    marker: str | None
    """The line that ends the summary; None where there is none."""
    is_edited: bool
    """Whether it says something else than when it was proposed."""
    text: str
    """The whole, with `\\n` alone as its line ends."""
    n_above: int
    """Characters of it above the marker."""


def write_before(
    replaced: Sequence[ContextItem], kept: Sequence[ContextItem], age: Age, marker: str
) -> str:
    """Write the messages that go, in their order, and below the marker those that stay.

    The messages are without secrets.
    """
    return "\n".join((write_messages(replaced, age), "", marker, "", *_list_kept(kept, age), ""))


def write_messages(items: Sequence[ContextItem], age: Age) -> str:
    """Write messages one below the other, the last of very many in a line each.

    Their text is quoted, so that none of its lines passes for one of our own.
    """
    parts: list[str] = []
    n_chars = 0
    for number, item in enumerate(items, 1):
        part = (
            _write_message(number, item, age, _describe_blocks(item, MAX_MESSAGE_CHARS))
            if n_chars < MAX_WHOLE_CHARS
            else _write_line(item, age)
        )
        n_chars += len(part)
        parts.append(part)
    return "\n".join(parts)


def write_entry(items: Sequence[ContextItem], age: Age) -> str:
    """Write the messages of one entry whole, with calls and outputs, as a reader of it wants."""
    return "\n".join(
        _write_message(number, item, age, _list_whole(item)) for number, item in enumerate(items, 1)
    )


def write_proposal(
    summary: str, kept: Sequence[ContextItem], age: Age, notes: Sequence[str] = ()
) -> str:
    """Write the summary, the marker, and what stays, which is the same as in `write_before`.

    `notes` tell why no model wrote it, and what is added to the daily log before, if anything is.
    """
    noted = (*(one_line(line) for line in notes), "") if notes else ()
    above = summary.strip("\n") + "\n\n"
    below = "\n".join(("\n", *noted, *_list_kept(kept, age), ""))
    return above + _write_marker(above + below) + below


def find_message_line(before: str, number: int) -> int:
    """Give the line, from 0, at which a message begins, by its number in `write_before`."""
    headings = [match.start() for match in _MESSAGE_HEADING.finditer(before)]
    if number <= len(headings):
        return before.count("\n", 0, headings[number - 1])
    # What has a line of its own follows those that have a heading.
    start = headings[-1] if headings else 0
    lines = [match.start() for match in _MESSAGE_LINE.finditer(before, start)]
    at = min(number - len(headings), len(lines)) - 1
    return before.count("\n", 0, lines[at]) if lines else 0


def read_proposal(text: str) -> Proposal:
    """Part what the user left of a proposal at the marker.

    The last one counts: what follows holds only our own points.
    """
    text = _LINE_BREAK.sub("\n", text)
    markers = list(_MARKER_LINE.finditer(text))
    start, end = markers[-1].span() if markers else (len(text), len(text))
    marker = markers[-1][1] if markers else None
    return Proposal(
        summary=text[:start].strip("\n"),
        marker=marker,
        is_edited=marker != _write_marker(text[:start] + text[end:]),
        text=text,
        n_above=start,
    )


def write_kept_heading(n_kept: int) -> str:
    return f"## Kept as it is: {plural(n_kept, 'message')}"


def _write_marker(rest: str) -> str:
    """Write the line for the text around it, whatever line ends an editor writes there."""
    data = _LINE_BREAK.sub("\n", rest).encode("utf-8", "replace")
    return f"{MARKER} ({sha256(data).hexdigest()[:12]}) -->"


def _list_kept(kept: Sequence[ContextItem], age: Age) -> Iterator[str]:
    yield write_kept_heading(len(kept))
    yield ""
    for item in kept:
        yield _write_line(item, age)


def _write_line(item: ContextItem, age: Age) -> str:
    text = " ".join(_describe_blocks(item))
    return f"- {_write_head(item, age)}: {one_line(gist(text, MAX_GIST_CHARS)) or '(nothing)'}"


def _write_head(item: ContextItem, age: Age) -> str:
    return f"{item.category.capitalize()} · {age(item.at_ms)}"


def _write_message(number: int, item: ContextItem, age: Age, texts: Iterable[str]) -> str:
    lines = [f"## {number}. {_write_head(item, age)}", ""]
    for text in texts:
        lines += (f"> {one_line(line)}".rstrip() for line in _LINE_BREAK.split(text))
        lines.append("")
    return "\n".join(lines)


def _describe_blocks(item: ContextItem, max_chars: int = MAX_GIST_CHARS) -> Iterator[str]:
    """Tell what each part of a message is: words as they are, calls and outputs in one line."""
    for block in item.message.blocks:
        match block:
            case Text():
                if block.text.strip():
                    yield _shorten(block.text.strip("\r\n"), max_chars)
            case Thinking():
                yield f"(thinking, {len(block.text):,} characters)"
            case Image():
                yield f"(image, {block.media_type})"
            case ToolCall():
                yield f"`{block.name}` {describe_call(block).cut(_CALL_CHARS)}".rstrip()
            case ToolResult():
                yield _describe_output(block)


def _list_whole(item: ContextItem) -> Iterator[str]:
    for block in item.message.blocks:
        match block:
            case Text() | Thinking():
                yield _shorten(block.text.strip("\r\n"), MAX_WHOLE_CHARS)
            case Image():
                yield f"(image, {block.media_type})"
            case ToolCall():
                yield f"`{block.name}` {_shorten(block.arguments, MAX_WHOLE_CHARS)}"
            case ToolResult():
                yield _write_output_head(block)
                yield _shorten(result_text(block), MAX_WHOLE_CHARS)


def _describe_output(result: ToolResult) -> str:
    shown = gist(result_text(result), MAX_GIST_CHARS)
    return f"{_write_output_head(result)}{f': {shown}' if shown else ''}"


def _write_output_head(result: ToolResult) -> str:
    n_images = sum(isinstance(part, Image) for part in result.content)
    name = f"`{result.name}` " if result.name else ""
    what = "error" if result.is_error else "output"
    images = f", {plural(n_images, 'image')}" if n_images else ""
    return f"{name}{what}, {len(result_text(result)):,} characters{images}"


def _shorten(text: str, n_chars: int) -> str:
    if len(text) <= n_chars:
        return text
    return f"{text[:n_chars]}…\n(and {len(text) - n_chars:,} characters more)"


class Change(msgspec.Struct, frozen=True, kw_only=True):
    """A change of the text that settles a finding, by offsets in characters."""

    title: str
    start: int
    end: int
    new_text: str


class PreviewFinding(msgspec.Struct, frozen=True, kw_only=True):
    code: str
    start: int
    """Offset in characters of `Proposal.text`, as `end`."""
    end: int
    message: str
    fixes: tuple[Change, ...] = ()


def find_outdated(proposal: Proposal) -> PreviewFinding:
    """Say that the session went on since the proposal was made."""
    return PreviewFinding(
        code=OUTDATED,
        start=0,
        end=_line_end(proposal.text, 0),
        message="The session went on since this was proposed: regenerate it before it is applied.",
    )


def find_marker_fault(proposal: Proposal, marker: str) -> PreviewFinding | None:
    """Say that the marker is missing or another's; one that is missing can be put back."""
    if proposal.marker == marker:
        return None
    text = proposal.text
    if proposal.marker is not None:
        return PreviewFinding(
            code=REPLACED,
            start=proposal.n_above,
            end=_line_end(text, proposal.n_above),
            message="Another summary was proposed since this one: reload the document.",
        )
    headings = list(_KEPT_HEADING.finditer(text))
    at = headings[-1].start() if headings else len(text)
    gap = "" if at == 0 or text[at - 1] == "\n" else "\n"
    return PreviewFinding(
        code=MARKER_MISSING,
        start=at,
        end=_line_end(text, at),
        message="The line that ends the summary is missing: without it nothing is applied.",
        fixes=(Change(title="Put the line back", start=at, end=at, new_text=f"{gap}{marker}\n\n"),),
    )


def check_proposal(proposal: Proposal, audit: Audit) -> tuple[PreviewFinding, ...]:
    """Turn the audit of what stands above the marker into findings in the whole text."""
    above = proposal.text[: proposal.n_above]
    findings = list(_find_lost(above, audit.missing))
    findings += _find_invented(above, audit.invented)
    return tuple(findings[:MAX_FINDINGS])


def insert_all(proposal: Proposal, missing: Iterable[Fact]) -> Change | None:
    """Give the one change that puts in all that is lost; None where nothing is."""
    above = proposal.text[: proposal.n_above]
    return _make_insertion(above, missing, "Insert all that would be lost")


def _find_lost(summary: str, missing: Iterable[Fact]) -> Iterator[PreviewFinding]:
    for fact in missing:
        start = _section_start(summary, SECTION_OF[fact.kind])
        lost = fact.needle if fact.kind in ("identifier", "file") else fact.text
        # Several are found at one heading: only their words tell the fixes apart.
        change = _make_insertion(summary, (fact,), f"Insert “{gist(lost, 60)}”")
        yield PreviewFinding(
            code=LOST_CODES[fact.kind],
            start=start,
            end=_line_end(summary, start),
            message=f"The {_NAMES.get(fact.kind, fact.kind)} would be lost: {gist(lost, 160)}",
            fixes=() if change is None else (change,),
        )


def _find_invented(summary: str, names: Iterable[str]) -> Iterator[PreviewFinding]:
    for name in names:
        start = max(0, summary.lower().find(name.lower()))
        yield PreviewFinding(
            code=INVENTED,
            start=start,
            end=start + len(name),
            message=f"{gist(name, 160)} stands nowhere in these messages.",
        )


def _make_insertion(summary: str, facts: Iterable[Fact], title: str) -> Change | None:
    """Compare a summary with one that has the facts: what differs is in one place, or spans all."""
    whole = insert_facts(summary, facts)
    if whole == summary:
        return None
    # Of whole lines, as a user would write them.
    start = summary.rfind("\n", 0, _count_common(summary, whole)) + 1
    rest, whole_rest = summary[start:], whole[start:]
    n_end = _count_common(rest[::-1], whole_rest[::-1])
    return Change(
        title=title,
        start=start,
        end=len(summary) - n_end,
        new_text=whole_rest[: len(whole_rest) - n_end],
    )


def _count_common(left: str, right: str) -> int:
    """Count the characters with which both begin, halving: slices are compared at once."""
    low, high = 0, min(len(left), len(right))
    while low < high:
        middle = (low + high + 1) // 2
        if left[low:middle] == right[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low


def _section_start(summary: str, section: str) -> int:
    heading = re.search(rf"^## {re.escape(section)}[ \t]*$", summary, re.MULTILINE)
    return 0 if heading is None else heading.start()


def _line_end(text: str, start: int) -> int:
    end = text.find("\n", start)
    return len(text) if end < 0 else end
