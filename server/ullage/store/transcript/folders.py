"""Folders of agents' transcripts, listed; what cannot be read is passed over."""

import os
from collections.abc import Iterable, Iterator, Set
from pathlib import Path

import msgspec

ENDINGS = (".jsonl", ".jsonl.zst", ".json")
"""Transcripts, packed ones, and the single documents of older Gemini versions."""


class TranscriptFile(msgspec.Struct, frozen=True, kw_only=True):
    path: Path
    inode: int
    mtime_ns: int


def is_of_workspace(folder: Path, spellings: Set[str]) -> bool:
    """Whether a folder of sessions can be a workspace's.

    Gemini shortens a workspace to its name, and notes beside the sessions whose they are.
    """
    try:
        noted = (folder.parent / ".project_root").read_text("utf-8").strip()
    except (OSError, UnicodeDecodeError):
        return True
    return noted in spellings


def newest_first(files: Iterable[TranscriptFile]) -> list[TranscriptFile]:
    return sorted(files, key=lambda file: file.mtime_ns, reverse=True)


def transcripts_in(folder: Path) -> Iterator[TranscriptFile]:
    """List the transcripts of a folder; a plain file stands for its packed copy."""
    try:
        with os.scandir(folder) as listing:
            entries = {entry.name: entry for entry in listing if entry.name.endswith(ENDINGS)}
    except OSError:
        return
    for name, entry in entries.items():
        if name.removesuffix(".zst") in entries and name.endswith(".zst"):
            continue
        try:
            info = entry.stat()
        except OSError:
            continue
        yield TranscriptFile(path=Path(entry.path), inode=info.st_ino, mtime_ns=info.st_mtime_ns)


def transcripts_below(root: Path) -> Iterator[TranscriptFile]:
    """List the transcripts of a folder and of all folders in it."""
    for folder, _, _ in os.walk(root):
        yield from transcripts_in(Path(folder))
