"""Memory in the sweep: its journal, what is seen and accepted, and what is stored.

Whatever happens, no event that was noted is lost or glued to another, the journal can be added to,
and an item stands in the inbox once, whole.
"""

from datetime import UTC, date, datetime
from pathlib import Path

from crash.checker import Seen
from crash.places import places_of
from ullage.app.memory.origins import accept_change, begin_memory, list_outside_changes
from ullage.app.memory.store import store_memory
from ullage.core.config.memory_settings import MemorySettings
from ullage.core.config.settings import Config
from ullage.core.memory.inbox import read_items
from ullage.core.memory.journal import Event, LinesWritten, Recall, Stored, fold_events
from ullage.store.memory import journal
from ullage.store.memory.journal import read_journal, record_events, record_recall
from ullage.store.transcript.reader import Fingerprint, look_at

AT = "2026-11-21T10:00:00+01:00"
NOW = datetime(2026, 11, 21, 10, 0, tzinfo=UTC)
FIRST = LinesWritten(origin="user", session="a:b", at=AT, lines=("d1", "d2"))
SECOND = LinesWritten(origin="agent", session="a:b", at=AT, lines=("d3",))
RECALL = Recall(day="2026-11-21", by="agent", query="q", hits=(("c1", 0.5),))
OLD = tuple(
    Recall(day="2020-01-01", by="agent", query=f"q{n}", hits=(("c1", 0.5),)) for n in range(9)
)
MEMORY = "# Memory\n\n- use pnpm\n"
CHANGED = f"{MEMORY}- from nowhere\n"
ITEM = "the tests need Redis on port 6380"
MINE = "# DREAMS.md\n\nmine\n"
IN_LOG = Config(memory=MemorySettings(store="log"))


def journal_before(root: Path) -> None:
    record_events((FIRST,), root, places_of(root))


def note_recall(root: Path, _: Fingerprint) -> None:
    record_recall(RECALL, root, places_of(root))


def note_lines(root: Path, _: Fingerprint) -> None:
    record_events((SECOND,), root, places_of(root))


def check_recall(seen: Seen) -> list[str]:
    return _journal_problems(seen, (FIRST,), RECALL)


def check_lines(seen: Seen) -> list[str]:
    return _journal_problems(seen, (FIRST,), SECOND)


def check_first_lines(seen: Seen) -> list[str]:
    return _journal_problems(seen, (), SECOND)


def _journal_problems(seen: Seen, before: tuple[Event, ...], new: Event) -> list[str]:
    if seen.outcome.startswith("bug"):
        return [seen.outcome]
    problems: list[str] = []
    places = places_of(seen.root)
    found = read_journal(seen.root, places)
    if found.events not in (before, (*before, new)):
        problems.append(f"the journal is neither old nor new: {found.events}")
    if seen.outcome == "made" and new not in found.events:
        problems.append("success was reported, and the event is not there")
    record_events((FIRST, SECOND), seen.root, places)
    after = read_journal(seen.root, places)
    if after.events != (*found.events, FIRST, SECOND):
        problems.append("what is added later is not read behind it")
    if after.problem or found.problem:
        problems.append(f"a torn line is called damaged: {after.problem}")
    return problems


def fold_before(root: Path) -> None:
    record_events((FIRST, *OLD), root, places_of(root))
    # This process ends with the operation.
    journal.FOLD_BYTES = 500


def check_fold(seen: Seen) -> list[str]:
    if seen.outcome.startswith("bug"):
        return [seen.outcome]
    before = (FIRST, *OLD)
    folded = fold_events((*before, SECOND), date.today())
    found = read_journal(seen.root, places_of(seen.root))
    problems = [] if found.problem is None else [found.problem]
    if found.events not in (before, (*before, SECOND), folded):
        problems.append("the journal is neither old nor folded")
    if seen.outcome == "made" and found.events != folded:
        problems.append("success was reported, and the journal is not folded")
    return problems


def memory_before(root: Path) -> None:
    (root / "MEMORY.md").write_text(MEMORY, "utf-8")


def look_first(root: Path, _: Fingerprint) -> None:
    begin_memory(root, places_of(root))


