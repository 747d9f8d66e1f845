"""A model's answer: when it is refused, and the form that it gets."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ullage.core.facts.previous_summary import read_previous_summary
from ullage.core.facts.summary_sections import SECTION_NAMES
from ullage.core.summary.model_output import (
    Evidence,
    clean_answer,
    limit_summary,
    list_names,
    merge_sections,
    refuse_answer,
    write_in_sections,
)
from ullage.core.transcript.tokens import estimate

REPLY = "All tests of src/app.py pass now."
MATERIAL = Evidence(names=frozenset(("app.py", "PORT_9000")), last_reply=REPLY, nonce="0f1e2d3c")

HEADS = "## Goal\n(none)\n## Constraints\n(none)\n## Decisions\n"

REFUSED = {
    "": "empty",
    " ok ": "empty",
    "I'm sorry, but I can't help with that app.py.": "refused",
    "I’m sorry, but I can’t help with that app.py.": "refused",
    "I cannot summarize app.py, as it holds secrets.": "refused",
    "As an AI language model I have no access to app.py.": "refused",
    "Sorry, I am unable to comply. app.py": "refused",
    "Could you provide the messages of app.py?": "refused",
    "No prior history was found for app.py.": "nothing to summarize",
    "There is nothing to summarize in app.py.": "nothing to summarize",
    "The conversation appears to be empty (app.py).": "nothing to summarize",
    "# Summary\n\n- No previous conversation. app.py": "nothing to summarize",
    "## Goal\n(none)\n## Files\n- None\n": "nothing to summarize",
    f"\n{REPLY}\n\n": "last reply",
    f"## Goal\n- app.py\n{HEADS}- app.py\n": "repeats itself",
    f"{HEADS}- app.py " + "and so on " * 200: "too long",
    "The text is:\n\n<<<0f1e2d3c user\nFix app.py": "copies what it was shown",
    "The user wants app.py to be fixed, and I think this is a perfect summary.": "form",
    "## Summary\n- Fix app.py": "form",
    f"{HEADS}- Something went very well with everything.": "names nothing",
}
TAKEN = [
    f"{HEADS}- Fix app.py\n",
    f"{HEADS}- Find out why the page says: I'm sorry, I cannot open PORT_9000\n",
    f"{HEADS}- app.py\n\n## Current state\n- There is no prior history of the table `users`.\n",
    "1. **Goal**: app.py\n2. **Next steps**: ship app.py",
]


@pytest.mark.parametrize("answer", REFUSED)
def test_an_odd_answer_is_refused_with_a_reason(answer: str) -> None:
    reason = refuse_answer(clean_answer(answer, ()), MATERIAL, 300, estimate)
    assert reason is not None
    assert REFUSED[answer] in reason


@pytest.mark.parametrize("answer", TAKEN)
def test_an_answer_in_order_is_taken(answer: str) -> None:
    assert refuse_answer(clean_answer(answer, ()), MATERIAL, 300, estimate) is None


def test_without_identifiers_none_is_asked_for() -> None:
    material = Evidence(names=frozenset(), last_reply="", nonce="0f1e2d3c")
    assert refuse_answer(f"{HEADS}- They said hello.", material, 300, estimate) is None


def test_identifiers_are_names_not_numbers() -> None:
    names = list_names(["look at /srv/app/main.py line 42 of 100, port 80, ERR_TIMEOUT, v1.2.3"])
    assert {"main.py", "ERR_TIMEOUT", "v1.2.3"} <= names
    assert not {"42", "100", "80"} & names


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        ("<think>well, well</think>\n## Goal\n- a", "## Goal\n- a"),
        ("```markdown\n## Goal\n- a\n```", "## Goal\n- a"),
        ("## Goal\n- run ```ls```", "## Goal\n- run ```ls```"),
        ("a <think>b</think>", "a <think>b</think>"),
        ("a\r\nb", "a\nb"),
    ],
)
def test_what_is_not_the_summary_is_taken_off(answer: str, expected: str) -> None:
    assert clean_answer(answer, ()) == expected


def test_a_summary_may_be_half_of_what_is_new() -> None:
    assert limit_summary(10_000, 0) == 5000
    assert limit_summary(10_000, 700) == 5700
    assert limit_summary(100, 0) == 300


def lines_of(text: str) -> dict[str, tuple[str, ...]]:
    return read_previous_summary(text).lines


def test_our_sections_are_kept_whatever_dress_they_come_in() -> None:
    text = (
        "Here is the summary:\n\n**Goal**\n* Fix it\n\n### constraints:\n1. Never push.\n"
        "   - Not even once.\n\n## Files\nmodified app.py\n\n## Identifiers\n- (none)\n"
    )
    made = write_in_sections(text)
    assert read_previous_summary(made).is_ours
    lines = lines_of(made)
    assert lines["Goal"] == ("Fix it",)
    assert lines["Constraints"] == ("Never push.", "Not even once.")
    assert lines["Files"] == ("modified app.py",)
    assert lines["Identifiers"] == ()


def test_other_sections_are_sorted_into_ours() -> None:
    lines = lines_of(write_in_sections("## Task Overview\n- Fix it\n\n## Next Steps\n- Ship it\n"))
    assert lines["Goal"] == ("Fix it",)
    assert lines["Remaining"] == ("Ship it",)


def test_a_paragraph_is_kept_sentence_by_sentence() -> None:
    sentences = tuple(f"The step {n} of the work on app.py went well." for n in range(30))
    assert lines_of(write_in_sections(" ".join(sentences)))["Work completed"] == sentences


_point = st.text(st.characters(exclude_categories=("C", "Z")), min_size=1, max_size=30).filter(
    lambda text: not text.startswith(("#", "*", "-", "+", "•", "<", "`", "("))
)


@given(st.dictionaries(st.sampled_from(SECTION_NAMES), st.lists(_point, max_size=4)))
def test_a_summary_in_our_sections_stays_as_it_is(points: dict[str, list[str]]) -> None:
    text = "\n".join(
        f"## {name}\n" + "".join(f"- {point}\n" for point in points.get(name, ()) or ["(none)"])
        for name in SECTION_NAMES
    )
    once = write_in_sections(text)
    assert write_in_sections(once) == once
    assert read_previous_summary(once).is_ours


@given(st.text(max_size=300))
def test_any_text_gets_our_sections(text: str) -> None:
    assert read_previous_summary(write_in_sections(text)).is_ours


def test_parts_are_merged_point_by_point() -> None:
    one = write_in_sections("## Goal\n- a\n- b\n## Files\n- read x\n## Remaining\n- r\n")
    two = write_in_sections("## Goal\n- b\n- c\n## Files\n- read y\n## Remaining\n- r\n")
    lines = lines_of(merge_sections((one, two)))
    assert lines["Goal"] == ("a", "b", "c")
    assert lines["Files"] == ("read x", "read y")
    assert lines["Remaining"] == ("r",)
