"""A review of the inbox is a plan of all texts; nothing that stood there is lost."""

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ullage.core.dream.review import (
    Decision,
    MemoryTexts,
    ReviewOutcome,
    list_rejected,
    list_superseded,
    review,
)
from ullage.core.memory.inbox import cut_items, format_item, propose_item, read_items
from ullage.core.memory.journal import Kind

RULE = "Never commit generated files."
TUESDAY = "Releases go out on Tuesdays now."
THURSDAY = "Releases go out on Thursdays."
PORT = "The tests need Redis on port 6380."
MEMORY = "# Memory\n\n## Project\n\n- Ada answers for payments.\n- Releases go out on Thursdays.\n"


def inbox(*findings: str, kind: Kind = "fact", replaces: tuple[str, ...] = ()) -> str:
    text = "# DREAMS.md\n\n"
    for finding in findings:
        item = propose_item(
            kind, finding, day="2026-11-20", title="Daily Log", source="s", replaces=replaces
        )
        text += format_item(item, text) + "\n"
    return text


def accept(*findings: str, text: str | None = None, keeps_replaced: bool = False) -> Decision:
    return Decision(choice="accept", ids=findings, text=text, keeps_replaced=keeps_replaced)


def reject(*findings: str) -> Decision:
    return Decision(choice="reject", ids=findings)


def name_items(texts: MemoryTexts, *findings: str) -> tuple[str, ...]:
    """Give the ids of items by what they say; what none says stands for itself."""
    ids = {item.finding: item.item_id for item in read_items(texts.inbox)}
    return tuple(ids.get(finding, finding) for finding in findings)


def decide(texts: MemoryTexts, *decisions: Decision, max_chars: int = 20_000) -> ReviewOutcome:
    named = [msgspec.structs.replace(each, ids=name_items(texts, *each.ids)) for each in decisions]
    return review(texts, named, day="2026-11-21", max_chars=max_chars)


def test_what_is_accepted_stands_in_its_section_and_waits_no_more() -> None:
    texts = MemoryTexts(memory=MEMORY, inbox=inbox(PORT, RULE))
    done = decide(texts, accept(PORT))
    assert done.texts.memory == MEMORY + f"- {PORT}\n"
    assert done.texts.inbox == cut_items(texts.inbox, name_items(texts, PORT))
    assert [item.finding for item in read_items(done.texts.inbox)] == [RULE]
    assert (done.texts.superseded, done.texts.rejected, done.refusal) == ("", "", None)
    ((line),) = done.accepted
    assert (line.text, line.section, line.is_typed) == (PORT, "project", False)


def test_what_is_rejected_is_remembered_by_its_words() -> None:
    done = decide(MemoryTexts(inbox=inbox(PORT, RULE), rejected="x\n"), reject(PORT, RULE))
    assert done.texts.rejected == f"x\n{PORT}\n{RULE}\n"
    assert list_rejected(done.texts.rejected) == ("x", PORT, RULE)
    assert (done.texts.memory, list(read_items(done.texts.inbox))) == ("", [])
    assert done.rejected == (PORT, RULE)


def test_what_a_rejected_item_would_have_replaced_is_not_rejected() -> None:
    texts = MemoryTexts(memory=MEMORY, inbox=inbox(TUESDAY, replaces=(THURSDAY, "other words")))
    done = decide(texts, reject(TUESDAY))
    assert list_rejected(done.texts.rejected) == (TUESDAY,)
    assert done.texts.memory == MEMORY


def test_what_is_replaced_stays_where_the_person_says_so() -> None:
    texts = MemoryTexts(memory=MEMORY, inbox=inbox(TUESDAY, replaces=(THURSDAY, "other words")))
    done = decide(texts, accept(TUESDAY, keeps_replaced=True))
    assert done.texts.memory == MEMORY + f"- {TUESDAY}\n"
    assert (done.replaced, done.texts.superseded, done.texts.rejected) == ((), "", "")


def test_an_item_that_was_changed_since_it_was_shown_is_another() -> None:
    shown = MemoryTexts(memory=MEMORY, inbox=inbox(TUESDAY))
    (item_id,) = name_items(shown, TUESDAY)
    planted = MemoryTexts(memory=MEMORY, inbox=f"{shown.inbox.rstrip()}\nReplaces: {THURSDAY}\n")
    assert "names no item that waits as it was shown" in (
        decide(planted, accept(item_id)).refusal or ""
    )


