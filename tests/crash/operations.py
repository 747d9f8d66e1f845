"""What is swept: every way in which Ullage writes, and how the naive write."""

import shutil
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from crash.change_operations import (
    check_put_back,
    check_reviewed,
    check_unreviewed,
    edited_before,
    review,
    review_before,
    reviewed_before,
    undo_review,
)
from crash.checker import Expected, Seen, file_problems, transcript_problems
from crash.checkpoint_operations import check_checkpoint, checkpoints_before, write_checkpoint
from crash.dream_operations import (
    backfill_now,
    check_backfilled,
    check_decided,
    check_dreamt,
    check_undecided,
    decide,
    decided_before,
    decisions_before,
    dream_before,
    dream_now,
    sessions_before,
    undo_decisions,
)
from crash.index_operations import begin, change, check_searched, damage, search
from crash.memory_operations import (
    accept,
    change_before,
    check_accepted,
    check_first_lines,
    check_first_look,
    check_fold,
    check_lines,
    check_logged,
    check_recall,
    check_stored,
    fold_before,
    inbox_before,
    journal_before,
    look_first,
    memory_before,
    note_lines,
    note_recall,
    store_in_log,
    store_item,
)
from crash.places import leave_alone, places_of
from crash.state_operations import (
    bundle,
    capture,
    capture_before,
    capture_beside,
    capture_for_later,
    check_bundle,
    check_capture,
)
from store.changing import KEY, LINES, NEW_SESSION, OLD, OURS, PRUNED, REWRITE, occasion, record
from ullage.core.change.edit import Append, LineChange, Rewrite
from ullage.core.change.receipt import Receipt
from ullage.core.memory.flush import Epoch
from ullage.errors import StorageError
from ullage.store.change.make import apply_change
from ullage.store.change.new_session import create_apart, remove_new_session
from ullage.store.change.receipts import list_receipts
from ullage.store.files.atomic import replace_file
from ullage.store.install.agent_files import FileChange, make_changes, read_agent_file
from ullage.store.memory.daily_log import append_block, log_path
from ullage.store.state.flush_state import read_flush_state, record_flush
from ullage.store.transcript.reader import Fingerprint, look_at

TORN = b'{"type": "message", "id": "to'
BACK = record("c2", "e3", "back to before")
BACK_AGAIN = record("c2", "c1", "as it was")
Work = Callable[[Path, Fingerprint], None]
"""Done in a folder, by a plan that was made from what the fingerprint tells."""
Preparation = Callable[[Path], None]


@dataclass(frozen=True, kw_only=True)
class Operation:
    name: str
    run: Work
    check: Callable[[Seen], list[str]]
    prepare: Preparation | None = None
    """Done before any fault, in the same process."""
    original: bytes = OLD
    target: str = "s.jsonl"
    """Where the agent writes."""
    leaf: str | None = "e3"
    """What the agent holds for the last record; None where no agent is about."""
    is_held: bool = False
    """Whether the agent has the transcript open all the time."""
    has_leases: bool = True
    is_ours: bool = True
    """Whether it is Ullage's, so that `recover` sees to what is left."""


def session_of(root: Path) -> Path:
    return root / "agent" / "s.jsonl"


def append(root: Path, seen: Fingerprint) -> None:
    path = session_of(root)
    apply_change(path, seen, Append(data=OURS), occasion(), places_of(root))


def append_torn(root: Path, seen: Fingerprint) -> None:
    path = session_of(root)
    apply_change(path, seen, Append(data=b"\n" + OURS), occasion(), places_of(root))


def rewrite(root: Path, seen: Fingerprint) -> None:
    path = session_of(root)
    apply_change(path, seen, REWRITE, occasion("prune"), places_of(root))


def create(root: Path, seen: Fingerprint) -> None:
    path = session_of(root)
    apply_change(path, seen, NEW_SESSION, occasion(), places_of(root))


def create_beside(root: Path, _: Fingerprint) -> None:
    create_apart(root / "agent" / NEW_SESSION.name, NEW_SESSION.data, places_of(root))


def the_receipt(root: Path) -> Receipt:
    found = list_receipts(KEY, places_of(root))
    if not found.receipts:
        raise StorageError("; ".join(found.problems))
    return found.receipts[0]


def append_before(root: Path) -> None:
    append(root, look_at(session_of(root)))
    leave_alone(session_of(root))


def undo_append(root: Path, seen: Fingerprint) -> None:
    path = session_of(root)
    undo = occasion("undo", undoes="0001")
    apply_change(path, seen, Append(data=BACK), undo, places_of(root))


def rewrite_before(root: Path) -> None:
    rewrite(root, look_at(session_of(root)))
    leave_alone(session_of(root))


