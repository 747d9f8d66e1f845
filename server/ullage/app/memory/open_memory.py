"""The memory of a workspace, opened for searching; each search finds the files as they are."""

import threading
import time
from collections import deque
from collections.abc import Callable, Container, Iterator
from contextlib import closing
from pathlib import Path
from queue import SimpleQueue
from typing import TYPE_CHECKING, TypeVar

import msgspec

from ullage.app.memory.origins import see_memory
from ullage.app.sessions.secrets import secrets_in
from ullage.core.config.memory_settings import EmbeddingSettings
from ullage.core.memory.origin import KnownOrigins, Origin
from ullage.core.memory.vector_weight import VectorHits
from ullage.errors import IndexDamaged, StateBusy, StorageError
from ullage.store.files.places import Places, is_project
from ullage.store.memory.index import IndexedChunk, MemoryIndex, SourceFile
from ullage.store.memory.journal import OriginReader
from ullage.store.memory.pages import (
    SUFFIXES,
    find_page,
    list_logs,
    list_memory_names,
    list_pages,
    read_page,
)
from ullage.store.memory.places import FOLDER, MEMORY, memory_folder
from ullage.store.memory.seen import NAME as SEEN

if TYPE_CHECKING:
    from ullage.app.memory.vector_search import VectorSearch
    from ullage.store.files.watch import FolderWatch

INDEX = "index.db"
MAX_WATCHED = 2_000
"""Folders; those of a larger workspace are looked through at each search (chosen: systems allow
8,192).
"""
LOOK_ANYWAY_S = 60.0
"""How long the notices of changed files are taken for complete (chosen)."""
MANY_FILES = 500
"""So many changed files are indexed beside, while searches go on with what there is (chosen: half
a second).
"""
MAX_HOT = 8
"""Files written last that are looked at for each search (chosen: 2 µs each)."""
MAX_NEW = 16
"""Chunks that are embedded along with a question: a model on this machine has a second for them
(chosen).
"""
N_LOOKED_AT = 500
"""Of the chunks indexed last, for which a search looks whether they have a vector (chosen)."""
MAX_RECALLED = 500
"""Texts; chosen: a long session asks some fifty times."""
REBUILT = "the index was damaged or of another version, and was built again"
BEHIND = "files changed, and the index is being brought up to date: this answer is of before"
BUSY = "another Ullage brings the index up to date: this answer is of before"
IN_PART = "the workspace has more Markdown files than are searched: a part is left out"
Found = TypeVar("Found")


