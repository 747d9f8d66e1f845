"""What the server knows: the folders of the workspace and the transcripts that it follows."""

import asyncio
from pathlib import Path

from lsprotocol.types import TextDocumentSyncKind
from pygls.lsp.server import LanguageServer

from ullage.app.follow import Followed
from ullage.core.config.settings import Config
from ullage.store.places import Places
from ullage.store.token_worker import TokenWorker


class UllageServer(LanguageServer):
    """The server and its state, which changes on the event loop only."""

    def __init__(self, name: str, version: str, places: Places) -> None:
        super().__init__(name, version, TextDocumentSyncKind.None_)  # pyright: ignore[reportUnknownMemberType]: pygls leaves *args untyped
        self.places = places
        self.config = Config()
        """What is configured; loaded when the client says which folder is worked in."""
        self.worker = TokenWorker()
        self.open_uris: dict[Path, str] = {}
        """Transcripts that are open in the editor, by the URI that it uses for them."""
        self.followed: dict[Path, Followed] = {}
        self.workspace_path: Path | None = None
        """The newest session of the workspace's folders."""
        self._locks: dict[Path, asyncio.Lock] = {}
        self.is_shut_down = False
        """Whether the client said goodbye; without that, the end is a failure."""
        self.following: asyncio.Task[None] | None = None

    def lock_of(self, path: Path) -> asyncio.Lock:
        """Give the lock of a transcript, so that it is read by one task at a time."""
        return self._locks.setdefault(path, asyncio.Lock())

    def followed_paths(self) -> tuple[Path, ...]:
        """List the transcripts that matter to someone: the open ones and the workspace's."""
        newest = () if self.workspace_path is None else (self.workspace_path,)
        return tuple(dict.fromkeys((*self.open_uris, *newest)))

    def gauge_path(self) -> Path | None:
        """Give the transcript that the gauge shows: the workspace's, else the last one opened."""
        if self.workspace_path is not None:
            return self.workspace_path
        return next(reversed(self.open_uris), None)
