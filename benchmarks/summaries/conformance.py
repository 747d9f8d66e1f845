"""Measure an outside corpus: `python benchmarks/summaries/conformance.py [FOLDER]`.

The sessions are those of PyPI's compaction-conformance-kit, whose statements have canaries: values
that a later statement, mostly in other words, replaces. Prints by corpus how many of the latest
values the extractive summary holds at a fifth of the text, and how many old ones stand there
unmarked beside them. FOLDER is where the package was unpacked, if it is not installed. No model is
asked.
"""

import argparse
import importlib
import sys
from collections.abc import Callable, Iterable
from typing import Protocol, cast

from ullage.core.facts.collect import collect_facts
from ullage.core.summary.audit import audit
from ullage.core.summary.extract import summarize
from ullage.core.summary.insert_missing import insert_missing
from ullage.core.transcript.context import Category, ContextItem
from ullage.core.transcript.entries import Message, Role, Text
from ullage.core.transcript.tokens import count_items, estimate

SHARE = 5
MIN_TOKENS = 400
"""Chosen: the kit's sessions are of 700 tokens, and a compaction's budget is never smaller."""
CORPORA = {
    "reworded": ("generated", "build_generated_session"),
    "restated": ("corpus", "build_random_session"),
    "semantic": ("semantic_corpus", "build_semantic_session"),
    "semantic, held out": ("semantic_corpus", "build_semantic_heldout_session"),
}
_CATEGORIES: dict[str, Category] = {
    "system": "system",
    "user": "user",
    "assistant": "assistant",
    "tool": "tool results",
}


class _Turn(Protocol):
    role: str
    text: str


class _Session(Protocol):
    turns: tuple[_Turn, ...]


class _Canary(Protocol):
    required_tokens: tuple[str, ...]
    superseded_tokens: tuple[str, ...]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("folder", nargs="?", help="where the package was unpacked")
    parser.add_argument("--seeds", type=int, default=60, help="sessions of each corpus")
    options = parser.parse_args()
    if options.folder:
        sys.path.insert(0, options.folder)
    try:
        builders = {name: _find_builder(*place) for name, place in CORPORA.items()}
    except ImportError:
        sys.exit("compaction-conformance-kit is not here: pip install it, or name its folder")
    print("| corpus | latest value kept | replaced | unmarked beside the latest |")
    print("|---|---|---|---|")
    for name, build in builders.items():
        n_canaries = n_kept = n_replaced = n_unmarked = 0
        for seed in range(options.seeds):
            session, canaries, *_ = build(seed)
            text = compact(session.turns)
            for canary in canaries:
                is_kept = all(token.lower() in text.lower() for token in canary.required_tokens)
                n_canaries += 1
                n_kept += is_kept
                n_replaced += bool(canary.superseded_tokens)
                n_unmarked += is_kept and stands_unmarked(canary.superseded_tokens, text)
        share = n_unmarked / n_replaced
        print(f"| {name} | {n_kept / n_canaries:.1%} | {n_replaced} | {n_unmarked} ({share:.1%}) |")


def _find_builder(module: str, name: str) -> "Callable[[int], tuple[_Session, list[_Canary]]]":
    return cast(
        "Callable[[int], tuple[_Session, list[_Canary]]]",
        getattr(importlib.import_module(f"compaction_kit.{module}"), name),
    )


def compact(turns: Iterable[_Turn]) -> str:
    """Write the summary of a session, audited and completed."""
    items = [
        ContextItem(
            entry_id=f"e{n}",
            message=Message(role=cast(Role, turn.role), blocks=(Text(text=turn.text),)),
            category=_CATEGORIES[turn.role],
            native={},
            at_ms=1_780_000_000_000 + 60_000 * n,
            is_after_boundary=True,
        )
        for n, turn in enumerate(turns)
    ]
    facts = collect_facts(items)
    budget = max(MIN_TOKENS, count_items(items, estimate) // SHARE)
    text = summarize(items, focus=None, budget_tokens=budget, count=estimate, facts=facts)
    checked = audit(items, text, budget_tokens=budget, facts=facts)
    return insert_missing(text, checked, budget_tokens=budget, count=estimate).text


def stands_unmarked(values: Iterable[str], text: str) -> bool:
    """Tell whether a line has one of the replaced values as if it still held."""
    lines = [line.lower() for line in text.split("\n") if " later: " not in line]
    return any(value.lower() in line for value in values for line in lines)


if __name__ == "__main__":
    main()
