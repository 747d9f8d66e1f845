"""The model table: which row is a model's, and that the file is sound."""

from collections.abc import Iterator
from datetime import date

import pytest

from ullage.store.gauge import models
from ullage.store.gauge.models import find_model, find_priced_model, read_table
from ullage.store.gauge.tokenizer import encoding_of, encoding_rows

TABLE = b"""# A head.
#c\t@claude/code 1.0\t2026-01-01
#o\topencode 2.0\t2026-01-03
#l\tlitellm 3.0\t2026-01-02
*/claude-a-5\tol\t1000000\t2000000\t5\t25\t0.5\t6.25\t10
*/gpt-4\tl\t8192\t\t30\t60\t\t\t
claude-code/claude-a-5 claude-code/claude-a claude-code/a5\tc\t200000\t1000000\t5\t25\t\t\t
gemini/*\tc\t1048576\t\t\t\t\t\t
gemini/gemma\tc\t256000\t\t\t\t\t\t
opencode/*/claude-a-5\to\t900000\t\t\t\t\t\t
opencode/copilot/claude-a-5\to\t128000\t200000 900000\t0\t0\t\t\t
"""


@pytest.fixture
def table(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(models, "read_table", lambda: TABLE)
    find_model.cache_clear()
    yield
    find_model.cache_clear()


@pytest.mark.usefixtures("table")
@pytest.mark.parametrize(
    ("agent", "provider", "model", "expected"),
    [
        ("claude-code", None, "claude-a-5", "claude-code/claude-a-5"),
        ("claude-code", None, "CLAUDE-A-5-20260101", "claude-code/claude-a-5"),
        ("claude-code", None, "us.anthropic.claude-a-5-v1:0", "claude-code/claude-a-5"),
        ("claude-code", None, "claude-a-5[1m]", "claude-code/claude-a-5"),
        ("claude-code", None, "a5", "claude-code/claude-a-5"),
        ("claude-code", None, "claude-a", "claude-code/claude-a-5"),
        ("claude-code", None, "gpt-4", "*/gpt-4"),
        ("codex", None, "claude-a-5", "*/claude-a-5"),
        (None, None, "anthropic/claude-a.5", "*/claude-a-5"),
        (None, "copilot", "claude-a-5", "*/claude-a-5"),
        ("opencode", "copilot", "claude-a-5", "opencode/copilot/claude-a-5"),
        ("opencode", "Copilot", "claude-a.5", "opencode/copilot/claude-a-5"),
        ("opencode", "another", "claude-a-5", "opencode/*/claude-a-5"),
        ("opencode", None, "claude-a-5", "opencode/*/claude-a-5"),
        ("gemini", None, "gemma", "gemini/gemma"),
        ("gemini", None, "gemini-99", "gemini/*"),
        ("gemini", None, None, "gemini/*"),
        ("gemini", None, "two words", "gemini/*"),
    ],
)
def test_the_agents_own_row_counts_first(
    agent: str | None, provider: str | None, model: str | None, expected: str
) -> None:
    row = find_model(agent, provider, model)
    assert row is not None
    assert row.name == expected


@pytest.mark.usefixtures("table")
@pytest.mark.parametrize(
    "model",
    [None, "", "/", "*", "gpt", "gpt-4.1", "pt-4", "claude-a-51", "\ud800", "#c", "gpt-4\tl", "l"],
)
def test_an_unknown_model_has_no_row(model: str | None) -> None:
    assert find_model("claude-code", None, model) is None


@pytest.mark.usefixtures("table")
def test_a_price_is_taken_from_the_first_row_that_has_one() -> None:
    row = find_priced_model("opencode", "acme", "claude-a-5")
    assert row is not None
    assert row.name == "*/claude-a-5"
    own = find_priced_model("claude-code", None, "claude-a-5")
    assert own is not None
    assert own.name == "claude-code/claude-a-5"
    assert find_priced_model("gemini", None, "gemma") is None
    assert find_priced_model("gemini", None, None) is None


@pytest.mark.usefixtures("table")
def test_a_row_says_what_its_catalogues_publish() -> None:
    row = find_model(None, None, "claude-a-5")
    assert row is not None
    assert (row.window_tokens, row.larger) == (1_000_000, (2_000_000,))
    assert row.prices == (5, 25, 0.5, 6.25, 10)
    assert row.source == "opencode 2.0 and 1 more, 2026-01-03"


@pytest.mark.parametrize(
    ("agent", "provider", "model", "n_tokens"),
    [
        ("claude-code", None, "claude-opus-5-5", 1_000_000),
        ("claude-code", None, "claude-sonnet-5-5", 1_000_000),
        ("claude-code", None, "claude-haiku-5-5", 1_000_000),
        ("claude-code", None, "claude-fable-5-2", 1_000_000),
        ("claude-code", None, "claude-sonnet-4-5", 200_000),
        ("claude-code", None, "claude-opus-4-6", 200_000),
        ("claude-code", None, "claude-sonnet-4-6", 200_000),
        ("openclaw", "anthropic", "claude-opus-4-6", 1_000_000),
        ("codex", None, "gpt-5.5", 272_000),
        ("codex", None, "gpt-6.1-terra", 500_000),
        (None, None, "gpt-5", 272_000),
        (None, None, "o1-mini", 128_000),
        (None, None, "gpt-5-chat-latest", 128_000),
        ("gemini", None, "gemma-4-31b-it", 256_000),
        ("gemini", None, "gemini-3-pro-preview", 1_048_576),
    ],
)
def test_windows_are_those_that_the_agents_publish(
    agent: str | None, provider: str | None, model: str, n_tokens: int
) -> None:
    row = find_model(agent, provider, model)
    assert row is not None
    assert row.window_tokens == n_tokens


def test_the_packaged_table_is_whole_and_sourced() -> None:
    lines = read_table().decode().splitlines()
    rows = [line.split("\t") for line in lines if not line.startswith("#")]
    letters = {line[1]: line.split("\t") for line in lines if line.startswith("#") and "\t" in line}
    for _, package, day in letters.values():
        assert package.rpartition(" ")[2][0].isdigit()
        assert date.fromisoformat(day)
    names = [name for row in rows for name in row[0].split(" ")]
    assert len({*names}) == len(names)
    assert rows == sorted(rows)
    for names, sources, window, larger, *prices in rows:
        assert names == names.strip().lower()
        assert sources
        assert {*sources} <= {*letters}
        windows = [int(window), *map(int, larger.split())]
        assert windows == sorted({*windows})
        assert windows[0] > 0
        assert len(prices) == 5
        assert all(float(price) >= 0 for price in prices if price)


def test_the_encodings_are_whole_and_sourced() -> None:
    assert len({row.prefix for row in encoding_rows()}) == len(encoding_rows())
    for row in encoding_rows():
        assert row.prefix == row.prefix.strip().lower()
        assert row.encoding in ("o200k_base", "cl100k_base")
        assert row.source
        assert date.fromisoformat(row.date)


@pytest.mark.parametrize(
    ("model", "encoding"),
    [
        ("gpt-4-turbo", "cl100k_base"),
        ("openai/GPT-3.5-turbo", "cl100k_base"),
        ("openrouter/openai/gpt-4o-mini", "o200k_base"),
        ("gpt-4.1", "o200k_base"),
        ("claude-opus-5-5", "o200k_base"),
        (None, "o200k_base"),
    ],
)
def test_the_longest_prefix_tells_the_encoding(model: str | None, encoding: str) -> None:
    assert encoding_of(model) == encoding
