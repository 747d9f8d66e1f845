"""Judge summaries and checkpoints of recorded sessions against labels that a reader made.

    python benchmarks/summaries/reading.py [SESSIONS...] [--labels FOLDER...] [--show] [--section X]

Of each labelled session (`label.py`) it writes the checkpoint at its end and the summary of its
whole context, a tenth of the tokens (1,000 to 6,000), without a model. Without arguments it judges
the sessions that lie here.

**What is judged where.** Decisions: the summary's Decisions and the checkpoint's. Constraints: the
summary's Constraints; what the checkpoint repeats of them among its decisions is judged there. Open
items: Remaining, In progress and Next step of the summary, the checkpoint's open items. Each text
counts once.

**What is a match.** A line and a label say the same when, without marks, case, punctuation and our
own openings, one holds the other (8 characters at least; a shorter label has to be a part of its
own, as the "yes" of `yes (in reply to: …)`), or 60 % of the 4-grams of the shorter (12 characters
at least) are in the other. A label's other quotes (what was approved, the same said again) count as
well. A decision that is labelled a constraint is wrong, and so the other way round. Topic and next
step are right where they match a quote that the labeller accepts; where nothing is to be done, if
the next action is empty or says that it waits.

A machine's match undercounts what is right: a right line that nobody labelled is wrong. `--sheet`
writes what is shown for a person to mark (`r` or `w` in the first column), `--marks` reads that and
prints what is right by it.
"""

import argparse
import csv
import re
import sys
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path

import msgspec
from label import (
    LabelledLines,
    Labels,
    list_sessions,
    read_labels,
    read_session,
    session_name,
)
from matching import TAIL_CHARS, drop_repeated, is_cut, make_plain, matches

from ullage.app.sessions.open import open_session
from ullage.core.change.compaction import list_open_calls
from ullage.core.checkpoint.build import build
from ullage.core.checkpoint.checkpoint import Checkpoint, Meta, measure_use
from ullage.core.facts.collect import FactAccumulator
from ullage.core.secrets.redaction import mask_items
from ullage.core.secrets.scan import mask, mask_cached
from ullage.core.summary.audit import audit
from ullage.core.summary.extract import summarize
from ullage.core.summary.insert_missing import insert_missing
from ullage.core.transcript.lineage import EMPTY_INDEX
from ullage.core.transcript.tokens import count_items, estimate

HERE = Path(__file__).parent
SHARE = 10
MIN_TOKENS, MAX_TOKENS = 1_000, 6_000
JUDGED = {
    "decisions": ("Decisions",),
    "constraints": ("Constraints",),
    "open": ("Remaining", "In progress", "Next step"),
}
"""Sections of a summary by what they are judged as."""
RIGHT_KINDS = {
    "decisions": ("decision",),
    "constraints": ("constraint",),
    "open": ("open", "next"),
}
SECTIONS = ("topic", "next", *JUDGED, "errors", "closed", "replaced", "cut", "duplicate", "harness")
NOT_SAID = re.compile(r"\A(?:\(none\)|\(left out: .*)\Z", re.DOTALL)
WAITS = re.compile(r"\b(?:wait|nothing)", re.IGNORECASE)
HARNESS = re.compile(
    r"</?(?:system-reminder|command-(?:name|message|args|contents)|local-command-\w+|task-\w+|"
    r"ide_\w+|skills?|environment_context|user_instructions|permissions|collaboration_mode|"
    r"tool_use_error|bash-\w+|INSTRUCTIONS|read-files|modified-files|turn_aborted)\b|"
    r"\[Request interrupted by user|Caveat: The messages below|Base directory for this skill|"
    r"This session is being continued from a previous|The user doesn't want to proceed|"
    r"AGENTS\.md instructions for|Conversation info \(untrusted|\[message_id:"
)
"""Words that an agent's program puts into a message; recorded."""


class Shown(msgspec.Struct, frozen=True, kw_only=True):
    """What the program says of a session."""

    topic: str
    next_action: str
    lines: tuple[tuple[str, str], ...]
    """Section and text of each point of the summary."""
    judged: Mapping[str, tuple[str, ...]]
    summary: str


