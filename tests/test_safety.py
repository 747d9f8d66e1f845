"""A promise names the tests that hold it."""

import re
from pathlib import Path

ROOT = Path(__file__).parent.parent


def test_every_test_that_the_page_on_safety_names_is_there() -> None:
    page = (ROOT / "docs" / "safety.md").read_text("utf-8")
    named = set(re.findall(r"`(tests/[\w/.]+)`", page))
    assert len(named) > 20
    assert not [path for path in named if not (ROOT / path).exists()]
