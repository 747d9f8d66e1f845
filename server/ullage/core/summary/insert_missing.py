"""What a summary lacks of the facts, put into it word for word; and what a compaction loses."""

import re
from collections.abc import Iterable

import msgspec

from ullage.core.facts.facts import Facts
from ullage.core.facts.pins import PINNED, PINNED_BY_WORKSPACE, format_pin, is_workspace_pin
from ullage.core.facts.summary_sections import (
    LEFT_OUT,
    NONE,
    OPEN_REQUEST,
    limit_data_chars,
    mark_empty_sections,
    remove_point_mark,
)
from ullage.core.gauge.loss import KindLoss, Loss
from ullage.core.summary.audit import KINDS, Audit, Fact, FactKind, count_by_kind
from ullage.core.text.prose import collapse_spaces
from ullage.core.transcript.tokens import Count

SECTION_OF: dict[FactKind, str] = {
    "pin": PINNED,
    "constraint": "Constraints",
    "open item": "Remaining",
    "decision": "Decisions",
    "identifier": "Identifiers",
    "file": "Files",
}
"""The heading of the section that facts of a kind stand in."""
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


class CompletedSummary(msgspec.Struct, frozen=True, kw_only=True):
    text: str
    inserted: tuple[Fact, ...]
    left_out: tuple[Fact, ...]
    """What is missing still, for want of room."""


def insert_missing(
    summary: str, audit: Audit, *, budget_tokens: int, count: Count
) -> CompletedSummary:
    """Put into a summary what its audit misses, and take out what has no authority.

    Pins and the rules that the user typed always go in; all else where the budget has room. Secrets
    are to be masked afterwards: what is put in is as it stood.
    """
    text = _drop_misplaced(summary, audit.misplaced) if audit.misplaced else summary
    room_tokens = budget_tokens - count(text)
    inserted = _choose(audit.missing, room_tokens, _count_data_room(text), count)
    text = insert_facts(text, inserted)
    chosen = set(inserted)
    left_out = tuple(fact for fact in audit.missing if fact not in chosen)
    if inserted:
        text = _correct_note(text, {fact.kind for fact in left_out})
    return CompletedSummary(text=text, inserted=inserted, left_out=left_out)


def insert_facts(text: str, facts: Iterable[Fact]) -> str:
    """Add facts to the sections of their kinds, each line once."""
    lines: dict[str, dict[str, None]] = {SECTION_OF[kind]: {} for kind in KINDS}
    lines[PINNED_BY_WORKSPACE] = {}
    for fact in facts:
        is_workspaces = fact.kind == "pin" and is_workspace_pin(fact.text)
        section = PINNED_BY_WORKSPACE if is_workspaces else SECTION_OF[fact.kind]
        lines[section][_format_fact(fact)] = None
    for section, added in lines.items():
        if added:
            text = _insert_lines(text, section, added)
    return text


def measure_loss(
    audit: Audit,
    done: CompletedSummary,
    *,
    n_tokens_replaced: int,
    n_summary_tokens: int,
    n_asked_again: int,
) -> Loss:
    """Take the figures of one compaction; the summary's tokens are those after completion."""
    return Loss(
        n_inserted=len(done.inserted),
        n_left_out=len(set(audit.missing) - set(done.inserted)),
        n_tokens_replaced=n_tokens_replaced,
        n_summary_tokens=n_summary_tokens,
        n_invented=len(audit.invented),
        n_asked_again=n_asked_again,
        by_kind={kind: KindLoss(n_inserted=n) for kind, n in count_by_kind(done.inserted).items()},
    )


def count_asked_again(facts: Facts) -> int:
    """Count what was done again though the summary before told of it.

    That is files that were only read, and commands that failed once more.
    """
    if not facts.previous:
        return 0
    before = facts.previous[-1].lines
    files = {line.partition(" ")[2] for line in before["Files"]}
    n_read = sum(touch.path in files and not touch.is_modified for touch in facts.files)
    failed = {line.partition(" → ")[0] for line in before["Errors and cures"]}
    return n_read + sum(run.is_failed and run.command in failed for run in facts.runs)


def _count_data_room(summary: str) -> int:
    """Count the characters that identifiers may still take of a summary."""
    section = summary.partition(f"## {SECTION_OF['identifier']}\n")[2].partition("\n## ")[0]
    return limit_data_chars(len(summary) - len(section)) - len(section)


def _choose(
    missing: Iterable[Fact], room_tokens: int, n_data_chars: int, count: Count
) -> tuple[Fact, ...]:
    """Choose what goes in, a line once for all the facts that it holds."""
    chosen: list[Fact] = []
    written: set[str] = set()
    n_used = 0
    for fact in sorted(missing, key=lambda fact: (not fact.is_required, KINDS.index(fact.kind))):
        line = _format_fact(fact)
        if line not in written:
            n_line = count(line) + 1
            if not fact.is_required and n_used + n_line > room_tokens:
                continue
            if fact.kind == "identifier":
                if len(line) + 1 > n_data_chars:
                    continue
                n_data_chars -= len(line) + 1
            n_used += n_line
            written.add(line)
        chosen.append(fact)
    return tuple(chosen)


def _format_fact(fact: Fact) -> str:
    return format_pin(fact.text) if fact.kind == "pin" else f"- {fact.text}"


def _insert_lines(text: str, section: str, lines: Iterable[str]) -> str:
    """Add lines to a section, which is made where the summary has none of this name."""
    body = "\n".join(lines)
    heading = re.search(rf"^## {section}[ \t]*(?:\n|\Z)", text, re.MULTILINE)
    if heading is None:
        if section == PINNED:
            return f"## {PINNED}\n{body}\n\n{text}"
        return f"{text.rstrip()}\n\n## {section}\n{body}\n".lstrip("\n")
    following = re.compile(r"^(?:#|</)", re.MULTILINE).search(text, heading.end())
    end = following.start() if following else len(text)
    before = text[heading.end() : end].rstrip()
    before = "" if before == NONE else before + "\n" if before else ""
    gap = "\n\n" if following else "\n"
    return f"{text[: heading.start()]}## {section}\n{before}{body}{gap}{text[end:]}"


def _drop_misplaced(text: str, misplaced: Iterable[str]) -> str:
    """Drop the lines that claim an authority which they do not have."""
    dropped = set(map(collapse_spaces, misplaced))
    kept: list[str] = []
    for line in text.split("\n"):
        point = collapse_spaces(remove_point_mark(line.lstrip()))
        if point not in dropped and point.removeprefix(OPEN_REQUEST) not in dropped:
            kept.append(line)
    return mark_empty_sections(kept)


def _correct_note(text: str, left_out: set[FactKind]) -> str:
    """Keep of the note on what the budget left out only what is still left out."""
    note = _NOTE.search(text)
    if note is None:
        return text
    parts = [part for part in note[1].split(", ") if _NOTED_AS[part.split(" ")[1]] in left_out]
    line = f"- {LEFT_OUT}{', '.join(parts)})\n" if parts else ""
    return text[: note.start()] + line + text[note.end() :]