class Score(msgspec.Struct, frozen=True, kw_only=True):
    """What is right, in counts: `n_right` of `n_shown`, `n_found` of `n_wanted`, by section."""

    counts: Counter[str]
    remarks: tuple[tuple[str, str, str], ...]
    """Section, what is wrong with it, and the text."""
    judged: Mapping[str, tuple[str, ...]]


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("sessions", nargs="*", type=Path, metavar="SESSIONS")
    parser.add_argument("--labels", type=Path, action="append", help="folders, searched through")
    parser.add_argument("--show", action="store_true", help="print what is wrong or missed")
    parser.add_argument("--section", choices=SECTIONS, help="print this section alone")
    parser.add_argument("--sheet", type=Path, help="write what is shown, to be marked")
    parser.add_argument("--marks", type=Path, help="a sheet that was marked")
    options = parser.parse_args()
    labels = _find_labels(options.labels or [HERE / "labels", HERE / "reading"])
    sessions = list_sessions(options.sessions or [HERE / "reading"])
    scores: dict[str, Score] = {}
    print(f"| session | {' | '.join(HEADINGS)} |\n|{'---|' * (len(HEADINGS) + 1)}")
    for name in sorted(sessions.keys() & labels.keys()):
        lines = LabelledLines(sessions[name])
        if lines.sha256 != labels[name].sha256:
            print(f"{name}: not the session that was labelled", file=sys.stderr)
            continue
        scores[name] = score(show(sessions[name]), labels[name], lines)
        print(_write_row(name, scores[name].counts), flush=True)
    total = sum((each.counts for each in scores.values()), Counter[str]())
    print(_write_row(f"{len(scores)} sessions", total))
    print(f"\nlabels that could not be located: {total['n_unlocated']}")
    if options.show or options.section:
        _print_remarks(scores, options.section)
    if options.sheet:
        _write_sheet(scores, options.sheet)
    if options.marks:
        _print_marked(scores, options.marks)


def show(path: Path) -> Shown:
    """Write the checkpoint and the summary of a session as the program would, without a model."""
    with tempfile.TemporaryDirectory() as folder:
        plain = Path(folder, f"{session_name(path)}.jsonl")
        plain.write_bytes(read_session(path))
        return _show(plain)