def undo_rewrite(root: Path, seen: Fingerprint) -> None:
    path = session_of(root)
    done = the_receipt(root)
    (one,) = done.originals
    back = Rewrite(
        changes=(LineChange(offset=one.offset, old=one.new, new=one.old),), appended=BACK_AGAIN
    )
    undo = occasion("undo", undoes=done.receipt_id)
    apply_change(path, seen, back, undo, places_of(root))


def create_before(root: Path) -> None:
    create(root, look_at(session_of(root)))


def undo_create(root: Path, _: Fingerprint) -> None:
    done = the_receipt(root)
    remove_new_session(
        root / "agent" / NEW_SESSION.name,
        done.new_sha256 or "",
        session_key=KEY,
        receipt_id=done.receipt_id,
        places=places_of(root),
    )


STATE = (b"old\n" * 300, b"new\n" * 500)


def state_before(root: Path) -> None:
    replace_file(root / "state" / "checkpoint", STATE[0])


def replace_state(root: Path, _: Fingerprint) -> None:
    replace_file(root / "state" / "checkpoint", STATE[1])


def check_state(seen: Seen) -> list[str]:
    return file_problems(seen.root / "state" / "checkpoint", STATE, seen.outcome)


LOG_DAY = "2026-11-21"
LOG = b"# mine\n\n- what I noted\n"
MARKER = "<!-- ullage flush a:b epoch 0 -->"
BLOCK = f"## 10:00 — Compaction Pre-flush\n\n**Notes:**\n- port 8123\n\n{MARKER}\n"


def log_before(root: Path) -> None:
    path = log_path(root, LOG_DAY)
    path.parent.mkdir()
    path.write_bytes(LOG)


def flush(root: Path, _: Fingerprint) -> None:
    append_block(root, LOG_DAY, lambda log: "" if MARKER in log else BLOCK, places_of(root))
    record_flush("a:b", places_of(root), epoch=Epoch(n_compactions=0, turn_id="t"))


def check_flushed(seen: Seen) -> list[str]:
    states = (LOG, LOG + b"\n" + BLOCK.encode())
    return _log_problems(seen, states)


def check_begun(seen: Seen) -> list[str]:
    whole = f"# {LOG_DAY}\n\n{BLOCK}".encode()
    return _log_problems(seen, (b"", whole))


def _log_problems(seen: Seen, states: tuple[bytes, bytes]) -> list[str]:
    """The log is old or has a whole block, but for blanks, and says so again when asked again."""
    if seen.outcome.startswith("bug"):
        return [seen.outcome]
    path = log_path(seen.root, LOG_DAY)
    old, whole = states
    data = path.read_bytes() if path.exists() else b""
    problems: list[str] = []
    if not data.startswith(old):
        problems.append("what the user wrote is not there any more")
    part = data[len(old) :].strip()
    if data != whole and part and seen.outcome not in ("killed", "failed"):
        problems.append(f"a part of a block: {part[:60]!r}")
    if seen.outcome == "made" and data != whole:
        problems.append("success was reported, and the block is not there")
    if data != whole and read_flush_state("a:b", places_of(seen.root)).epoch is not None:
        problems.append("noted, and not written")
    flush(seen.root, look_at(session_of(seen.root)))
    if path.read_bytes().count(MARKER.encode()) != 1:
        problems.append("the block stands there twice, or not at all")
    if path.read_bytes().split() != whole.split():
        problems.append("the next flush left a part of a block")
    names = [one.name for one in path.parent.iterdir()]
    return problems + ([f"left behind: {names}"] if names != [path.name] else [])


def check_created(seen: Seen) -> list[str]:
    old = Expected(original=LINES, has_receipt=False)
    problems = transcript_problems(Seen(root=seen.root, outcome="", foreign=seen.foreign), old)
    created = seen.root / "agent" / NEW_SESSION.name
    problems += file_problems(created, (b"", NEW_SESSION.data), seen.outcome)
    if created.exists() and created.stat().st_mode & 0o777 != 0o600:
        problems.append("the new session is not for the user alone")
    done = _receipt_states(seen.root)
    if created.exists() and "done" not in done:
        problems.append("a new session without a receipt")
    if not created.exists() and "done" in done:
        problems.append("a receipt without its new session")
    return problems + _hidden_files(seen.root)


def check_created_beside(seen: Seen) -> list[str]:
    old = Expected(original=LINES, has_receipt=False)
    problems = transcript_problems(Seen(root=seen.root, outcome="", foreign=seen.foreign), old)
    created = seen.root / "agent" / NEW_SESSION.name
    problems += file_problems(created, (b"", NEW_SESSION.data), seen.outcome)
    return problems + _hidden_files(seen.root)


