"""Measure what summaries keep of planted facts: `python benchmarks/summaries/quality.py`.

Prints, for each session of `quality_sessions`, the share of facts and of verbatim constraints that
the extractive summary holds at a fifth and a tenth of the text, the superseded values that stand
there unmarked, and planted instructions that it should not hold. `--rounds N` compacts the
summary again with the next stretch of talk. No model is asked.
"""

import argparse
import sys
from collections.abc import Sequence

import msgspec
from quality_sessions import Planted, Script, sessions

from ullage.core.summary.extract import summarize
from ullage.core.transcript.context import ContextItem
from ullage.core.transcript.entries import Message, Text
from ullage.core.transcript.tokens import count_items, estimate

GOALS = {5: 0.95, 10: 0.75, 20: 0.0}
"""Facts that have to survive, by the share of the text (docs/design/summaries.md, "Aims")."""
AUTHORITATIVE = ("Goal", "Constraints", "Decisions", "Remaining")


class Score(msgspec.Struct, frozen=True, kw_only=True):
    name: str
    n_tokens: int
    n_summary_tokens: int
    lost: tuple[str, ...]
    n_facts: int
    lost_constraints: tuple[str, ...]
    n_constraints: int
    superseded: tuple[str, ...]
    obeyed: tuple[str, ...]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--rounds", type=int, default=0, help="compact again so many times")
    parser.add_argument("--lost", action="store_true", help="name what was lost")
    options = parser.parse_args()
    is_reached = True
    for share in GOALS:
        scores = [score(planted, share, options.rounds) for planted in sessions()]
        print(f"\n| session at 1/{share} | facts | constraints | superseded | obeyed | ratio |")
        print("|---|---|---|---|---|---|")
        for one in scores:
            print_row(one, with_lost=options.lost)
        is_reached &= print_total(scores, share)
    sys.exit(0 if is_reached else 1)


def score(planted: Planted, share: int, n_rounds: int = 0) -> Score:
    """Summarize a session to a share of its tokens, and judge what came out."""
    n_tokens = count_items(planted.items, estimate)
    budget = n_tokens // share
    text = summarize(planted.items, focus=None, budget_tokens=budget, count=estimate)
    for n_round in range(n_rounds):
        items = [_summary(text), *_small_talk(n_round)]
        text = summarize(items, focus=None, budget_tokens=budget, count=estimate)
    flat = " ".join(text.split())
    sections = "\n".join(
        text.split(f"## {name}\n", 1)[-1].split("\n## ", 1)[0] for name in AUTHORITATIVE
    )
    return Score(
        name=planted.name,
        n_tokens=n_tokens,
        n_summary_tokens=estimate(text),
        lost=tuple(f for f in planted.facts if not any(form in flat for form in f.split("|"))),
        n_facts=len(planted.facts),
        lost_constraints=tuple(rule for rule in planted.constraints if rule not in flat),
        n_constraints=len(planted.constraints),
        superseded=tuple(value for value in planted.superseded if stands_unmarked(value, text)),
        obeyed=tuple(line for line in planted.foreign if line in sections),
    )


def stands_unmarked(replaced: str, text: str) -> bool:
    """Tell whether a line has the old of two values, given as `old>new`, as if it still held."""
    old, _, new = replaced.partition(">")
    return any(
        old in line and new not in line and " later: " not in line for line in text.split("\n")
    )


def print_row(one: Score, *, with_lost: bool) -> None:
    n_kept = one.n_facts - len(one.lost)
    n_rules = one.n_constraints - len(one.lost_constraints)
    print(
        f"| {one.name} | {n_kept}/{one.n_facts} | {n_rules}/{one.n_constraints}"
        f" | {len(one.superseded)} | {len(one.obeyed)}"
        f" | {one.n_tokens / one.n_summary_tokens:.1f} |"
    )
    for what in ("lost", "lost_constraints", "superseded", "obeyed"):
        if with_lost and getattr(one, what):
            print(f"  {what}: {', '.join(getattr(one, what))}")


def print_total(scores: Sequence[Score], share: int) -> bool:
    """Print the sums, and tell whether the goals are reached."""
    n_facts = sum(one.n_facts for one in scores)
    n_lost = sum(len(one.lost) for one in scores)
    n_rules = sum(one.n_constraints for one in scores)
    n_lost_rules = sum(len(one.lost_constraints) for one in scores)
    n_superseded = sum(len(one.superseded) for one in scores)
    n_obeyed = sum(len(one.obeyed) for one in scores)
    kept = 1 - n_lost / n_facts
    print(
        f"\nat 1/{share}: facts {kept:.1%} (goal {GOALS[share]:.0%}),"
        f" constraints {n_rules - n_lost_rules} of {n_rules}, superseded {n_superseded},"
        f" obeyed {n_obeyed}"
    )
    return share == max(GOALS) or (kept >= GOALS[share] and not n_lost_rules and not n_obeyed)


def _summary(text: str) -> ContextItem:
    return ContextItem(
        entry_id="e0",
        message=Message(role="user", blocks=(Text(text=text),)),
        category="summary",
        native={},
        at_ms=None,
        is_after_boundary=True,
    )


def _small_talk(n_round: int) -> Sequence[ContextItem]:
    script = Script(100 + n_round)
    script.user(f"Go on with step {n_round} of the list, then tell me how far you are.")
    script.run("bash", {"command": f"make step-{n_round}"}, script.log(40))
    script.agent(f"Step {n_round} is through.")
    return script.items


if __name__ == "__main__":
    main()