def _show(path: Path) -> Shown:
    session = open_session(path)
    context = session.agent.read_context(session.lines, session.header, EMPTY_INDEX).context
    items = mask_items(context.items, ())
    accumulator = FactAccumulator(clean=partial(mask_cached, known_values=()))
    accumulator.update(context.items)
    facts = accumulator.finish()
    checkpoint = build(
        context,
        _META,
        is_split_turn=bool(list_open_calls(context.items)),
        collect_facts=lambda _: facts,
    )
    budget = min(max(count_items(items, estimate) // SHARE, MIN_TOKENS), MAX_TOKENS)
    text = summarize(items, focus=None, budget_tokens=budget, count=estimate)
    checked = audit(items, text, pins=(), budget_tokens=budget)
    text = mask(insert_missing(text, checked, budget_tokens=budget, count=estimate).text, ())
    lines = tuple(_list_points(text))
    return Shown(
        topic=checkpoint.working.topic,
        next_action=checkpoint.working.next_action,
        lines=lines,
        judged=_pick_judged(lines, checkpoint),
        summary=text,
    )


def score(shown: Shown, labels: Labels, lines: LabelledLines) -> Score:
    """Count what is right of what is shown, and what was found of what is wanted."""
    counts: Counter[str] = Counter(n_sessions=1)
    remarks: list[tuple[str, str, str]] = []
    quotes: dict[str, list[tuple[bool, tuple[str, ...]]]] = {}
    for item in labels.items:
        texts = tuple(lines.quote(quote) for quote in item.quotes)
        counts["n_unlocated"] += sum(not text.strip() for text in texts)
        quotes.setdefault(item.kind, []).append((item.wanted, texts))
    for section, text, kind in (
        ("topic", shown.topic, "topic"),
        ("next", shown.next_action, "next"),
    ):
        accepted = [text for _, texts in quotes.get(kind, ()) for text in texts]
        if section == "topic" and not accepted:
            continue
        is_right = matches(text, accepted) if accepted else not text or bool(WAITS.search(text))
        counts[f"{section} judged"] += 1
        counts[f"{section} right"] += is_right
        if not is_right:
            remarks.append((section, "wrong", f"{text}   [{' | '.join(accepted[:3])}]"))
    for section, texts in shown.judged.items():
        right = [each for kind in RIGHT_KINDS[section] for each in quotes.get(kind, ())]
        accepted = [text for _, texts in right for text in texts]
        for text in texts:
            is_right = matches(text, accepted)
            counts[f"{section} shown"] += 1
            counts[f"{section} right"] += is_right
            if not is_right:
                remarks.append((section, "wrong", text))
        closed = [text for _, texts in quotes.get("closed", ()) for text in texts]
        for text in texts if section == "open" else ():
            if matches(text, closed) and not matches(text, accepted):
                counts["closed shown"] += 1
                remarks.append(("closed", "shown as open", text))
        for earlier, *later in [each for _, each in quotes.get("replaced", ())]:
            for text in texts if section != "open" else ():
                if matches(text, [earlier]) and not matches(text, later):
                    counts["replaced shown"] += 1
                    remarks.append(("replaced", "shown as standing", text))
        wanted = [each for is_wanted, each in quotes.get(RIGHT_KINDS[section][0], ()) if is_wanted]
        _count_found(section, wanted, texts, counts, remarks)
    errors = [text for section, text in shown.lines if "error" in section.casefold()]
    cured = [texts for is_wanted, texts in quotes.get("error", ()) if is_wanted]
    _count_found("errors", cured, errors, counts, remarks)
    for section, problem, text in _find_flaws(shown, lines.whole_text()):
        counts[section] += 1
        remarks.append((section, problem, text))
    counts["lines"] += len(shown.lines)
    counts["chars"] += len(shown.summary)
    counts["identifier chars"] += sum(
        len(text) + 3 for section, text in shown.lines if section == "Identifiers"
    )
    return Score(counts=counts, remarks=tuple(remarks), judged=shown.judged)


def _count_found(
    section: str,
    wanted: Sequence[tuple[str, ...]],
    texts: Sequence[str],
    counts: Counter[str],
    remarks: list[tuple[str, str, str]],
) -> None:
    for quotes in wanted:
        is_found = any(matches(text, quotes) for text in texts)
        counts[f"{section} wanted"] += 1
        counts[f"{section} found"] += is_found
        if not is_found:
            remarks.append((section, "missed", quotes[0] if quotes else "(no quote)"))


def _list_points(summary: str) -> Iterator[tuple[str, str]]:
    """List the points of a summary with their sections, lines that go on with their point."""
    for part in re.split(r"^## ", summary, flags=re.MULTILINE)[1:]:
        heading, _, body = part.partition("\n")
        for point in re.split(r"^- ", body, flags=re.MULTILINE):
            text = point.strip()
            if text and not NOT_SAID.match(text):
                yield heading.strip(), text


def _pick_judged(
    lines: Sequence[tuple[str, str]], checkpoint: Checkpoint
) -> Mapping[str, tuple[str, ...]]:
    by_section = {
        judged: [text for section, text in lines if section in sections]
        for judged, sections in JUDGED.items()
    }
    rules = {make_plain(text) for text in by_section["constraints"]}
    by_section["decisions"] += [
        each.what for each in checkpoint.decisions if make_plain(each.what) not in rules
    ]
    by_section["open"] += checkpoint.open_items
    return {section: tuple(drop_repeated(texts)) for section, texts in by_section.items()}


def _find_flaws(shown: Shown, session: str) -> Iterator[tuple[str, str, str]]:
    flat = " ".join(session.split())
    bare = re.sub(r"[*`#>|]+", "", flat)
    before: list[str] = []
    texts = [*shown.lines, ("topic", shown.topic), ("next", shown.next_action)]
    for section, text in texts:
        if is_cut(text, flat, bare):
            yield "cut", section, text
        if HARNESS.search(text):
            yield "harness", section, text
    for section, text in shown.lines:
        plain = make_plain(text)
        is_path = section == "Files"
        if plain in before or (
            not is_path
            and len(plain) >= TAIL_CHARS
            and any(plain in each or (len(each) >= TAIL_CHARS and each in plain) for each in before)
        ):
            yield "duplicate", section, text
        if not is_path:
            before.append(plain)


def _find_labels(folders: Iterable[Path]) -> dict[str, Labels]:
    files = [file for folder in folders for file in sorted(folder.rglob("*.json"))]
    return {labels.session: labels for labels in map(read_labels, files)}


HEADINGS = (
    "topic",
    "next",
    "decisions right",
    "found",
    "constraints right",
    "found",
    "open right",
    "found",
    "closed shown",
    "replaced shown",
    "errors cured",
    "cut",
    "duplicates",
    "harness",
    "identifiers",
)


def _write_row(name: str, counts: Counter[str]) -> str:
    cells = [
        _write_share(counts["topic right"], counts["topic judged"]),
        _write_share(counts["next right"], counts["next judged"]),
        *(
            cell
            for section in JUDGED
            for cell in (
                _write_share(counts[f"{section} right"], counts[f"{section} shown"]),
                _write_share(counts[f"{section} found"], counts[f"{section} wanted"]),
            )
        ),
        str(counts["closed shown"]),
        str(counts["replaced shown"]),
        _write_share(counts["errors found"], counts["errors wanted"]),
        str(counts["cut"]),
        _write_share(counts["duplicate"], counts["lines"]),
        str(counts["harness"]),
        f"{counts['identifier chars'] / max(counts['chars'], 1):.0%}",
    ]
    return f"| {name} | {' | '.join(cells)} |"


def _write_share(n: int, n_all: int) -> str:
    share = f" {n / n_all:.0%}" if n_all >= 20 else ""
    return f"{n}/{n_all}{share}" if n_all else "-"


def _print_remarks(scores: Mapping[str, Score], wanted: str | None) -> None:
    for name, judged in scores.items():
        for section, problem, text in sorted(judged.remarks):
            if wanted in (None, section):
                line = " ".join(mask(text, ()).split())
                print(f"{name} {section} {problem}: {line[:300]}")


def _write_sheet(scores: Mapping[str, Score], path: Path) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        sheet = csv.writer(file, delimiter="\t", lineterminator="\n")
        sheet.writerow(("mark", "session", "section", "number", "line"))
        for row in _list_rows(scores):
            sheet.writerow(("", *row))


def _print_marked(scores: Mapping[str, Score], path: Path) -> None:
    """Print what is right by the marks of a person; a line counts wherever it stands now."""
    with path.open(encoding="utf-8", newline="") as file:
        marks = {
            (row["session"], row["section"], row["line"]): row["mark"].strip()[:1]
            for row in csv.DictReader(file, delimiter="\t")
        }
    counts: Counter[tuple[str, str]] = Counter()
    for name, section, _, line in _list_rows(scores):
        counts[section, marks.get((name, section, line), "")] += 1
    print("\nright by the marks:")
    for section in JUDGED:
        n_right, n_wrong = counts[section, "r"], counts[section, "w"]
        print(
            f"{section}: {_write_share(n_right, n_right + n_wrong)}, unmarked {counts[section, '']}"
        )


def _list_rows(scores: Mapping[str, Score]) -> Iterator[tuple[str, str, int, str]]:
    for name, judged in scores.items():
        for section, texts in judged.judged.items():
            for at, text in enumerate(texts, 1):
                yield name, section, at, " ".join(mask(text, ()).split())


_META = Meta(
    checkpoint_id="reading",
    session_key="reading",
    session_file="",
    created_at="2026-01-01T00:00:00Z",
    trigger="manual",
    compaction_count=0,
    token_usage=measure_use(0, 0),
    previous_checkpoint=None,
    channel="cli",
    agent_id="main",
)


if __name__ == "__main__":
    main()
