"""What the sweep knows of an operation."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from crash.checker import Seen
from store.changing import OLD
from ullage.store.transcript.reader import Fingerprint

Check = Callable[[Seen], list[str]]
Work = Callable[[Path, Fingerprint | None], None]
"""Done in a folder, by a plan that was made from what the fingerprint tells, where it is given."""
Preparation = Callable[[Path], None]


@dataclass(frozen=True, kw_only=True)
class Operation:
    name: str
    run: Work
    check: Check
    prepare: Preparation | None = None
    """Done before any fault, in the same process."""
    original: bytes = OLD
    target: str = "s.jsonl"
    """Where the agent writes."""
    leaf: str | None = "e3"
    """What the agent holds for the last record; None where no agent is about."""
    is_held: bool = False
    """Whether the agent has the transcript open all the time."""
    has_leases: bool = True
    is_ours: bool = True
    """Whether it is Ullage's, so that `recover` sees to what is left."""
    beside: Preparation | None = None
    """What another Ullage does before some call, instead of an agent."""

    @property
    def has_others(self) -> bool:
        return self.leaf is not None or self.beside is not None
