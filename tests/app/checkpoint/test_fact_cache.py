"""What is kept of a session between two readings: the facts are as if all were read anew."""

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from factories import assistant, numbered, summary, tool_result, user
from ullage.app.checkpoint.write import KeptFacts, facts_of_session
from ullage.core.facts.collect import FactAccumulator, collect_facts
from ullage.core.facts.facts import Facts
from ullage.core.transcript.context import ContextItem

SECRET = "correct-horse-battery"
MESSAGES = (
    user("Set the limit to 30. Never touch src/old.py."),
    user("Change the limit from 30 to 45, please."),
    user("The limit is 60 now."),
    user("Yes, that one."),
    assistant("The limit is 30. Still to do: raise it in src/app.py. " + "So it is told. " * 40),
    assistant("We use SQLite rather than Redis. Which limit shall it be?"),
    assistant("Fixed: the limit is 45 in src/app.py.", [("c2", "edit", {"path": "src/app.py"})]),
    assistant("", [("c1", "bash", {"command": "pytest -q"})]),
    assistant(
        "", [("c3", "todo_write", {"todos": [{"content": "Raise it", "status": "pending"}]})]
    ),
    tool_result("1 failed in 2 s\nAssertionError: the limit is 30"),
    tool_result("12 passed"),
    summary("## Decisions\n- The limit is 30.\n\n## Next steps\n- Raise the limit."),
)
conversations = st.lists(st.sampled_from(MESSAGES), max_size=12).map(numbered)


def kept(facts: KeptFacts, items: tuple[ContextItem, ...], *secrets: str) -> Facts:
    return facts.collect(items, secrets)


def read_anew(items: tuple[ContextItem, ...]) -> tuple[ContextItem, ...]:
    return msgspec.convert(msgspec.to_builtins(items), tuple[ContextItem, ...])


@given(conversations, st.sets(st.integers(0, 12)))
def test_what_is_gathered_in_parts_is_what_is_gathered_at_once(
    items: tuple[ContextItem, ...], cuts: set[int]
) -> None:
    seen = FactAccumulator(clean=str)
    start = 0
    for end in (*sorted(cuts), len(items)):
        seen.update(items[start:end])
        start = max(start, end)
        # To finish in between changes nothing of what was seen.
        assert seen.finish() == collect_facts(items[:end])


@given(st.lists(conversations, min_size=1, max_size=4))
def test_whatever_is_read_next_its_facts_are_its_own(
    readings: list[tuple[ContextItem, ...]],
) -> None:
    facts = KeptFacts()
    for items in readings:
        assert kept(facts, items) == collect_facts(items)


@pytest.mark.parametrize("at", range(3))
def test_a_message_that_changed_is_read_again(at: int) -> None:
    before = numbered([MESSAGES[0], MESSAGES[4], MESSAGES[1]])
    changed = user("Set the limit to 99.")
    after = numbered([*before[:at], changed, *before[at + 1 :], MESSAGES[5]])
    facts = KeptFacts()
    kept(facts, before)
    assert kept(facts, after) == collect_facts(after) != collect_facts(before)


def test_a_message_of_another_time_or_author_is_read_again() -> None:
    items = numbered(MESSAGES[:2])
    facts = KeptFacts()
    kept(facts, items)
    for change in ({"at_ms": 7}, {"category": "injected"}):
        changed = (msgspec.structs.replace(items[0], **change), *items[1:])
        assert kept(facts, changed) == collect_facts(changed) != collect_facts(items)


def test_a_session_that_was_shortened_is_read_again() -> None:
    items = numbered(MESSAGES)
    facts = KeptFacts()
    kept(facts, items)
    assert kept(facts, items[:3]) == collect_facts(items[:3])


def test_messages_that_were_read_anew_are_known_and_only_new_ones_are_looked_into() -> None:
    items = numbered(MESSAGES[:7])
    facts = KeptFacts()
    first = kept(facts, items[:6])
    again = kept(facts, read_anew(items))
    assert again == collect_facts(items)
    assert all(one is other for one, other in zip(first.messages, again.messages, strict=False))


def test_a_secret_that_became_known_is_masked_in_what_was_read_before() -> None:
    items = numbered([user(f"The password is {SECRET}."), assistant("Noted.")])
    facts = KeptFacts()
    assert SECRET in kept(facts, items).messages[0].text
    assert SECRET not in kept(facts, items, SECRET).messages[0].text


def test_after_a_failure_everything_is_read_again() -> None:
    items = numbered(MESSAGES[:6])
    broken = msgspec.structs.replace(items[5], message=None)
    facts = KeptFacts()
    kept(facts, items[:4])
    with pytest.raises(AttributeError):
        kept(facts, (*items[:5], broken))
    assert kept(facts, items) == collect_facts(items)


def test_each_session_has_facts_of_its_own() -> None:
    assert facts_of_session("openclaw:a") is facts_of_session("openclaw:a")
    assert facts_of_session("openclaw:a") is not facts_of_session("openclaw:b")
