"""What is configured, as the client and the files of its workspace say."""

import asyncio
import logging
from typing import cast

from lsprotocol import types

from ullage.app.config import load_config
from ullage.core.config.tree import origin_text
from ullage.lsp.convert import path_of
from ullage.lsp.state import UllageServer

TRUST_OPTION = "isTrusted"
"""Of the initialization options: whether the user trusts the workspace."""
OUTCOMES_OPTION = "showsOutcomes"
"""Of the initialization options: whether the client shows the outcomes of commands itself."""

log = logging.getLogger(__name__)


async def on_initialize(ls: UllageServer, params: types.InitializeParams) -> None:
    """Load what is configured. The initialization options are the editor's settings.

    An editor sends the user's own, and the workspace's only of a workspace that the user
    trusts; `isTrusted` says whether that is so, which lets `.ullage.yaml` say more.
    """
    options = cast(object, params.initialization_options)
    editor = dict(cast("dict[str, object]", options)) if isinstance(options, dict) else {}
    trust = editor.pop(TRUST_OPTION, None)
    ls.is_trusted, ls.is_restricted = trust is True, trust is False
    ls.shows_outcomes = editor.pop(OUTCOMES_OPTION, False) is True
    paths = (path_of(folder.uri) for folder in params.workspace_folders or ())
    workspace = next((path for path in paths if path is not None), None)
    ls.config = await asyncio.to_thread(
        load_config, ls.places, workspace=workspace, editor=editor, is_trusted=trust is True
    )
    for finding in ls.config.findings:
        log.warning("%s: %s; %s", origin_text(finding.origin), finding.message, finding.fix)
