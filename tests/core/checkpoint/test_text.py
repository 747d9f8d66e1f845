"""The text for an agent: its form, within its budget, and nothing quoted passes for ours."""

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ullage.core.checkpoint.checkpoint import (
    Checkpoint,
    Decision,
    LastToolCall,
    Meta,
    Resources,
    TokenUsage,
    Working,
)
from ullage.core.checkpoint.text import render_for_agent, write_steering
from ullage.core.facts.thread import Exchange, Thread
from ullage.core.transcript.tokens import estimate_tokens

EXAMPLE = Checkpoint(
    meta=Meta(
        checkpoint_id="cp_003",
        session_key="telegram:user123",
        session_file="sessions/telegram-user123.jsonl",
        created_at="2026-02-24T15:30:00Z",
        trigger="auto-80pct",
        compaction_count=2,
        token_usage=TokenUsage(input_tokens=162431, context_window=200000, utilization=0.81),
        previous_checkpoint="cp_002",
        channel="telegram",
        agent_id="default",
    ),
    working=Working(
        topic="Helping user plan a trip to Japan",
        status="in_progress",
        interrupted=False,
        last_tool_call=None,
        next_action="User asked about visa requirements -- need to answer\n",
    ),
    decisions=(
        Decision(
            id="d1",
            what="User prefers budget options over luxury\n",
            when="2026-02-24T14:15:00Z",
        ),
        Decision(
            id="d2", what="Flights from Belgrade, March 15-29 window", when="2026-02-24T14:22:00Z"
        ),
    ),
    resources=Resources(
        files_read=(), files_modified=(), tools_used=("web_search", "memory_search")
    ),
    thread=Thread(
        summary="Planning Japan trip. Settled on March dates, budget focus.",
        key_exchanges=(
            Exchange(role="user", gist="I want to go to Japan in March, budget-friendly"),
            Exchange(role="agent", gist="Proposed 2-week itinerary, ~$2k budget"),
            Exchange(role="user", gist="Looks good, what about visa?"),
        ),
    ),
    open_items=(
        "Visa requirements for Serbian passport",
        "User hasn't decided on accommodation style",
    ),
    learnings=("User is price-sensitive, always ask about budget first",),
)
HEADINGS = (
    "Pinned:",
    "Decisions made:",
    "Key exchanges:",
    "Open items:",
    "Files modified:",
    "Files read:",
    "Dead ends:",
    "Learnings (consider storing to long-term memory):",
)
LABELS = ("Working on: ", "Status: ", "Next action: ", "Interrupted in: ", "Warning: ", "Thread: ")
FIRST = "[Post-compaction checkpoint restore]"
hostile = st.lists(
    st.sampled_from(
        [
            "\n",
            "\r",
            "\u2028",
            "\x85",
            "\x0b",
            "\x1c",
            "\x00",
            "\ud800",
            FIRST,
            "Open items:",
            "- ",
            "</system-reminder>",
            "<system>",
            "<|im_start|>",
            "[Context: 1% | 2/3]",
            "a b c ",
            "Größe ",
            "会话",
            "👩‍👩‍👧 ",
        ]
    )
    | st.text(max_size=30),
    max_size=30,
).map("".join)
many = st.lists(hostile, max_size=12).map(tuple)


def built(
    text: str, points: tuple[str, ...], more: tuple[str, ...], n_compactions: int
) -> Checkpoint:
    return msgspec.structs.replace(
        EXAMPLE,
        meta=msgspec.structs.replace(EXAMPLE.meta, compaction_count=n_compactions),
        working=msgspec.structs.replace(
            EXAMPLE.working,
            topic=text,
            next_action=text,
            last_tool_call=LastToolCall(name=text, params_summary=text),
        ),
        decisions=tuple(Decision(id="d1", what=point, when=text) for point in points),
        resources=Resources(files_read=more, files_modified=points, tools_used=more),
        thread=Thread(
            summary=text, key_exchanges=tuple(Exchange(role="agent", gist=one) for one in more)
        ),
        open_items=more,
        learnings=points,
        pins=more,
        dead_ends=points,
    )


checkpoints = st.builds(built, hostile, many, many, st.integers(0, 9))


def rendered(checkpoint: Checkpoint, budget_tokens: int = 800, max_chars: int | None = None) -> str:
    return render_for_agent(
        checkpoint, budget_tokens=budget_tokens, count=estimate_tokens, max_chars=max_chars
    )


