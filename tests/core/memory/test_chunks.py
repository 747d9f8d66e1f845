"""Chunks of a Markdown text: what is found is what stands at its lines, and nothing is lost."""

import re
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from secret_samples import LETTERS, SAMPLES
from ullage.core.memory.chunks import (
    MAX_CHUNK_CHARS,
    MAX_TITLE_CHARS,
    chunk_digest,
    read_chunks,
)

LONG = "word " * (MAX_CHUNK_CHARS // 5)


def shown(text: str) -> list[tuple[int, int, str, str]]:
    return [
        (chunk.first_line, chunk.last_line, chunk.heading, chunk.text)
        for chunk in read_chunks(text)
    ]


@pytest.mark.parametrize(
    ("text", "chunks"),
    [
        ("", []),
        ("\n \n\t\n", []),
        ("one\ntwo\n\nthree", [(1, 4, "", "one\ntwo\n\nthree")]),
        ("# A\n\none\n\n## B\n\ntwo", [(3, 3, "A", "one"), (7, 7, "A › B", "two")]),
        ("# A\none\n# B\ntwo", [(2, 2, "A", "one"), (4, 4, "B", "two")]),
        ("### A\n## B\nx", [(1, 1, "A", "### A"), (3, 3, "B", "x")]),
        ("# A\n## B\n# C", [(2, 2, "A › B", "## B"), (3, 3, "C", "# C")]),
        ("# A #\nx\n## C#\ny", [(2, 2, "A", "x"), (4, 4, "A › C#", "y")]),
        ("# A\n|---|---|\n***", [(1, 1, "A", "# A")]),
        ("# A\n##\nx", [(3, 3, "A", "x")]),
        ("- a\n- b\n\n  more of b\n- c", [(1, 1, "", "- a"), (2, 4, "", "- b\n\n  more of b"),
                                          (5, 5, "", "- c")]),
        ("- a\n  - b\n    c", [(1, 1, "", "- a"), (2, 3, "", "- b\n    c")]),
        ("- a\n\napart\n\ntoo", [(1, 1, "", "- a"), (3, 5, "", "apart\n\ntoo")]),
        ("- a\n\n---\n\napart", [(1, 1, "", "- a"), (5, 5, "", "apart")]),
        ("1. run\n\n```sh\nmake\n\nmake x\n```\n2. go", [
            (1, 7, "", "1. run\n\n```sh\nmake\n\nmake x\n```"), (8, 8, "", "2. go")]),
        ("```\n# no heading\n- no item\n```", [(1, 4, "", "```\n# no heading\n- no item\n```")]),
        ("---\ntitle: x\n---\n\n# A\ny", [(1, 3, "", "---\ntitle: x\n---"), (6, 6, "A", "y")]),
        ("| a | b |\n|---|---|\n| 1 | 2 |", [(1, 3, "", "| a | b |\n|---|---|\n| 1 | 2 |")]),
        ("***\n\na\n\n===", [(3, 3, "", "a")]),
        ("<!-- # no\n- no -->\na", [(3, 3, "", "a")]),
        ("a\n<!-- b -->\nc", [(1, 3, "", "a\n<!-- b -->\nc")]),
        ("a begins with `<!--`\n\n- b", [(1, 1, "", "a begins with `<!--`"), (3, 3, "", "- b")]),
        ("a\n\n<!-- never closed\n\n# no", [(1, 1, "", "a")]),
    ],
)  # fmt: skip
def test_a_text_is_parted_at_headings_and_items(
    text: str, chunks: list[tuple[int, int, str, str]]
) -> None:
    assert shown(text) == chunks


def test_lines_of_windows_are_parted_and_counted_alike() -> None:
    text = "# A\n\none\ntwo\n\n- a\n\n  b\n## C\n"
    of_windows = [
        (first, last, heading, part.replace("\r\n", "\n"))
        for first, last, heading, part in shown(text.replace("\n", "\r\n"))
    ]
    assert of_windows == shown(text)


def test_what_is_too_long_is_cut_between_lines_and_a_huge_line_within() -> None:
    lines = [LONG[:1000], LONG[:500], LONG[:500], "short"]
    cut = read_chunks("- " + "\n  ".join(lines))
    assert [(chunk.first_line, chunk.last_line) for chunk in cut] == [(1, 2), (3, 4)]
    huge = read_chunks("x" * (3 * MAX_CHUNK_CHARS + 1) + "\n\ntail")
    assert [len(chunk.text) for chunk in huge[:3]] == [MAX_CHUNK_CHARS] * 3
    assert (huge[3].first_line, huge[3].last_line, huge[3].text) == (1, 3, "x\n\ntail")


def test_a_heading_like_a_page_is_cut_and_costs_what_is_below_it_little() -> None:
    title = "a" + " " * 200_000 + "b"
    alone = read_chunks(f"# {title}\n")
    assert alone[0].text.startswith("# a")
    assert alone[-1].text == "b"
    below = read_chunks(f"# {'a' * 200_000}\n" + "- x\n" * 5_000)
    assert len(below) == 5_000
    assert {chunk.heading for chunk in below} == {"a" * MAX_TITLE_CHARS}


LINES = st.sampled_from(
    [
        "", "", "# A", "## B ##", "###", "- a", "  - b c", "* d", "12. e", "    f", "text of g",
        "```", "~~~py", "| h | i |", "|---|---|", "---", "> quoted", "<!-- hidden -->", "<!--",
        "-->", "日本語", "\x0c", "\u2028", "j " * 500, "k" * 4000, "# " + "l " * 1000, "\t- m",
        "- [ ] n", "`<!--` o",
    ]
)  # fmt: skip
TEXTS = st.lists(LINES, max_size=30).flatmap(
    lambda lines: st.sampled_from(["\n", "\r\n"]).map(lambda end: end.join(lines))
)


@given(TEXTS)
def test_each_chunk_is_short_and_stands_at_its_lines_one_after_the_other(text: str) -> None:
    lines = text.split("\n")
    chunks = read_chunks(text)
    for chunk in chunks:
        assert 0 < len(chunk.text) <= MAX_CHUNK_CHARS
        assert chunk.text == chunk.text.strip()
        stands = "\n".join(lines[chunk.first_line - 1 : chunk.last_line])
        assert chunk.text in stands
        # It begins on its first line and ends on its last one.
        assert chunk.text.count("\n") == chunk.last_line - chunk.first_line
    for before, after in pairwise(chunks):
        assert before.last_line <= after.first_line


@given(TEXTS)
def test_no_word_is_lost_but_those_of_comments_and_of_long_headings(text: str) -> None:
    chunks = read_chunks(text)
    kept = " ".join(f"{chunk.heading} {chunk.text}" for chunk in chunks)
    for word in without_comments(text).split():
        if re.search(r"\w", word) and word not in ("l", "k" * 4000):
            assert word in kept


def without_comments(text: str) -> str:
    """Leave out what a closed comment hides, and all behind a line that opens one for good."""
    text = re.sub(r"<!--.*?-->", "\n", text, flags=re.DOTALL)
    return re.split(r"(?m)^ {0,3}<!--", text)[0]


KEY = "-----BEGIN PRIVATE KEY-----\n" + f"{LETTERS[:64]}\n" * 40 + "-----END PRIVATE KEY-----"


@pytest.mark.parametrize(
    "text",
    [KEY, f"the key:\n{KEY}\nis old", f"- a key\n\n  {KEY}", f"```\n{KEY}\n```", f"x {KEY}"],
)
def test_of_a_secret_that_would_be_parted_nothing_is_in_a_chunk(text: str) -> None:
    chunks = read_chunks(f"# A\n\nbefore\n\n{text}\n\nbehind\n")
    assert all(LETTERS[:20] not in chunk.text for chunk in chunks)
    last = chunks[-1]
    assert last.text.endswith("behind")
    assert last.last_line == text.count("\n") + 7


def test_a_secret_in_a_huge_line_is_not_cut() -> None:
    token = SAMPLES["github"].secret
    text = "x" * (MAX_CHUNK_CHARS - 20) + f" {token} y"
    assert all(token[-16:] not in chunk.text for chunk in read_chunks(text))


def test_a_secret_that_is_whole_in_a_chunk_stays_for_who_masks_it() -> None:
    token = SAMPLES["github"].secret
    assert [chunk.text for chunk in read_chunks(f"- a {token}\n- b")] == [f"- a {token}", "- b"]


def test_a_digest_is_of_the_text_alone_even_where_it_is_no_unicode() -> None:
    (first, second) = read_chunks("# A\n- x\n# B\n- x")
    assert chunk_digest(first.text) == chunk_digest(second.text) != chunk_digest("- y")
    assert len(chunk_digest("\ud800")) == 64
