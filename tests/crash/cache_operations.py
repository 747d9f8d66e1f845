"""Small state in the sweep: pins, automatic runs, what hooks leave, and caches.

Whatever happens, a file of ours is old or new, and what a cache knows is what the disk holds.
"""

from collections.abc import Callable
from pathlib import Path
from typing import TypeAlias

import msgspec

from crash.checker import Seen
from crash.places import leave_alone, places_of
from crash.state_operations import KEY, SECOND
from crash.transfer_operations import count_roughly
from pi_files import conversation
from ullage.app.change.prepared_file import PREPARED_FILE, PreparedSummary, store_prepared
from ullage.app.sessions.find import list_sessions
from ullage.app.summary.write import EXTRACTIVE, WrittenSummary
from ullage.core.checkpoint.captured import capture_events
from ullage.core.facts.pins import Pin
from ullage.core.gauge.loss import Loss
from ullage.core.summary.audit import Audit
from ullage.errors import PreviewNotFound, StorageError
from ullage.formats.registry import agent_info
from ullage.store.checkpoint.spool import spool
from ullage.store.checkpoint.working_state import read_working_state
from ullage.store.documents.previews import read_preview, write_preview
from ullage.store.files import quick_state
from ullage.store.files.places import session_folder
from ullage.store.gauge.token_counts import TokenCounts
from ullage.store.state import hook_snapshot
from ullage.store.state.auto_state import AutoState, change_auto_state, read_auto_state
from ullage.store.state.pins import PinsFile, change_pins, pins_path, read_pins
from ullage.store.transcript.reader import Fingerprint

Read: TypeAlias = Callable[[Path], object]
OLD_PINS, NEW_PINS = (Pin(text="old"),), (Pin(text="old"), Pin(text="new " * 200))
PREVIEW, NAME, EVENT = "0a1b2c3d4e5f6071", "claude-code_one", "PreCompact"
TEXTS = tuple(f"a text of number {n}" for n in range(40))
CALL = {"tool_name": "Bash", "tool_input": {"command": "make"}, "tool_use_id": "call_1"}


def pins_before(root: Path) -> None:
    change_pins(pins_path(KEY, places_of(root)), lambda _: OLD_PINS, places_of(root))


def pin(root: Path, _: Fingerprint) -> None:
    change_pins(pins_path(KEY, places_of(root)), lambda _: NEW_PINS, places_of(root))


def check_pins(seen: Seen) -> list[str]:
    def read(root: Path) -> object:
        found = read_pins(pins_path(KEY, places_of(root)))
        return found.problem or found.pins

    return _state_problems(seen, read, OLD_PINS, NEW_PINS, pin)


def auto_before(root: Path) -> None:
    change_auto_state(KEY, lambda _: AutoState(is_on=True), places_of(root))


def switch_off(root: Path, _: Fingerprint) -> None:
    change_auto_state(KEY, lambda _: AutoState(is_on=False), places_of(root))


def check_switch(seen: Seen) -> list[str]:
    def read(root: Path) -> object:
        return read_auto_state(KEY, places_of(root)).is_on

    return _state_problems(seen, read, True, False, switch_off)  # noqa: FBT003 - old and new


def _store_prepared(root: Path, text: str) -> None:
    summary = WrittenSummary(
        text=text,
        n_tokens=1,
        author=EXTRACTIVE,
        audit=Audit(facts=(), missing=(), invented=(), misplaced=()),
        loss=Loss(n_inserted=0, n_tokens_replaced=1, n_summary_tokens=1),
        model=None,
        warnings=(),
    )
    prepared = PreparedSummary(
        n_compactions=0,
        n_asked=0,
        n_replaced=1,
        n_tokens_replaced=1,
        digest="0",
        author=EXTRACTIVE,
        summary=summary,
        picked=None,
    )
    store_prepared(prepared, KEY, places_of(root))


def prepared_before(root: Path) -> None:
    _store_prepared(root, "old")


def prepare(root: Path, _: Fingerprint) -> None:
    _store_prepared(root, "new " * 2000)


def check_prepared(seen: Seen) -> list[str]:
    def read(root: Path) -> object:
        found = PREPARED_FILE.read(KEY, places_of(root))
        return found.problem or (found.content and found.content.summary.text)

    return _state_problems(seen, read, "old", "new " * 2000, prepare)


def _state_problems(
    seen: Seen,
    read: Read,
    old: object,
    new: object,
    again: Callable[[Path, Fingerprint | None], object],
) -> list[str]:
    """What is read is old or new, new where that was told, and can be made new."""
    if seen.outcome.startswith("bug"):
        return [seen.outcome]
    found = read(seen.root)
    problems = [] if found in (old, new) else [f"neither old nor new: {found}"]
    if seen.outcome == "made" and found != new:
        problems.append("success was reported, and it is old")
    again(seen.root, None)
    return problems if read(seen.root) == new else [*problems, "it cannot be changed any more"]


