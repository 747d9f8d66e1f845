"""A session that was left alone, and changes of it."""

import json
import os
import time
from pathlib import Path

from ullage.core.change.edit import Append, LineChange, NewSession, Rewrite
from ullage.core.change.receipt import ChangeReason, ReceiptKind


def record(entry_id: str, parent_id: str | None, text: str = "") -> bytes:
    entry = {"type": "message", "id": entry_id, "parentId": parent_id, "text": text}
    return json.dumps(entry).encode() + b"\n"


HEADER = b'{"type":"session","version":3,"id":"s"}\n'
LINES = (
    HEADER,
    record("e1", None, "first"),
    record("e2", "e1", "old output " * 40),
    record("e3", "e2", "last"),
)
OLD = b"".join(LINES)
PRUNED = record("e2", "e1", "pruned")
OURS = b'{"type": "compaction", "id": "c1", "parentId": "e3", "summary": "short"}\n'
KEY = "openclaw:s"

APPEND = Append(data=OURS)
REWRITE = Rewrite(
    changes=(LineChange(offset=len(LINES[0] + LINES[1]), old=LINES[2], new=PRUNED),),
    appended=OURS,
)
REWRITTEN = LINES[0] + LINES[1] + PRUNED + LINES[3] + OURS
NEW_SESSION = NewSession(session_id="n", name="n.jsonl", data=HEADER + record("n1", None))


def old_session(folder: Path, data: bytes = OLD, name: str = "s.jsonl") -> Path:
    """Write a transcript that was left alone for an hour."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / name
    path.write_bytes(data)
    then = time.time() - 3600
    os.utime(path, (then, then))
    return path


def occasion(kind: ReceiptKind = "compaction", *, undoes: str | None = None) -> ChangeReason:
    return ChangeReason(
        kind=kind,
        layer="summarize",
        at="2026-01-02T03:04:05.000Z",
        session_key=KEY,
        n_tokens_before=1000,
        n_tokens_after=100,
        replaced_ids=("e1", "e2"),
        replaced_bytes=10,
        replaced_sha256="0" * 64,
        undoes=undoes,
    )
