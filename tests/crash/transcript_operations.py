"""Changes of a transcript in the sweep: append, rewrite, a new session, and each taken back."""

from collections.abc import Callable
from pathlib import Path

from crash.checker import Expected, Seen, file_problems, transcript_problems
from crash.places import leave_alone, places_of
from store.changing import KEY, LINES, NEW_SESSION, OURS, PRUNED, REWRITE, occasion, record
from ullage.core.change.edit import Append, LineChange, Rewrite
from ullage.core.change.receipt import Receipt
from ullage.errors import StorageError
from ullage.store.change.make import apply_change
from ullage.store.change.new_session import bring_back, create_apart, remove_new_session
from ullage.store.change.receipts import list_receipts
from ullage.store.transcript.reader import Fingerprint, look_at

TORN = b'{"type": "message", "id": "to'
BACK = record("c2", "e3", "back to before")
BACK_AGAIN = record("c2", "c1", "as it was")
APPENDED = Expected(original=LINES, ours=OURS)
TORN_LINES = (*LINES, TORN)
REWRITTEN = Expected(original=LINES, changed={LINES[2]: PRUNED}, ours=OURS)
PRUNED_LINES = (LINES[0], LINES[1], PRUNED, LINES[3])
UNDONE = Expected(
    original=(*PRUNED_LINES, OURS), changed={PRUNED: LINES[2]}, ours=BACK_AGAIN, n_receipts=2
)


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


def take_away(root: Path) -> None:
    create_before(root)
    undo_create(root, look_at(session_of(root)))


def redo_create(root: Path, _: Fingerprint) -> None:
    done = the_receipt(root)
    bring_back(
        root / "agent" / NEW_SESSION.name,
        done.new_sha256 or "",
        session_key=KEY,
        receipt_id=done.receipt_id,
        places=places_of(root),
    )


def append_once(root: Path) -> None:
    """Append as another Ullage does, which plans from what it reads."""
    path = session_of(root)
    seen = look_at(path)
    if OURS not in path.read_bytes():
        append(root, seen)


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


def check_brought_back(seen: Seen) -> list[str]:
    created = seen.root / "agent" / NEW_SESSION.name
    kept = (seen.root / "state" / "context" / "preimages").glob("*/*.jsonl")
    files = [file.read_bytes() for file in (created, *kept) if file.exists()]
    problems = _hidden_files(seen.root)
    if not files or any(data != NEW_SESSION.data for data in files):
        problems.append("the session is nowhere, or in part")
    if seen.outcome == "made" and not created.exists():
        problems.append("success was reported, and the session is not there")
    return problems


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


def _hidden_files(root: Path) -> list[str]:
    return [f"left behind: {one.name}" for one in (root / "agent").iterdir() if one.name[0] == "."]


def _receipt_states(root: Path) -> list[str]:
    return [one.state for one in list_receipts(KEY, places_of(root)).receipts]


def check(expected: Expected) -> Callable[[Seen], list[str]]:
    return lambda seen: transcript_problems(seen, expected)
