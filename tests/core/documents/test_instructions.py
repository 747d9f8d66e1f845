"""What an agent is given of a long file equals what its own rule gives."""

from hypothesis import example, given
from hypothesis import strategies as st

from ullage.core.documents.instructions import (
    CLAUDE_MEMORY_BYTES,
    CODEX_MAX_BYTES,
    find_claude_memory_cut,
    find_codex_cut,
    find_openclaw_cut,
    is_large_for_claude,
)

TEXTS = st.text(alphabet=st.sampled_from("ab \n\r\u2028é😀中"), max_size=120)


def trimmed(content: str, max_chars: int) -> str:
    """OpenClaw's `trimBootstrapContent`, on UTF-16 units as JavaScript counts them."""
    units = content.encode("utf-16-le")
    if len(units) // 2 <= max_chars:
        return content
    n_head, n_tail = int(max_chars * 0.7), int(max_chars * 0.2)
    head, tail = units[: 2 * n_head], units[len(units) - 2 * n_tail :]
    marker = "\n\n[... content truncated ...]\n\n"
    return (head + marker.encode("utf-16-le") + tail).decode("utf-16-le", "ignore")


@example("a" * 15 + "😀" * 3, 15)
@given(TEXTS, st.integers(min_value=10, max_value=100))
def test_the_parts_around_the_cut_are_what_the_seed_keeps(text: str, max_chars: int) -> None:
    cut = find_openclaw_cut(text, max_chars)
    if cut is None:
        assert trimmed(text, max_chars) == text
        return
    assert text[: cut.start] + text[cut.start : cut.end] + text[cut.end :] == text
    marker = "\n\n[... content truncated ...]\n\n"
    assert text[: cut.start] + marker + text[cut.end :] == trimmed(text, max_chars)


def test_a_text_of_exactly_the_limit_is_whole_and_one_more_is_cut() -> None:
    assert find_openclaw_cut("x" * 20_000, 20_000) is None
    cut = find_openclaw_cut("x" * 20_001, 20_000)
    assert cut is not None
    assert (cut.start, cut.end) == (14_000, 16_001)


@given(TEXTS, st.integers(min_value=0, max_value=CODEX_MAX_BYTES + 5))
def test_codex_gives_the_bytes_that_are_left(text: str, n_spent: int) -> None:
    text *= 3
    n_left = max(CODEX_MAX_BYTES - n_spent, 0)
    cut = find_codex_cut(text, n_spent)
    data = text.encode()
    if cut is None:
        assert len(data) <= n_left
    else:
        assert text[: cut.start] == data[:n_left].decode("utf-8", "ignore")
        assert cut.end == len(text)


def test_memory_is_cut_by_lines_or_by_bytes_whichever_comes_first() -> None:
    assert find_claude_memory_cut("- a point\n" * 200) is None
    by_lines = find_claude_memory_cut("- a point\n" * 201)
    assert by_lines is not None
    assert by_lines.start == 2000
    by_bytes = find_claude_memory_cut("é" * CLAUDE_MEMORY_BYTES)
    assert by_bytes is not None
    assert by_bytes.start == CLAUDE_MEMORY_BYTES // 2


def test_claude_warns_above_40_000_characters() -> None:
    assert not is_large_for_claude("x" * 40_000)
    assert is_large_for_claude("x" * 40_001)