@pytest.mark.parametrize("is_newer_first", [True, False])
def test_of_two_that_are_accepted_the_newer_stands_in_whatever_order(is_newer_first: bool) -> None:
    newer = propose_item(
        "fact", TUESDAY, day="2026-11-21", title="t", source="s", replaces=(THURSDAY,)
    )
    texts = MemoryTexts(inbox=inbox(THURSDAY) + format_item(newer, inbox(THURSDAY)))
    order = (TUESDAY, THURSDAY) if is_newer_first else (THURSDAY, TUESDAY)
    done = decide(texts, *map(accept, order))
    assert (TUESDAY in done.texts.memory, THURSDAY in done.texts.memory) == (True, False)
    assert list_superseded(done.texts.superseded) == {THURSDAY: "2026-11-21"}


def test_what_is_edited_is_a_persons() -> None:
    texts = MemoryTexts(inbox=inbox(PORT))
    done = decide(texts, accept(PORT, text="Redis: port 6381"))
    assert "- Redis: port 6381\n" in done.texts.memory
    assert PORT not in done.texts.memory
    assert done.accepted[0].is_typed
    assert not decide(texts, accept(PORT, text=PORT.rstrip("."))).accepted[0].is_typed
    # The logs have its own words still.
    assert list_rejected(done.texts.rejected) == (PORT,)
    assert decide(texts, accept(PORT, text=f"{PORT} Always.")).texts.rejected == ""


def test_several_are_merged_into_one_line_in_the_section_of_the_first() -> None:
    texts = MemoryTexts(inbox=inbox(PORT) + "\n" + inbox(RULE, kind="preference")[13:])
    done = decide(texts, accept(RULE, PORT, text="Redis is at 6380; commit nothing generated."))
    assert done.texts.memory.count("\n- ") == 1
    assert done.accepted[0].section == "preferences"
    assert [item.finding for item in done.accepted[0].items] == [RULE, PORT]
    assert list(read_items(done.texts.inbox)) == []


def test_what_a_line_replaces_goes_to_superseded_once() -> None:
    texts = MemoryTexts(memory=MEMORY, inbox=inbox(TUESDAY, replaces=(THURSDAY, "earlier words")))
    done = decide(texts, accept(TUESDAY))
    assert done.texts.memory == MEMORY.replace(THURSDAY, TUESDAY)
    assert done.replaced == (THURSDAY,)
    assert done.texts.superseded == (
        f"# Superseded\n\n- {THURSDAY} (replaced on 2026-11-21 by: {TUESDAY})\n"
    )
    # What stood nowhere in memory left nothing there, and does not come again.
    assert list_rejected(done.texts.rejected) == ("earlier words",)
    again = MemoryTexts(
        memory=done.texts.memory,
        inbox=inbox("Releases go out on Mondays.", replaces=(THURSDAY, TUESDAY)),
        superseded=done.texts.superseded.removesuffix("\n"),
    )
    twice = decide(again, accept("Releases go out on Mondays."))
    assert tuple(list_superseded(twice.texts.superseded)) == (THURSDAY, TUESDAY)


def test_items_that_an_accepted_line_stands_for_wait_no_more() -> None:
    texts = MemoryTexts(inbox=inbox(THURSDAY, PORT) + "\n" + inbox(TUESDAY, replaces=(THURSDAY,)))
    done = decide(texts, accept(TUESDAY))
    assert [item.finding for item in read_items(done.texts.inbox)] == [PORT]
    assert (done.settled, list_rejected(done.texts.rejected)) == ((THURSDAY,), (THURSDAY,))
    rejected = decide(texts, reject(TUESDAY))
    assert [item.finding for item in read_items(rejected.texts.inbox)] == [THURSDAY, PORT]


def test_what_memory_says_already_only_leaves_the_inbox() -> None:
    texts = MemoryTexts(memory=f"- {PORT.upper()}\n", inbox=inbox(PORT))
    done = decide(texts, accept(PORT))
    assert (done.texts.memory, done.known, done.accepted) == (texts.memory, (PORT,), ())
    assert list(read_items(done.texts.inbox)) == []


