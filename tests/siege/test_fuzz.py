"""A few thousand damaged inputs; `.ci/run` tries more, `siege.fuzz` as many as are asked for."""

import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="forks, and memory in kilobytes")
N_INPUTS = 2_000


def test_no_damaged_input_is_a_fault(tmp_path: Path) -> None:
    from siege import fuzz  # it needs `resource`

    _, n_failures = fuzz.tell(fuzz.run(fuzz.share_out(N_INPUTS, None), 1, tmp_path))
    assert n_failures == 0
