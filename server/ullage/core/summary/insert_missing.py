"""Completion: what a summary lacks of the facts is put into it word for word."""

import re
from collections.abc import Iterable, Iterator

import msgspec

from ullage.core.facts.pins import PINNED, format_pin
from ullage.core.facts.previous_summary import LEFT_OUT, NONE, OPEN_REQUEST, SECTIONS
from ullage.core.summary.audit import Audit, collapse_spaces
from ullage.core.summary.audit_facts import KINDS, Fact, FactKind
from ullage.core.transcript.tokens import Count

EXTRA_SHARE = 4
"""What is put in may take a quarter of the summary's budget beside it; chosen."""
RULES_EXTRA_SHARE = 2
"""Rules found in pasted documents may take half of it; chosen."""
MIN_EXTRA_TOKENS = 200
_SECTION_OF: dict[FactKind, str] = {
    "pin": PINNED,
    "constraint": "Constraints",
    "open item": "Remaining",
    "decision": "Decisions",
    "identifier": "Identifiers",
    "file": "Files",
}
_NOTED_AS: dict[str, FactKind] = {
    "constraints": "constraint",
    "decisions": "decision",
    "open": "open item",
    "files": "file",
}
"""The first word by which the note of what the budget left out calls the kinds."""
_NOTE = re.compile(
    rf"^- {re.escape(LEFT_OUT)}((?:\d+ (?:constraints|decisions|open points|files)(?:, )?)+)\)\n",
    re.MULTILINE,
)
_POINT = re.compile(r"\s*(?:[-*+•]|\d{1,3}[.)])\s{1,4}(?:\[[ xX]\]\s)?")


class CompletedSummary(msgspec.Struct, frozen=True, kw_only=True):
    text: str
    inserted: tuple[Fact, ...]
    left_out: tuple[Fact, ...]
    """What is missing still, for want of room."""


def insert_missing(
    summary: str, audit: Audit, *, budget_tokens: int, count: Count
) -> CompletedSummary:
    """Put into a summary what its audit misses, and take out what has no authority.

    Pins and the rules that the user typed always go in; all else within a share of the
    summary's budget. Secrets are to be masked afterwards: what is put in is as it stood.
    """
    inserted = _choose(audit.missing, budget_tokens, count)
    text = _drop_misplaced(summary, audit.misplaced) if audit.misplaced else summary
    for kind in KINDS:
        lines = dict.fromkeys(format_fact(fact) for fact in inserted if fact.kind == kind)
        if lines:
            text = insert_lines(text, _SECTION_OF[kind], lines)
    chosen = set(inserted)
    left_out = tuple(fact for fact in audit.missing if fact not in chosen)
    if inserted:
        text = _correct_note(text, {fact.kind for fact in left_out})
    return CompletedSummary(text=text, inserted=inserted, left_out=left_out)


def _choose(missing: Iterable[Fact], budget_tokens: int, count: Count) -> tuple[Fact, ...]:
    """Choose what goes in, a line once for all the facts that it holds."""
    chosen: list[Fact] = []
    written: set[str] = set()
    n_used = 0
    for fact in sorted(missing, key=lambda fact: (not fact.is_required, KINDS.index(fact.kind))):
        line = format_fact(fact)
        if line not in written:
            n_line = count(line) + 1
            share = RULES_EXTRA_SHARE if fact.kind == "constraint" else EXTRA_SHARE
            room = max(MIN_EXTRA_TOKENS, budget_tokens // share)
            if not fact.is_required and n_used + n_line > room:
                continue
            n_used += 0 if fact.is_required else n_line
            written.add(line)
        chosen.append(fact)
    return tuple(chosen)


def name_section(kind: FactKind) -> str:
    """Give the heading of the section that facts of a kind stand in."""
    return _SECTION_OF[kind]


def format_fact(fact: Fact) -> str:
    """Write a fact as the point that is inserted for it."""
    return format_pin(fact.text) if fact.kind == "pin" else f"- {fact.text}"


def insert_lines(text: str, section: str, lines: Iterable[str]) -> str:
    """Add lines to a section, which is made where the summary has none of this name."""
    body = "\n".join(lines)
    heading = re.search(rf"^## {section}[ \t]*(?:\n|\Z)", text, re.MULTILINE)
    if heading is None:
        if section == PINNED:
            return f"## {PINNED}\n{body}\n\n{text}"
        return f"{text.rstrip()}\n\n## {section}\n{body}\n".lstrip("\n")
    following = re.compile(r"^(?:#|</)", re.MULTILINE).search(text, heading.end())
    end = following.start() if following else len(text)
    known = text[heading.end() : end].rstrip()
    known = "" if known == NONE else known + "\n" if known else ""
    gap = "\n\n" if following else "\n"
    return f"{text[: heading.start()]}## {section}\n{known}{body}{gap}{text[end:]}"


def _drop_misplaced(text: str, misplaced: Iterable[str]) -> str:
    """Drop the lines that claim an authority which they do not have."""
    dropped = {collapse_spaces(line) for line in misplaced}
    kept: list[str] = []
    for line in text.split("\n"):
        point = _POINT.match(line)
        bare = collapse_spaces(line[point.end() :] if point else line)
        if bare not in dropped and bare.removeprefix(OPEN_REQUEST) not in dropped:
            kept.append(line)
    return "\n".join(_mark_empty(kept))


def _mark_empty(lines: list[str]) -> Iterator[str]:
    """Say of our sections that they are empty where their last line went."""
    headings = {f"## {name}" for name in SECTIONS}
    for at, line in enumerate(lines):
        yield line
        following = lines[at + 1] if at + 1 < len(lines) else ""
        if line in headings and (not following.strip() or following in headings):
            yield NONE


def _correct_note(text: str, left_out: set[FactKind]) -> str:
    """Keep of the note on what the budget left out only what is still left out."""
    note = _NOTE.search(text)
    if note is None:
        return text
    told = [part for part in note[1].split(", ") if _NOTED_AS[part.split(" ")[1]] in left_out]
    line = f"- {LEFT_OUT}{', '.join(told)})\n" if told else ""
    return text[: note.start()] + line + text[note.end() :]