def check_uncreated(seen: Seen) -> list[str]:
    if seen.outcome.startswith("bug"):
        return [seen.outcome]
    created = seen.root / "agent" / NEW_SESSION.name
    there = created.read_bytes() if created.exists() else b""
    aside = [
        one.read_bytes()
        for one in (
            *(seen.root / "state" / "context" / "preimages").glob("*/*.jsonl"),
            *(seen.root / "agent").glob("*.bak*"),
        )
    ]
    problems = _hidden_files(seen.root)
    if not any(one.startswith(NEW_SESSION.data) for one in (there, *aside)):
        problems.append("the new session is nowhere")
    if seen.outcome == "made" and there.startswith(NEW_SESSION.data):
        problems.append("success was reported, and the session is still there")
    for line in seen.foreign:
        if not any(line in one for one in (there, *aside)):
            problems.append("a record of the agent is lost")
        if not there.startswith(NEW_SESSION.data) and line not in there:
            problems.append("a session with a new record was taken away")
    return problems


SETTINGS = (b'{"model": "a"}\n', b'{"model": "a", "hooks": {}}\n')


def settings_before(root: Path) -> None:
    path = root / "agent" / "settings.json"
    path.write_bytes(SETTINGS[0])
    path.chmod(0o640)


def change_settings(root: Path, _: Fingerprint) -> None:
    file = read_agent_file(root / "agent" / "settings.json")
    make_changes([FileChange(file=file, new=SETTINGS[1])])


def check_settings(seen: Seen) -> list[str]:
    path = seen.root / "agent" / "settings.json"
    problems = file_problems(path, SETTINGS, seen.outcome)
    mode = path.stat().st_mode & 0o777 if path.exists() else 0
    return problems if mode == seen.mode else [*problems, f"permissions are {mode:o}"]


def _hidden_files(root: Path) -> list[str]:
    return [f"left behind: {one.name}" for one in (root / "agent").iterdir() if one.name[0] == "."]


def _receipt_states(root: Path) -> list[str]:
    return [one.state for one in list_receipts(KEY, places_of(root)).receipts]


def check(expected: Expected) -> Callable[[Seen], list[str]]:
    return lambda seen: transcript_problems(seen, expected)


APPENDED = Expected(original=LINES, ours=OURS)
TORN_LINES = (*LINES, TORN)
REWRITTEN = Expected(original=LINES, changed={LINES[2]: PRUNED}, ours=OURS)
PRUNED_LINES = (LINES[0], LINES[1], PRUNED, LINES[3])
UNDONE = Expected(
    original=(*PRUNED_LINES, OURS), changed={PRUNED: LINES[2]}, ours=BACK_AGAIN, n_receipts=2
)

