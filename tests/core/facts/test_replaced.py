"""What a later statement replaces, told by structure: a value of the same kind in like words."""

import pytest

from factories import assistant, numbered, summary, user
from ullage.core.facts.collect import collect_facts
from ullage.core.facts.replaced import Replacement, Statements, apply_replaced
from ullage.core.summary.audit import audit
from ullage.core.summary.extract import summarize
from ullage.core.summary.insert_missing import insert_missing
from ullage.core.text.sentences import read_user_sentences


def replaced(*texts: str) -> dict[str, tuple[str, str]]:
    """Give what each statement of a talk is replaced by, and with what certainty."""
    talk = [message for text in texts for message in (user(text), assistant("Ok."))]
    pairs = collect_facts(numbered(talk)).replaced
    return {pair.earlier: (pair.certainty, pair.later) for pair in pairs}


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("The export limit is 250 rows.", "Rows in an export are limited to 400."),
        ("The staging server is https://blue.corp.", "Our staging server: https://green.corp."),
        ("The release date is 2031-04-02.", "Our date for the release is 2031-05-09."),
        ("Travel costs stay below $300.", "Costs of travel: $450 at most."),
        ("We work on branch spike/fern-12.", "Current branch: spike/moss-30."),
        ("Die Sitzung endet nach 15 Minuten.", "Nach 25 Minuten soll die Sitzung enden."),
        ("导出行数的上限是500条。", "把导出行数的上限改成800条。"),
    ],
)
def test_a_value_said_again_in_other_words_is_perhaps_replaced(first: str, second: str) -> None:
    assert replaced(first, second) == {first: ("other value", second)}


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("Bind the proxy to port 7001.", "7001 is taken, take port 7044."),
        ("Le délai est de 12 jours.", "Finalement 18 jours au lieu de 12 jours."),
    ],
)
def test_who_names_the_old_value_beside_another_corrects_it(first: str, second: str) -> None:
    assert replaced(first, second) == {first: ("corrected", second)}


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("The launch is planned for 2031-04-02.", "The freeze is planned for 2031-05-09."),
        (
            "Here is /tmp/Screenshot 2031-01-01 at 10.00.png",
            "/tmp/Screenshot 2031-01-02 at 11.00.png",
        ),
        ("Read src/a/b/one.py for 20 lines.", "Read src/a/b/two.py for 30 lines."),
        ("Is the limit 250 rows?", "The limit is 400 rows."),
        ("Do step 12 of the list.", "Do step 13 of the list."),
        ("Fix the header on the start page.", "Fix the footer on the last page."),
        ("Start phase 1 of the move.", "Go on with phase 3 of it."),
        (
            "The banner went live 23 hours ago - it has other types now, update the agent types.",
            "We need to create the agent types and update all of them, whatever 91 said.",
        ),
    ],
)
def test_requests_paths_and_other_things_replace_nothing(first: str, second: str) -> None:
    assert replaced(first, second) == {}


def test_what_is_asked_of_one_thing_after_the_other_is_a_series() -> None:
    assert replaced(*(f"Look at ticket {n} and tell me." for n in (31, 57, 88, 92))) == {}


def test_rules_that_are_alike_are_a_list_unless_there_are_two() -> None:
    two = [f"Never send {kind} data to services outside." for kind in ("payroll", "health")]
    assert replaced(*two) == {two[0]: ("like rule", two[1])}
    assert replaced(*two, "Never send voting data to services outside.") == {}


def test_a_statement_is_replaced_by_the_last_of_several() -> None:
    texts = ("The limit is 250 rows.", "Limit of rows: 400.", "The limit for rows is now 700.")
    assert {later for _, later in replaced(*texts).values()} == {texts[2]}


def test_the_agents_answer_goes_with_what_it_answered() -> None:
    talk = [
        user("Bind the proxy to port 7001."),
        assistant("It listens on 7001."),
        user("7001 is taken, take port 7044."),
        assistant("It listens on 7044."),
    ]
    earlier = [pair.earlier for pair in collect_facts(numbered(talk)).replaced]
    assert earlier == ["Bind the proxy to port 7001.", "It listens on 7001."]


def test_what_the_agent_told_is_marked_where_the_reply_names_another_value() -> None:
    talk = [
        user("How large is the pool?"),
        assistant("I prepare a change that sets 600."),
        user("520 not 600, memory is tight"),
        assistant("Done."),
    ]
    (pair,) = collect_facts(numbered(talk)).replaced
    assert (pair.earlier, pair.certainty) == ("I prepare a change that sets 600.", "other value")


def test_a_summary_leaves_the_corrected_out_and_marks_the_rest() -> None:
    talk = [
        user("Bind the proxy to port 7001."),
        assistant("Ok."),
        user("Never let an export pass 250 rows."),
        assistant("Ok."),
        user("7001 is taken, take port 7044."),
        assistant("Ok."),
        user("Never let an export pass 400 rows without asking."),
        assistant("Ok."),
    ]
    items = numbered(talk)
    text = summarize(items, focus=None, budget_tokens=2000, count=len)
    assert "to port 7001" not in text
    assert (
        "- Never let an export pass 250 rows."
        " (perhaps replaced later: Never let an export pass 400 rows without asking.)\n"
    ) in text


def test_a_rule_that_is_put_back_has_its_mark() -> None:
    talk = [user("Never pass 250 rows in an export."), user("Never pass 400 rows in an export!")]
    items = numbered(talk)
    checked = audit(items, "## Goal\n- Export.\n", budget_tokens=500)
    text = insert_missing("## Goal\n- Export.\n", checked, budget_tokens=500, count=len).text
    assert "- Never pass 250 rows in an export. (perhaps replaced later: Never pass 400" in text


def test_a_line_of_an_earlier_summary_is_marked_once() -> None:
    told = "## Constraints\n- Never pass 250 rows in an export.\n"
    talk = [summary(told), user("Never pass 400 rows in an export."), assistant("Ok.")]
    text = summarize(numbered(talk), focus=None, budget_tokens=2000, count=len)
    again = summarize(
        numbered([summary(text), user("Go on."), assistant("Yes.")]),
        focus=None,
        budget_tokens=2000,
        count=len,
    )
    assert again.count("replaced later") == text.count("replaced later") == 1


def test_a_rule_is_never_left_out() -> None:
    pair = Replacement(
        earlier="Never use port 1.", later="Use 2 not 1.", certainty="corrected", is_rule=True
    )
    assert apply_replaced("Never use port 1.", [pair]) == (
        "Never use port 1. (replaced later: Use 2 not 1.)"
    )


def test_a_series_is_not_compared_at_all() -> None:
    statements = Statements()
    for number in range(50):
        (sentence,) = read_user_sentences(f"Go on with part {number} of the plan.", number)
        statements.add([sentence], [], number)
    assert statements.whole.n_counted <= 2