@pytest.mark.parametrize(
    ("decisions", "refusal"),
    [
        ([accept("nothing of the kind")], "names no item that waits as it was shown: there are "),
        ([Decision(choice="accept", ids=())], "nothing names no item that waits"),
        ([accept(PORT), reject(PORT)], "is decided twice"),
        ([accept(PORT), accept(RULE, PORT)], "is decided twice"),
        ([accept(PORT), accept("nothing of the kind")], "names no item that waits"),
    ],
)
def test_what_cannot_be_done_is_refused_as_a_whole(decisions: list[Decision], refusal: str) -> None:
    texts = MemoryTexts(memory=MEMORY, inbox=inbox(PORT, RULE))
    done = decide(texts, *decisions)
    assert done.refusal is not None
    assert refusal in done.refusal
    assert (done.texts, done.accepted) == (texts, ())


def test_an_item_that_is_named_twice_in_one_merge_counts_once() -> None:
    done = decide(MemoryTexts(inbox=inbox(PORT)), accept(PORT, PORT))
    assert len(done.accepted[0].items) == 1


def test_an_empty_inbox_says_so() -> None:
    assert (decide(MemoryTexts(), accept(PORT)).refusal or "").endswith(
        "nothing waits in DREAMS.md"
    )


def test_more_than_a_quarter_of_memory_is_not_taken_away_at_once() -> None:
    lines = [f"Line number {n} says something." for n in range(6)]
    texts = MemoryTexts(
        memory="".join(f"- {line}\n" for line in lines),
        inbox=inbox("All is otherwise.", replaces=tuple(lines[:2])),
    )
    done = decide(texts, accept("All is otherwise."))
    assert "more than a quarter" in (done.refusal or "")
    assert done.texts == texts
    assert decide(texts, reject("All is otherwise.")).refusal is None


def test_memory_grows_no_longer_than_agents_load() -> None:
    texts = MemoryTexts(memory="- " + "x " * 50 + "\n", inbox=inbox(PORT))
    done = decide(texts, accept(PORT), max_chars=120)
    assert "more than agents load" in (done.refusal or "")
    assert decide(texts, accept(PORT), max_chars=200).refusal is None
    # What is too long already may become shorter.
    shorter = MemoryTexts(memory=texts.memory, inbox=inbox("Short.", replaces=("x " * 50,)))
    assert decide(shorter, accept("Short."), max_chars=20).refusal is None


FINDINGS = [PORT, RULE, TUESDAY, THURSDAY, "Ada answers for payments.", "Bo answers for parcels."]


@given(
    st.lists(st.sampled_from(FINDINGS), unique=True),
    st.lists(st.sampled_from(FINDINGS), max_size=2).map(tuple),
    st.lists(st.sampled_from(["accept", "reject", "edit", "leave"]), min_size=6, max_size=6),
    st.sampled_from(["", MEMORY, "## Facts\n\n* mine\n"]),
)
def test_nothing_that_stood_in_memory_is_lost(
    findings: list[str], replaces: tuple[str, ...], choices: list[str], memory: str
) -> None:
    texts = MemoryTexts(memory=memory, inbox=inbox(*findings, replaces=replaces))
    decisions: list[Decision] = []
    for finding, choice in zip(findings, choices, strict=False):
        if choice == "reject":
            decisions.append(reject(finding))
        elif choice != "leave":
            decisions.append(accept(finding, text="my own words" if choice == "edit" else None))
    done = decide(texts, *decisions)
    if done.refusal is not None:
        assert done.texts == texts
        return
    after = done.texts
    lines = after.memory.split("\n")
    for line in filter(str.strip, memory.split("\n")):
        assert line in lines or line[2:] in list_superseded(after.superseded)
    waiting = [item.finding for item in read_items(after.inbox)]
    for finding, choice in zip(findings, choices, strict=False):
        is_gone = finding in replaces and {"accept", "edit"} & set(choices[: len(findings)])
        assert (finding in waiting) == (choice == "leave") or is_gone
        if choice in ("reject", "edit"):
            assert finding in list_rejected(after.rejected)
