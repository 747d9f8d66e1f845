"""What the server knows: the folders of the workspace and the transcripts that it follows."""

import asyncio
import threading
from collections import defaultdict
from collections.abc import Awaitable, Callable, Coroutine, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, ParamSpec, TypeAlias, cast

from lsprotocol.types import (
    TextDocumentSyncKind,
    WindowClientCapabilities,
    WorkspaceClientCapabilities,
)
from pygls.exceptions import JsonRpcException
from pygls.lsp.server import LanguageServer

from ullage.app.change.check_material import KeptMaterials
from ullage.app.change.make import MadeChange
from ullage.app.documents.check import Check, CheckedTranscript, Surroundings
from ullage.app.documents.kind import DocumentKind, document_kind
from ullage.app.documents.outline import OutlinedSession
from ullage.app.gauge.history import PastContexts
from ullage.app.gauge.inspect import WindowShares
from ullage.app.memory.open_memory import OpenMemory
from ullage.app.sessions.find import SeenSession, SessionBrief, to_follow, to_show
from ullage.app.sessions.follow import FollowedSession
from ullage.app.sessions.load import Loaded
from ullage.core.config.settings import Config
from ullage.core.documents.finding import DocumentFinding
from ullage.core.memory.quoted import CitedLines
from ullage.core.text.positions import Extent
from ullage.core.transcript.turn_end import TurnEnd
from ullage.errors import WriteNotSupported
from ullage.lsp.convert import path_of
from ullage.lsp.error_edge import log_faults
from ullage.lsp.language_protocol import UllageProtocol, plain_converter
from ullage.store.config.files import Stamp
from ullage.store.files.places import Places
from ullage.store.gauge.token_worker import TokenWorker
from ullage.store.transcript.reader import Fingerprint

P = ParamSpec("P")
CitedExtent: TypeAlias = tuple[CitedLines, Extent]
"""A place in memory, and where a text names it."""
ListName: TypeAlias = Literal["sessions", "checkpoints", "memory"]
"""What a client that shows it can be told to ask for again."""


@dataclass
class Editor:
    """What the client said about itself and its user."""

    options: dict[str, object] = field(default_factory=dict)
    """Settings that hold from the start to the end."""
    settings: dict[str, object] = field(default_factory=dict)
    """Those that change, and are stronger."""
    is_trusted: bool = False
    """Whether it says that the workspace is trusted."""
    is_restricted: bool = False
    """Whether it says that the workspace is not trusted: then nothing is written."""
    shows_outcomes: bool = False
    """Whether it tells its user what became of a command, so that we need not."""


@dataclass(frozen=True)
class ShownDocument:
    """A virtual document that the client asked for."""

    path: Path
    """The transcript that it is of."""
    workspace: Path | None
    cited: tuple[CitedExtent, ...]
    """The places in memory that its text names."""


