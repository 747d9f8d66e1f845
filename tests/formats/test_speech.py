"""Who speaks in a user's message."""

import pytest

from ullage.core.transcript.entries import Speaker, Text
from ullage.formats.speech import COMMON_MARKS, attribute, is_harness


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("Fix the page.", []),
        ("a < b and <b>bold</b>", []),
        (
            "<system-reminder>Be kind.</system-reminder>\nFix it.",
            [("harness", "Be kind."), ("typed", "Fix it.")],
        ),
        (
            '<command-name>/do</command-name>\n<command-args note="1">the page</command-args>',
            [("harness", "/do"), ("typed", "the page")],
        ),
        ("Look: <system-reminder> is never closed", []),
        ("<system-reminder> is what I want gone.", []),
        (
            "\n## User Input\n\n```text\nadd a page\n```\n\nYou **MUST** consider it.\n",
            [("typed", "add a page"), ("harness", "You **MUST** consider it.")],
        ),
        (
            "## User Input\r\n\r\n```text\r\nadd a page\r\n```\r\n\r\nRead it.",
            [("typed", "add a page"), ("harness", "Read it.")],
        ),
        (
            "## User Input\n\n```text\n\n```\n\n1. Run the script.",
            [("harness", "1. Run the script.")],
        ),
        ("What does\n<system-reminder>\nmean?", []),
        ("<system-reminder>never ends", [("harness", "never ends")]),
        ("[Context: 81% | 162k/200k tokens]", [("harness", "[Context: 81% | 162k/200k tokens]")]),
    ],
)
def test_a_text_is_parted_by_who_speaks(text: str, parts: list[tuple[Speaker, str]]) -> None:
    assert [(part.speaker, part.text) for part in COMMON_MARKS.split(text)] == parts


def test_a_message_is_the_programs_where_nobody_typed() -> None:
    reminder = Text(text="<system-reminder>Be kind.</system-reminder>")
    assert is_harness(attribute([reminder], COMMON_MARKS))
    assert not is_harness(attribute([reminder, Text(text="Fix it.")], COMMON_MARKS))
    assert not is_harness(())
