"""A fault is told and logged without a word of what was worked on."""

import logging

import pytest
from pygls.exceptions import JsonRpcException

from ullage.lsp.error_edge import answer_errors
from ullage.lsp.language_protocol import plain_converter
from ullage.lsp.protocol import Outcome


@answer_errors
async def broken() -> None:
    raise ValueError("the text of a transcript")


async def test_a_fault_is_logged_by_its_place_and_kind(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO), pytest.raises(JsonRpcException, match="ValueError"):
        await broken()
    assert "the text of a transcript" not in caplog.text.replace('raise ValueError("the text', "")
    assert "test_error_edge.py" in caplog.text
    assert caplog.text.rstrip().endswith("ValueError")


def test_a_field_with_its_default_value_is_sent_all_the_same() -> None:
    sent = plain_converter().unstructure(Outcome(outcome="done", message="x"))
    assert sent["text"] is None
    assert sent["change"] is None
