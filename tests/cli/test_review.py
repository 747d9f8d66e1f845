"""`ullage memory review` and `undo`: what is shown, what is done of it, and who may decide."""

import json

import pytest

from running import Done, Place, on_terminal
from ullage.core.memory.inbox import format_item, propose_item, read_items
from ullage.core.memory.journal import Kind
from ullage.formats.registry import AGENTS

REBASE = (
    "Branches start at main and are rebased onto it, as develop is retired since the release of"
    " last week; nothing is merged by a merge commit any more."
)
DEVELOP = "Branch off develop, main only sees releases."
PORT = "The staging database listens on port 5544."
TABLES = "I prefer tables over prose in every review."
MEMORY = f"# Memory\n\n## What we decided\n\n- {DEVELOP}\n- one\n- two\n- three\n"
VARIABLES = [variable for info in AGENTS for variable in info.shell_variables]


def write_inbox(place: Place, *items: tuple[Kind, str, tuple[str, ...]]) -> None:
    inbox = ""
    for kind, finding, replaces in items:
        item = propose_item(
            kind, finding, day="2026-11-20", title="Daily Log", source="x", replaces=replaces
        )
        inbox += format_item(item, inbox) + "\n"
    (place.cwd / "DREAMS.md").write_text(inbox, "utf-8")


@pytest.fixture
def waiting(place: Place) -> Place:
    """A folder with four items: the first replaces a line, and the second says that line."""
    (place.cwd / "MEMORY.md").write_text(MEMORY, "utf-8")
    write_inbox(
        place,
        ("decision", REBASE, (DEVELOP,)),
        ("decision", DEVELOP, ()),
        ("fact", PORT, ()),
        ("preference", TABLES, ()),
    )
    return place


def review(place: Place, *args: str, typed: str = "", **env: str) -> Done:
    return place.run_on_terminal("memory", "review", *args, typed=typed, **env)


def findings(place: Place) -> list[str]:
    return [each.finding for each in read_items((place.cwd / "DREAMS.md").read_text("utf-8"))]


def memory(place: Place) -> str:
    path = place.cwd / "MEMORY.md"
    return path.read_text("utf-8") if path.exists() else ""


def unwrap(text: str) -> str:
    return " ".join(text.split())


@pytest.mark.parametrize("args", [(), ("list",)])
def test_the_list_shows_each_item_with_its_number(waiting: Place, args: tuple[str, ...]) -> None:
    done = waiting.run("memory", "review", *args)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("4 items in DREAMS.md\n\n1. Branches start at main")
    assert "\n3. The staging database" in done.stdout
    assert max(map(len, done.stdout.splitlines())) <= 80
    report = json.loads(waiting.run("memory", "review", *args, "--json").stdout)
    assert [each["number"] for each in report["waiting"]] == [1, 2, 3, 4]
    assert [each["item"]["finding"] for each in report["waiting"]] == findings(waiting)
    assert report["unread_lines"] == []


def test_headings_that_are_no_items_are_told(waiting: Place) -> None:
    page = (waiting.cwd / "DREAMS.md").read_text("utf-8")
    at = page.split("\n").index("### [2026-11-20 Daily Log]") + 1
    damaged = page.replace("### [2026-11-20 Daily Log]", "### 2026-11-20 Daily Log")
    for text, told in (
        (page.replace("[2026", "2026", 1), f"is no item: line {at}."),
        (damaged, ""),
    ):
        (waiting.cwd / "DREAMS.md").write_text(text, "utf-8")
        shown = unwrap(waiting.run("memory", "review", "list").stdout)
        assert (told or "4 headings of DREAMS.md are no items: lines ") in shown
    assert shown.startswith("Nothing waits in DREAMS.md Note: ")
    report = json.loads(waiting.run("memory", "review", "--json").stdout)
    assert (report["waiting"], report["unread_lines"][0]) == ([], at)


DECIDING = [
    ("review", "accept", "1"),
    ("review", "accept", "all", "--json"),
    ("review", "reject", "1"),
    ("review", "edit", "1", "--text", "x"),
    ("review", "merge", "1", "2"),
    ("undo",),
    ("accept", "MEMORY.md"),
]


@pytest.mark.parametrize("args", DECIDING)
def test_who_has_no_terminal_decides_nothing(waiting: Place, args: tuple[str, ...]) -> None:
    before = waiting.files()
    done = waiting.run("memory", *args, stdin="y\n" * 9)
    assert (done.returncode, done.stdout) == (4, "")
    assert done.stderr.startswith("ullage: only a person decides what stands in memory")
    assert done.stderr.count("\n") == 1
    assert waiting.files() == before


