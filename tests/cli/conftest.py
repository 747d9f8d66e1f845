"""Sessions for the commands."""

from pathlib import Path

import pytest

from pi_files import conversation
from running import Place


@pytest.fixture
def session(place: Place) -> Path:
    """An idle pi session of some 20,000 tokens, to be compacted with a window of 8,000."""
    return place.write("session.jsonl", conversation(10, chars=2400, usage=7_000).data)