OPERATIONS = (
    Operation(name="append", run=append, check=check(APPENDED)),
    Operation(
        name="append behind a torn line",
        run=append_torn,
        check=check(Expected(original=TORN_LINES, ours=OURS)),
        original=OLD + TORN,
    ),
    Operation(name="append beside a holder", run=append, check=check(APPENDED), is_held=True),
    Operation(name="append without leases", run=append, check=check(APPENDED), has_leases=False),
    Operation(
        name="undo of an append",
        run=undo_append,
        check=check(Expected(original=LINES, earlier=(OURS,), ours=BACK, n_receipts=2)),
        prepare=append_before,
    ),
    Operation(name="rewrite", run=rewrite, check=check(REWRITTEN)),
    Operation(name="rewrite beside a holder", run=rewrite, check=check(REWRITTEN), is_held=True),
    Operation(name="rewrite without leases", run=rewrite, check=check(REWRITTEN), has_leases=False),
    Operation(
        name="undo of a rewrite",
        run=undo_rewrite,
        check=check(UNDONE),
        prepare=rewrite_before,
        leaf="c1",
    ),
    Operation(name="new session", run=create, check=check_created),
    Operation(name="session of its own", run=create_beside, check=check_created_beside),
    Operation(
        name="undo of a new session",
        run=undo_create,
        check=check_uncreated,
        prepare=create_before,
        target=NEW_SESSION.name,
        leaf="n1",
    ),
    Operation(
        name="a file of ours",
        run=replace_state,
        check=check_state,
        prepare=state_before,
        leaf=None,
    ),
    Operation(
        name="settings of an agent",
        run=change_settings,
        check=check_settings,
        prepare=settings_before,
        leaf=None,
    ),
    Operation(
        name="working state captured",
        run=capture,
        check=check_capture,
        prepare=capture_before,
        leaf=None,
    ),
    Operation(
        name="working state captured while another writes",
        run=capture_beside,
        check=check_capture,
        prepare=capture_before,
        leaf=None,
    ),
    Operation(
        name="working state captured by a hook",
        run=capture_for_later,
        check=check_capture,
        prepare=capture_before,
        leaf=None,
    ),
    Operation(
        name="checkpoint",
        run=write_checkpoint,
        check=check_checkpoint,
        prepare=checkpoints_before,
        leaf=None,
    ),
    Operation(
        name="working state bundled",
        run=bundle,
        check=check_bundle,
        prepare=capture_before,
        leaf=None,
    ),
    Operation(
        name="flush of memory", run=flush, check=check_flushed, prepare=log_before, leaf=None
    ),
    Operation(name="flush into a new log", run=flush, check=check_begun, leaf=None),
    Operation(
        name="recall noted", run=note_recall, check=check_recall, prepare=journal_before, leaf=None
    ),
    Operation(
        name="origins noted", run=note_lines, check=check_lines, prepare=journal_before, leaf=None
    ),
    Operation(name="journal of memory begun", run=note_lines, check=check_first_lines, leaf=None),
    Operation(
        name="journal of memory folded",
        run=note_lines,
        check=check_fold,
        prepare=fold_before,
        leaf=None,
    ),
    Operation(
        name="memory seen first",
        run=look_first,
        check=check_first_look,
        prepare=memory_before,
        leaf=None,
    ),
    Operation(
        name="change of memory accepted",
        run=accept,
        check=check_accepted,
        prepare=change_before,
        leaf=None,
    ),
    Operation(
        name="item stored", run=store_item, check=check_stored, prepare=inbox_before, leaf=None
    ),
    Operation(name="item stored in the log", run=store_in_log, check=check_logged, leaf=None),
    Operation(
        name="memory reviewed", run=review, check=check_reviewed, prepare=review_before, leaf=None
    ),
    Operation(
        name="undo of a review",
        run=undo_review,
        check=check_unreviewed,
        prepare=reviewed_before,
        leaf=None,
    ),
    Operation(
        name="undo of a review of an inbox edited since",
        run=undo_review,
        check=check_put_back,
        prepare=edited_before,
        leaf=None,
    ),
    Operation(name="dream", run=dream_now, check=check_dreamt, prepare=dream_before, leaf=None),
    Operation(
        name="backfill",
        run=backfill_now,
        check=check_backfilled,
        prepare=sessions_before,
        leaf=None,
    ),
    Operation(
        name="items decided",
        run=decide,
        check=check_decided,
        prepare=decisions_before,
        leaf=None,
    ),
    Operation(
        name="decisions taken back",
        run=undo_decisions,
        check=check_undecided,
        prepare=decided_before,
        leaf=None,
    ),
    Operation(
        name="index of memory begun", run=search, check=check_searched, prepare=begin, leaf=None
    ),
    Operation(
        name="index of memory changed", run=search, check=check_searched, prepare=change, leaf=None
    ),
    Operation(
        name="index of memory built again",
        run=search,
        check=check_searched,
        prepare=damage,
        leaf=None,
    ),
)


def naive_append(root: Path, _: Fingerprint) -> None:
    with session_of(root).open("ab") as file:
        time.sleep(0)
        file.write(OURS)


def naive_replace(root: Path, _: Fingerprint) -> None:
    path = session_of(root)
    data = path.read_bytes().replace(LINES[2], PRUNED) + OURS
    with path.open("wb") as file:
        file.write(data)


def naive_rename(root: Path, _: Fingerprint) -> None:
    path = session_of(root)
    data = path.read_bytes().replace(LINES[2], PRUNED) + OURS
    temporary = path.with_name("tmp")
    temporary.write_bytes(data)
    path.with_name("s.jsonl.bak").write_bytes(path.read_bytes())
    temporary.rename(path)


def naive_in_place(root: Path, _: Fingerprint) -> None:
    path = session_of(root)
    shutil.copyfile(path, path.with_name("s.jsonl.bak"))
    data = path.read_bytes().replace(LINES[2], PRUNED) + OURS
    with path.open("r+b") as file:
        file.write(data)
        file.truncate()


def naive_state(root: Path, _: Fingerprint) -> None:
    (root / "state" / "checkpoint").write_bytes(STATE[1])


def _naive(name: str, run: Work, expected: Expected) -> Operation:
    import dataclasses

    expected = dataclasses.replace(expected, has_receipt=False)
    return Operation(name=name, run=run, check=check(expected), is_ours=False)


NAIVE = (
    _naive("open('a')", naive_append, APPENDED),
    _naive("open('w')", naive_replace, REWRITTEN),
    _naive("copy and rename without a comparison", naive_rename, REWRITTEN),
    _naive("in place beside a copy", naive_in_place, REWRITTEN),
    Operation(
        name="open('w') of a file of ours",
        run=naive_state,
        check=check_state,
        prepare=state_before,
        leaf=None,
        is_ours=False,
    ),
)
