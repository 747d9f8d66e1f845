"""The model of a Claude Code session: a larger window that was chosen stands beside the answers."""

import pytest

from claude_files import ClaudeFile, text
from pi_files import Json
from reading import read, read_context
from ullage.core.transcript.entries import MemoryLines
from ullage.formats.agents.claude_code.agent import CLAUDE_CODE

PLAIN, LARGE = "claude-sonnet-4-5", "claude-sonnet-4-5[1m]"


def answered(claude: ClaudeFile, requested: str | None = None, model: str = PLAIN) -> ClaudeFile:
    claude.user("hello")
    fields: Json = {} if requested is None else {"requestedModel": requested}
    claude.assistant(text("hi"), model=model, **fields)
    return claude


def model_of(claude: ClaudeFile) -> str | None:
    return read_context(claude.data).model


@pytest.mark.parametrize(
    ("requested", "expected"),
    [
        (None, PLAIN),
        (PLAIN, PLAIN),
        (LARGE, LARGE),
        ("us.anthropic.claude-sonnet-4-5-v1:0[1m]", "us.anthropic.claude-sonnet-4-5-v1:0[1m]"),
        # A fallback answered: its window is its own.
        ("claude-opus-4-6[1m]", PLAIN),
    ],
)
def test_an_answer_tells_what_was_requested(requested: str | None, expected: str) -> None:
    assert model_of(answered(ClaudeFile(), requested)) == expected


def test_the_announced_model_tells_what_was_chosen() -> None:
    claude = ClaudeFile()
    claude.announce(LARGE)
    assert model_of(answered(claude)) == LARGE
    claude.announce(PLAIN)
    assert model_of(claude) == PLAIN
    assert model_of(answered(claude)) == PLAIN


def test_another_model_takes_a_chosen_window_back() -> None:
    claude = ClaudeFile()
    claude.announce(LARGE)
    assert model_of(answered(claude, model="claude-opus-4-6")) == "claude-opus-4-6"


def test_a_request_without_the_larger_window_takes_it_back() -> None:
    claude = answered(ClaudeFile(), LARGE)
    assert model_of(answered(claude)) == LARGE
    assert model_of(answered(claude, PLAIN)) == PLAIN


@pytest.mark.parametrize("model", [PLAIN, LARGE, "claude-opus-4-7"])
def test_the_model_is_known_right_after_a_compaction(model: str) -> None:
    claude = answered(ClaudeFile(), model, model=model.removesuffix("[1m]"))
    claude.record("user", sidechain=True, message={"role": "user", "content": "aside"})
    claude.boundary()
    claude.summary("All was well.")
    assert model_of(claude) == model
    assert model_of(answered(claude, model="claude-haiku-4-5")) == "claude-haiku-4-5"


@pytest.mark.parametrize(("model", "expected"), [(PLAIN, 350_000), ("claude-haiku-4-5", 0)])
def test_the_request_before_a_compaction_counts_for_its_own_model(
    model: str, expected: int
) -> None:
    claude = ClaudeFile()
    claude.user("hello")
    claude.assistant(text("hi"), model=PLAIN, usage=350_000)
    claude.boundary()
    claude.summary("All was well.")
    claude.user("Go on.")
    claude.assistant(text("Yes."), model=model, usage=20_000)
    assert read_context(claude.data).n_sent_before == pytest.approx(expected, abs=100)


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        ((LARGE,), LARGE),
        (("claude-haiku-4-5", LARGE), LARGE),
        ((PLAIN,), PLAIN),
        # It was both, and nothing says which came last.
        ((PLAIN, LARGE), PLAIN),
        ((LARGE, PLAIN), PLAIN),
        (("claude-opus-4-6[1m]",), PLAIN),
        ((), PLAIN),
    ],
)
def test_costs_tell_what_was_chosen(names: tuple[str, ...], expected: str) -> None:
    claude = answered(ClaudeFile())
    claude.costs({name: {"inputTokens": 1} for name in names})
    assert model_of(claude) == expected


def test_what_was_announced_is_later_than_what_was_paid_for() -> None:
    claude = ClaudeFile()
    claude.announce(PLAIN)
    answered(claude)
    claude.costs({LARGE: {}})
    assert model_of(claude) == PLAIN


@pytest.mark.parametrize(
    ("window", "expected"), [(500_000, 500_000), (0, None), (-1, None), ("1", None), (True, None)]
)
def test_costs_may_tell_the_window(window: object, expected: int | None) -> None:
    claude = answered(ClaudeFile())
    claude.costs({PLAIN: {"contextWindow": window}, "another": {"contextWindow": 7}})
    assert read_context(claude.data).window_tokens == expected


@pytest.mark.parametrize("costs", [None, [], 3, {PLAIN: 3}, {PLAIN: {"contextWindow": []}}])
def test_damaged_costs_tell_nothing(costs: object) -> None:
    claude = answered(ClaudeFile())
    claude.note("cost-state", modelUsage=costs)
    context = read_context(claude.data)
    assert (context.model, context.window_tokens) == (PLAIN, None)


def test_a_model_that_comes_back_is_read_anew() -> None:
    claude = ClaudeFile()
    claude.user("hello")
    claude.assistant(text("hi"), model=PLAIN, usage=350_000)
    claude.boundary()
    claude.summary("All was well.")
    before = read(answered(claude, model="claude-haiku-4-5").data)
    lines = MemoryLines(answered(claude).data)
    appended = [*lines.forward(before.context.size_bytes)]
    assert before.context.n_sent_before == 0
    assert CLAUDE_CODE.extend is not None
    assert CLAUDE_CODE.extend(before, appended, lines.size_bytes) is None
    assert read_context(claude.data).n_sent_before > 300_000
