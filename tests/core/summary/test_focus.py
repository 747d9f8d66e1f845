"""The focus is given what speaks of it, from wherever that stands, and nothing else is moved."""

from factories import assistant, numbered, tool_result, user
from ullage.core.summary.extract import summarize
from ullage.core.summary.focus import Focus, misses_focus
from ullage.core.transcript.context import ContextItem


def count(text: str) -> int:
    return len(text.encode("utf-8", "surrogatepass")) // 4 + 1


def section(text: str, name: str) -> str:
    return text.split(f"## {name}\n", 1)[1].split("\n\n## ", 1)[0]


def long_session() -> list[ContextItem]:
    items = [user("Look through the whole shop and tell me what each part does.")]
    for n in range(60):
        call = assistant("", [("c1", "read", {"path": f"src/part_{n}.py"})])
        shown = f"part {n} listens on port {7000 + n}, limit = {n * 111}"
        if n == 31:
            shown += "\nrefunds are booked by the night job, batch size 417"
        items += [call, tool_result(shown, "c1", "read")]
        items.append(assistant(f"Part {n} serves `/v{n}/orders` with {n + 3} workers."))
    items += [user("Thanks. And now the docs."), assistant("The docs are in docs/index.md.")]
    return items


def test_what_matches_comes_first_in_its_section() -> None:
    text = summarize(numbered(long_session()), focus="refund", budget_tokens=500, count=count)
    first = section(text, "Identifiers").split("\n")[0]
    assert first == "- refunds are booked by the night job, batch size 417"
    assert not misses_focus(text, "refund")


def test_what_matches_takes_half_of_the_budget_at_most() -> None:
    focus = "orders workers"
    text = summarize(numbered(long_session()), focus=focus, budget_tokens=800, count=count)
    matching = [line for line in text.split("\n") if "/orders` with" in line]
    assert 300 < count("\n".join(matching)) < 480
    assert count(text) <= 800


def test_files_that_match_come_before_newer_ones() -> None:
    text = summarize(numbered(long_session()), focus="part_7", budget_tokens=900, count=count)
    files = section(text, "Files").split("\n")
    assert files[0] == "- read src/part_7.py"
    assert len(files) > 3


def test_a_focus_that_nothing_matches_is_told() -> None:
    text = summarize(numbered(long_session()), focus="kubernetes", budget_tokens=500, count=count)
    assert misses_focus(text, "kubernetes")
    assert not misses_focus(text, None)
    assert not misses_focus(text, "  ")


def test_words_match_in_any_ending_but_not_within_others() -> None:
    assert Focus("the payments module").find("Payment goes through src/pay.py")
    assert not Focus("cart").find("the chart of descartes")
    assert Focus("支付").find("修改支付接口")


def test_lines_with_rare_words_of_the_focus_come_first() -> None:
    texts = ["the export is slow"] * 5 + ["the export of refunds"]
    ranked = [at for _, at in Focus("export refunds").rank(texts)]
    assert ranked[0] == 5
    assert ranked[1:] == [0, 1, 2, 3, 4]
