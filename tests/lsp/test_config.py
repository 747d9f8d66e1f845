"""The server takes its configuration from the client, the workspace and the environment."""

from pathlib import Path

import pytest
from lsprotocol import types
from pygls.exceptions import JsonRpcException

from pi_files import MODEL, conversation
from running import Place
from ullage.lsp.config import on_initialize
from ullage.lsp.state import UllageServer
from ullage.store.files.places import Places


async def configured(folder: Path, options: object = None, **env: str) -> UllageServer:
    places = Places(cwd=folder, home=folder / "home", env=env, state_folder=folder / "state")
    return await initialized(
        UllageServer("ullage", "0", places),
        types.InitializeParams(
            capabilities=types.ClientCapabilities(),
            initialization_options=options,
            workspace_folders=[types.WorkspaceFolder(uri=folder.as_uri(), name="w")],
        ),
    )


async def initialized(server: UllageServer, params: types.InitializeParams) -> UllageServer:
    for _ in server.protocol.lsp_initialize(params):
        """What pygls does before our handler, which is called here."""
    await on_initialize(server, params)
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
        ({"contextWindow": 50_000, "ullage": {"contextWindow": 64_000}}, 64_000),
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
    mark = "" if is_heard else "(set by the workspace's .ullage.yaml) "
    assert server.config.pins == (f"{mark}rule",)
    assert server.config.policy.is_auto_enabled is not is_heard
    assert [f.code for f in server.config.findings] == ([] if is_heard else ["config-untrusted"])


@pytest.fixture(params=["folders", "root_uri", "root_path", "nothing"])
def named(request: pytest.FixtureRequest, place: Place, monkeypatch: pytest.MonkeyPatch) -> str:
    """How the client names the workspace; a server runs there when it is not named at all."""
    monkeypatch.chdir(place.cwd if request.param == "nothing" else place.home)
    return request.param


async def test_the_workspace_is_what_the_client_names_else_where_the_server_runs(
    named: str, editor, workspace_session: tuple[object, Path]
) -> None:
    folder = editor.place.cwd
    said: dict[str, dict[str, object]] = {
        "folders": {"workspace_folders": [types.WorkspaceFolder(folder.as_uri(), "w")]},
        "root_uri": {"root_uri": folder.as_uri(), "workspace_folders": []},
        "root_path": {"root_path": str(folder)},
        "nothing": {},
    }
    (folder / ".ullage.yaml").write_text("contextWindow: 100000\n")
    await editor.client.initialize_session(
        types.InitializeParams(
            capabilities=types.ClientCapabilities(),
            initialization_options={"isTrusted": True},
            **said[named],
        )
    )
    await editor.gauge(lambda gauge: gauge.text == "84%")


@pytest.mark.parametrize(
    ("said", "cwd"),
    [
        ({"root_uri": "vscode-vfs://github/x/y"}, Path("/work")),
        ({"workspace_folders": [types.WorkspaceFolder("untitled:x", "x")]}, Path("/work")),
        ({}, Path(Path.cwd().anchor)),
    ],
    ids=str,
)
async def test_nothing_stands_for_a_workspace_that_is_on_no_disk_or_a_whole_one(
    said: dict[str, object], cwd: Path, tmp_path: Path
) -> None:
    places = Places(cwd=cwd, home=tmp_path, env={}, state_folder=tmp_path)
    server = UllageServer("ullage", "0", places)
    params = types.InitializeParams(capabilities=types.ClientCapabilities(), **said)
    await initialized(server, params)
    assert server.workspace_folders() == ()


SILENT = (None, {}, {"ullage": None}, {"python": {"x": 1}, "editor": {}})


async def test_settings_that_say_nothing_of_ours_take_nothing_back(
    editor, workspace_session: tuple[object, Path]
) -> None:
    _, path = workspace_session
    await editor.start(editor.place.cwd, options={"sandbox": {"readOnly": True}})
    for settings in (*SILENT, {"ullage": {"contextWindow": 100_000}}, *SILENT):
        editor.client.workspace_did_change_configuration(
            types.DidChangeConfigurationParams(settings=settings)
        )
    await editor.gauge(lambda gauge: gauge.text == "84%")
    with pytest.raises(JsonRpcException, match="read-only"):
        await editor.command("ullage.checkpoint", str(path))
    # Below our name an empty section says that nothing is set any more.
    editor.client.workspace_did_change_configuration(
        types.DidChangeConfigurationParams(settings={"ullage": {}})
    )
    await editor.gauge(lambda gauge: gauge.text == "42%")


async def test_no_cache_is_written_once_the_workspace_became_read_only(
    editor, workspace_session: tuple[object, Path]
) -> None:
    place, (_, path) = editor.place, workspace_session
    await editor.start(place.cwd)
    await editor.gauge(lambda gauge: gauge.text == "42%")
    config = b"contextWindow: 100000\nsandbox:\n  readOnly: true\n"
    place.write(str(place.home / ".openclaw/config.yaml"), config)
    # With what fills the window: what was begun before is done then, and its counts are kept.
    await editor.gauge(lambda gauge: gauge.text == "84%" and "In the window" in gauge.tooltip)
    before = place.files()
    large = conversation(60, chars=60_000, usage=75_000, cwd=str(place.cwd), model=MODEL)
    path.write_bytes(large.data)
    await editor.gauge(lambda gauge: gauge.text == "75%")
    await editor.request("ullage/window", {"session": str(path)})
    written = {name for name, data in place.files().items() if before.get(name) != data}
    assert written == {str(path.relative_to(place.root))}


async def test_what_any_folder_says_of_read_only_counts_for_all(
    editor, workspace_session: tuple[object, Path]
) -> None:
    place, (_, path) = editor.place, workspace_session
    first = place.root / "first"
    first.mkdir()
    (first / ".ullage.yaml").write_text("contextWindow: 100000\nsandbox:\n  readOnly: false\n")
    second = place.cwd / ".ullage.yaml"
    second.write_text("contextWindow: 400000\nsandbox:\n  readOnly: true\n")
    await editor.start(first, place.cwd, options={"isTrusted": True})
    await editor.gauge(lambda gauge: gauge.text == "84%" and not gauge.canWrite)
    with pytest.raises(JsonRpcException, match="The workspace is read-only"):
        await editor.command("ullage.checkpoint", str(path))
    (row,) = (await editor.request("ullage/sessions")).sessions
    assert not row.canNote
    second.write_text("contextWindow: 400000\n")
    await editor.gauge(lambda gauge: gauge.text == "84%" and gauge.canWrite)
