"""Databases as opencode and OpenClaw write them, built from readable calls."""

import json
import sqlite3
from contextlib import closing
from pathlib import Path

from packing import zstd

Json = dict[str, object]

OPENCODE_SAMPLE = Path(__file__).parent / "samples" / "opencode" / "opencode.db"
OPENCODE_SAMPLE_ID = "ses_e0417b3beffeMCkRqmXlWzNcx4"

OPENCLAW_SCHEMA = """
CREATE TABLE session_nodes (
  session_key TEXT PRIMARY KEY, current_session_id TEXT, entry_json TEXT, status TEXT);
CREATE TABLE session_windows (session_id TEXT PRIMARY KEY, session_key TEXT, reason TEXT);
CREATE TABLE transcript_events (
  session_id TEXT, seq INTEGER, event_json TEXT, event_zstd BLOB, event_utf8_bytes INTEGER,
  navigation_json TEXT, PRIMARY KEY (session_id, seq));
"""
OPENCODE_SCHEMA = """
CREATE TABLE session (
  id TEXT PRIMARY KEY, parent_id TEXT, directory TEXT NOT NULL, title TEXT NOT NULL,
  version TEXT NOT NULL, revert TEXT, time_created INTEGER NOT NULL, time_updated INTEGER NOT NULL);
CREATE TABLE message (
  id TEXT PRIMARY KEY, session_id TEXT NOT NULL, time_created INTEGER NOT NULL,
  time_updated INTEGER NOT NULL, data TEXT NOT NULL);
CREATE TABLE part (
  id TEXT PRIMARY KEY, message_id TEXT NOT NULL, session_id TEXT NOT NULL,
  time_created INTEGER NOT NULL, time_updated INTEGER NOT NULL, data TEXT NOT NULL);
"""


def openclaw_database(
    path: Path, sessions: dict[str, list[Json]], *, packed_from: int = 400
) -> Path:
    """Write sessions; events of so many bytes are packed, as OpenClaw packs large ones."""
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.executescript(OPENCLAW_SCHEMA)
        for at, (session_id, events) in enumerate(sessions.items()):
            key = f"agent:main:{session_id}"
            entry = json.dumps({"sessionId": session_id, "updatedAt": 1000 + at, "label": "Shop"})
            connection.execute(
                "INSERT INTO session_nodes VALUES (?, ?, ?, 'active')", (key, session_id, entry)
            )
            connection.execute(
                "INSERT INTO session_windows VALUES (?, ?, 'initial')", (session_id, key)
            )
            for seq, event in enumerate(events):
                add_event(connection, session_id, seq, event, packed_from)
    return path


def add_event(
    connection: sqlite3.Connection, session_id: str, seq: int, event: Json, packed_from: int = 400
) -> None:
    text = json.dumps(event, ensure_ascii=False)
    data = text.encode()
    row = (text, None) if len(data) < packed_from else (None, zstd.compress(data))
    connection.execute(
        "INSERT INTO transcript_events VALUES (?, ?, ?, ?, ?, NULL)",
        (session_id, seq, *row, len(data)),
    )


class OpencodeSession:
    """A session of opencode that grows by a message a call; each call gives its id."""

    def __init__(self, path: Path, session_id: str = "ses_1", parent_id: str | None = None) -> None:
        self.path = path
        self.session_id = session_id
        self.n_messages = 0
        self.n_parts = 0
        is_new = not path.exists()
        with closing(sqlite3.connect(path)) as connection, connection:
            if is_new:
                connection.executescript(OPENCODE_SCHEMA)
            connection.execute(
                "INSERT INTO session VALUES (?, ?, '/work/shop', 'Shop', '1.18.33', NULL, 1, 2)",
                (session_id, parent_id),
            )

    def execute(self, query: str, *values: object) -> None:
        with closing(sqlite3.connect(self.path)) as connection, connection:
            connection.execute(query, values)

    def message(self, info: Json | str, *parts: Json | str) -> str:
        """Add a message; a text is put into the database as it stands."""
        self.n_messages += 1
        message_id = f"msg_{self.session_id}_{self.n_messages:04d}"
        created = 1_770_000_000_000 + self.n_messages // 2
        if isinstance(info, dict):
            info = json.dumps({"time": {"created": created}, **info})
        self.execute(
            "INSERT INTO message VALUES (?, ?, ?, ?, ?)",
            *(message_id, self.session_id, created, created, info),
        )
        for part in parts:
            self.n_parts += 1
            data = json.dumps(part) if isinstance(part, dict) else part
            part_id = f"prt_{self.session_id}_{self.n_parts:04d}"
            self.execute(
                "INSERT INTO part VALUES (?, ?, ?, ?, ?, ?)",
                *(part_id, message_id, self.session_id, created, created, data),
            )
        return message_id

    def user(self, text: str) -> str:
        return self.message({"role": "user"}, {"type": "text", "text": text})

    def assistant(self, text: str, *more: Json, total: int = 100, **info: object) -> str:
        tokens = {"total": total, "input": total, "output": 0, "reasoning": 0, "cache": {}}
        fields: Json = {"role": "assistant", "modelID": "mock-1", "finish": "stop"}
        step: Json = {"type": "step-start"}
        return self.message(
            fields | {"tokens": tokens} | info, step, {"type": "text", "text": text}, *more
        )

    def compaction(self, summary: str, tail: str | None = None, **info: object) -> tuple[str, str]:
        """Add a request for a compaction and its summary."""
        tail_field: Json = {} if tail is None else {"tail_start_id": tail}
        request = self.message({"role": "user"}, {"type": "compaction", "auto": True, **tail_field})
        answer: Json = {"summary": True, "parentID": request, **info}
        return request, self.assistant(summary, total=9, **answer)


def tool_part(call_id: str, output: str, *, compacted: int | None = None) -> Json:
    time: Json = {"start": 1, "end": 2} | ({} if compacted is None else {"compacted": compacted})
    state: Json = {"status": "completed", "input": {"command": "ls"}, "output": output}
    return {"type": "tool", "tool": "bash", "callID": call_id, "state": state | {"time": time}}