def check_first_look(seen: Seen) -> list[str]:
    if seen.outcome.startswith("bug"):
        return [seen.outcome]
    places = places_of(seen.root)
    found = read_journal(seen.root, places)
    problems: list[str] = []
    if seen.outcome == "made" and not found.is_begun:
        problems.append("success was reported, and nothing is seen")
    if found.is_begun and "MEMORY.md" not in found.read_seen():
        # The disk did not let it be read: whoever looks at it now decides.
        accept(seen.root, look_at(seen.root / "MEMORY.md"))
    if list_outside_changes(seen.root, places):
        problems.append("what was there at first sight is told")
    (seen.root / "MEMORY.md").write_text("# Memory\n\n- from nowhere\n", "utf-8")
    told = [
        ([line for _, line in change.added], list(change.removed))
        for change in list_outside_changes(seen.root, places)
    ]
    if told != [(["- from nowhere"], ["- use pnpm"])]:
        problems.append(f"a change is not told as it is: {told}")
    return problems


def change_before(root: Path) -> None:
    memory_before(root)
    begin_memory(root, places_of(root))
    (root / "MEMORY.md").write_text(CHANGED, "utf-8")


def accept(root: Path, _: Fingerprint) -> None:
    (change,) = list_outside_changes(root, places_of(root))
    accept_change(change.path, change.sha256, root, Config(), places_of(root))


def check_accepted(seen: Seen) -> list[str]:
    if seen.outcome.startswith("bug"):
        return [seen.outcome]
    problems: list[str] = []
    changes = list_outside_changes(seen.root, places_of(seen.root))
    if seen.outcome == "made" and changes:
        problems.append("success was reported, and the change is told again")
    if changes:
        accept(seen.root, look_at(seen.root / "MEMORY.md"))
    if list_outside_changes(seen.root, places_of(seen.root)):
        problems.append("the change cannot be accepted any more")
    if (seen.root / "MEMORY.md").read_text("utf-8") != CHANGED:
        problems.append("the user's file was changed")
    return problems


def inbox_before(root: Path) -> None:
    (root / "DREAMS.md").write_text(MINE, "utf-8")


def store_item(root: Path, _: Fingerprint) -> None:
    store_memory(ITEM, "fact", "a:b", root, Config(), places_of(root), by="agent", now=NOW)


def store_in_log(root: Path, _: Fingerprint) -> None:
    store_memory(ITEM, "fact", "a:b", root, IN_LOG, places_of(root), by="agent", now=NOW)


def check_stored(seen: Seen) -> list[str]:
    problems = _stored_problems(seen, seen.root / "DREAMS.md", MINE, Config())
    if not problems:
        text = (seen.root / "DREAMS.md").read_text("utf-8")
        if [item.finding for item in read_items(text)] != [ITEM]:
            problems.append(f"the inbox does not hold the item once: {text!r}")
    return problems


def check_logged(seen: Seen) -> list[str]:
    problems = _stored_problems(seen, seen.root / "memory/2026-11-21.md", "", IN_LOG)
    if not problems and list_outside_changes(seen.root, places_of(seen.root)):
        problems.append("what was stored counts as changed from outside")
    return problems


def _stored_problems(seen: Seen, path: Path, mine: str, config: Config) -> list[str]:
    if seen.outcome.startswith("bug"):
        return [seen.outcome]
    problems: list[str] = []
    places = places_of(seen.root)
    text = path.read_text("utf-8") if path.exists() else ""
    if not text.startswith(mine):
        problems.append("what the user wrote is not there any more")
    events = read_journal(seen.root, places).events
    if seen.outcome == "made" and not any(isinstance(event, Stored) for event in events):
        problems.append("success was reported, and the journal does not have it")
    if seen.outcome == "made" and ITEM not in text:
        problems.append("success was reported, and the item is not there")
    store_memory(ITEM, "fact", "a:b", seen.root, config, places, by="agent", now=NOW)
    if path.read_text("utf-8").count(ITEM) != 1:
        problems.append(f"the item stands there twice: {path.read_text('utf-8')!r}")
    return problems
