"""What an edited proposal would lose, invents or repeats, as findings at its places."""

import re
from collections.abc import Iterable, Iterator
from typing import Final

import msgspec

from ullage.core.summary.audit import Audit
from ullage.core.summary.audit_facts import KINDS, Fact, FactKind
from ullage.core.summary.insert_missing import format_fact, insert_lines, name_section
from ullage.core.summary.preview_text import Proposal
from ullage.core.text.prose import gist

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
STALE: Final = "preview-stale-value"
MARKER_MISSING: Final = "preview-marker-missing"
OUTDATED: Final = "preview-outdated"
REPLACED: Final = "preview-replaced"
HINDRANCES: Final[dict[str, str]] = {
    OUTDATED: "the session went on",
    REPLACED: "another summary was proposed since",
    MARKER_MISSING: "the line that ends the summary is missing",
}
"""Why a proposal cannot be applied, by what is found at it."""
_NAMES: dict[FactKind, str] = {
    "pin": "The pin",
    "constraint": "The rule",
    "open item": "The open item",
    "decision": "The decision",
    "identifier": "The identifier",
    "file": "The file",
}
_KEPT_HEADING = re.compile(r"^## Kept as it is: ", re.MULTILINE)


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


def find_outdated(proposed: Proposal) -> PreviewFinding:
    """Say that the session went on since the proposal was made."""
    return PreviewFinding(
        code=OUTDATED,
        start=0,
        end=_line_end(proposed.text, 0),
        message="The session went on since this was proposed: regenerate it before it is applied.",
    )


def find_marker_fault(proposed: Proposal, marker: str) -> PreviewFinding | None:
    """Say that the marker is missing or another's; one that is missing can be put back."""
    if proposed.marker == marker:
        return None
    text = proposed.text
    if proposed.marker is not None:
        return PreviewFinding(
            code=REPLACED,
            start=proposed.n_above,
            end=_line_end(text, proposed.n_above),
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


def check_proposal(proposed: Proposal, found: Audit) -> tuple[PreviewFinding, ...]:
    """Turn the audit of what stands above the marker into findings in the whole text."""
    above = proposed.text[: proposed.n_above]
    findings = list(_find_lost(above, found.missing))
    findings += _find_names(above, found.invented, INVENTED, "stands nowhere in these messages")
    findings += _find_names(above, found.stale, STALE, "was replaced by a later value")
    return tuple(findings[:MAX_FINDINGS])


def insert_all(proposed: Proposal, missing: Iterable[Fact]) -> Change | None:
    """Give the one change that puts in all that is lost; None where nothing is."""
    return _make_insertion(
        proposed.text[: proposed.n_above], tuple(missing), "Insert all that would be lost"
    )


def _find_lost(summary: str, missing: Iterable[Fact]) -> Iterator[PreviewFinding]:
    for fact in missing:
        start = _section_start(summary, name_section(fact.kind))
        lost = fact.needle if fact.kind in ("identifier", "file") else fact.text
        # Several are found at one heading: only their words tell the fixes apart.
        change = _make_insertion(summary, (fact,), f"Insert “{gist(lost, 60)}”")
        yield PreviewFinding(
            code=LOST_CODES[fact.kind],
            start=start,
            end=_line_end(summary, start),
            message=f"{_NAMES[fact.kind]} would be lost: {gist(lost, 160)}",
            fixes=() if change is None else (change,),
        )


def _find_names(
    summary: str, names: Iterable[str], code: str, what: str
) -> Iterator[PreviewFinding]:
    for name in names:
        start = max(0, summary.lower().find(name.lower()))
        yield PreviewFinding(
            code=code, start=start, end=start + len(name), message=f"{gist(name, 160)} {what}."
        )


def _make_insertion(summary: str, facts: tuple[Fact, ...], title: str) -> Change | None:
    """Compare a summary with one that has the facts: what differs is in one place, or spans all."""
    whole = summary
    for kind in KINDS:
        lines = dict.fromkeys(format_fact(fact) for fact in facts if fact.kind == kind)
        if lines:
            whole = insert_lines(whole, name_section(kind), lines)
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


def _count_common(one: str, other: str) -> int:
    """Count the characters with which both begin, halving: slices are compared at once."""
    low, high = 0, min(len(one), len(other))
    while low < high:
        middle = (low + high + 1) // 2
        if one[low:middle] == other[low:middle]:
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
