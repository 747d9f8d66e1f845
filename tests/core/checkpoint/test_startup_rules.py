"""The rules that come again after a compaction, and the files that they ask an agent to read."""

from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from factories import Call, assistant, context_of, summary, tool_result, user
from ullage.core.checkpoint.startup_rules import (
    find_startup_rules,
    find_unread_files,
    list_startup_files,
)
from ullage.core.transcript.context import Context, ContextItem
from ullage.core.transcript.lineage import CompactionRef

DAY = date(2026, 11, 24)
TEMPLATE = """\
# AGENTS.md

## Session Startup

1. Read `SOUL.md`: who you are
2. Read `memory/YYYY-MM-DD.md` (today and yesterday)
3. If in the main session: also read `MEMORY.md`

### Then

Read ./docs/plan.md.

## Memory

Not this.

## Red Lines

- Never exfiltrate data.
"""
STARTUP = TEMPLATE[TEMPLATE.index("## Session") : TEMPLATE.index("## Memory")].strip()
LIMITS = "## Red Lines\n\n- Never exfiltrate data."


def texts(agents_md: str) -> list[str]:
    return [part.text for part in find_startup_rules(agents_md)]


def test_both_sections_are_found_with_what_stands_below_them() -> None:
    assert texts(TEMPLATE) == [STARTUP, LIMITS]


@pytest.mark.parametrize(
    ("agents_md", "sections"),
    [
        ("# RED LINES\na\n## b\nc\n# d\ne", ["# RED LINES\na\n## b\nc"]),
        ("##### session startup ##\na\n###### b", ["##### session startup ##\na\n###### b"]),
        ("## Red Lines\na\n## Session Startup\nb", ["## Session Startup\nb", "## Red Lines\na"]),
        ("## Session Startup\n### Red Lines\na", ["## Session Startup\n### Red Lines\na"]),
        ("```\n## Red Lines\n```\na", []),
        ("~~~md\n## Red Lines\n~~~", []),
        ("<!--\n## Red Lines\n-->", []),
        (
            "## Red Lines\n```\n# no heading\n```\nb\n## c",
            ["## Red Lines\n```\n# no heading\n```\nb"],
        ),
        ("## Every Session\na\n## Safety\nb", ["## Every Session\na", "## Safety\nb"]),
        ("## Safety\na\n## Red Lines\nb", ["## Red Lines\nb"]),
        ("## Red Lines of ours\na", []),
        ("## Red Lines\na\n## Red Lines\nb", ["## Red Lines\na"]),
        ("", []),
    ],
)
def test_a_section_is_what_its_heading_says(agents_md: str, sections: list[str]) -> None:
    assert texts(agents_md) == sections


@given(st.text(st.sampled_from("# \n`-<!>Red LinesSoup")))
def test_whatever_stands_there_a_section_is_a_part_of_it(agents_md: str) -> None:
    for text in texts(agents_md):
        assert text in agents_md


def test_the_files_of_the_first_section_are_listed_with_the_day() -> None:
    files = list_startup_files(find_startup_rules(TEMPLATE), DAY)
    logs = ("memory/2026-11-24.md", "memory/2026-11-23.md")
    assert files == ("SOUL.md", *logs, "docs/plan.md")


@pytest.mark.parametrize(
    ("line", "files"),
    [
        ("Read memory/YYYY-MM-DD.md.", ("memory/2026-11-24.md",)),
        ("Open `../other/a.md` and /etc/hosts.txt and https://example.org/a.md", ()),
        ("Do not read notes.md; never open b.md", ()),
        ("AGENTS.md is this file, TODO.md is not.", ("TODO.md",)),
        ("SOUL.md, SOUL.md", ("SOUL.md",)),
    ],
)
def test_a_line_names_files_of_the_workspace(line: str, files: tuple[str, ...]) -> None:
    rules = find_startup_rules(f"## Session Startup\n{line}\n## Red Lines\nRead no.md")
    assert list_startup_files(rules, DAY) == files


def read(path: str, tool: str = "read") -> ContextItem:
    call: Call = ("c1", tool, {"path": path} if tool == "read" else {"command": f"cat {path}"})
    return assistant("", [call])


FILES = ("SOUL.md", "memory/2026-11-24.md")


def compacted(*since: ContextItem) -> Context:
    """Give a session that read both files before its compaction, which kept that."""
    before = [replace(read(path), is_after_boundary=False) for path in FILES]
    context = context_of([*before, summary("What was."), *since])
    ref = CompactionRef(entry_id="e3", offset=0, size_bytes=1, at_ms=context.items[2].at_ms)
    return replace(context, compactions=(ref,))


@pytest.mark.parametrize(
    ("since", "unread"),
    [
        ([user("Go on.")], None),
        ([user("Go on."), read("a.py")], None),
        ([*map(read, FILES), tool_result("x"), assistant("Done.")], ()),
        ([user("Go on."), assistant("Done.")], FILES),
        ([read("SOUL.md"), tool_result("x"), assistant("Done.")], FILES[1:]),
        ([read("/work/shop/SOUL.md"), tool_result("x"), assistant("Done.")], FILES[1:]),
        ([read("/work/else/SOUL.md"), tool_result("x"), assistant("Done.")], FILES),
        ([read("./memory/2026-11-24.md", "bash"), tool_result("x"), assistant("Done.")], FILES[:1]),
    ],
)
def test_what_was_read_before_the_compaction_is_unread(
    since: list[ContextItem], unread: tuple[str, ...] | None
) -> None:
    assert find_unread_files(compacted(*since), FILES) == unread


def test_a_prune_makes_nothing_unread() -> None:
    context = compacted(*map(read, FILES), tool_result("x"), assistant("Done."))
    pruned = tuple(replace(item, is_after_boundary=False) for item in context.items)
    answered = (*pruned[:-1], context.items[-1])
    assert find_unread_files(replace(context, items=answered), FILES) == ()
