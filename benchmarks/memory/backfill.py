"""Backfill recorded sessions, and print each proposal to be read against its session.

    python benchmarks/memory/backfill.py FOLDER [FOLDER …]

Each transcript below the folders (such as ../shared/wild, which is others' data: for measuring
only) is taken for a session of one workspace of its own folder. A second run must find nothing
new. No text leaves the machine; nothing is written but in a temporary folder.
"""

import asyncio
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

from ullage.app.dream.backfill import BackfillPlan, backfill, look_at_session
from ullage.app.sessions.open import open_session
from ullage.errors import UllageError
from ullage.store.files.places import Places
from ullage.store.memory.dream_state import read_backfilled


def main() -> None:
    files = sorted(
        path
        for folder in sys.argv[1:]
        for path in Path(folder).rglob("*")
        if path.suffix in (".jsonl", ".json") and path.is_file()
    )
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        projects: dict[Path, Path] = {}
        found: Counter[str] = Counter()
        places = Places(home=root, cwd=root, state_folder=root / "state", env={})
        started_s, size_bytes, unread = time.process_time(), 0, 0
        for path in files:
            workspace = projects.setdefault(path.parent, root / f"w{len(projects)}")
            workspace.mkdir(exist_ok=True)
            try:
                each = look_at_session(open_session(path), places)
                plan = BackfillPlan(sessions=(each,), n_read_before=0)
                result = asyncio.run(backfill(plan, workspace, places))
            except UllageError:
                unread += 1
                continue
            size_bytes += each.size_bytes
            found["sessions"] += 1
            found["proposals"] += len(result.items)
            for item in result.items:
                print(
                    f"{path}\n  {item.source}\n  {item.finding}\n  → {item.action} ({item.reason})"
                )
            again = asyncio.run(backfill(plan, workspace, places))
            found["new in a second run"] += len(again.items)
            assert read_backfilled(workspace, places)[each.session.state_key] == each.fingerprint
        spent_s = time.process_time() - started_s
        print(
            f"\n{dict(found)}, {unread} files are no sessions;"
            f" {size_bytes / 1e6:.0f} MB twice in {spent_s:.1f} s of CPU"
        )


if __name__ == "__main__":
    main()
