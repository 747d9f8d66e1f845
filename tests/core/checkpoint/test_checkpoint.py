"""Checkpoints are built from the context alone, and give an agent its state back."""

import pytest

from factories import assistant, context_of, meta, summary, tool_result, user
from fixtures_session import RULES, coding_session
from ullage.core.checkpoint.build import build
from ullage.core.checkpoint.checkpoint import Checkpoint, Status, measure_use
from ullage.core.checkpoint.text import render_for_agent
from ullage.core.summary.extract import summarize
from ullage.core.transcript.context import ContextItem

CREATED_AT = "2026-02-24T15:30:00Z"


def count(text: str) -> int:
    return len(text.encode("utf-8", "surrogatepass")) // 4 + 1


def built(
    *items: ContextItem, is_split_turn: bool = False, n_compactions: int = 0, n_input: int = 162_000
) -> Checkpoint:
    return build(
        context_of(items),
        meta(
            "cp_003",
            session_key="telegram:user123",
            session_file="sessions/telegram-user123.jsonl",
            created_at=CREATED_AT,
            trigger="auto-80pct",
            compaction_count=n_compactions,
            token_usage=measure_use(n_input, 200_000),
            previous_checkpoint="cp_002",
            channel="telegram",
            agent_id="default",
        ),
        is_split_turn=is_split_turn,
    )


CALL = assistant("", [("c1", "bash", {"command": "npm test"})])


@pytest.mark.parametrize(
    ("items", "status"),
    [
        ([], "idle"),
        ([summary("## Goal\nX")], "idle"),
        ([user("go")], "in_progress"),
        ([user("go"), CALL], "in_progress"),
        ([user("go"), CALL, tool_result("ok")], "in_progress"),
        ([user("go"), CALL, tool_result("ok"), assistant("done")], "waiting_for_user"),
        ([user("go"), assistant("done")], "waiting_for_user"),
    ],
)
def test_the_status_follows_from_the_last_messages(
    items: list[ContextItem], status: Status
) -> None:
    assert built(*items).working.status == status


def test_the_topic_is_whole_sentences_of_the_last_request() -> None:
    last = "Now the other exporter. " * 8
    topic = built(user("first"), assistant("ok"), user(last)).working.topic
    assert topic == ("Now the other exporter. " * 4).strip()


def test_the_figures_of_the_window_are_recorded() -> None:
    usage = built(user("go")).meta.token_usage
    assert (usage.input_tokens, usage.context_window, usage.utilization) == (162_000, 200_000, 0.81)


def test_a_split_turn_is_interrupted_in_its_last_call() -> None:
    working = built(user("go"), CALL, is_split_turn=True).working
    assert working.interrupted
    assert working.last_tool_call is not None
    assert working.last_tool_call.name == "bash"
    assert working.last_tool_call.params_summary == "npm test"
    assert built(user("go"), CALL).working.last_tool_call is None


def test_an_approval_is_a_decision_with_what_it_approves() -> None:
    found = built(user("Plan it."), assistant("Plan. " * 100 + "Then the test."), user("好的"))
    assert [one.what for one in found.decisions] == ["Then the test. (approved: 好的)"]
    assert found.decisions[0].when == "2026-02-02T02:43:00Z"


def test_a_long_reply_to_a_long_answer_is_none() -> None:
    reply = "Show me the list of the folders that you looked at so far"
    assert built(user("Plan it."), assistant("Plan. " * 100), user(reply)).decisions == ()


def test_rules_choices_files_tools_and_open_points_are_collected() -> None:
    found = built(*coding_session())
    what = "\n".join(one.what for one in found.decisions)
    assert [rule for rule in RULES if rule not in what] == []
    assert "I decided to use SQLite WAL" in what
    assert "billing/webhooks.py" in found.resources.files_modified
    assert "docs/payouts.md" in found.resources.files_read
    assert set(found.resources.tools_used) == {"bash", "read", "write", "edit"}
    assert any("document the runbook" in one for one in found.open_items)
    assert "metric for reconciliation drift" in found.working.next_action
    assert "evil.example" not in str(found)


def test_the_ids_of_decisions_count_up() -> None:
    ids = [one.id for one in built(*coding_session()).decisions]
    assert ids == [f"d{n}" for n in range(1, len(ids) + 1)]


def test_lists_are_capped() -> None:
    items = [user(f"Never touch table number_{n} again.") for n in range(120)]
    items += [assistant("", [(f"c{n}", f"tool{n}", {"path": f"src/f{n}.py"})]) for n in range(300)]
    found = built(*items)
    assert len(found.decisions) == 50
    assert len(found.resources.files_read) == 100
    assert len(found.resources.tools_used) == 100
    assert found.resources.files_read[-1] == "src/f299.py"


def test_what_an_earlier_summary_held_is_in_the_checkpoint() -> None:
    text = summarize(
        context_of(coding_session()).items, focus=None, budget_tokens=3000, count=count
    )
    found = built(summary(text), user("Go on."), assistant("Going on."))
    what = "\n".join(one.what for one in found.decisions)
    assert [rule for rule in RULES if rule not in what] == []
    assert "billing/ledger.py" in found.resources.files_modified


def test_the_rendered_text_is_the_one_of_the_design() -> None:
    found = built(
        user("Plan a trip to Japan."),
        assistant("Which budget shall I plan with?"),
        user("the small one"),
        assistant("Two weeks, about 2000 dollars. Still to do: visa requirements."),
    )
    text = render_for_agent(found, budget_tokens=800, count=count)
    assert text == (
        "[Post-compaction checkpoint restore]\n"
        "\n"
        "Working on: Plan a trip to Japan.\n"
        "Status: waiting_for_user\n"
        "Next action: Still to do: visa requirements.\n"
        "\n"
        "Decisions made:\n"
        "- the small one (in reply to: Which budget shall I plan with?) (02:43)\n"
        "\n"
        "Thread: Plan a trip to Japan. ... the small one\n"
        "\n"
        "Open items:\n"
        "- Still to do: visa requirements."
    )


@pytest.mark.parametrize(("n_compactions", "is_warned"), [(0, False), (3, False), (4, True)])
def test_a_death_spiral_is_warned_of(n_compactions: int, is_warned: bool) -> None:
    found = built(user("go"), n_compactions=n_compactions)
    text = render_for_agent(found, budget_tokens=800, count=count)
    assert ("was compacted" in text) == is_warned


@pytest.mark.parametrize("budget_tokens", [20, 60, 120, 300, 800])
def test_the_rendered_text_stays_within_its_budget(budget_tokens: int) -> None:
    text = render_for_agent(built(*coding_session()), budget_tokens=budget_tokens, count=count)
    assert count(text) <= budget_tokens
    assert text.startswith("[Post-compaction checkpoint restore]")


def test_no_heading_stands_without_its_points() -> None:
    found = built(*coding_session())
    for budget_tokens in range(40, 400, 20):
        lines = render_for_agent(found, budget_tokens=budget_tokens, count=count).split("\n")
        for line, following in zip(lines, [*lines[1:], ""], strict=True):
            if line in ("Decisions made:", "Open items:", "Files modified:", "Files read:"):
                assert following.startswith("- ")