def snapshot_before(root: Path) -> None:
    hook_snapshot.write_snapshot(NAME, EVENT, places_of(root), {"size": 1})


def leave_snapshot(root: Path, _: Fingerprint) -> None:
    hook_snapshot.write_snapshot(NAME, EVENT, places_of(root), {"size": 2})


def check_snapshot(seen: Seen) -> list[str]:
    def read(root: Path) -> object:
        path = root / "state" / "context" / quick_state.FOLDER / f"{NAME}.{EVENT}.json"
        return msgspec.json.decode(path.read_bytes())["size"]

    return _state_problems(seen, read, 1, 2, leave_snapshot)


def _spool_folder(root: Path) -> Path:
    return session_folder("state", KEY, places_of(root))


def spool_before(root: Path) -> None:
    spool(KEY, capture_events(SECOND, now_ms=0), places_of(root))


def lay_call_down(root: Path, _: Fingerprint) -> None:
    try:
        quick_state.lay_down(str(_spool_folder(root)), CALL)
    except OSError as error:  # as `quick_answer.py` takes it: then the long way is gone
        raise StorageError(str(error)) from None


def check_laid_down(seen: Seen) -> list[str]:
    """Look for the call in what the next reader sees; what was spooled before is there."""
    if seen.outcome.startswith("bug"):
        return [seen.outcome]
    state = read_working_state(KEY, places_of(seen.root))
    found = msgspec.json.encode(state)
    problems = [] if b"s20" in found else ["what was spooled before is lost"]
    if seen.outcome == "made" and b'"Bash"' not in found and b"make" not in found:
        problems.append("success was reported, and the call is not there")
    return problems


def _preview(root: Path, text: str) -> None:
    note = PinsFile(version=1, pins=(Pin(text=text),))
    write_preview(PREVIEW, f"before {text}", f"proposed {text}", note, places_of(root))


def preview_before(root: Path) -> None:
    _preview(root, "old")


def preview(root: Path, _: Fingerprint) -> None:
    _preview(root, "new")


def check_preview(seen: Seen) -> list[str]:
    """A preview that can be read is of one piece."""
    if seen.outcome.startswith("bug"):
        return [seen.outcome]
    problems: list[str] = []
    try:
        files = read_preview(PREVIEW, PinsFile, 1, places_of(seen.root))
    except PreviewNotFound:
        files = None
    if files is not None:
        text = files.note.pins[0].text
        found = (files.before_path.read_text(), files.proposed_path.read_text())
        if found != (f"before {text}", f"proposed {text}"):
            problems.append(f"a preview of two: {text} {found}")
    elif seen.outcome == "made":
        problems.append("success was reported, and there is no preview")
    _preview(seen.root, "again")
    return problems


def _counts(root: Path) -> TokenCounts:
    return TokenCounts("o200k_base", root / "state", count_roughly)


def counts_before(root: Path) -> None:
    counts = _counts(root)
    counts(TEXTS[0])
    counts.save()


def count_texts(root: Path, _: Fingerprint) -> None:
    counts = _counts(root)
    for text in TEXTS:
        counts(text)
    counts.save()


def check_counts(seen: Seen) -> list[str]:
    if seen.outcome.startswith("bug"):
        return [seen.outcome]
    counts = _counts(seen.root)
    found = [counts.known(text) for text in TEXTS]
    wanted = [count_roughly(text, "") for text in TEXTS]
    if any(known not in (None, right) for known, right in zip(found, wanted, strict=True)):
        return [f"wrong counts: {found}"]
    return []


def _sessions_folder(root: Path) -> Path:
    return agent_info("openclaw").workspace_folders(root, {}, root)[0]


def _add_session(root: Path, name: str) -> None:
    data = conversation(1, chars=50, cwd=str(root), session_id=f"{name}-0000-4000-8000-0").data
    path = _sessions_folder(root) / f"{name}.jsonl"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    leave_alone(path)


def _list_names(root: Path) -> list[str]:
    return sorted(session.path.stem for session in list_sessions(root, places_of(root)))


def folders_before(root: Path) -> None:
    _add_session(root, "aaaa")
    _list_names(root)
    (_sessions_folder(root) / "aaaa.jsonl").unlink()
    _add_session(root, "bbbb")
    _add_session(root, "cccc")


def list_again(root: Path, _: Fingerprint) -> None:
    _list_names(root)


def check_listed(seen: Seen) -> list[str]:
    if seen.outcome.startswith("bug"):
        return [seen.outcome]
    found = _list_names(seen.root)
    return [] if found == ["bbbb", "cccc"] else [f"the list is {found}"]