@dataclass
class Documents:
    """What is open in the editor, and what was found and shown there."""

    open_uris: dict[Path, str] = field(default_factory=dict)
    """Transcripts, by the URI that the editor uses for them."""
    small_uris: dict[Path, str] = field(default_factory=dict)
    """The other documents that Ullage handles."""
    texts: dict[Path, str] = field(default_factory=dict)
    """Small documents as they are typed, where the client sends that; never a transcript."""
    versions: dict[Path, int] = field(default_factory=dict)
    """Of those texts, as the client counts."""
    materials: KeptMaterials = field(default_factory=KeptMaterials)
    """What the open proposals are checked against."""
    replaced: dict[Path, str] = field(default_factory=dict)
    """Texts that a change of ours took the place of on the disk: the editor reads that soon."""
    is_typing_sent: bool = False
    too_long: set[Path] = field(default_factory=set)
    """Documents that became longer while they were typed than what is kept."""
    findings: dict[Path, tuple[DocumentFinding, ...]] = field(default_factory=dict)
    """What the last check found in the open documents."""
    checked: dict[Path, CheckedTranscript] = field(default_factory=dict)
    """Open transcripts as they were examined last: that takes seconds for a large one."""
    checks: dict[Path, asyncio.Task[None]] = field(default_factory=dict)
    """The newest check of each document, waiting or under way."""
    refreshing_findings: asyncio.Task[None] | None = None
    """Asks a client that pulls diagnostics to do so again."""
    outlines: dict[Path, OutlinedSession] = field(default_factory=dict)
    """The lines of open transcripts, as far as someone asked for them."""
    are_views_old: bool = False
    refreshing_views: asyncio.Task[None] | None = None
    """Tells the editor that lenses and hints are old, and then pauses."""
    shown: dict[str, ShownDocument] = field(default_factory=dict)
    """Virtual documents that the client asked for, by their URIs."""

    def is_typing_known(self, path: Path) -> bool:
        """Tell whether a small document is known as it stands in the editor."""
        return path in self.texts or (self.is_typing_sent and path not in self.too_long)

    def open_uri(self, path: Path) -> str | None:
        return self.open_uris.get(path) or self.small_uris.get(path)


@dataclass
class Sessions:
    """The sessions of the workspace, as they were last read."""

    followed: dict[Path, FollowedSession] = field(default_factory=dict)
    refused: dict[Path, tuple[Fingerprint, ...] | None] = field(default_factory=dict)
    """What was read as no session, as it was then; None: it may become one by itself."""
    shown: Path | None = None
    """The one that the gauge shows."""
    chosen: Path | None = None
    """The one that the user chose to be shown, whatever else is live."""
    seen: tuple[SeenSession, ...] | None = None
    """Those of the workspace's folders, live ones first; None before the first look."""
    briefs: dict[Path, SessionBrief] = field(default_factory=dict)
    """Those that were measured for a list, whether they are followed or not."""
    histories: dict[Path, PastContexts] = field(default_factory=dict)
    """What was read last of a session's contexts before its compactions."""
    filled: tuple[Loaded, WindowShares] | None = None
    """What fills the window that the gauge shows, worked out last, and from what."""
    filling: asyncio.Task[None] | None = None
    is_gauge_old: asyncio.Event = field(default_factory=asyncio.Event)
    """Set where the gauge is to be published again."""
    changed_lists: set[ListName] = field(default_factory=set)
    """What the client will soon be told about."""
    checkpoint_tokens: dict[Path, int] = field(default_factory=dict)
    """How full those were that a checkpoint was written of by itself."""
    considering: dict[Path, asyncio.TimerHandle] = field(default_factory=dict)
    """Those that were written to, and are to be considered when they are quiet."""
    turn_ends: dict[Path, TurnEnd] = field(default_factory=dict)
    """Turns that ended just now, of sessions that are to be quiet first."""
    made: dict[Path, MadeChange] = field(default_factory=dict)
    """The last change that a command made to each session, and that its outcome offers to undo."""
    warned: set[tuple[Path, str]] = field(default_factory=set)
    """What was warned of by itself, and why: once for each; nothing of that is kept."""
    can_ask: bool = True
    """Whether the client knows messages with buttons, as far as was seen."""
    at_work: set[Path] = field(default_factory=set)
    """Those that something is worked out for or done to by itself just now."""


@dataclass
class Memories:
    """The memory of the workspace's folders, as far as somebody asked for it."""

    opened: dict[Path, OpenMemory] = field(default_factory=dict)
    locks: defaultdict[Path, asyncio.Lock] = field(
        default_factory=lambda: defaultdict(asyncio.Lock)
    )
    """One search of a folder at a time: the threads of its memory would wait for each other."""
    journal_bytes: dict[Path, int] = field(default_factory=dict)
    """How large the journals were when memory was shown, or its files were checked."""


@dataclass(frozen=True)
class SessionChange:
    """A transcript that was read again, or can no longer be read."""

    path: Path
    before: FollowedSession | None
    """None where it was not followed."""
    after: FollowedSession | None
    """None where it cannot be read now."""


