"""The server takes the size of the window from the environment, as the command line does."""

from pathlib import Path

import pytest

from ullage.lsp.state import UllageServer
from ullage.store.places import Places


@pytest.mark.parametrize(
    ("value", "n_tokens"), [("50000", 50_000), ("", None), ("many", None), ("5", None)]
)
def test_the_variable_sets_the_window(value: str, n_tokens: int | None, tmp_path: Path) -> None:
    env = {"ULLAGE_CONTEXT_WINDOW": value}
    places = Places(cwd=tmp_path, home=tmp_path, env=env, state_folder=tmp_path / "state")
    assert UllageServer("ullage", "0", places).settings.window_tokens == n_tokens
