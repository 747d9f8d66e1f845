"""Dreams, backfills and reviews in the sweep, as the use cases do them.

Whatever happens, once what was begun is finished and the next one has run: each proposal stands
once, in the inbox or in `MEMORY.md`, no file is a mix, and no line that we wrote is told as one
from outside.
"""

import asyncio
import concurrent.futures.thread  # noqa: F401 - what runs dreams is imported when first it is needed
from datetime import UTC, date, datetime
from pathlib import Path

from crash.checker import Seen
from crash.places import leave_alone, places_of
from pi_files import PiFile
from ullage.app.dream.backfill import BackfillPlan, backfill, plan_backfill
from ullage.app.dream.daily_logs import read_daily_logs, see_logs
from ullage.app.dream.dream import dream
from ullage.app.dream.material import REJECTED, SUPERSEDED
from ullage.app.dream.review import make_review, plan_review, undo_review
from ullage.app.memory.origins import begin_memory, list_outside_changes, record_lines
from ullage.app.summary.write import ModelUse
from ullage.core.config.memory_settings import DreamingSettings
from ullage.core.config.settings import Config
from ullage.core.dream.review import Decision
from ullage.core.memory.chunks import chunk_digest, read_chunks
from ullage.core.memory.inbox import format_item, propose_item, read_items
from ullage.core.memory.journal import Recall
from ullage.core.memory.origin import list_line_digests
from ullage.errors import UnknownItem
from ullage.formats.agents.openclaw.agent import folder_name
from ullage.store.memory.change_records import list_memory_changes
from ullage.store.memory.changes import recover_memory_changes
from ullage.store.memory.dream_state import read_dream_state
from ullage.store.memory.journal import read_journal, record_recall
from ullage.store.memory.places import DREAMS, MEMORY
from ullage.store.memory.planned_files import find_memory_file
from ullage.store.transcript.reader import Fingerprint

NOW = datetime(2026, 11, 21, 3, 0, tzinfo=UTC)
CONFIG = Config(dreaming=DreamingSettings(apply="unread"))
RECALLED = "Always run the tests against PostgreSQL 17 before you push."
SEEN_ONCE = "We decided to release on Tuesdays from now on."
LOG = f"# 2026-11-20\n\n- {RECALLED}\n- {SEEN_ONCE}\n"
PAGE = "# Memory\r\n\r\n- use npm\r\n"
TYPED = (
    "Our team has an API spec document at /docs/api-spec.yaml.",
    "Never use emoji in code comments, in any project.",
)


def dream_before(root: Path) -> None:
    (root / MEMORY).write_text(PAGE, "utf-8", newline="")
    log = root / "memory" / "2026-11-20.md"
    log.parent.mkdir()
    log.write_text(LOG, "utf-8")
    places = places_of(root)
    begin_memory(root, places)
    record_lines(dict.fromkeys(list_line_digests(LOG), "user"), "a:b", root, places)
    chunk = next(chunk_digest(chunk.text) for chunk in read_chunks(LOG) if RECALLED in chunk.text)
    for day in range(16, 21):
        recall = Recall(day=f"2026-11-{day}", by="agent", query=f"q{day}", hits=((chunk, 0.95),))
        record_recall(recall, root, places)
    # Before the faults begin: its own pipe is none of the files that are meant.
    asyncio.set_event_loop(asyncio.new_event_loop())


def dream_now(root: Path, _: Fingerprint) -> None:
    work = dream(root, CONFIG, places_of(root), ModelUse(), now=NOW)
    asyncio.get_event_loop().run_until_complete(work)


def check_dreamt(seen: Seen) -> list[str]:
    if seen.outcome.startswith("bug"):
        return [seen.outcome]
    root = seen.root
    recover_memory_changes(root, places_of(root))
    logs = read_daily_logs(root, NOW.date(), CONFIG.dreaming.n_days)
    is_noted = read_dream_state(root, places_of(root)).logs == see_logs(logs, NOW).logs
    waiting, page = _read_findings(root), _read(root, MEMORY)
    # A log that the disk did not let it read is read by the next dream.
    problems = _placed_problems(waiting, page, (RECALLED, SEEN_ONCE), is_done=is_noted)
    asyncio.run(dream(root, CONFIG, places_of(root), ModelUse(), now=NOW))
    waiting, page = _read_findings(root), _read(root, MEMORY)
    problems += _placed_problems(waiting, page, (RECALLED, SEEN_ONCE), is_done=True)
    if SEEN_ONCE in page:
        problems.append("what was never recalled was applied unread")
    if not page.startswith(PAGE.rstrip()):
        problems.append("what the user wrote is not there any more")
    return problems + _kept_problems(root)


def sessions_before(root: Path) -> None:
    folder = root / ".pi" / "agent" / "sessions" / folder_name(str(root))
    folder.mkdir(parents=True)
    for number, sentence in enumerate(TYPED):
        session = PiFile(cwd=str(root), session_id=f"s{number}")
        session.user(f"{sentence} Now look at the parser.")
        session.assistant("I looked at it.")
        path = folder / f"s{number}.jsonl"
        path.write_bytes(session.data)
        leave_alone(path)
    begin_memory(root, places_of(root))
    asyncio.set_event_loop(asyncio.new_event_loop())


def backfill_now(root: Path, _: Fingerprint) -> None:
    work = backfill(_plan_backfill(root), root, places_of(root), now=NOW)
    asyncio.get_event_loop().run_until_complete(work)


