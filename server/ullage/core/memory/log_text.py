"""What a flush writes into the daily log: points in sections, and how they are read back."""

import hashlib
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from operator import itemgetter
from typing import Literal, TypeAlias, get_args

import msgspec

from ullage.core.facts.collect import collect_facts
from ullage.core.facts.facts import Facts
from ullage.core.facts.summary_sections import ASKED, REPLACED
from ullage.core.facts.task_state import FAILING, read_task_state
from ullage.core.memory.flush import Epoch
from ullage.core.memory.origin import Origin, normalize_line
from ullage.core.summary.summary_lines import COMPLETED, DECISIONS, Line, list_lines
from ullage.core.text.prose import MAX_SENTENCE_CHARS, gist
from ullage.core.text.quotations import read_own_words
from ullage.core.text.quoting import quote_as_data
from ullage.core.text.sentences import leave_out_quoted_words
from ullage.core.transcript.context import ContextItem
from ullage.core.transcript.speech import read_speech

Section: TypeAlias = Literal[
    "Task Progress", "Important Decisions", "Issues Found", "User Preferences", "Notes"
]
SECTIONS: tuple[Section, ...] = get_args(Section)
"""Those of docs/design/memory.md, "The daily log"."""
MAX_POINT_CHARS = MAX_SENTENCE_CHARS
MAX_POINTS = 40
"""Of a model's answer; chosen: a log is read by the agent at every start, and an epoch has few
things that last. No rule of the user is longer than a sentence, and none is cut."""
_NOT_NAMES = re.compile(r"[^A-Za-z0-9._:@+/-]|-(?=-)|-\Z")
_HEADING_WORDS: tuple[tuple[Section, tuple[str, ...]], ...] = (
    ("User Preferences", ("preference", "constraint", "rule", "user")),
    ("Important Decisions", ("decision", "rationale", "choice")),
    ("Task Progress", ("progress", "task", "completed", "remaining", "done", "next", "status")),
    ("Issues Found", ("issue", "found", "fact", "finding", "problem", "discover", "error")),
    ("Notes", ("note", "other", "information", "misc")),
)
"""Words in the headings of models that did not keep to ours, first match wins."""
_HEADING = re.compile(r"(?:#{1,6}\s{1,3})?(?:\*\*|__)?([^\n*_#]{3,60}?)(?:\*\*|__)?:?(?:\*\*|__)?")
_POINT = re.compile(r"\A\s*(?:(?:[-*+•]|\d{1,3}[.)])\s{1,4}(?:\[[ xX]\]\s{1,4})?)+")
_NONE = ("none", "n/a", "nothing", "nothing new", "no new information")
_MIN_DONE_PRIORITY = 200.0
"""Of a summary's line on what was done; below it a remark stands there. Tried on sessions."""
_FILES_A_POINT = 8
_MAX_PICKED_CHARS = 300
_LABEL = re.compile(r"\A(?:Completed|Remaining|Changed|Failing): ")
_FAILED = "Failing: "
_REMAINING = re.compile(r"remaining\b", re.IGNORECASE)


class LogPoint(msgspec.Struct, frozen=True, kw_only=True):
    section: Section
    text: str
    """One line."""
    is_aside: bool = False
    """Whether it says something only beside other points."""
    origin: Origin = "agent"
    """Whose words it is; a model that puts it together is the agent's."""


def make_point(section: Section, text: str, *, is_aside: bool = False) -> LogPoint:
    """Make a point of a text, or a line of a list: one line of data, as agents read the log."""
    flat = _POINT.sub("", gist(quote_as_data(text), MAX_POINT_CHARS)).strip()
    return LogPoint(section=section, text=flat, is_aside=is_aside)


