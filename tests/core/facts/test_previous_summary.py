"""Summaries of any origin are read into our sections, without what their agents put around them."""

import pytest

from ullage.core.facts.previous_summary import read_previous_summary
from ullage.core.facts.summary_sections import (
    SECTION_NAMES,
    match_heading,
    write_as_of,
    write_sections,
)

CLAUDE_CODE = """This session is being continued from a previous conversation that ended.

Analysis:
Let me go through the talk:
1. **Errors**: the draft of an error

Summary:
1. Primary Request and Intent:
   The user wants the importer of the clinic ported to Go.

2. Key Technical Concepts:
   - streaming of CSV

3. Files and Code Sections:
   - **`/srv/import/reader.go`** (NEW)
     - Reads row by row
   - `/srv/import/legacy.py`: the old importer, for reference
   ```go
   func Read() {}
   ```

4. Errors and fixes:
   - **Rows with a BOM were skipped**:
     - The reader strips it now
   - **Lock held by the old job**

5. Problem Solving:
   The dates parse in both forms.

6. All user messages:
   - "Port the importer to Go"
   - "[Request interrupted by user]Keep the column names as they are"
   - "[Request interrupted by user for tool use]"

7. Pending Tasks:
   - Port the report of rejected rows

8. Current Work:
   The writer was being tested.

9. Optional Next Step:
   Run the writer's tests again.

If you need specific details from before compaction, read the transcript at: /home/x/y.jsonl
Please continue the conversation from where we left it off.
"""


def test_claude_codes_nine_sections_are_ours() -> None:
    lines = read_previous_summary(CLAUDE_CODE).lines
    assert lines["Goal"] == (
        "The user wants the importer of the clinic ported to Go.",
        "asked: Port the importer to Go",
        "asked: Keep the column names as they are",
    )
    assert lines["Errors and cures"] == (
        "Rows with a BOM were skipped: The reader strips it now",
        "Lock held by the old job",
    )
    assert lines["Files"] == ("modified /srv/import/reader.go", "read /srv/import/legacy.py")
    assert lines["Work completed"] == ("Reads row by row", "The dates parse in both forms.")
    assert lines["Remaining"] == ("Port the report of rejected rows",)
    assert lines["In progress"] == ("The writer was being tested.",)
    assert lines["Next step"] == ("Run the writer's tests again.",)
    assert lines["Identifiers"] == ("streaming of CSV",)


def test_the_points_below_a_heading_belong_to_it() -> None:
    summary = (
        "# Handoff\n\n## Goal\nShip it\n\n## Next Steps\n\n### Part 3: the importer\n- copy it\n"
        "- test it\n\n### Part 4: the docs\n\n## Layout of the API\n- get and put\n"
    )
    lines = read_previous_summary(summary).lines
    assert lines["Remaining"] == ("Part 3: the importer: copy it: test it", "Part 4: the docs")
    assert lines["Work completed"] == ("get and put",)


@pytest.mark.parametrize(
    "filler",
    [
        "None.", "- None captured.", "No prior history.", "(none)", "N/A", "- Nothing so far",
        "**Turn Context (split turn):**",
        "Context contained 23 messages (0 oversized). Summary unavailable due to size limits.",
    ],
)  # fmt: skip
def test_what_says_that_a_section_is_empty_is_no_point(filler: str) -> None:
    summary = read_previous_summary(f"## Decisions\n{filler}\n\n## Open TODOs\n- Port it.\n")
    assert summary.lines["Decisions"] == ()
    assert summary.lines["Remaining"] == ("Port it.",)
    kept = read_previous_summary("## Decisions\n- None of the ports is open to others\n")
    assert kept.lines["Decisions"] == ("None of the ports is open to others",)


@pytest.mark.parametrize(
    ("heading", "section"),
    [
        ("Optional Next Step", "Next step"),
        ("Next Steps", "Remaining"),
        ("In Progress", "Remaining"),
        ("Progress", "Work completed"),
        ("Current Work", "In progress"),
        ("Constraints & Preferences", "Constraints"),
        ("Errors and fixes", "Errors and cures"),
        ("All user messages", "Goal"),
        ("Weather", None),
    ],
)
def test_the_longest_word_of_a_heading_decides(heading: str, section: str | None) -> None:
    assert match_heading(heading) == section


FORMER = """## Goal
- Build the shop
- Latest request: now the cart

## Constraints
- Never push.
- Latest request: always ask first.

## Decisions
(none)

## Work completed
- asked: now the cart
- answered: The cart is there.

## Current state
- last answer: The cart is there.

## Remaining
- open request: and the mail

## Files
- modified shop.py

## Commands and errors
- ok: make → built
- failed: npm test → 2 failed (a later run passed)
- failed: tsc → error TS2304

## Identifiers
(none)
"""


def test_summaries_of_the_former_form_are_read() -> None:
    summary = read_previous_summary(FORMER)
    assert summary.is_ours
    lines = summary.lines
    assert lines["Goal"] == ("Build the shop", "asked: now the cart")
    assert lines["Constraints"] == ("Never push.", "Latest request: always ask first.")
    assert lines["Work completed"] == ("answered: The cart is there.",)
    assert lines["In progress"] == ("last answer: The cart is there.",)
    assert lines["Commands"] == ("ok: make → built",)
    assert lines["Errors and cures"] == (
        "npm test → 2 failed → passed later",
        "tsc → error TS2304 → not cured yet",
    )


def test_the_time_stands_above_and_is_not_carried() -> None:
    text = write_as_of(1_771_684_960_000) + write_sections(dict.fromkeys(SECTION_NAMES, ()))
    assert text.startswith("(as of 14:42 UTC, 2026-02-21)\n\n## Goal\n")
    assert not any(read_previous_summary(text).lines.values())
    assert write_as_of(None) == ""
    assert write_as_of(10**20) == ""