class OpenMemory:
    """A workspace's memory. Threads take turns; close it when done.

    One that is watching, for processes that go on, is told by the system what changes; else all
    files are looked at for each search.
    """

    def __init__(
        self,
        workspace: Path,
        places: Places,
        embeddings: EmbeddingSettings,
        *,
        is_watching: bool = False,
    ) -> None:
        """Open the index, in this process alone where no caches are kept.

        Raises:
            StorageError: the state folder does not take it.
        """
        self.workspace, self.places = workspace.resolve(), places
        self.embeddings = embeddings
        self._is_project = is_project(workspace, places)
        self.recalled: deque[str] = deque(maxlen=MAX_RECALLED)
        """Texts that were handed out lately, which are not stored as new."""
        self.folder = memory_folder(workspace, places)
        self._lock = threading.RLock()
        self._index = self.open_index()
        self._notes = [REBUILT] if self._index.was_rebuilt else []
        self._journal = OriginReader(self.workspace, places)
        self._origins = KnownOrigins(lines={}, is_begun=False)
        self.secrets: tuple[str, ...] = ()
        """Values that are never handed out, longest first."""
        self._seen = 0
        self._is_complete = True
        self._looked_at = 0.0
        self._is_dirty = threading.Event()
        self._is_dirty.set()
        self._changed: SimpleQueue[Path] = SimpleQueue()
        self._folders: frozenset[Path] = frozenset()
        self._paths: set[str] = set()
        self._hot: dict[str, int] = {}
        self._catching_up: threading.Thread | None = None
        self._damage: IndexDamaged | None = None
        """Found while the index was brought up to date beside."""
        self._vectors: VectorSearch | None = None
        self._watch = self._begin_watching() if is_watching else None

    def close(self) -> None:
        """Stop watching, and wait for an index that is being brought up to date."""
        if self._watch is not None:
            self._watch.stop()
        if self._catching_up is not None:
            self._catching_up.join()
        with self._lock:
            self._index.close()

    def search_vectors(self, query: str) -> VectorHits:
        """Find chunks near to a question, where the user named who embeds; not on an event loop."""
        if self.embeddings == EmbeddingSettings():
            return VectorHits()
        # What talks to a network takes longer to import than a search does.
        import asyncio

        from ullage.app.memory.vector_search import VectorSearch

        if self._vectors is None:
            self._vectors = VectorSearch(self.embeddings, self.places, self.workspace)
        return asyncio.run(self._vectors.search(query, self._list_new))

    def _list_new(self, known: Container[str]) -> dict[str, str]:
        """Give texts of the files indexed last that are not among known ones, by their digests."""

        def list_new(index: MemoryIndex) -> dict[str, str]:
            newest = index.newest_digests(N_LOOKED_AT)
            new = [at for at, digest in newest.items() if digest not in known][:MAX_NEW]
            return {chunk.digest: chunk.text for chunk in index.read_chunks(new).values()}

        return self._read(list_new)

    def read(self, work: Callable[[MemoryIndex], Found], notes: list[str] | None = None) -> Found:
        """Ask the index as the files are now; `notes` takes what the asker should know, in words.

        Meanwhile `tell_origin` and `secrets` are of these files too. A damaged index is built
        again, and `work` done once more.

        Raises:
            StorageError: the state folder does not take it.
        """
        with self._lock:
            found = self._read(work)
            if notes is None:
                # What happened once is told to the next who listens.
                self._notes = [note for note in self._notes if note == REBUILT]
            else:
                in_part = [] if self._is_complete else [IN_PART]
                notes.extend(dict.fromkeys((*self._notes, *in_part)))
                self._notes = []
            return found

    def tell_origin(self, chunk: IndexedChunk) -> Origin:
        """Tell where a chunk comes from, its headings included."""
        headings = chunk.heading.split(" › ")
        origin = self._origins.tell(chunk.path, "\n".join((*headings, chunk.text)))
        if origin != "unknown":
            return origin
        # A part of a very long line is not known by itself: the whole line may be.
        page = read_page(self.workspace, chunk.path) or ""
        lines = page.split("\n")[chunk.first_line - 1 : chunk.last_line]
        if chunk.text not in "\n".join(lines):
            return origin
        return self._origins.tell(chunk.path, "\n".join((*headings, *lines)))

    def rebuild(self) -> None:
        """Throw the index away and build it anew.

        Raises:
            StorageError: the state folder does not take it.
        """
        with self._lock:
            self._throw_away()
            self._refresh()

    def open_index(self) -> MemoryIndex:
        """Open the index once more, as another thread or a long reading needs it.

        Raises:
            StorageError: the state folder does not take it.
        """
        return MemoryIndex(self.folder / INDEX if self.places.keeps_caches else None)

    def _read(self, work: Callable[[MemoryIndex], Found]) -> Found:
        with self._lock:
            try:
                return self._read_once(work)
            except IndexDamaged:
                self._throw_away()
                self._notes.append(REBUILT)
                return self._read_once(work)

    def _read_once(self, work: Callable[[MemoryIndex], Found]) -> Found:
        self._refresh()
        with self._index.reading():
            return work(self._index)

    def _throw_away(self) -> None:
        if self._catching_up is not None:
            self._catching_up.join()
            self._catching_up = None
        self._damage = None
        self._is_dirty.set()
        self._index.throw_away()

    def _begin_watching(self) -> "FolderWatch":
        # What notices need is imported by processes that go on alone.
        from ullage.store.files.watch import FolderWatch

        return FolderWatch(self._notice)

    def _notice(self, path: Path) -> None:
        """Note what changed; called by a thread of the watch."""
        if path.suffix in SUFFIXES:
            self._changed.put(path)
        elif path.name == ".gitignore" or (path in self._folders) != path.is_dir():
            # A folder came or went; that one changed says nothing that its files do not.
            self._is_dirty.set()

    def _refresh(self) -> None:
        if self._catching_up is not None:
            if self._catching_up.is_alive():
                self._notes.append(BEHIND)
                return
            self._catching_up = None
        if self._damage is not None:
            raise self._damage
        is_old = time.monotonic() - self._looked_at > LOOK_ANYWAY_S
        if self._watch is None or self._is_dirty.is_set() or is_old:
            self._look_at_all()
        else:
            self._look_at_changed()

    def _look_at_all(self) -> None:
        self._is_dirty.clear()
        self._looked_at = time.monotonic()
        known = self._index.list_files()
        pages = list_pages(
            self.workspace, self.places.state_folder, known, is_project=self._is_project
        )
        self._is_complete = pages.is_complete
        if self._watch is not None:
            self._watch.watch(pages.folders if len(pages.folders) <= MAX_WATCHED else ())
            if len(pages.folders) > MAX_WATCHED or not self._folders.issuperset(pages.folders):
                # What changed in a folder before it was watched, nobody tells.
                self._is_dirty.set()
        self._folders = frozenset(pages.folders)
        self._learn(pages.changed)
        self._paths = pages.paths
        if self._watch is not None:
            hot = (MEMORY, FOLDER, *list_logs(pages.paths, 2))
            self._hot = {path: _look(self.workspace / path) for path in hot}
        self._update(pages.changed, [path for path in known if path not in pages.paths])

    def _look_at_changed(self) -> None:
        """Look at the files of which there are notices, and at those written most often.

        A notice may come later than a question that follows the change.
        """
        paths: set[str] = set()
        while not self._changed.empty():
            path = self._changed.get()
            if path.parent in self._folders:
                paths.add(path.relative_to(self.workspace).as_posix())
        for path, before in self._hot.items():
            if (now := _look(self.workspace / path)) != before:
                self._hot[path] = now
                paths.add(path)
        if FOLDER in paths:
            paths.remove(FOLDER)
            paths |= set(list_memory_names(self.workspace)) - self._paths
        if paths:
            self._hot |= {path: _look(self.workspace / path) for path in paths}
            for path in list(self._hot)[2:-MAX_HOT]:
                del self._hot[path]
            self._paths |= paths
            pages = {
                path: find_page(self.workspace, path, is_project=self._is_project)
                for path in sorted(paths)
            }
            gone = [path for path, page in pages.items() if page is None]
            changed = [page for page in pages.values() if page is not None]
            self._learn(changed)
            self._update(changed, gone)
        elif _look(self.folder / SEEN) != self._seen:
            # Somebody accepted a change.
            self._learn([])

    def _update(self, changed: list[SourceFile], gone: list[str]) -> None:
        if not changed and not gone:
            return
        is_beside = self._watch is not None and self.places.keeps_caches
        if is_beside and len(changed) > MANY_FILES and self._index.size().n_chunks:
            self._notes.append(BEHIND)
            self._catching_up = threading.Thread(target=self._catch_up, args=(changed, gone))
            self._catching_up.start()
            return
        try:
            self._index.update(self._read_pages(changed), gone)
        except StateBusy:
            self._is_dirty.set()
            self._notes.append(BUSY)

    def _learn(self, changed: list[SourceFile]) -> None:
        self._seen = _look(self.folder / SEEN)
        try:
            paths = {page.path for page in changed if page.is_memory}
            self._origins = see_memory(paths, self._journal, self.workspace, self.places)
        except StorageError:
            # Nobody is trusted by a journal that cannot be read.
            self._origins = KnownOrigins(lines={}, is_begun=True)
            self._is_dirty.set()
        self.secrets = secrets_in((self.workspace,), self.places)

    def _catch_up(self, changed: list[SourceFile], gone: list[str]) -> None:
        """Bring the index up to date by a connection of its own: readers see all of it or none."""
        try:
            with closing(self.open_index()) as index:
                index.update(self._read_pages(changed), gone)
        except IndexDamaged as error:
            self._damage = error
        except StorageError:
            self._is_dirty.set()

    def _read_pages(self, files: list[SourceFile]) -> Iterator[tuple[SourceFile, str]]:
        for file in files:
            text = read_page(self.workspace, file.path)
            if text is None:
                # What it held is not there any more, or not ours to read: look again next time.
                yield msgspec.structs.replace(file, changed_ns=-1), ""
            else:
                yield file, text


def _look(path: Path) -> int:
    try:
        status = path.lstat()
    except OSError:
        return 0
    return status.st_mtime_ns ^ status.st_size