def tell_origins(points: Iterable[LogPoint], items: Sequence[ContextItem]) -> tuple[LogPoint, ...]:
    """Tell the points that are a person's typed words, and those that are a tool's."""
    spoken = (read_own_words(read_speech(item, "typed")) for item in items)
    typed = normalize_line(quote_as_data("\n".join(spoken)))

    def tell(point: LogPoint) -> Origin:
        if point.text.startswith(_FAILED):
            return "tool"
        words = normalize_line(_LABEL.sub("", point.text))
        return "user" if words in typed else "agent"

    return tuple(msgspec.structs.replace(point, origin=tell(point)) for point in points)


def format_block(points: Sequence[LogPoint], *, time: str, title: str, marker: str) -> str:
    """Write points as a part of the log, with LF; `time` is HH:MM, the marker comes last."""
    parts = [f"## {time} — {title}\n"]
    for section in SECTIONS:
        lines = [f"- {point.text}\n" for point in points if point.section == section]
        if lines:
            parts.append(f"\n**{section}:**\n{''.join(lines)}")
    return "".join((*parts, f"\n{marker}\n"))


def write_flush_marker(session_key: str, epoch: Epoch | None) -> str:
    """Name a flush by its session, epoch and turn, in a comment that no reader of the log sees.

    Without an epoch it was asked for, and may stand in a log any number of times.
    """
    name = _NOT_NAMES.sub("_", session_key)
    if name != session_key:
        name += f"-{_short_hash(session_key)}"
    which = "on request"
    if epoch is not None:
        which = f"epoch {epoch.n_compactions} turn {_short_hash(epoch.turn_id or '')}"
    return f"<!-- ullage flush {name} {which} -->"


def write_store_marker(by: str) -> str:
    """Name who had a part of a log stored, in a comment that no reader of the log sees."""
    return f"<!-- ullage stored by {by} -->"


def read_points(text: str) -> tuple[LogPoint, ...]:
    """Read what a model answered; lines below no heading that we know are notes."""
    points: list[LogPoint] = []
    section: Section = "Notes"
    for raw in text.split("\n"):
        line = raw.strip()
        if not line or line.startswith(("<!--", "```", "---", "# ")):
            continue
        heading = None if _POINT.match(raw) else _read_heading(line)
        if heading is not None:
            section, line = heading
        point = make_point(section, line)
        if point.text.strip("().*_ ").lower() not in ("", *_NONE):
            points.append(point)
    return tuple(points[:MAX_POINTS])


def _read_heading(line: str) -> tuple[Section, str] | None:
    """Read a heading, with what stands behind it on its line."""
    marks = ("#", "**", "__")
    head, colon, rest = line.partition(":")
    for candidate, behind in ((line, ""), (head + colon, rest.removeprefix("**"))):
        named = _HEADING.fullmatch(candidate)
        is_marked = candidate.startswith(marks) or candidate.endswith(":")
        section = _section_of(named[1]) if named and is_marked else None
        if section is not None:
            return section, behind.strip()
    if line.startswith("#"):
        # The time of the block, or a heading of the model's own.
        return "Notes", ""
    return None


def _section_of(heading: str) -> Section | None:
    lower = heading.strip().lower()
    for section, words in _HEADING_WORDS:
        if any(word in lower for word in words):
            return section
    return None


def make_digest(text: str) -> str:
    """Give what is alike for a point however it is spaced, marked or capitalized."""
    words = " ".join(_POINT.sub("", text).casefold().split())
    return hashlib.sha256(words.encode("utf-8", "surrogatepass")).hexdigest()[:12]


def _short_hash(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:8]


def list_digests(log: str) -> Iterator[str]:
    """Give the digests of all points in a log, also those that others wrote."""
    return (make_digest(line) for line in log.split("\n") if _POINT.match(line))


def count_points(log: str) -> int:
    return sum(1 for _ in list_digests(log))


def drop_written(points: Iterable[LogPoint], written: frozenset[str]) -> tuple[LogPoint, ...]:
    """Drop points written before, repeated, or with no meaning of their own."""
    fresh = {key: p for p in points if (key := make_digest(p.text)) not in written and p.text}
    kept = tuple(fresh.values())
    return kept if any(not p.is_aside for p in kept) else ()


