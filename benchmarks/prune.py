"""What a prune by rule frees of recorded sessions, and which rule keeps it from the others.

    python benchmarks/prune.py FILE...

Each file is read and never written. Smaller sessions are passed over (`LARGE_TOKENS`).
"""

import sys
import tempfile
from pathlib import Path

from ullage.app.change.prune import NothingToPrune, PruneRequest, plan_pruning
from ullage.app.sessions.load import load
from ullage.app.sessions.open import open_session
from ullage.core.change.tool_outputs import count_tool_output_tokens
from ullage.core.config.settings import Config
from ullage.core.transcript.tokens import count_items
from ullage.errors import UllageError
from ullage.store.files.places import Places

LARGE_TOKENS = 60_000
"""Below it, a prune is never due in a window of 200,000 (chosen)."""


def main(paths: list[str]) -> None:
    print("| session | agent | context | tool output | freed | why not |")
    print("|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        places = Places(cwd=home, home=home, env={}, state_folder=home / "state")
        for path in map(Path, paths):
            try:
                row = describe(path, places)
            except UllageError as error:
                row = f"| {path.name} | | | | | {error} |"
            if row is not None:
                print(row, flush=True)


def describe(path: Path, places: Places) -> str | None:
    loaded = load(open_session(path), Config(), places)
    items, count = loaded.context.items, loaded.count
    used = loaded.status.gauge.used_tokens or count_items(items, count)
    if used < LARGE_TOKENS:
        return None
    pruning = plan_pruning(loaded, PruneRequest())
    is_refused = isinstance(pruning, NothingToPrune)
    freed = "0" if is_refused else f"{pruning.plan.n_freed:,}"
    reason = pruning.reason if is_refused else ""
    tools = count_tool_output_tokens(items, count)
    agent = loaded.session.agent.agent
    return f"| {path.name} | {agent} | {used:,} | {tools:,} | {freed} | {reason} |"


if __name__ == "__main__":
    main(sys.argv[1:])
