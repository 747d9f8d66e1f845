"""What is printed: valid JSON, whatever stood in a transcript, and how long the work takes."""

import io
import json
import sys
import threading

import pytest

from running import WAIT_S
from ullage.app.gauge.status_report import ContextReport
from ullage.cli.output import over_working, print_json, working


def test_infinite_numbers_become_null_as_in_javascript(capsys: pytest.CaptureFixture[str]) -> None:
    message: dict[str, object] = {"a": float("inf"), "b": [float("nan"), 1.5, "\ud83d"]}
    print_json(ContextReport(messages=[message], summary=None, entry_ids=[]))
    text = capsys.readouterr().out
    assert "Infinity" not in text
    assert json.loads(text)["messages"] == [{"a": None, "b": [None, 1.5, "\ud83d"]}]


class Terminal(io.StringIO):
    def __init__(self) -> None:
        super().__init__()
        self.is_told = threading.Event()

    def isatty(self) -> bool:
        return True

    def write(self, s: str, /) -> int:
        self.is_told.set()
        return super().write(s)

    def screen(self) -> list[str]:
        """Give the lines as they stand: what follows a return is written over what was there."""
        lines: list[str] = []
        for line in self.getvalue().split("\n"):
            shown = ""
            for part in line.split("\r"):
                shown = part + shown[len(part) :]
            lines.append(shown.rstrip())
        return lines


def test_what_takes_long_is_told_on_a_terminal_and_leaves_nothing_there(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    with working(tick_s=0.001):
        assert terminal.is_told.wait(WAIT_S)
        assert terminal.screen()[0].startswith("Working… ")
        print(over_working("call 1 of 2"), file=terminal)
        assert terminal.screen()[0] == "call 1 of 2"
    assert terminal.screen()[1] == ""
    terminal.write("ullage: no session\n")
    assert terminal.screen() == ["call 1 of 2", "ullage: no session", ""]


def test_nothing_of_that_is_written_where_nobody_looks(monkeypatch: pytest.MonkeyPatch) -> None:
    file = io.StringIO()
    monkeypatch.setattr(sys, "stderr", file)
    with working(tick_s=0.001):
        assert over_working("call 1 of 2") == "call 1 of 2"
    assert file.getvalue() == ""
