"""A few thousand damaged inputs; `.ci/run` tries more, `siege.fuzz` as many as are asked for."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="forks, and memory in kilobytes")
N_INPUTS = 2_000
TESTS = Path(__file__).parent.parent


def test_no_damaged_input_is_a_fault() -> None:
    # A process of its own: forks of this one have its memory, and little room below the limit.
    program = (sys.executable, "-m", "siege.fuzz", str(N_INPUTS))
    env = {**os.environ, "PYTHONPATH": str(TESTS)}
    done = subprocess.run(program, env=env, capture_output=True, text=True, check=False)
    assert (done.returncode, "0 failures" in done.stdout) == (0, True), done.stdout + done.stderr
