"""What an agent is given of a long file equals what its own rule gives."""

from hypothesis import example, given
from hypothesis import strategies as st

from ullage.core.documents.instructions import (
    CLAUDE_MEMORY_CHARS,
    find_claude_memory_cut,
    find_codex_cut,
    find_codex_memory_cut,
    find_openclaw_cut,
    is_large_for_claude,
)

CODEX_MAX_BYTES = 32_768
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
    assert cut.sent(text) == trimmed(text, max_chars)


def test_a_text_of_exactly_the_limit_is_whole_and_one_more_is_cut() -> None:
    assert find_openclaw_cut("x" * 20_000, 20_000) is None
    cut = find_openclaw_cut("x" * 20_001, 20_000)
    assert cut is not None
    assert (cut.start, cut.end) == (14_000, 16_001)


@given(TEXTS, st.integers(min_value=0, max_value=CODEX_MAX_BYTES + 5))
def test_codex_gives_the_bytes_that_are_left(text: str, n_spent: int) -> None:
    text *= 3
    n_left = max(CODEX_MAX_BYTES - n_spent, 0)
    cut = find_codex_cut(text, n_spent, CODEX_MAX_BYTES)
    data = text.encode()
    if cut is None:
        assert len(data) <= n_left
    else:
        assert text[: cut.start] == data[:n_left].decode("utf-8", "ignore")
        assert cut.end == len(text)


def test_memory_is_cut_by_lines_or_by_characters_whichever_comes_first() -> None:
    assert find_claude_memory_cut("- a point\n" * 200) is None
    by_lines = find_claude_memory_cut("- a point\n" * 201)
    assert by_lines is not None
    assert by_lines.start == 2000
    whole_lines = find_claude_memory_cut(f"{'é' * 199}\n" * 150)
    assert whole_lines is not None
    assert whole_lines.start == CLAUDE_MEMORY_CHARS
    inside = find_claude_memory_cut(f"{'é' * 300}\n" * 100)
    assert inside is not None
    assert inside.start == 301 * (CLAUDE_MEMORY_CHARS // 301)
    one_line = find_claude_memory_cut("é" * 30_000)
    assert one_line is not None
    assert one_line.start == CLAUDE_MEMORY_CHARS


def test_codex_gives_both_ends_of_a_long_summary_of_memory() -> None:
    assert find_codex_memory_cut("x" * 10_000 + "\n") is None
    text = "a" * 5_000 + "b" * 20_000 + "c" * 5_000
    cut = find_codex_memory_cut(f"{text}\n")
    assert cut is not None
    assert cut.sent(text) == f"{'a' * 5_000}…5000 tokens truncated…{'c' * 5_000}"


def test_claude_warns_above_40_000_characters() -> None:
    assert not is_large_for_claude("x" * 40_000)
    assert is_large_for_claude("x" * 40_001)
