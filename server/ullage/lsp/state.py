"""What the server knows: the folders of the workspace and the transcripts that it follows."""

import asyncio
from pathlib import Path
from typing import Literal

from lsprotocol.types import TextDocumentSyncKind
from pygls.lsp.server import LanguageServer
from pygls.uris import to_fs_path

from ullage.app.follow import Followed
from ullage.app.load import Loaded
from ullage.app.outline import Outlined
from ullage.app.workspace import Brief, Seen, to_follow
from ullage.core.config.settings import Config
from ullage.core.document_finding import DocumentFinding
from ullage.lsp.boundary import plain_converter
from ullage.lsp.language_protocol import UllageProtocol
from ullage.lsp.protocol import HistoryResult
from ullage.store.config_files import Stamp
from ullage.store.places import Places
from ullage.store.token_worker import TokenWorker


class UllageServer(LanguageServer):
    """The server and its state, which changes on the event loop only."""

    def __init__(self, name: str, version: str, places: Places) -> None:
        super().__init__(  # pyright: ignore[reportUnknownMemberType]: pygls leaves *args untyped
            name,
            version,
            TextDocumentSyncKind.None_,
            converter_factory=plain_converter,
            protocol_cls=UllageProtocol,
        )
        self.places = places
        self.config = Config()
        """What is configured; loaded when the client says which folder is worked in."""
        self.worker = TokenWorker()
        self.open_uris: dict[Path, str] = {}
        """Transcripts that are open in the editor, by the URI that it uses for them."""
        self.small_uris: dict[Path, str] = {}
        """The other documents of ours that are open there."""
        self.texts: dict[Path, str] = {}
        """Small documents as they are typed, where the client sends that; never a transcript."""
        self.is_typing_sent = False
        self.registering: asyncio.Task[None] | None = None
        self.findings: dict[Path, tuple[DocumentFinding, ...]] = {}
        """What the last check found in the open documents."""
        self.checks: dict[Path, asyncio.Task[None]] = {}
        """The newest check of each document, waiting or under way."""
        self.refreshing: asyncio.Task[None] | None = None
        self.followed: dict[Path, Followed] = {}
        self.seen: tuple[Seen, ...] | None = None
        """The sessions of the workspace's folders, live ones first; None before the first look."""
        self.briefs: dict[Path, Brief] = {}
        """Sessions that were measured for a list, whether they are followed or not."""
        self.histories: dict[Path, tuple[Loaded, HistoryResult]] = {}
        """What was worked out last, and from what."""
        self.changed: set[Literal["sessions", "checkpoints", "memory"]] = set()
        """What the client is to be told of soon."""
        self.editor_settings: dict[str, object] = {}
        self.config_folder: Path | None = None
        """The folder of the workspace whose `.ullage.yaml` counts."""
        self.config_stamps: tuple[Stamp, ...] = ()
        """The files of the configuration as they were when it was loaded."""
        self.is_trusted = False
        """Whether the client says that the workspace is trusted."""
        self.is_restricted = False
        """Whether the client says that the workspace is not trusted: then nothing is written."""
        self.considering: dict[Path, asyncio.TimerHandle] = {}
        """Sessions that were written to, and are to be considered when they are quiet."""
        self.at_work: set[Path] = set()
        """Sessions that something is worked out for or done to by itself just now."""
        self.tasks: set[asyncio.Task[None]] = set()
        """What is done by itself, or waits for its user's answer."""
        self.outlines: dict[Path, Outlined] = {}
        """The lines of open transcripts, as far as someone asked for them."""
        self.are_views_old = False
        self.renewal: asyncio.Task[None] | None = None
        """Tells the editor that lenses and hints are old, and then pauses."""
        self.shows_outcomes = False
        """Whether the client tells its user what became of a command, so that we need not."""
        self.shown_documents: dict[str, Path] = {}
        """Virtual documents that the client asked for, and the transcripts that they are of."""
        self._locks: dict[Path, asyncio.Lock] = {}
        self._outline_locks: dict[Path, asyncio.Lock] = {}
        self.is_shut_down = False
        """Whether the client said goodbye; without that, the end is a failure."""
        self.following: asyncio.Task[None] | None = None

    @property
    def pulls_diagnostics(self) -> bool:
        """Whether the client asks for diagnostics, so that none are pushed."""
        capabilities = self.client_capabilities.text_document
        return capabilities is not None and capabilities.diagnostic is not None

    def lock_of(self, path: Path) -> asyncio.Lock:
        """Give the lock of a transcript, so that it is read by one task at a time."""
        return self._locks.setdefault(path, asyncio.Lock())

    def workspace_folders(self) -> tuple[Path, ...]:
        paths = (to_fs_path(uri) for uri in self.workspace.folders)
        return tuple(Path(path) for path in paths if path is not None)

    def open_uri(self, path: Path) -> str | None:
        return self.open_uris.get(path) or self.small_uris.get(path)

    def outline_lock_of(self, path: Path) -> asyncio.Lock:
        """Give the lock of an outline: while it is read, the gauge of its transcript goes on."""
        return self._outline_locks.setdefault(path, asyncio.Lock())

    def followed_paths(self) -> tuple[Path, ...]:
        """List the transcripts that matter to someone: the open ones and the workspace's."""
        return tuple(dict.fromkeys((*self.open_uris, *to_follow(self.seen or ()))))

    def gauge_path(self) -> Path | None:
        """Give the transcript that the gauge shows: of the workspace's sessions a live one
        before the others, then the one written to last; else the one opened last.
        """
        if self.seen:
            return self.seen[0].path
        return next(reversed(self.open_uris), None)
