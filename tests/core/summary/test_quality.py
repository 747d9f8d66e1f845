"""A part of `benchmarks/summaries/quality.py`: planted facts are kept."""

import pytest
from quality import GOALS, score
from quality_sessions import Planted, corrections, german, incident, planning, review

from factories import assistant, numbered, user
from ullage.core.summary.extract import summarize

SESSIONS = [german(), review(), incident(), corrections(), planning()]


@pytest.mark.parametrize("share", [5, 10])
@pytest.mark.parametrize("planted", SESSIONS, ids=[one.name for one in SESSIONS])
def test_a_summary_keeps_what_was_planted(planted: Planted, share: int) -> None:
    found = score(planted, share)
    assert found.lost_constraints == ()
    assert found.obeyed == ()
    assert len(found.lost) <= (1 - GOALS[share]) * found.n_facts


@pytest.mark.parametrize("planted", SESSIONS[:2], ids=[one.name for one in SESSIONS[:2]])
def test_five_more_compactions_keep_every_constraint(planted: Planted) -> None:
    found = score(planted, 5, n_rounds=5)
    assert found.lost_constraints == ()


STANDING = [
    "When you name a file, give its full path.",
    "Before you touch the schema, show me the statement.",
    "Close each reply with the name of the branch.",
    "In your replies, spell out abbreviations.",
    "Answer me in two sentences at the most.",
    "The curator signs off texts, nobody else.",
    "It shows what it has, no empty page.",
    "I'd like the cache capped at 350 MB.",
    "Bevor du etwas löschst, frag nach.",
    "Chaque fois que tu commites, cite le ticket.",
    "每次提交之前跑一遍测试。",
]


@pytest.mark.parametrize("rule", STANDING)
def test_an_instruction_for_all_that_follows_is_a_rule(rule: str) -> None:
    items = numbered([user(f"Look at the parser. {rule} Then begin."), assistant("I begin.")])
    text = summarize(items, focus=None, budget_tokens=2000, count=len)
    assert f"- {rule}" in text.split("## Constraints\n")[1].split("\n\n## ")[0]


def test_the_answer_to_a_message_that_only_gave_a_rule_is_told() -> None:
    items = numbered(
        [
            user("It must parse in less than 900 ms."),
            assistant("It takes 1312 ms today; the hot spot is `Token.__eq__`."),
            user("Go on with the lexer."),
            assistant("The lexer is next."),
        ]
    )
    assert "Token.__eq__" in summarize(items, focus=None, budget_tokens=900, count=len)


def test_a_numbered_answer_is_no_data() -> None:
    said = "1: agreed\n2: keep it\n3: rename to fingerprint\n4: yes, with leap seconds"
    items = numbered([user(said), assistant("Done so.")])
    assert "rename to fingerprint" in summarize(items, focus=None, budget_tokens=900, count=len)


def test_an_answer_that_only_confirms_takes_no_room() -> None:
    items = [user("Begin.")]
    for n in range(12):
        items += [user(f"The depot in zone {n} opens at {n}:15."), assistant("Noted. Going on.")]
    text = summarize(numbered(items), focus=None, budget_tokens=2000, count=len)
    assert text.count("Going on") <= 1


def test_what_users_said_outlives_the_long_answers_to_it() -> None:
    items = []
    for n in range(12):
        items += [
            user(f"The depot in zone {n} opens at {n}:15, ask for Ilse-{n}."),
            assistant("One can see it from many sides and weigh them at leisure. " * 12),
        ]
    text = summarize(numbered(items), focus=None, budget_tokens=1800, count=len)
    assert [n for n in range(12) if f"Ilse-{n}." not in text] == []