@dataclass(frozen=True)
class Reactions:
    """What follows a change, in this order: `server.py` says what."""

    to_session: tuple[Callable[["UllageServer", SessionChange], Awaitable[None]], ...] = ()
    to_config: tuple[Callable[["UllageServer"], None], ...] = ()


class Notices:
    """Notices of changed files, which come from any thread and are taken on the event loop."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._paths: set[Path] = set()
        self._noticed = asyncio.Event()
        self._loop: asyncio.AbstractEventLoop | None = None
        """The one that waits."""

    def add(self, path: Path) -> None:
        """Note a change."""
        with self._lock:
            is_first = not self._paths
            self._paths.add(path)
        if is_first and self._loop is not None:
            self._loop.call_soon_threadsafe(self._noticed.set)

    async def wait(self, until: float) -> set[Path]:
        """Take what was noted, waiting for it until then at most."""
        self._loop = asyncio.get_running_loop()
        if not self._paths:
            # Not `wait_for`: Python 3.11 lets a notice that comes just then hide a cancellation.
            with suppress(TimeoutError):
                async with asyncio.timeout_at(until):
                    await self._noticed.wait()
        self._noticed.clear()
        with self._lock:
            paths, self._paths = self._paths, set()
        return paths


class UllageServer(LanguageServer):
    """The server and its state, which changes on the event loop only."""

    def __init__(
        self,
        name: str,
        version: str,
        places: Places,
        reactions: Reactions | None = None,
        checks: Mapping[DocumentKind, Check] | None = None,
    ) -> None:
        super().__init__(  # pyright: ignore[reportUnknownMemberType]: pygls leaves *args untyped
            name,
            version,
            TextDocumentSyncKind.None_,
            converter_factory=plain_converter,
            protocol_cls=UllageProtocol,
        )
        self.places = places
        self.reactions = reactions or Reactions()
        self.checks = checks or {}
        """What is looked for in each kind of small document."""
        self.editor = Editor()
        self.documents = Documents()
        self.sessions = Sessions()
        self.memories = Memories()
        self.config = Config()
        """What is configured; loaded when the client says which folder is worked in.

        It is the same value until something else is configured: results that were worked out
        by another one count no more.
        """
        self.config_lock = asyncio.Lock()
        self.root_folder: Path | None = None
        """What stands for the workspace where the client names no folder of it."""
        self.config_stamps: tuple[Stamp, ...] = ()
        """The files of the configuration as they were when it was loaded."""
        self.notices = Notices()
        self.worker = TokenWorker()
        self.tasks: set[asyncio.Task[None]] = set()
        """What is done by itself, or waits for its user's answer."""
        self.is_shut_down = False
        """Whether the client said goodbye; without that, the end is a failure."""
        self.read_locks = defaultdict[Path, asyncio.Lock](asyncio.Lock)
        """A transcript is read by one task at a time."""
        self.outline_locks = defaultdict[Path, asyncio.Lock](asyncio.Lock)
        """Others than for reading: while an outline is made, the gauge goes on."""
        self.check_locks = defaultdict[Path, asyncio.Lock](asyncio.Lock)

    def report_server_error(self, error: Exception, source: object) -> None:
        """Answer what is no JSON; other refusals are answers, faults are logged in their place."""
        if source is JsonRpcException:
            cast(UllageProtocol, self.protocol).refuse_unread(error)

    def begin(
        self, work: Callable[P, Coroutine[None, None, None]], *args: P.args, **kwargs: P.kwargs
    ) -> asyncio.Task[None]:
        """Begin what no request waits for; it ends with the server at the latest."""
        task = asyncio.create_task(log_faults(work)(*args, **kwargs))
        self.tasks.add(task)
        task.add_done_callback(self.tasks.discard)
        return task

    @property
    def may_write(self) -> bool:
        """Whether anything may be written, by the editor's trust and by `sandbox.readOnly`."""
        return self._write_refusal() is None

    def refuse_write(self) -> None:
        """Refuse to write where nothing may be written.

        Raises:
            WriteNotSupported: with the way out.
        """
        refusal = self._write_refusal()
        if refusal is not None:
            raise WriteNotSupported(refusal)

    def _write_refusal(self) -> str | None:
        if self.editor.is_restricted:
            return (
                "The workspace is not trusted, so that Ullage only reads: trust it to change"
                " sessions"
            )
        if self.config.policy.is_read_only:
            return "The workspace is read-only (`sandbox.readOnly`), so that Ullage writes nothing"
        return None

    @property
    def client_workspace(self) -> WorkspaceClientCapabilities:
        return self.client_capabilities.workspace or WorkspaceClientCapabilities()

    @property
    def client_window(self) -> WindowClientCapabilities:
        return self.client_capabilities.window or WindowClientCapabilities()

    @property
    def pulls_diagnostics(self) -> bool:
        """Whether the client asks for diagnostics, so that none are pushed.

        One that cannot be asked to do so again would not see what changes by itself.
        """
        document, again = self.client_capabilities.text_document, self.client_workspace.diagnostics
        return (
            document is not None
            and document.diagnostic is not None
            and again is not None
            and again.refresh_support is True
        )

    @property
    def shows_documents(self) -> bool:
        """Whether the client opens a document when it is asked to."""
        shown = self.client_window.show_document
        return shown is not None and shown.support

    @property
    def shows_virtual_documents(self) -> bool:
        """Whether the client shows documents of our scheme when it is asked to."""
        return self.shows_documents and self.client_workspace.text_document_content is not None

    @property
    def can_show_text(self) -> bool:
        """Whether a document of our scheme that a command gives is seen by the user."""
        return self.editor.shows_outcomes or self.shows_virtual_documents

    def workspace_folders(self) -> tuple[Path, ...]:
        """List the folders that the client names, else the one that stands for them."""
        paths = tuple(path_of(uri) for uri in self.workspace.folders) or (self.root_folder,)
        return tuple(path for path in paths if path is not None)

    def followed_paths(self) -> tuple[Path, ...]:
        """List the transcripts that matter to someone: the open ones and the workspace's."""
        seen = to_follow(self.sessions.seen or ())
        chosen = () if self.sessions.chosen is None else (self.sessions.chosen,)
        return tuple(dict.fromkeys((*self.documents.open_uris, *seen, *chosen)))

    def gauge_path(self) -> Path | None:
        """Give the transcript that is meant where none is named: the one that was chosen; of the
        workspace's sessions the live one that is written to, or else the newest; else the one
        opened last.
        """
        refused, chosen = self.sessions.refused, self.sessions.chosen
        if chosen is not None and chosen not in refused:
            return chosen
        seen = [session for session in self.sessions.seen or () if session.path not in refused]
        opened = (
            path for path in reversed(self.documents.open_uris) if path not in self.sessions.refused
        )
        return to_show(seen, self.sessions.shown) or next(opened, None)

    def look_again(self) -> None:
        """Have sessions looked for again, and what is followed now watched."""
        self.notices.add(Path())

    def show_gauge(self) -> None:
        """Have the gauge published again, of the session that is meant now."""
        self.sessions.shown = self.gauge_path()
        self.sessions.is_gauge_old.set()

    def surroundings(self) -> Surroundings:
        """Give what documents are judged by, as it is at this moment."""
        return Surroundings(
            config=self.config,
            places=self.places,
            workspaces=self.workspace_folders(),
            texts=dict(self.documents.texts),
            materials=self.documents.materials,
        )

    def kind_of(self, path: Path) -> DocumentKind | None:
        """Tell what a document is: a transcript under another name was known by its content."""
        kind = document_kind(path, self.places, self.workspace_folders())
        return "transcript" if kind is None and path in self.sessions.followed else kind
