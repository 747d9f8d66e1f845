"""A summary tells results and requests, each once, and few identifiers."""

import pytest

from factories import assistant, numbered, summary, tool_result, user
from ullage.core.facts.previous_summary import read_previous_summary
from ullage.core.facts.summary_sections import SECTION_NAMES, write_sections
from ullage.core.summary.extract import normalize_line, summarize
from ullage.core.transcript.context import ContextItem


def count(text: str) -> int:
    return len(text.encode("utf-8", "surrogatepass")) // 4 + 1


def sections_of(items: list[ContextItem], budget_tokens: int = 2000) -> dict[str, tuple[str, ...]]:
    text = summarize(numbered(items), focus=None, budget_tokens=budget_tokens, count=count)
    return read_previous_summary(text).lines


def call(text: str, command: str, answer: str) -> list[ContextItem]:
    said = assistant(text, [("c1", "bash", {"command": command})])
    return [said, tool_result(answer, "c1")]


def working_session() -> list[ContextItem]:
    return [
        user("Make the night job of the library faster."),
        *call("Let me look at the job.", "cat jobs/night.py", "def main(): ..."),
        *call("Good, I have the full picture.", "ls", "jobs"),
        *call("Now update `jobs/night.py` and `jobs/util.py`.", "ls jobs", "night.py util.py"),
        assistant("The night job takes 41 s instead of 300 s: it reads each book once."),
        user("Can you see how large the archive is?"),
        assistant("The archive has 1,412 books in 9.4 GB, most of them scans."),
    ]


def test_requests_stand_under_goal_and_results_under_work() -> None:
    lines = sections_of(working_session())
    assert lines["Goal"] == (
        "Make the night job of the library faster.",
        "asked: Can you see how large the archive is?",
    )
    assert lines["Work completed"] == (
        "The night job takes 41 s instead of 300 s: it reads each book once.",
        "The archive has 1,412 books in 9.4 GB, most of them scans.",
    )


def test_announcements_and_fillers_are_nowhere() -> None:
    text = summarize(numbered(working_session()), focus=None, budget_tokens=4000, count=count)
    for talk in ("Let me look", "full picture", "Now update"):
        assert talk not in text


def test_an_open_request_is_told_once() -> None:
    items = working_session()
    items += [user("Then delete the old fax code."), *call("", "grep -rn fax jobs", "3 hits")]
    lines = sections_of(items)
    places = [name for name in SECTION_NAMES for line in lines[name] if "old fax code" in line]
    assert len(places) == 1
    assert sum(line.startswith("open request: ") for name in lines for line in lines[name]) == 1


def test_what_is_next_says_who_said_so() -> None:
    items = working_session()
    items += [
        user("Then delete the old fax code."),
        *call("I will remove the class FaxLine from jobs/util.py first.", "ls", "x"),
    ]
    (step,) = sections_of(items)["Next step"]
    assert step == "agent: “I will remove the class FaxLine from jobs/util.py first.”"


def test_no_line_stands_twice_in_other_marks() -> None:
    items = [
        user("Tell me of the cache."),
        assistant("**The cache holds 512 entries of users.**"),
        user("And again, please, what does the cache hold?"),
        assistant("The cache holds 512 entries of users"),
    ]
    lines = sections_of(items)
    texts = [normalize_line(line) for name in lines for line in lines[name]]
    assert texts.count("the cache holds 512 entries of users") == 1


def test_figures_make_a_difference() -> None:
    items = [
        user("Measure it twice, on the old and on the new disk."),
        assistant("The long import of all books took 41 seconds on this disk."),
        user("And now on the new one?"),
        assistant("The long import of all books took 17 seconds on this disk."),
    ]
    completed = " ".join(sections_of(items)["Work completed"])
    assert "41 seconds" in completed
    assert "17 seconds" in completed


