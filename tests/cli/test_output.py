"""What is printed is valid JSON, whatever stood in a transcript."""

import json

import pytest

from ullage.app.gauge.status_report import ContextReport
from ullage.cli.output import print_json


def test_infinite_numbers_become_null_as_in_javascript(capsys: pytest.CaptureFixture[str]) -> None:
    message: dict[str, object] = {"a": float("inf"), "b": [float("nan"), 1.5, "\ud83d"]}
    print_json(ContextReport(messages=[message], summary=None, entry_ids=[]))
    text = capsys.readouterr().out
    assert "Infinity" not in text
    assert json.loads(text)["messages"] == [{"a": None, "b": [None, 1.5, "\ud83d"]}]