def pick_memory_points(items: Sequence[ContextItem]) -> tuple[LogPoint, ...]:
    """Pick points from messages whose secrets are masked, in each section the oldest first.

    Nothing is left out for its number: what a compaction hides is never seen again. Preferences are
    the user's own words. What tools returned states none, no decisions and no open items
    (`core.facts`); of failed commands only the line of the error is told.
    """
    # An earlier summary tells of an epoch that had its own flush.
    spoken = [item for item in items if item.category != "summary"]
    facts = collect_facts(spoken)
    lines = sorted(list_lines(facts, spoken), key=lambda line: line.order)
    texts: tuple[tuple[Section, Iterable[str]], ...] = (
        ("Task Progress", _list_progress(facts, lines)),
        ("Important Decisions", (line.text for line in lines if line.section == DECISIONS)),
        ("Issues Found", _list_issues(facts)),
        # A pasted document states rules of its own, which the user may only be asking about.
        ("User Preferences", (rule.text for rule in facts.rules if not rule.is_bulk)),
    )
    tasks = [gist(turn.ask, _MAX_PICKED_CHARS) for turn in facts.requests[:1]]
    tasks.append(read_task_state(facts).topic)
    return (
        *(
            make_point("Task Progress", task, is_aside=True)
            for task in _drop_contained(filter(None, tasks))
        ),
        *(make_point(section, text) for section, own in texts for text in _drop_contained(own)),
    )


def _list_progress(facts: Facts, lines: Iterable[Line]) -> Iterator[str]:
    done = [(s.n_item, s.text) for s in facts.sentences if s.kind == "done" and not s.is_user]
    done += [
        (line.order, line.text)
        for line in lines
        if line.section == COMPLETED
        and line.priority >= _MIN_DONE_PRIORITY
        and not line.text.startswith((ASKED, REPLACED))
    ]
    for _, text in sorted(done, key=itemgetter(0)):
        # An agent follows its log: what a file or a tool said is told in the summary, as data.
        yield f"Completed: {gist(leave_out_quoted_words(text), _MAX_PICKED_CHARS)}"
    changed = [touch.path for touch in facts.files if touch.is_modified]
    for at in range(0, len(changed), _FILES_A_POINT):
        yield f"Changed: {', '.join(changed[at : at + _FILES_A_POINT])}"
    for item in read_task_state(facts).open_items:
        if not item.text.startswith(FAILING):
            label = "" if _REMAINING.match(item.text) else "Remaining: "
            yield f"{label}{gist(item.text, _MAX_PICKED_CHARS)}"


def _list_issues(facts: Facts) -> Iterator[str]:
    for text in facts.findings:
        yield gist(text, _MAX_PICKED_CHARS)
    for run in facts.failing_checks:
        outcome = f" → {run.outcome}" if run.outcome else ""
        yield f"{_FAILED}{run.command}{outcome}"


def _drop_contained(texts: Iterable[str]) -> Iterator[str]:
    """Drop what another text with the same label says as well, word for word."""
    by_label: dict[str, dict[str, str]] = {}
    for text in texts:
        label = _LABEL.match(text)
        words = _LABEL.sub("", text).rstrip(".…").casefold()
        by_label.setdefault(label[0] if label else "", {}).setdefault(words, text)
    for labelled in by_label.values():
        everything = ["\n".join(labelled)]
        holders: dict[str, list[str]] = defaultdict(list)
        for words in labelled:
            for word in {*words.split()}:
                holders[word].append(words)
        for words, text in labelled.items():
            # Its first and last word may be parts of longer ones where it is contained.
            whole = words.split()[1:-1]
            others = min((holders[word] for word in whole), key=len, default=everything)
            if sum(other.count(words) for other in others) == 1:
                yield text
