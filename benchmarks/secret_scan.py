"""Time the search for secrets on texts made to be hard: 1 MB each, and 16 MB against 1 MB.

    python benchmarks/secret_scan.py

Aims (docs/safety.md, "Secrets"): below 250 ms for 1 MB by each rule, linear to 16 MB.
"""

import base64
import random
import time

from ullage.core.secrets.rules import RULES
from ullage.core.secrets.scan import mask

MEGABYTE = 1_000_000
MAX_S = 0.25
MAX_RATIO = 24.0
"""16 is linear; the rest is what a busy machine adds."""
NOISE_S = 0.1
"""Some texts take a millisecond."""


def texts() -> dict[str, str]:
    """Give units that are repeated: heads alone, and heads with a rest that just does not do."""
    units = {"words": "The quick brown fox jumps over the lazy dog, and x = f(y) + 1\n"}
    for rule in RULES:
        for head in rule.heads[:1]:
            for rest in ("", "a", f"{'a' * 15}.", f"{'a1' * 500} "):
                units[f"{rule.kind} {head}{rest[:4]} ({len(rest)})"] = head + rest
    return units


def seconds(text: str, known: tuple[str, ...] = ()) -> float:
    times: list[float] = []
    for _ in range(2):
        began = time.process_time()
        mask(text, known)
        times.append(time.process_time() - began)
    return min(times)


def main() -> None:
    source = random.Random(7)
    known = tuple(base64.b64encode(source.randbytes(24)).decode() for _ in range(1000))
    mask("", known)
    random_text = base64.b64encode(source.randbytes(12 * MEGABYTE)).decode()
    rows = [(name, unit * (16 * MEGABYTE // len(unit)), ()) for name, unit in texts().items()]
    rows.append(("1,000 known values in base64", random_text, known))
    n_bad = 0
    for name, text, values in rows:
        one, sixteen = seconds(text[:MEGABYTE], values), seconds(text, values)
        is_good = one < MAX_S and sixteen < MAX_RATIO * one + NOISE_S
        n_bad += not is_good
        note = "" if is_good else "  MISSED"
        print(f"{name:<45}{one * 1000:>7.0f} ms{sixteen / one:>7.1f} x{note}")
    print(f"{len(rows)} texts, {n_bad} missed")


if __name__ == "__main__":
    main()
