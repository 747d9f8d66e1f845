"""What is configured, as the client and the files of its workspace say."""

import asyncio
import logging
from pathlib import Path
from typing import cast

import msgspec
from lsprotocol import types

from ullage.app.config.load import load_workspace_config
from ullage.core.config.names import KNOWN_NAMES
from ullage.lsp.convert import path_of
from ullage.lsp.state import UllageServer
from ullage.store.config.files import config_stamps
from ullage.store.files.places import Places

SECTION = "ullage"
"""Where an editor keeps Ullage's settings among those of other servers."""
TRUST_OPTION = "isTrusted"
"""Of the initialization options: whether the user trusts the workspace."""
OUTCOMES_OPTION = "showsOutcomes"
"""Of the initialization options: whether the client shows the outcomes of commands itself."""

log = logging.getLogger(__name__)


async def on_initialize(ls: UllageServer, params: types.InitializeParams) -> None:
    """Load what is configured. The initialization options are settings, and hold to the end.

    What stands below our name in them is the first of the settings that change. An editor sends
    the user's own, and the workspace's only of a workspace that the user trusts; `isTrusted` says
    whether that is so, which lets `.ullage.yaml` say more.
    """
    options = _settings(cast(object, params.initialization_options))
    trust = options.pop(TRUST_OPTION, None)
    ls.editor.is_trusted, ls.editor.is_restricted = trust is True, trust is False
    ls.editor.shows_outcomes = options.pop(OUTCOMES_OPTION, False) is True
    ls.editor.settings = _settings(options.pop(SECTION, None))
    ls.editor.options = options
    ls.root_folder = _root_folder(params, ls.places)
    await _load(ls)


async def did_change_configuration(
    ls: UllageServer, params: types.DidChangeConfigurationParams
) -> None:
    """Take the editor's new settings, below our name or by themselves.

    What says nothing of ours takes nothing back: some editors send an empty message at their
    start, others the settings of all servers. Trust is none of the settings: what changes it
    starts the server anew.
    """
    settings = _settings(cast(object, params.settings))
    ours = settings.get(SECTION, _pick_known(settings) or None)
    if isinstance(ours, dict) and ours != ls.editor.settings:
        ls.editor.settings = _settings(cast(object, ours))
        await reload_config(ls)


async def look_at_config(ls: UllageServer) -> None:
    """Reload the configuration if one of its files changed."""
    stamps = await asyncio.to_thread(config_stamps, ls.places, ls.workspace_folders())
    if stamps != ls.config_stamps:
        await reload_config(ls)


async def reload_config(ls: UllageServer) -> None:
    """Load the configuration; if it changed, check the open documents again."""
    before = ls.config
    await _load(ls)
    if ls.config is not before:
        for react in ls.reactions.to_config:
            react(ls)


async def _load(ls: UllageServer) -> None:
    """Load the configuration; if it changed, measure the sessions again."""
    # One at a time: what was said last is what counts.
    async with ls.config_lock:
        # Looked at before they are read: what is written in between is read at the next look.
        folders = ls.workspace_folders()
        ls.config_stamps = await asyncio.to_thread(config_stamps, ls.places, folders)
        config = await asyncio.to_thread(
            load_workspace_config,
            ls.places,
            folders,
            editor=(ls.editor.options, ls.editor.settings),
            is_trusted=ls.editor.is_trusted,
        )
        if config != ls.config:
            ls.config = config
            ls.sessions.followed.clear()
            ls.sessions.briefs.clear()
            ls.look_again()
            for finding in config.findings:
                log.warning("%s: %s; %s", finding.origin.text, finding.message, finding.fix)
        ls.places = msgspec.structs.replace(ls.places, keeps_caches=ls.may_write)


def _root_folder(params: types.InitializeParams, places: Places) -> Path | None:
    """Give what older clients call the workspace, else the folder that the server runs in."""
    if params.workspace_folders:
        return None
    if params.root_uri is not None:
        return path_of(params.root_uri)
    root = Path(params.root_path) if params.root_path else places.cwd
    # The root of a disk is where servers run that were started in no one's folder.
    return None if root == Path(root.anchor) else root


def _settings(value: object) -> dict[str, object]:
    return dict(cast("dict[str, object]", value)) if isinstance(value, dict) else {}


def _pick_known(settings: dict[str, object]) -> dict[str, object]:
    """Keep the settings of Ullage among those that do not stand below its name."""
    return {name: value for name, value in settings.items() if name in KNOWN_NAMES}
