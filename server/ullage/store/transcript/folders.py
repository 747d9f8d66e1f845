"""Folders of agents' transcripts, listed; what cannot be read is passed over."""

import os
from collections.abc import Iterator, Set
from pathlib import Path

import msgspec

ENDINGS = (".jsonl", ".jsonl.zst", ".json")
"""Transcripts, packed ones, and the single documents of older Gemini versions."""


class TranscriptFile(msgspec.Struct, frozen=True, kw_only=True):
    path: Path
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


def list_names(folder: str) -> tuple[list[str], list[str]]:
    """List the transcripts of a folder and the folders in it; a plain file stands for its packed
    copy.

    Raises:
        OSError: it cannot be listed.
    """
    with os.scandir(folder) as listing:
        entries = list(listing)
    names = {entry.name for entry in entries if entry.name.endswith(ENDINGS)}
    names -= {f"{name}.zst" for name in names}
    return sorted(names), [entry.name for entry in entries if entry.is_dir(follow_symlinks=False)]


def list_files(folder: Path) -> list[Path]:
    """List the transcripts of a folder, and what else is JSON."""
    try:
        names, _ = list_names(str(folder))
    except OSError:
        return []
    return [folder / name for name in names]


def folders_below(root: Path) -> Iterator[Path]:
    """List a folder and all folders in it; nothing where there is none."""
    for folder, _, _ in os.walk(root):
        yield Path(folder)


def transcripts_in(folder: Path) -> Iterator[TranscriptFile]:
    """List the transcripts of a folder."""
    for path in list_files(folder):
        try:
            yield TranscriptFile(path=path, mtime_ns=path.stat().st_mtime_ns)
        except OSError:
            continue


def transcripts_below(root: Path) -> Iterator[TranscriptFile]:
    """List the transcripts of a folder and of all folders in it."""
    for folder, _, _ in os.walk(root):
        yield from transcripts_in(Path(folder))
