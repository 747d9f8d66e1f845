"""What must hold after any fault, told from the bytes alone: this knows nothing of the store."""

import base64
import json
from dataclasses import dataclass, field
from pathlib import Path


@dataclass(kw_only=True)
class Seen:
    """What an agent and the user know of a case."""

    root: Path
    outcome: str
    """What the operation reported: `made`, `refused`, `failed`, `killed`, or `bug: …`."""
    foreign: list[bytes]
    """Records that the agent wrote, in their order, each of which its disk took."""
    mode: int = 0o640


@dataclass(frozen=True, kw_only=True)
class Expected:
    """What an operation may make of a transcript."""

    name: str = "s.jsonl"
    original: tuple[bytes, ...] = ()
    """Lines of the agent; the last may be torn."""
    changed: dict[bytes, bytes] = field(default_factory=dict)
    """Lines that the operation replaces, all or none."""
    removed: frozenset[bytes] = frozenset()
    """Lines of ours from an earlier change, which may stand or not."""
    ours: bytes = b""
    """The line that the operation appends."""
    earlier: tuple[bytes, ...] = ()
    """Lines of ours from earlier changes, which stay."""
    has_receipt: bool = True
    n_receipts: int = 1


def transcript_problems(seen: Seen, expected: Expected) -> list[str]:
    path = seen.root / "agent" / expected.name
    if seen.outcome.startswith("bug"):
        return [seen.outcome]
    if not path.exists():
        return ["the transcript is gone"]
    data = path.read_bytes()
    problems: list[str] = []
    lines = data.split(b"\n")
    torn = lines.pop()
    if torn and not expected.original[-1].startswith(torn):
        problems.append(f"ends in a part of a line: {torn[:60]!r}")
    if torn:
        lines.append(torn)
    is_new = expected.changed != {} and _new_stands(lines, expected)
    wanted = [
        expected.changed.get(line, line) if is_new else line for line in expected.original
    ] + seen.foreign
    problems += _order_problems(lines, wanted, expected)
    n_ours = sum(line.strip() == expected.ours.strip() for line in lines) if expected.ours else 0
    if n_ours > 1:
        problems.append("our line stands twice")
    is_done = is_new if expected.changed else n_ours == 1
    if expected.changed and expected.ours and is_new != (n_ours == 1):
        problems.append("a half of the change is done")
    if seen.outcome == "made" and not is_done:
        problems.append("success was reported, and the change is not on the disk")
    problems += _path_problems(lines, wanted, expected)
    if path.stat().st_mode & 0o777 != seen.mode:
        problems.append(f"permissions are {path.stat().st_mode & 0o777:o}")
    if expected.changed and is_new:
        problems += _backup_problems(seen, expected)
    if expected.has_receipt:
        problems += _receipt_problems(seen, expected, is_done=is_done)
        problems += _folder_problems(seen)
    return problems


def _new_stands(lines: list[bytes], expected: Expected) -> bool:
    stripped = {line.strip() for line in lines}
    return all(new.strip() in stripped for new in expected.changed.values())


def _order_problems(lines: list[bytes], wanted: list[bytes], expected: Expected) -> list[str]:
    """Find the agent's records in their order; all else must be ours or blank."""
    rest = [line.strip() for line in wanted]
    known = {line.strip() for line in (expected.ours, *expected.earlier, *expected.removed)}
    problems: list[str] = []
    for line in lines:
        bare = line.strip()
        if rest and bare == rest[0]:
            rest.pop(0)
        elif len(rest) > 1 and not _is_json(rest[0]) and bare == rest[0] + rest[1]:
            # The agent went on behind its own torn line before we ended that: not our doing.
            del rest[:2]
        elif bare and bare not in known:
            problems.append(f"a stray line: {bare[:80]!r}")
    problems += [f"lost or out of order: {line[:60]!r}" for line in rest]
    return problems


def _path_problems(lines: list[bytes], wanted: list[bytes], expected: Expected) -> list[str]:
    """Walk from the last record to the root as the agent does."""
    parents: dict[str, str | None] = {}
    leaf: str | None = None
    for line in lines:
        entry = _entry(line)
        if entry and "id" in entry and entry.get("type") != "session":
            leaf = entry["id"]
            parents[leaf] = entry.get("parentId")
    visible: set[str] = set()
    while leaf is not None and leaf in parents and leaf not in visible:
        visible.add(leaf)
        leaf = parents[leaf]
    ids = [entry["id"] for line in wanted if (entry := _entry(line)) and "parentId" in entry]
    return [f"hidden: {one}" for one in ids if one in parents and one not in visible]


def _backup_problems(seen: Seen, expected: Expected) -> list[str]:
    old = b"".join(expected.original)
    backups = (seen.root / "agent").glob(f"{expected.name}.bak*")
    if any(one.read_bytes().startswith(old) for one in backups):
        return []
    return ["rewritten, and the old file is nowhere"]


def _receipt_problems(seen: Seen, expected: Expected, *, is_done: bool) -> list[str]:
    receipts: list[dict] = []
    problems: list[str] = []
    for path in sorted((seen.root / "state" / "context" / "preimages").glob("*/*.json")):
        try:
            receipts.append(json.loads(path.read_bytes()))
        except ValueError:
            problems.append(f"a torn receipt: {path.name}")
    done = [one for one in receipts if one["state"] != "planned"]
    if is_done and len(done) != expected.n_receipts:
        problems.append(f"done, with {len(done)} receipts that say so")
    if not is_done and len(done) >= expected.n_receipts:
        problems.append("not done, and a receipt says it is")
    if is_done and expected.changed and done:
        kept = {base64.b64decode(one["old"]) for one in done[-1]["originals"]}
        if not set(expected.changed) <= kept:
            problems.append("rewritten, and the receipt lacks the old lines")
    return problems


def _folder_problems(seen: Seen) -> list[str]:
    return [
        f"left behind: {path.name}"
        for path in (seen.root / "agent").iterdir()
        if path.name.startswith(".")
    ]


def file_problems(path: Path, versions: tuple[bytes, ...], outcome: str) -> list[str]:
    """A file of ours is old or new, and new where success was reported."""
    if outcome.startswith("bug"):
        return [outcome]
    data = path.read_bytes() if path.exists() else b""
    if data not in versions:
        return [f"torn: {len(data)} bytes"]
    if outcome == "made" and data != versions[-1]:
        return ["success was reported, and the file is old"]
    return []


def _is_json(line: bytes) -> bool:
    return _entry(line) is not None


def _entry(line: bytes) -> dict | None:
    try:
        found = json.loads(line)
    except ValueError:
        return None
    return found if isinstance(found, dict) else None
