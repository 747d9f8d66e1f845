"""How far the gauge right after a compaction is from what the provider then reports.

    python benchmarks/after_compaction.py FILE...

For each compaction of recorded sessions: the gauge of the file as it was before the next reported
answer, and the tokens that were sent for that answer. Each file is read and never written.
"""

import statistics
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import msgspec

from ullage.app.sessions.load import load
from ullage.app.sessions.open import open_session
from ullage.app.sessions.session import Session
from ullage.core.config.settings import Config
from ullage.core.gauge.gauge import tells_usage
from ullage.core.transcript.lineage import EMPTY_INDEX, CompactionRef
from ullage.errors import UllageError
from ullage.store.files.places import Places
from ullage.store.transcript.reader import FileLines, FirstLines

MAX_LINES = 400
"""Lines after a compaction among which the next reported answer is looked for (chosen)."""


def main(paths: list[str]) -> None:
    print("| session | agent | sent next | shown | source | off by | without the outside |")
    print("|---|---|---|---|---|---|---|")
    errors: list[float] = []
    before: list[float] = []
    seen: set[str] = set()
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        places = Places(cwd=home, home=home, env={}, state_folder=home / "state")
        for path in map(Path, paths):
            try:
                session = open_session(path)
            except UllageError:
                continue
            for row, error, error_before in describe(session, places, seen):
                print(row, flush=True)
                errors.append(error)
                before.append(error_before)
    for name, values in (("without the outside", before), ("now", errors)):
        middle, largest = statistics.median(values), max(values)
        print(f"\n{name}: {len(values)} compactions, median {middle:.1%}, largest {largest:.1%}")


def describe(
    session: Session, places: Places, seen: set[str]
) -> Iterator[tuple[str, float, float]]:
    assert isinstance(session.lines, FileLines)
    context = session.agent.read_context(session.lines, session.header, EMPTY_INDEX).context
    for ref in context.compactions:
        following = find_next_answer(session, session.lines, ref)
        if ref.entry_id in seen or following is None:
            continue
        seen.add(ref.entry_id)
        end, n_sent = following
        cut = msgspec.structs.replace(session, lines=FirstLines(session.lines, end))
        gauge = load(cut, Config(), places).status.gauge
        shown = gauge.used_tokens or 0
        error, error_before = (
            abs(n_tokens - n_sent) / n_sent for n_tokens in (shown, shown - gauge.n_outside)
        )
        yield (
            f"| {session.path.name} | {session.agent.agent} | {n_sent:,} | {shown:,} |"
            f" {gauge.used_source} | {error:.0%} | {error_before:.0%} |",
            error,
            error_before,
        )


def find_next_answer(
    session: Session, lines: FileLines, ref: CompactionRef
) -> tuple[int, int] | None:
    """Give where the next reported answer begins, and the tokens that were sent for it."""
    last_end = ref.offset + ref.size_bytes
    for n, line in enumerate(lines.forward(last_end)):
        end = line.offset + len(line.raw)
        part = FirstLines(lines, end)
        reading = session.agent.read_context(part, session.header, EMPTY_INDEX)
        items = reading.context.items
        usage = next((i.message.usage for i in items if tells_usage(i)), None)
        if usage is not None and reading.context.boundary is not None:
            n_sent = usage.n_input + usage.n_cache_read + usage.n_cache_write
            return (line.offset, n_sent) if n_sent else None
        if n == MAX_LINES:
            return None
    return None


if __name__ == "__main__":
    main(sys.argv[1:])
