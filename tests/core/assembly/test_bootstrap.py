"""Bootstrap files: their middle goes where they are long, and not every session gets them."""

import msgspec
from hypothesis import example, given
from hypothesis import strategies as st

from ullage.core.assembly.bootstrap import (
    MARKER,
    TrimmedText,
    WorkspaceFile,
    build_bootstrap_files,
    trim_bootstrap_text,
)

TEXTS = st.text(alphabet=st.sampled_from("ab \n\r\u2028é😀中"), max_size=200)


def length_of(text: str) -> int:
    return len(text.encode("utf-16-le")) // 2


def build(*files: WorkspaceFile, is_minimal: bool = False, is_primary: bool = True):
    return build_bootstrap_files(files, 20_000, is_minimal=is_minimal, is_primary=is_primary)


def test_the_result_is_that_of_the_reference() -> None:
    text = "h" * 14_000 + "m" * 7_000 + "t" * 4_000
    trimmed = trim_bootstrap_text(text, 20_000)
    assert msgspec.to_builtins(trimmed) == {
        "content": "h" * 14_000 + "\n\n[... content truncated ...]\n\n" + "t" * 4_000,
        "truncated": True,
        "originalLength": 25_000,
    }


def test_a_text_of_exactly_the_limit_is_whole_and_one_more_is_cut() -> None:
    whole = TrimmedText(content="x" * 20_000, is_truncated=False, original_length=20_000)
    assert trim_bootstrap_text("x" * 20_000, 20_000) == whole
    cut = trim_bootstrap_text("x" * 20_001, 20_000)
    assert cut.content == "x" * 14_000 + MARKER + "x" * 4_000
    assert (cut.is_truncated, cut.original_length) == (True, 20_001)


@example("a" * 15 + "😀" * 3, 15)
@given(TEXTS, st.integers(min_value=1, max_value=120))
def test_what_is_kept_is_head_marker_and_tail_by_the_units_of_javascript(
    text: str, max_chars: int
) -> None:
    trimmed = trim_bootstrap_text(text, max_chars)
    assert trimmed.original_length == length_of(text)
    if length_of(text) <= max_chars:
        assert (trimmed.content, trimmed.is_truncated) == (text, False)
        return
    head, marker, tail = trimmed.content.partition(MARKER)
    assert trimmed.is_truncated
    assert marker
    assert text.startswith(head)
    assert text.endswith(tail)
    # A character of two units that the cut would split is left out as a whole.
    assert length_of(head) in (int(max_chars * 0.7), int(max_chars * 0.7) - 1)
    assert length_of(tail) in (int(max_chars * 0.2), int(max_chars * 0.2) - 1)


def test_a_cut_file_says_what_is_left_out_and_why() -> None:
    (file,) = build(WorkspaceFile(path="AGENTS.md", text="x" * 25_000, kind="rules"))
    assert file.warning == (
        "AGENTS.md: 7,000 of 25,000 characters in its middle are left out: more than 20,000"
    )


def test_an_empty_file_is_none() -> None:
    assert build(WorkspaceFile(path="SOUL.md", text=" \n", kind="identity")) == ()


def test_memory_is_for_the_primary_session_and_daily_logs_for_any() -> None:
    files = (
        WorkspaceFile(path="MEMORY.md", text="m", kind="memory"),
        WorkspaceFile(path="memory/2026-11-24.md", text="l", kind="daily log"),
    )
    assert [file.trimmed.content for file in build(*files)] == ["m", "l"]
    memory, log = build(*files, is_primary=False)
    assert (memory.trimmed.content, memory.cut) == ("", "only the primary session is given it")
    assert (log.trimmed.content, log.cut) == ("l", "")


def test_a_subagent_is_given_the_rules_alone() -> None:
    files = (
        WorkspaceFile(path="AGENTS.md", text="a", kind="rules"),
        WorkspaceFile(path="SOUL.md", text="s", kind="identity"),
        WorkspaceFile(path="memory/2026-11-24.md", text="l", kind="daily log"),
    )
    built = build(*files, is_minimal=True)
    assert [file.trimmed.content for file in built] == ["a", "", ""]
    assert [file.cut for file in built[1:]] == ["minimal mode leaves it out"] * 2
