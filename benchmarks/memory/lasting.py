"""Judge and fit what lasts: `core/dream/lasting.py` on made-up logs whose truth is known.

    python benchmarks/memory/lasting.py [--fit] [LABELS.jsonl …]

Prints for each set, judged by weights that were fitted on all others, how many of the statements
over the threshold are worth keeping and how many of those are found. With --fit the weights of
`data/lasting.json` are written anew, from all sets but the held-out ones, which are never
fitted on. LABELS.jsonl has labelled sentences of sessions ({"who", "text", "keep"}), such as of
real ones, which do not belong into this repository. Takes NumPy.
"""

import argparse
import json
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ullage.core.dream import lasting
from ullage.core.dream.propose import MIN_AGENT_PROBABILITY, MIN_PROBABILITY

ROOT = Path(__file__).resolve().parents[2]
SAMPLES = ROOT / "tests" / "samples"
TABLE = ROOT / "server" / "ullage" / "data" / "lasting.json"
HELD_OUT = ("memory_heldout", "memory_heldout_library")
SHRINKAGE = 1.0
"""Of the weights (ridge); the best of 1, 2, 4 where a set is judged by the others."""
MIN_WEIGHT = 0.1
"""Smaller weights are left out: nothing was seen to change."""
KEPT = ("fact", "superseded", "newer")
Row = tuple[str, bool, bool]
"""Text, whether it is an agent's, whether it is worth keeping."""


def read_samples(path: Path) -> list[Row]:
    lines = json.loads(path.read_text("utf-8"))
    return [
        (line["text"], line["origin"] == "agent", line["kind"] in KEPT)
        for line in lines
        if line["origin"] in ("user", "agent")
    ]


def read_labels(path: Path) -> list[Row]:
    lines = (json.loads(line) for line in path.read_text("utf-8").splitlines())
    return [(line["text"], line["who"] == "agent", bool(line["keep"])) for line in lines]


def leave_out_unjudged(rows: list[Row]) -> list[Row]:
    return [row for row in rows if lasting.judge(row[0], is_agents=row[1]) is not None]


def measure(rows: list[Row], names: list[str]) -> NDArray[np.float64]:
    at = {name: n for n, name in enumerate(names)}
    values = np.zeros((len(rows), len(names)))
    for row, (text, is_agents, _) in enumerate(rows):
        for name in (*lasting.list_features(text, is_agents=is_agents), "bias"):
            if name in at:
                values[row, at[name]] = 1.0
    return values


def fit(values: NDArray[np.float64], truth: NDArray[np.float64]) -> NDArray[np.float64]:
    """Fit a logistic regression by Newton's method; the bias comes last and is not shrunk."""
    weights = np.zeros(values.shape[1])
    ridge = np.full(values.shape[1], SHRINKAGE)
    ridge[-1] = 1e-9
    for _ in range(30):
        p = 1 / (1 + np.exp(-values @ weights))
        slope = values.T @ (p - truth) + ridge * weights
        curve = (values * (p * (1 - p))[:, None]).T @ values + np.diag(ridge)
        weights -= np.linalg.solve(curve, slope)
    return weights


def tell(name: str, rows: list[Row], scores: NDArray[np.float64]) -> None:
    p = 1 / (1 + np.exp(-scores))
    over = p >= np.array([MIN_AGENT_PROBABILITY if row[1] else MIN_PROBABILITY for row in rows])
    truth = np.array([float(row[2]) for row in rows])
    n_right = int(truth[over].sum())
    order = np.argsort(-scores)
    ranked = "  ".join(f"@{k} {truth[order[:k]].mean():.0%}" for k in (10, 20, 30, 40))
    print(
        f"{name:28} {n_right:3} of {int(over.sum()):3} proposed are right,"
        f" of {int(truth.sum()):3}; right among the first {ranked}"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("labels", nargs="*", type=Path)
    parser.add_argument("--fit", action="store_true")
    given = parser.parse_args()
    sets = {path.stem: read_samples(path) for path in sorted(SAMPLES.glob("memory_*.json"))}
    sets |= {path.stem: read_labels(path) for path in given.labels}
    lost = sum(row[2] for rows in sets.values() for row in rows)
    sets = {name: leave_out_unjudged(rows) for name, rows in sets.items()}
    lost -= sum(row[2] for rows in sets.values() for row in rows)
    print(f"{lost} worth keeping are never proposed: questions, output of programs, few words")
    fitted = {name: rows for name, rows in sets.items() if name not in HELD_OUT}
    rows = [row for rows in fitted.values() for row in rows]
    seen = {
        n for text, is_agents, _ in rows for n in lasting.list_features(text, is_agents=is_agents)
    }
    names = [*sorted(seen), "bias"]
    matrices = {name: measure(rows, names) for name, rows in sets.items()}
    truths = {name: np.array([float(row[2]) for row in rows]) for name, rows in sets.items()}
    for name in sets:
        others = [other for other in fitted if other != name]
        if others:
            weights = fit(
                np.vstack([matrices[o] for o in others]),
                np.concatenate([truths[o] for o in others]),
            )
            tell(name, sets[name], matrices[name] @ weights)
    weights = fit(
        np.vstack([matrices[n] for n in fitted]), np.concatenate([truths[n] for n in fitted])
    )
    print("\nFitted on all but the held-out set, judged on what was fitted:")
    for name in fitted:
        tell(name, sets[name], matrices[name] @ weights)
    if given.fit:
        table = json.loads(TABLE.read_text("utf-8"))
        table["weights"] = {
            name: round(float(weight), 2)
            for name, weight in sorted(zip(names, weights, strict=True), key=lambda pair: -pair[1])
            if abs(weight) >= MIN_WEIGHT
        }
        TABLE.write_text(json.dumps(table, indent=1, ensure_ascii=False) + "\n", "utf-8")


if __name__ == "__main__":
    main()