@on_terminal
@pytest.mark.parametrize("variable", VARIABLES)
def test_an_agent_with_a_terminal_decides_nothing_either(waiting: Place, variable: str) -> None:
    before = waiting.files()
    done = review(waiting, "accept", "1", typed="y\n", **{variable: "1"})
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (4, "", 1)
    assert "this is a shell of " in done.stderr
    listed = review(waiting, typed="a\n", **{variable: "1"})
    assert (listed.returncode, listed.stderr) == (0, "")
    assert listed.stdout.startswith("4 items in DREAMS.md")
    assert waiting.files() == before


@on_terminal
@pytest.mark.parametrize("args", DECIDING)
def test_nothing_is_decided_unasked(waiting: Place, args: tuple[str, ...]) -> None:
    done = waiting.run_on_terminal("memory", *args, "--yes")
    assert (done.returncode, done.stdout) == (2, "")
    assert "--yes" in done.stderr


@on_terminal
def test_json_cannot_decide(waiting: Place) -> None:
    done = review(waiting, "accept", "1", "--json", typed="y\n")
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)
    assert "--json cannot ask" in done.stderr
    assert memory(waiting) == MEMORY


@on_terminal
def test_what_a_person_accepts_is_written_and_taken_back(waiting: Place) -> None:
    inbox = (waiting.cwd / "DREAMS.md").read_bytes()
    done = review(waiting, "accept", "3", typed="y\n")
    assert done.returncode == 0
    assert done.stdout.startswith(f"+ {PORT} (to “Project” in MEMORY.md)\n".replace(" (", "  ("))
    assert "✓ 1 item accepted into MEMORY.md; 3 still waiting." in done.stdout
    assert f"## Project\n\n- {PORT}\n" in memory(waiting)
    assert PORT not in findings(waiting)
    kept = waiting.run_on_terminal("memory", "undo", typed="n\n")
    assert kept.stdout.startswith("The last review: 1 item accepted into MEMORY.md, 20")
    assert "Nothing was changed." in kept.stderr
    undone = waiting.run_on_terminal("memory", "undo", typed="y\n")
    assert undone.stdout.endswith("✓ Taken back: “1 item accepted into MEMORY.md”\n")
    assert (memory(waiting), (waiting.cwd / "DREAMS.md").read_bytes()) == (MEMORY, inbox)
    nothing = waiting.run_on_terminal("memory", "undo", typed="y\n")
    assert (nothing.returncode == 0, nothing.stdout) == (False, "")
    assert nothing.stderr.startswith("ullage: no change of this folder's memory is left")


@on_terminal
@pytest.mark.parametrize("n_columns", [80, 200])
def test_the_preview_tells_all_that_changes_and_fits_the_terminal(
    waiting: Place, n_columns: int
) -> None:
    done = review(waiting, "accept", "1", "3-4", typed="n\n", COLUMNS=str(n_columns))
    assert "Nothing was changed." in done.stderr
    assert max(map(len, done.stdout.splitlines())) <= min(n_columns, 120)
    shown = unwrap(done.stdout)
    assert f"- {DEVELOP} +" in shown
    assert f"+ {REBASE} (to “What we decided” in MEMORY.md)" in shown
    assert f"+ {PORT} (to “Project” in MEMORY.md)" in shown
    assert f"+ {TABLES} (to “User Preferences” in MEMORY.md)" in shown
    assert f"x {DEVELOP} (leaves DREAMS.md: replaced)" in shown
    assert memory(waiting) == MEMORY


@on_terminal
def test_each_item_is_asked_about_and_done_at_once(waiting: Place) -> None:
    done = review(waiting, typed="?\na\nr\ns\n")
    assert done.returncode == 0
    assert max(map(len, done.stdout.splitlines())) <= 80
    shown = unwrap(done.stdout)
    assert "1 of 4: Branches start at main" in shown
    assert "→ goes to “What we decided” in MEMORY.md → leaves MEMORY.md: Branch off" in shown
    assert f"→ leaves DREAMS.md with it: {DEVELOP} ✓ 1 item accepted into MEMORY.md" in shown
    assert "2 of 4" not in shown, "what an accepted line stands for is not asked about"
    assert "3 of 4: The staging database" in shown
    assert "4 of 4: I prefer tables" in shown
    assert shown.endswith(
        "✓ 1 accepted, 1 rejected; 1 still waiting. `ullage memory undo` takes them back, the last"
        " first"
    )
    assert "\n  r  take it out of DREAMS.md; it does not come again\n" in done.stderr
    assert f"- {REBASE}\n" in memory(waiting)
    assert findings(waiting) == [TABLES]
    for what in ("1 item rejected", "1 item accepted"):
        assert what in waiting.run_on_terminal("memory", "undo", typed="y\n").stdout
    assert memory(waiting) == MEMORY


