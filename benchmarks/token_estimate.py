"""Measure the estimate of tokens against tiktoken's o200k_base, over what checkpoints are made of.

    python benchmarks/token_estimate.py

Aims: 15 % at most for 300 characters of prose and paths, a tenth for the text of a checkpoint.
"""

import random
import statistics
import uuid
from collections.abc import Iterable, Iterator
from pathlib import Path

from summaries.quality_sessions import sessions

from ullage.core.checkpoint.build import build
from ullage.core.checkpoint.checkpoint import Meta, measure_use
from ullage.core.checkpoint.text import render_for_agent
from ullage.core.transcript.context import Context, ContextItem
from ullage.core.transcript.entries import Header, plain_text
from ullage.core.transcript.tokens import estimate_tokens
from ullage.store.gauge.tokenizer import count_tokens

ROOT = Path(__file__).parent.parent
CHUNK_CHARS = 300
LONGEST_TYPED = 500
"""A longer message of those sessions is mostly a pasted log."""
GERMAN = """Die Abrechnung läuft jede Nacht um drei Uhr und schreibt in das Archiv.
Bitte ändere nichts an der Schnittstelle, solange die Freigabe der Revision aussteht.
Wir haben uns für die Zwischenspeicherung entschieden, weil der Server am Wochenende überlastet ist.
Der Fehler trat nur auf, wenn zwei Vorgänge gleichzeitig dieselbe Rechnung bearbeiteten.
Ich habe die Prüfung der Umsatzsteuer ergänzt und die zugehörigen Tests angepasst.
Verwende auf keinen Fall Gleitkommazahlen für Beträge, sondern ganze Cent.
Die Lieferantenstammdaten werden künftig einmal wöchentlich abgeglichen, nicht mehr täglich."""


def main() -> None:
    print("| kind | texts | mean | from | to |")
    print("|---|---|---|---|---|")
    for kind, texts in kinds().items():
        errors = [estimate_tokens(text) / count_tokens(text) - 1 for text in texts]
        mean = statistics.mean(errors)
        print(f"| {kind} | {len(errors)} | {mean:+.1%} | {min(errors):+.1%} | {max(errors):+.1%} |")


def kinds() -> dict[str, list[str]]:
    rng = random.Random(3)
    paths = [str(path.relative_to(ROOT)) for path in sorted((ROOT / "server").rglob("*.py"))]
    rng.shuffle(paths)
    found = {
        "German": chunks(GERMAN.split("\n")),
        "English documents": chunks((ROOT / "ARCHITECTURE.md").read_text("utf-8").split("\n")),
        "code": chunks(
            (ROOT / "server/ullage/core/facts/collect.py").read_text("utf-8").split("\n")
        ),
        "paths": chunks(f"- {path}" for path in paths),
        "ids": chunks(
            f"- session {uuid.UUID(int=rng.getrandbits(128))} commit {rng.getrandbits(40):010x}"
            f" ticket OPS-{rng.randrange(9999)}"
            for _ in range(60)
        ),
    }
    checkpoints: list[str] = []
    for planted in sessions():
        said = (plain_text(item.message) for item in planted.items)
        found[f"talk: {planted.name}"] = chunks(one for one in said if len(one) < LONGEST_TYPED)
        checkpoints.append(checkpoint_text(planted.items))
    everything = [item for planted in sessions() for item in planted.items]
    checkpoints += [checkpoint_text(everything[at : at + 150]) for at in range(0, 450, 50)]
    return {**found, "texts of checkpoints": checkpoints}


def chunks(lines: Iterable[str]) -> list[str]:
    return list(_chunks(lines))


def _chunks(lines: Iterable[str]) -> Iterator[str]:
    held = ""
    for line in lines:
        held += f"{line}\n" if line else ""
        if len(held) > CHUNK_CHARS:
            yield held
            held = ""
    if held:
        yield held


def checkpoint_text(items: Iterable[ContextItem]) -> str:
    context = Context(
        header=Header(agent="openclaw", session_id="s", version=3, cwd="/"),
        items=tuple(items),
        boundary=None,
        compactions=(),
        leaf_id=None,
        model=None,
        n_entries=0,
        size_bytes=0,
        problems=(),
    )
    meta = Meta(
        checkpoint_id="cp_001",
        session_key="a:b",
        session_file="s.jsonl",
        created_at="2026-01-01T00:00:00Z",
        trigger="manual",
        compaction_count=0,
        token_usage=measure_use(1, 2),
        previous_checkpoint=None,
        channel="cli",
        agent_id="a",
    )
    checkpoint = build(context, meta)
    return render_for_agent(checkpoint, budget_tokens=736, count=estimate_tokens)


if __name__ == "__main__":
    main()
