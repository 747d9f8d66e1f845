"""What the server knows: the folders of the workspace and the transcripts that it follows."""

import asyncio
from pathlib import Path

from pygls.lsp.server import LanguageServer

from ullage.app.load import Loaded, Settings
from ullage.store.places import Places
from ullage.store.reader import Fingerprint


class UllageServer(LanguageServer):
    """The server and its state, which changes on the event loop only."""

    def __init__(self, name: str, version: str, places: Places) -> None:
        super().__init__(name, version)  # pyright: ignore[reportUnknownMemberType]: pygls leaves *args untyped
        self.places = places
        self.settings = Settings()
        self.open_paths: dict[Path, str] = {}
        """Transcripts that are open in the editor, by the URI that it uses for them."""
        self.seen: dict[Path, Fingerprint] = {}
        self.loaded: dict[Path, Loaded] = {}
        self.following: asyncio.Task[None] | None = None
        self.workspace_path: Path | None = None
        """The newest session of the workspace's folders."""

    def gauge_path(self) -> Path | None:
        """Give the transcript that the gauge shows: the workspace's, else the last one opened."""
        if self.workspace_path is not None:
            return self.workspace_path
        return next(reversed(self.open_paths), None)
