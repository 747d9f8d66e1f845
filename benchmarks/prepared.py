"""What an automatic compaction waits for at its threshold, with and without a prepared summary.

    PYTHONPATH=tests python benchmarks/prepared.py [--window TOKENS] [--model-s SECONDS] FILE...

A copy of each recorded session grows line by line. Wherever no call waits for its result, the next
summary is prepared as in a quiet moment; that is the background. At the first such place where a
summary is due, what is waited for is measured without and with it. With `--model-s`, a model on
loopback answers each request after so many seconds. The files themselves are only read.
"""

import argparse
import asyncio
import re
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from model_server import Asked, ModelServer, Reply, served, text_reply
from model_session import GOOD
from ullage.app.change.auto import plan_auto
from ullage.app.change.compact import Plan
from ullage.app.change.prepared import prepare_summary
from ullage.app.change.prepared_file import PREPARED_FILE, store_prepared
from ullage.app.gauge.due import find_due
from ullage.app.sessions.load import Loaded, load
from ullage.app.sessions.open import open_session
from ullage.app.summary.write import ModelUse, model_use
from ullage.core.change.compaction import refuse_open_calls
from ullage.core.change.due import is_summary_near
from ullage.core.config.settings import Config, ModelSettings, Policy
from ullage.core.gauge.gauge import summary_at
from ullage.errors import UllageError
from ullage.store.files.places import Places

STRIDE = 4
"""Lines that are passed over at once while the context is small (chosen)."""
POLICY = Policy(notifies_before_auto=False, is_prune_enabled=False)


async def main(paths: list[Path], window: int | None, model_s: float | None) -> None:
    print("| session | by | window | prepared | requests | background CPU | wait without | with |")
    print("|---|---|---|---|---|---|---|---|")
    config = Config(window_tokens=window, policy=POLICY)
    async with served(ModelServer(lambda asked: _answer(asked, model_s or 0.0))) as server:
        settings = ModelSettings(provider="custom", name="m", base_url=server.base_url)
        for path in paths:
            with tempfile.TemporaryDirectory() as folder:
                home = Path(folder)
                places = Places(cwd=home, home=home, env={}, state_folder=home / "state")
                model = ModelUse() if model_s is None else model_use(settings, places)
                try:
                    print(await measure(path, config, places, model, server), flush=True)
                except UllageError as error:
                    print(f"| {path.name} | | | | | | | {error} |")


async def measure(
    path: Path, config: Config, places: Places, model: ModelUse, server: ModelServer
) -> str:
    n_before, n_prepared, cpu_s = len(server.asked), 0, 0.0
    for loaded in grow(path, config, places):
        gauge = loaded.status.gauge
        if is_summary_near(gauge, loaded.policy):
            before_s = time.process_time()
            prepared = await prepare_summary(loaded, config, places, model)
            cpu_s += time.process_time() - before_s
            if prepared is not None:
                n_prepared += 1
                store_prepared(prepared, loaded.session.state_key, places)
        elif (gauge.used_tokens or 0) >= summary_at(gauge.window.n_tokens, loaded.policy):
            n_asked = len(server.asked) - n_before
            # Texts that are new are counted once, by whoever looks first.
            find_due(loaded)
            with_s, author = await wait(loaded, config, places, model)
            n_asked_due = len(server.asked) - n_before - n_asked
            PREPARED_FILE.remove(loaded.session.state_key, places)
            without_s, _ = await wait(loaded, config, places, model)
            return (
                f"| {path.name} | {author} | {gauge.window.n_tokens:,} |"
                f" {n_prepared} | {n_asked} + {n_asked_due} when due | {cpu_s:.1f} s |"
                f" {without_s:.2f} s | {with_s:.2f} s |"
            )
    return f"| {path.name} | | | | | | | never due |"


def grow(path: Path, config: Config, places: Places) -> Iterator[Loaded]:
    """Let a copy grow, and load it wherever no call waits for its result."""
    lines = path.read_bytes().splitlines(keepends=True)
    copy, n_lines = places.home / path.name, 2 * STRIDE
    while n_lines <= len(lines):
        copy.write_bytes(b"".join(lines[:n_lines]))
        loaded = load(open_session(copy), config, places)
        gauge = loaded.status.gauge
        due_at = summary_at(gauge.window.n_tokens, loaded.policy)
        n_lines += STRIDE if (gauge.used_tokens or 0) < due_at / 2 else 1
        if refuse_open_calls(loaded.context.items) is None:
            yield loaded


async def wait(
    loaded: Loaded, config: Config, places: Places, model: ModelUse
) -> tuple[float, str]:
    """Give how long it takes until what is due can be written, and whose the summary is."""
    before_s = time.perf_counter()
    auto = await plan_auto(loaded, config, places, model)
    if not isinstance(auto.plan, Plan):
        raise UllageError(auto.due.reason)
    return time.perf_counter() - before_s, auto.plan.summary.author


def _answer(asked: Asked, model_s: float) -> Reply:
    """Answer with a summary that names something of what was sent."""
    named = re.findall(r"\w[\w/.-]*/[\w.-]+\.\w+", asked.prompt)
    text = GOOD.replace("src/billing/totals.py", named[-1] if named else "")
    return (model_s, *text_reply(text))


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("files", nargs="+", type=Path)
    parser.add_argument("--window", type=int)
    parser.add_argument("--model-s", type=float)
    arguments = parser.parse_args()
    asyncio.run(main(arguments.files, arguments.window, arguments.model_s))
