"""The daily log of memory in the sweep: a block is added, once and whole."""

from pathlib import Path

from crash.checker import Seen
from crash.places import places_of
from ullage.core.memory.flush import Epoch
from ullage.store.memory.daily_log import append_block, log_path
from ullage.store.state.flush_state import read_flush_state, record_flush
from ullage.store.transcript.reader import Fingerprint

LOG_DAY = "2026-11-21"
LOG = b"# mine\n\n- what I noted\n"
MARKER = "<!-- ullage flush a:b epoch 0 -->"
BLOCK = f"## 10:00 — Compaction Pre-flush\n\n**Notes:**\n- port 8123\n\n{MARKER}\n"


def log_before(root: Path) -> None:
    path = log_path(root, LOG_DAY)
    path.parent.mkdir()
    path.write_bytes(LOG)


def flush(root: Path, _: Fingerprint | None) -> None:
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
    # Blanks stand where a killed process had written a part.
    is_whole = data.split() == whole.split()
    problems: list[str] = []
    if not data.startswith(old):
        problems.append("what the user wrote is not there any more")
    part = data[len(old) :].strip()
    if not is_whole and part and seen.outcome not in ("killed", "failed"):
        problems.append(f"a part of a block: {part[:60]!r}")
    if seen.outcome == "made" and not is_whole:
        problems.append("success was reported, and the block is not there")
    if not is_whole and read_flush_state("a:b", places_of(seen.root)).epoch is not None:
        problems.append("noted, and not written")
    flush(seen.root, None)
    if path.read_bytes().count(MARKER.encode()) != 1:
        problems.append("the block stands there twice, or not at all")
    if path.read_bytes().split() != whole.split():
        problems.append("the next flush left a part of a block")
    names = [one.name for one in path.parent.iterdir()]
    return problems + ([f"left behind: {names}"] if names != [path.name] else [])
