"""A fault at every file-system call, an agent that writes between any two, and both: nothing lost.

The checker is in `checker.py`, what is swept in `operations.py`, how in `engine.py`.
"""

import pytest

from crash.conftest import SHARE, Swept
from crash.naive_operations import NAIVE
from crash.operations import OPERATIONS

MIN_POINTS = 20_000
"""Of all shares together."""


@pytest.mark.parametrize("name", [one.name for one in OPERATIONS])
def test_no_fault_breaks(swept: dict[str, Swept], name: str) -> None:
    found = swept[name]
    assert found["broken"] == []
    assert found["n_points"] > 0


@pytest.mark.parametrize("name", [one.name for one in NAIVE])
def test_a_naive_writer_is_convicted(swept: dict[str, Swept], name: str) -> None:
    assert swept[name]["n_broken"] > 0


def test_the_sweep_is_wide_enough(swept: dict[str, Swept]) -> None:
    assert sum(one["n_points"] for one in swept.values() if one["is_ours"]) >= (MIN_POINTS / SHARE)