@on_terminal
def test_a_newer_line_may_stand_beside_what_it_replaces(waiting: Place) -> None:
    done = review(waiting, typed="k\nq\n")
    first, second = done.stderr.split("[q]uit, [?] help")[:2]
    assert ("[k]eep both" in first, "[k]eep both" in second) == (True, False)
    assert f"- {DEVELOP}\n" in memory(waiting)
    assert f"- {REBASE}\n" in memory(waiting)
    assert findings(waiting) == [DEVELOP, PORT, TABLES]


@on_terminal
def test_a_refusal_is_told_at_its_item_and_the_review_goes_on(place: Place) -> None:
    (place.cwd / "MEMORY.md").write_text(MEMORY, "utf-8")
    write_inbox(place, ("decision", REBASE, (DEVELOP, "one", "two")), ("fact", PORT, ()))
    done = review(place, typed="a\ne\nStaging: port 5544\n")
    assert done.returncode == 0
    assert "→ cannot be accepted: this would take more than a quarter" in unwrap(done.stdout)
    assert done.stderr.count("\nNot done: ") + done.stderr.count(" Not done: ") == 1
    assert "✓ 1 refused, 1 accepted; 1 still waiting." in done.stdout
    assert memory(place) == f"{MEMORY}\n## Project\n\n- Staging: port 5544\n"
    assert findings(place) == [REBASE]


@on_terminal
@pytest.mark.parametrize("typed", ["q\n", "\x04"])
def test_where_nothing_was_decided_it_says_so(waiting: Place, typed: str) -> None:
    before = waiting.files()
    done = review(waiting, typed=typed)
    assert done.returncode == (0 if typed == "q\n" else 130)
    assert done.stdout.endswith("\nNothing was changed; 4 still waiting\n")
    assert (memory(waiting), findings(waiting)) == (MEMORY, [REBASE, DEVELOP, PORT, TABLES])
    assert waiting.files().keys() >= before.keys()


@on_terminal
def test_what_was_decided_before_a_stop_is_done(waiting: Place) -> None:
    # The end of input stops as Ctrl-C does, and can be typed ahead.
    done = review(waiting, typed="s\ns\na\n\x04")
    assert done.returncode == 130
    assert done.stdout.endswith(
        "\n✓ 1 accepted; 3 still waiting. `ullage memory undo` takes it back\n"
    )
    assert done.stderr.endswith("\nullage: stopped; nothing more was done\n")
    assert PORT in memory(waiting)


@on_terminal
def test_a_no_changes_nothing(waiting: Place) -> None:
    done = review(waiting, "reject", "all", typed="n\n")
    assert done.returncode == 0
    assert "Nothing was changed." in done.stderr
    assert findings(waiting) == [REBASE, DEVELOP, PORT, TABLES]


@on_terminal
def test_words_of_ones_own_are_taken_for_several_items(waiting: Place) -> None:
    words = "Staging: port 5544. Reviews: tables."
    done = review(waiting, "merge", "3", "4", typed=f"{words}\ny\n")
    assert done.returncode == 0
    assert f"  {PORT}\n  {TABLES}\nAs one line" in done.stderr
    assert memory(waiting).count(f"\n- {words}\n") == 1
    assert findings(waiting) == [REBASE, DEVELOP]


@on_terminal
@pytest.mark.parametrize(
    ("args", "told"),
    [
        (("accept",), "takes an item"),
        (("merge", "1"), "takes two items or more"),
        (("edit", "1", "2", "--text", "x"), "takes one item"),
        (("edit", "1"), "--text goes with edit"),
        (("accept", "1", "--text", "x"), "--text goes with edit"),
        (("accept", "9"), "9 names no item (1 to 4)"),
        (("accept", "1-9"), "1-9 names no item (1 to 4)"),
        (("accept", "3-2"), "3-2 names no item (1 to 4)"),
        (("accept", "0-2"), "0-2 names no item (1 to 4)"),
        (("accept", "1", "nonsense"), "nonsense names no item"),
        (("forget", "1"), "'forget'"),
    ],
)
def test_bad_input_is_told_and_changes_nothing(
    waiting: Place, args: tuple[str, ...], told: str
) -> None:
    done = review(waiting, *args, typed="y\n")
    assert done.returncode not in (0, 1)
    assert told in done.stderr
    assert "Traceback" not in done.stderr
    assert memory(waiting) == MEMORY


@on_terminal
def test_a_read_only_workspace_is_told_before_anything_is_asked(waiting: Place) -> None:
    for env in ({"ULLAGE_MEMORY_ENABLED": "false"}, {"ULLAGE_SANDBOX_READ_ONLY": "true"}):
        done = review(waiting, typed="a\n", **env)
        assert (done.returncode, done.stdout, done.stderr.count("\n")) == (4, "", 1)