def test_identifiers_stay_within_their_share_over_compactions() -> None:
    items = working_session()
    text = ""
    for n_round in range(4):
        data = "\n".join(
            f"{'node ' * (n % 12 + 1)}at 10.{n_round}.{n}.7:{5000 + n}{'!' * (n // 12)}"
            for n in range(90)
        )
        items = [*([summary(text)] if text else []), *working_session()]
        items += [user("List the hosts."), *call("", "hosts", data), assistant("They are 90.")]
        text = summarize(numbered(items), focus=None, budget_tokens=3000, count=count)
        data_section = text.split("## Identifiers\n", 1)[1]
        assert 100 < len(data_section) < max(0.16 * len(text), 260)


def test_what_a_later_call_refers_to_comes_first_among_data() -> None:
    data = "\n".join(f"ticket TK-{n:04d} of room {n * 37}" for n in range(60))
    items = [
        user("Which ticket is it?"),
        *call("", "tickets", data),
        *call("", "close TK-0042", "done"),
        *[item for n in range(8) for item in call("", f"sleep {n}", "ok")],
        assistant("It is closed."),
    ]
    assert "TK-0042" in sections_of(items)["Identifiers"][0]


def test_code_and_torn_lines_are_no_data() -> None:
    source = "import { a } from './b'\nconst LIMIT = 9000;\n+  return x1000;\n| a1000 | b2000 |"
    items = [user("Read it."), *call("", "cat a.ts", source), assistant("I have read it.")]
    shown = " ".join(sections_of(items)["Identifiers"])
    assert not any(code in shown for code in ("import", "const", "return", "| a1000"))


def test_data_comes_without_the_marks_of_lists_and_no_figure_alone() -> None:
    output = "- build: 4f2c11ab\n  90412771,\nindex adce58a..dabf07b 100644"
    items = [
        user("Which build?"),
        *call("", "cat builds.txt", output),
        assistant("I have read it."),
    ]
    assert sections_of(items)["Identifiers"] == ("build: 4f2c11ab",)


def test_what_was_in_progress_is_past_once_a_person_spoke() -> None:
    earlier = "## Goal\nPort the page\n\n## Current Work\nThe header was being moved to its file.\n"
    moved = "The header was being moved to its file."
    lines = sections_of([summary(earlier), user("And the footer?"), assistant("It is done too.")])
    assert lines["In progress"] == ()
    assert moved not in lines["Work completed"]
    went_on = sections_of([summary(earlier), assistant("I go on with the header.")])
    assert moved in went_on["In progress"]
    alone = sections_of([summary(earlier)])
    assert alone["In progress"] == ("The header was being moved to its file.",)


UNFINISHED = (
    "The header is half moved to its file.",
    "The footer waits for the designer's colors.",
    "The search box breaks on phones.",
)
FOREIGN = "## Goal\nPort the page\n\n## Current Work\n" + "\n".join(UNFINISHED)
OWN = write_sections(
    dict.fromkeys(SECTION_NAMES, ()) | {"Goal": ["Port the page"], "In progress": UNFINISHED}
)
GOES_ON = [assistant("I go on with the header.", [("c1", "bash", {"command": "ls"})])]


@pytest.mark.parametrize("earlier", [FOREIGN, OWN], ids=["another's", "ours"])
@pytest.mark.parametrize(
    "following",
    [
        [],
        GOES_ON,
        [*GOES_ON, tool_result("header.html", "c1"), assistant("The imprint is in place.")],
        [user("And the imprint?"), assistant("The imprint is in place.")],
    ],
    ids=["alone", "goes on", "ends its turn", "a person spoke"],
)
def test_what_was_in_progress_is_not_told_as_completed(
    earlier: str, following: list[ContextItem]
) -> None:
    completed = sections_of([summary(earlier), *following])["Work completed"]
    assert [point for point in UNFINISHED if any(point in line for line in completed)] == []


def test_what_was_in_progress_stands_there_whole_while_the_turn_goes_on() -> None:
    assert sections_of([summary(FOREIGN), *GOES_ON])["In progress"][:3] == UNFINISHED


def test_what_was_in_progress_is_completed_where_the_agent_says_so() -> None:
    finished = "The header is moved to header.html now, all 12 links in it work."
    lines = sections_of([summary(FOREIGN), *GOES_ON, tool_result("", "c1"), assistant(finished)])
    assert lines["Work completed"] == (finished,)