def check_backfilled(seen: Seen) -> list[str]:
    if seen.outcome.startswith("bug"):
        return [seen.outcome]
    root = seen.root
    # A session that the disk did not let it read is told, and read by the next backfill.
    problems = _placed_problems(_read_findings(root), "", TYPED, is_done=False)
    plan = _plan_backfill(root)
    result = asyncio.run(backfill(plan, root, places_of(root), now=NOW))
    problems += _placed_problems(_read_findings(root), "", TYPED, is_done=True)
    problems += [f"not read: {each}" for each in result.unreadable]
    if _plan_backfill(root).sessions:
        problems.append("a session that was read is to be read again")
    return problems + _kept_problems(root)


REVIEWED = (
    propose_item(
        "decision", "use pnpm", day="2026-11-20", title="x", source="s", replaces=("use npm",)
    ),
    propose_item("fact", "the port is 8123", day="2026-11-20", title="x", source="s"),
    propose_item("preference", "no emoji", day="2026-11-20", title="x", source="s"),
)
FILES = (
    ("workspace", MEMORY),
    ("workspace", SUPERSEDED),
    ("workspace", DREAMS),
    ("state", REJECTED),
)


def decisions_before(root: Path) -> None:
    (root / MEMORY).write_text(PAGE, "utf-8", newline="")
    text = "# DREAMS.md\n\nmine\n"
    for item in REVIEWED:
        text += "\n" + format_item(item, text)
    (root / DREAMS).write_text(text, "utf-8")
    begin_memory(root, places_of(root))


def decided_before(root: Path) -> None:
    decisions_before(root)
    _review(root)


def decide(root: Path, _: Fingerprint) -> None:
    _review(root)


def undo_decisions(root: Path, _: Fingerprint) -> None:
    undo_review(root, Config(), places_of(root))


def check_decided(seen: Seen) -> list[str]:
    return _review_problems(seen, is_review=True)


def check_undecided(seen: Seen) -> list[str]:
    return _review_problems(seen, is_review=False)


def _review_problems(seen: Seen, *, is_review: bool) -> list[str]:
    if seen.outcome.startswith("bug"):
        return [seen.outcome]
    root, places = seen.root, places_of(seen.root)
    problems: list[str] = []
    recover_memory_changes(root, places)
    n_waiting = len(_read_findings(root))
    if n_waiting not in (0, len(REVIEWED)):
        problems.append("some of a review is done")
    if seen.outcome == "made" and (n_waiting == 0) is not is_review:
        problems.append("success was reported, and nothing was done")
    if n_waiting:
        _review(root)
    problems += _kept_problems(root)
    reviewed = _read_all(root)
    undo_review(root, Config(), places)
    before = _read_all(root)
    if before[MEMORY] != PAGE.encode() or before[SUPERSEDED] or before[REJECTED]:
        problems.append(f"the review is not taken back: {before}")
    if len(_read_findings(root)) != len(REVIEWED):
        problems.append("an item is not back in the inbox")
    try:
        undo_review(root, Config(), places)
        problems.append("a review that was not made was taken back")
    except UnknownItem:
        pass
    _review(root)
    if _read_all(root) != reviewed:
        problems.append("the same review makes something else")
    return problems


def _review(root: Path) -> None:
    pnpm, port, emoji = (item.item_id for item in REVIEWED)
    decisions = (
        Decision(choice="accept", ids=(pnpm,)),
        Decision(choice="accept", ids=(port,), text="the port is 8124"),
        Decision(choice="reject", ids=(emoji,)),
    )
    places = places_of(root)
    plan = plan_review(decisions, root, Config(), places, today=date(2026, 11, 21))
    make_review(plan, root, places)


def _placed_problems(
    waiting: list[str], page: str, wanted: tuple[str, ...], *, is_done: bool
) -> list[str]:
    """Tell which texts do not stand once, in the inbox or in `MEMORY.md`."""
    problems: list[str] = []
    for text in wanted:
        n_times = waiting.count(text) + page.count(text)
        if n_times > 1 or (is_done and n_times == 0):
            problems.append(f"{text!r} stands {n_times} times: {waiting}, {page!r}")
    if not set(waiting) <= set(wanted):
        problems.append(f"something else waits: {waiting}")
    return problems


def _kept_problems(root: Path) -> list[str]:
    """Look at what must hold of the files of memory and of the journal at any time."""
    places = places_of(root)
    problems = [f"a change is torn: {each}" for each in list_memory_changes(root, places).problems]
    journal = read_journal(root, places)
    if journal.problem is not None:
        problems.append(f"the journal is damaged: {journal.problem}")
    files = {path for path in (root / MEMORY, root / SUPERSEDED) if path.exists()}
    before = {path: path.read_bytes() for path in files}
    for path in files:
        with path.open("ab") as file:
            file.write(b"- by hand\n")
    told = [line for each in list_outside_changes(root, places) for _, line in each.added]
    if set(told) - {"- by hand"} or any(
        each.removed for each in list_outside_changes(root, places)
    ):
        problems.append(f"what we wrote is told as one from outside: {told}")
    for path, data in before.items():
        path.write_bytes(data)
    left = [path.name for path in root.rglob("*.tmp") if root / "state" not in path.parents]
    return problems + ([f"left behind: {left}"] if left else [])


def _plan_backfill(root: Path) -> BackfillPlan:
    return plan_backfill(root, Config(), places_of(root))


def _read_findings(root: Path) -> list[str]:
    return [item.finding for item in read_items(_read(root, DREAMS))]


def _read(root: Path, name: str) -> str:
    path = root / name
    return path.read_bytes().decode() if path.exists() else ""


def _read_all(root: Path) -> dict[str, bytes]:
    paths = {name: find_memory_file(place, name, root, places_of(root)) for place, name in FILES}
    return {name: path.read_bytes() if path.exists() else b"" for name, path in paths.items()}
