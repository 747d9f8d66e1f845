"""The files that a session is to begin with are listed, and those that were not read are told."""

from datetime import date

import pytest
from msgspec.structs import replace

from factories import Call, assistant, context_of, summary, tool_result, user
from ullage.core.checkpoint.startup_files import find_unread_files, list_startup_files
from ullage.core.checkpoint.startup_rules import find_startup_rules
from ullage.core.transcript.context import Context, ContextItem
from ullage.core.transcript.lineage import CompactionRef

DAY = date(2026, 11, 24)
RULES = """\
## Session Startup

1. Read `SOUL.md`: who you are
2. Read `memory/YYYY-MM-DD.md` (today and yesterday)
3. If in the main session: also read `MEMORY.md`

### Then

Read ./docs/plan.md.
"""


def test_the_files_of_the_first_section_are_listed_with_the_day() -> None:
    files = list_startup_files(find_startup_rules(RULES), DAY)
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
CWD = "/work/shop"


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
        ([read("/work/shop/src/../SOUL.md"), tool_result("x"), assistant("Done.")], FILES[1:]),
        ([read("/work/else/SOUL.md"), tool_result("x"), assistant("Done.")], FILES),
        ([read("./memory/2026-11-24.md", "bash"), tool_result("x"), assistant("Done.")], FILES[:1]),
    ],
)
def test_what_was_read_before_the_compaction_is_unread(
    since: list[ContextItem], unread: tuple[str, ...] | None
) -> None:
    assert find_unread_files(compacted(*since), FILES, CWD) == unread


def test_on_windows_capitals_say_nothing() -> None:
    context = compacted(read("c:\\Work\\SOUL.md"), tool_result("x"), assistant("Done."))
    assert find_unread_files(context, FILES, "C:\\work\\") == FILES[1:]


def test_a_prune_makes_nothing_unread() -> None:
    context = compacted(*map(read, FILES), tool_result("x"), assistant("Done."))
    pruned = tuple(replace(item, is_after_boundary=False) for item in context.items)
    answered = (*pruned[:-1], context.items[-1])
    assert find_unread_files(replace(context, items=answered), FILES, CWD) == ()
