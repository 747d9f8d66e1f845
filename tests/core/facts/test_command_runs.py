"""A command's output tells whether it failed."""

import pytest

from ullage.core.facts.command_runs import read_run
from ullage.core.transcript.entries import Text, ToolResult


@pytest.mark.parametrize(
    ("output", "is_failed"),
    [
        ("2 failed, 3 passed", True),
        ("found 12 Errors", True),
        ("v2 failed jobs are retried", False),
        ("0 failed, 3 passed", False),
        ("error: no such target", True),
        ("built\nerror[E0308]: mismatched types", True),
        ("an error: none", False),
        ("ran\nfatal: not a repository", True),
        ("a fatal: none", False),
        ("Traceback (most recent call last):", True),
        ("npm ERR! missing script", True),
        ("FAILED tests/test_a.py", True),
        ("not FAILED", False),
    ],
)
def test_a_failure_is_told_by_its_counts_and_first_words(output: str, is_failed: bool) -> None:
    result = ToolResult(call_id="1", name="bash", content=(Text(text=output),), is_error=False)
    run = read_run("bash", "make", result, 0)
    assert run is not None
    assert run.is_failed is is_failed