def test_the_example_of_the_design_is_rendered_as_it_shows() -> None:
    assert rendered(EXAMPLE) == (
        "[Post-compaction checkpoint restore]\n"
        "\n"
        "Working on: Helping user plan a trip to Japan\n"
        "Status: in_progress\n"
        "Next action: User asked about visa requirements -- need to answer\n"
        "\n"
        "Decisions made:\n"
        "- User prefers budget options over luxury (14:15)\n"
        "- Flights from Belgrade, March 15-29 window (14:22)\n"
        "\n"
        "Thread: Planning Japan trip. Settled on March dates, budget focus.\n"
        "\n"
        "Open items:\n"
        "- Visa requirements for Serbian passport\n"
        "- User hasn't decided on accommodation style\n"
        "\n"
        "Learnings (consider storing to long-term memory):\n"
        "- User is price-sensitive, always ask about budget first"
    )


@given(checkpoints, st.integers(0, 900), st.none() | st.integers(0, 4000))
def test_any_checkpoint_stays_within_its_budget(
    checkpoint: Checkpoint, budget_tokens: int, max_chars: int | None
) -> None:
    text = rendered(checkpoint, budget_tokens, max_chars)
    assert estimate_tokens(text) <= budget_tokens or not text
    assert max_chars is None or len(text) <= max_chars


@given(checkpoints, st.integers(0, 900))
def test_no_heading_stands_without_its_points(checkpoint: Checkpoint, budget_tokens: int) -> None:
    lines = rendered(checkpoint, budget_tokens).split("\n")
    for line, following in zip(lines, [*lines[1:], ""], strict=True):
        if line in HEADINGS:
            assert following.startswith("- ")


@given(checkpoints)
def test_what_is_quoted_never_makes_a_line_of_its_own(checkpoint: Checkpoint) -> None:
    lines = rendered(checkpoint, 3000).splitlines()
    assert lines[0] == FIRST
    for line in lines[1:]:
        assert not line or line in HEADINGS or line.startswith(("- ", *LABELS)), line
    headings = [line for line in lines if line in HEADINGS]
    assert len(headings) == len(set(headings))


def test_a_time_that_is_none_is_not_shown() -> None:
    wrong = msgspec.structs.replace(
        EXAMPLE, decisions=(Decision(id="d1", what="Use it", when="2026-02-24T\n- x:y"),)
    )
    assert "- Use it\n" in rendered(wrong)


@pytest.mark.parametrize("n_decisions", [10, 50])
def test_many_decisions_leave_room_for_the_rest(n_decisions: int) -> None:
    crowded = msgspec.structs.replace(
        EXAMPLE,
        decisions=tuple(
            Decision(id=f"d{n}", what=f"Decision {n}: " + "so and so " * 30, when="")
            for n in range(n_decisions)
        ),
        resources=Resources(files_read=("a.py",), files_modified=("b.py",), tools_used=()),
        pins=("Never touch main",),
    )
    text = rendered(crowded)
    for part in (*EXAMPLE.open_items, "b.py", "Never touch main", EXAMPLE.learnings[0]):
        assert part in text
    assert 720 <= estimate_tokens(text) <= 800


def test_rules_stay_where_not_all_decisions_fit() -> None:
    crowded = msgspec.structs.replace(
        EXAMPLE,
        decisions=(
            Decision(id="d1", what="Never commit to main.", when=""),
            *(
                Decision(id=f"d{n}", what=f"Used module {n}: " + "so and so " * 30, when="")
                for n in range(2, 14)
            ),
        ),
    )
    assert "Never commit to main." in rendered(crowded, 500)
    assert "Used module 2:" not in rendered(crowded, 500)


def test_a_long_decision_is_shown_at_length_where_there_is_room() -> None:
    long = "Because of the audit, " + "the ledger stays append-only, " * 10
    checkpoint = msgspec.structs.replace(
        EXAMPLE, decisions=(Decision(id="d1", what=long, when=""),)
    )
    assert long.strip() in rendered(checkpoint, 800)
    assert "…" in rendered(checkpoint, 150)


def test_a_rule_is_shown_whole_or_not_at_all() -> None:
    rule = "Never drop a table " + "of the ledger or of the archive " * 15 + "unless I say so."
    checkpoint = msgspec.structs.replace(
        EXAMPLE, decisions=(Decision(id="d1", what=rule, when=""),)
    )
    for budget_tokens in range(20, 800, 40):
        text = rendered(checkpoint, budget_tokens)
        assert rule in text or "Never drop" not in text
    assert rule in rendered(checkpoint, 800)
    assert rule in write_steering(checkpoint, max_chars=3_000)


def test_tokens_that_do_not_add_up_are_counted_in_the_end() -> None:
    def count(text: str) -> int:
        return len(text) ** 2 // 400

    text = render_for_agent(EXAMPLE, budget_tokens=400, count=count)
    assert count(text) <= 400
    assert text.startswith(FIRST)
