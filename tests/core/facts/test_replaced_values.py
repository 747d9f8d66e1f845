"""A value is retired where the same subject got a new one, and nowhere else."""

import pytest

from factories import assistant, numbered, user
from ullage.core.facts.facts import collect_facts
from ullage.core.summary.extract import summarize


def retired(*said: str) -> set[str]:
    """Give what was retired; a text that begins with `> ` is the agent's."""
    items = [
        assistant(text.removeprefix("> ")) if text.startswith("> ") else user(text) for text in said
    ]
    return {item.value for item in collect_facts(numbered(items)).replaced}


STORIES = [
    ("The 404 page has German text.", "Replace the old 404 page's footer with a new one."),
    ("Errors show the 404 page.", "Show the login form instead of the 404 page."),
    ("Always run the linter after a change.", "Move the lint step from after to before the build."),
    ("We support Python 3.11 and 3.12.", "It fails on 3.12, not 3.11."),
    ("The culprit is migration 0004_init.", "> The culprit was 0004_init, now 0007 is in place."),
    ("Use cryptography 43.0.1.", "> The version before the crash was 43.0.1, now 12 tests pass."),
    ("Line 120 of chart.tpl.", "> I changed line 88 of chart.tpl, now 14 tests pass."),
    ("The job took 120 s.", "> Now the build takes 98 s."),
    ("Open auth.py.", "> The call goes auth.py -> session.py, I updated both."),
    ("Apply 0003 then.", "> Migrations 0003 → 0004 → 0005 ran."),
    ("We meet from 10:00 to 11:30.", "Actually the talk is from 14:00 to 15:00 on Monday."),
    ("Shard 3 is down.", "Shard 4 is down."),
    ("The port of server 1 is 8080.", "The port of server 2 is 9090."),
    ("The proxy port is 3000.", "The database port is 5432 now."),
    ("Add a test for case 3.", "Now add a test for case 4."),
    ("Is the limit 500?", "Is the limit 800?"),
    ("Copy it from db-1 to db-2.", "Now copy it from db-1 to db-3."),
    ("Ticket INV-2291 is about refunds.", "Now look at ticket INV-2300 please."),
    ("The proxy timeout is 30 seconds.", "The database timeout is 60 seconds."),
    ("Stand-up is at 9.", "Why is the new pool 14 and not 9?"),
    ("Never rename file1.py, it is imported.", "Never rename file2.py, it is imported."),
    ("Do not open port 8080.", "Do not open port 9090."),
    ("Do not open port 8080. Do not open port 9090.", "Don't open port 7070."),
    ("Do not touch server 10.0.0.5.", "Do not touch server 10.0.0.6."),
    ("Rühr Server 10.0.0.5 nicht an.", "Rühr Server 10.0.0.6 nicht an."),
    ("Nunca toques el puerto 8080.", "Nunca toques el puerto 9090."),
]


@pytest.mark.parametrize(("first", "second"), STORIES)
def test_what_was_only_told_of_is_not_retired(first: str, second: str) -> None:
    assert retired(first, "> Ok.", second, "> Done.") == set()


CHANGES = [
    ("Do not go above 400 MB.", "Change that: do not go above 600 MB.", "400 MB"),
    ("Keep logs for 30 days.", "Bump the retention from 30 days to 75 days.", "30 days"),
    ("The batch size is 250.", "The batch size is 400.", "250"),
    ("The deadline is 2027-02-01.", "The deadline is 2027-03-15.", "2027-02-01"),
    ("Bind it to port 7780.", "Change of mind, port 7791 please.", "7780"),
    ("Images come from reg.old/base:3.4.", "Switch the image to reg.new/base:3.9", "reg.old"),
    ("超时时间设为20秒。", "超时改成35秒。", "20秒"),
    ("Stell die Wartezeit auf 12 Sekunden.", "Doch lieber 18 Sekunden statt 12 Sekunden.", "12"),
    ("Deploy to us-east-2.", "Make that eu-central-1 instead of us-east-2.", "us-east-2"),
    ("Let's set 600.", "Tomasz says 520 not 600, memory is tight", "600"),
    ("We use redis.", "Replace redis with valkey.", "We use redis"),
    ("Глубина истории 18 месяцев.", "Аудит просит: глубина истории 30 месяцев.", "18 мес"),
    ("件数の上限は5000件です。", "上限は8000件に変更してください。", "5000"),
    ("Idle after 95 seconds it goes back.", "Actually idle is 70 seconds, they wait.", "95 s"),
    ("La durée du prêt est de 21 jours.", "La durée du prêt est de 28 jours.", "21 jours"),
    ("Instances: m7g.large, 3 of them.", "Change the instances to t4g.medium.", "m7g"),
    ("El envío es el 14 de marzo.", "El envío es el 28 de marzo, no el 14 de marzo.", "14 de"),
]


@pytest.mark.parametrize(("first", "second", "old"), CHANGES)
def test_what_was_changed_does_not_stand_beside_its_successor(
    first: str, second: str, old: str
) -> None:
    items = numbered([user(first), assistant("Ok."), user(second), assistant("Done.")])
    text = summarize(items, focus=None, budget_tokens=2000, count=len)
    assert old not in text


def test_a_rule_with_a_plain_word_outlives_the_change_of_that_word() -> None:
    rule = "Always run the linter after a change."
    change = "Change the check order from after to before, please."
    items = numbered([user(rule), assistant("Ok."), user(change), assistant("Done.")])
    assert rule in summarize(items, focus=None, budget_tokens=2000, count=len)


def test_a_short_number_that_was_retired_stays_where_it_means_something_else() -> None:
    items = numbered(
        [
            user("Set the limit to 120. The rack is 120 cm high."),
            assistant("Ok."),
            user("Change the limit from 120 to 150."),
            assistant("Done."),
        ]
    )
    text = summarize(items, focus=None, budget_tokens=2000, count=len)
    assert "The rack is 120 cm high." in text
    assert "Set the limit to 120" not in text


def test_what_else_a_sentence_tells_of_a_retired_value_stays() -> None:
    items = numbered(
        [
            user("CIDR 10.61.0.0/16."),
            assistant("Set."),
            user("10.61.0.0/16 collides with Oslo. Take 10.77.0.0/16 instead of 10.61.0.0/16."),
            assistant("Moved."),
        ]
    )
    text = summarize(items, focus=None, budget_tokens=2000, count=len)
    assert "[old value] collides with Oslo" in text
    assert "10.61" not in text


def test_what_replaces_a_value_is_settled_though_it_reads_as_a_request() -> None:
    said = ("Use port 8080 for the proxy.", "Change the port to 9443.")
    items = [item for text in said for item in (user(text), assistant("Done."))]
    assert [one.text for one in collect_facts(numbered(items)).choices][-1] == said[1]
