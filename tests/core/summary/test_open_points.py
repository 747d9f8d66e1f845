"""What an earlier summary left open is open until somebody did it."""

from factories import assistant, numbered, summary, tool_result, user
from ullage.core.summary.extract import summarize
from ullage.core.transcript.context import ContextItem

EARLIER = (
    "## Goal\nShip the exporter\n\n## Progress\n### In Progress\n"
    "- [ ] Write the CSV exporter in src/export.py\n\n## Next Steps\n"
    "1. Write tests for the exporter\n2. Update docs/usage.md\n3. Ask Ben about the date format\n"
)
"""A summary in the form of pi's own."""


def remaining(*items: ContextItem) -> list[str]:
    text = summarize(numbered(items), focus=None, budget_tokens=4000, count=len)
    section = text.split("## Remaining\n", 1)[1].split("\n\n## ", 1)[0]
    return [line.removeprefix("- ") for line in section.split("\n")]


def written(path: str) -> tuple[ContextItem, ContextItem]:
    call = assistant("", [("c1", "write", {"path": path, "content": "x = 1"})])
    return call, tool_result("ok", "c1", "write")


def test_what_was_done_right_after_the_compaction_is_not_open() -> None:
    assert remaining(
        summary(EARLIER),
        *written("src/export.py"),
        *written("docs/usage.md"),
        assistant("The exporter is written and its tests pass."),
    ) == ["Ask Ben about the date format"]


def test_a_file_that_was_written_closes_the_point_that_names_it() -> None:
    left = remaining(summary(EARLIER), *written("/work/shop/src/export.py"))
    assert "Write the CSV exporter in src/export.py" not in left
    assert "Update docs/usage.md" in left


def test_what_was_told_as_done_in_another_verb_is_not_open() -> None:
    left = remaining(
        summary(EARLIER), user("Add a flag --tz."), assistant("Implemented the CSV exporter.")
    )
    assert "Write the CSV exporter in src/export.py" not in left
    assert "Write tests for the exporter" in left


def test_what_nobody_did_stays_open() -> None:
    left = remaining(
        summary(EARLIER), *written("src/other.py"), assistant("The parser is fixed, all is green.")
    )
    assert len(left) == 4


def test_a_file_that_was_only_read_closes_nothing() -> None:
    call = assistant("", [("c1", "read", {"path": "docs/usage.md"})])
    assert "Update docs/usage.md" in remaining(
        summary(EARLIER), call, tool_result("# Usage", "c1", "read")
    )
