"""The server takes its configuration from the client, the workspace and the environment."""

from pathlib import Path

import pytest
from lsprotocol import types

from ullage.lsp.config import on_initialize
from ullage.lsp.state import UllageServer
from ullage.store.places import Places


async def configured(folder: Path, options: object = None, **env: str) -> UllageServer:
    places = Places(cwd=folder, home=folder / "home", env=env, state_folder=folder / "state")
    server = UllageServer("ullage", "0", places)
    await on_initialize(
        server,
        types.InitializeParams(
            capabilities=types.ClientCapabilities(),
            initialization_options=options,
            workspace_folders=[types.WorkspaceFolder(uri=folder.as_uri(), name="w")],
        ),
    )
    return server


@pytest.mark.parametrize(
    ("value", "n_tokens"), [("50000", 50_000), ("", None), ("many", None), ("5", None)]
)
async def test_the_variable_sets_the_window(
    value: str, n_tokens: int | None, tmp_path: Path
) -> None:
    server = await configured(tmp_path, ULLAGE_CONTEXT_WINDOW=value)
    assert server.config.window_tokens == n_tokens


@pytest.mark.parametrize(
    ("options", "n_tokens"),
    [
        ({"contextWindow": 64_000}, 64_000),
        ({"contextWindow": 5}, None),
        ({"contextWindow": "many"}, None),
        ({"contextWindow": None}, None),
        ([1], None),
        ("text", None),
        (None, None),
    ],
    ids=str,
)
async def test_the_editor_sets_the_window(
    options: object, n_tokens: int | None, tmp_path: Path
) -> None:
    assert (await configured(tmp_path, options)).config.window_tokens == n_tokens


async def test_the_environment_is_stronger_than_the_editor(tmp_path: Path) -> None:
    server = await configured(tmp_path, {"contextWindow": 64_000}, ULLAGE_CONTEXT_WINDOW="50000")
    assert server.config.window_tokens == 50_000


@pytest.mark.parametrize(
    ("options", "is_heard"),
    [
        (None, False),
        ({"isTrusted": False}, False),
        ({"isTrusted": "yes"}, False),
        ({"isTrusted": True}, True),
    ],
    ids=str,
)
async def test_a_workspace_says_more_if_the_editor_trusts_it(
    options: object, is_heard: bool, tmp_path: Path
) -> None:
    (tmp_path / ".ullage.yaml").write_text("compaction: {autoEnabled: false}\npins: [rule]\n")
    server = await configured(tmp_path, options)
    assert server.config.pins == ("rule",)
    assert server.config.policy.is_auto_enabled is not is_heard
    assert [f.code for f in server.config.findings] == ([] if is_heard else ["config-untrusted"])
