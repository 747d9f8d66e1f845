"""Receipts: what was done to a session, where the original is, and how to take it back."""

from typing import Literal, TypeAlias

import msgspec

from ullage.core.change.edit import LineChange

ReceiptKind: TypeAlias = Literal["compaction", "prune", "undo", "import", "restore"]
ChangeKind: TypeAlias = Literal["append", "rewrite", "new session"]
ReceiptState: TypeAlias = Literal["planned", "done", "undone"]
"""A change that stays `planned` was never made."""


class ChangeReason(msgspec.Struct, frozen=True, kw_only=True):
    """Why a transcript is changed."""

    kind: ReceiptKind
    layer: str | None
    at: str
    """RFC 3339 in UTC."""
    session_key: str
    n_tokens_before: int | None
    n_tokens_after: int | None
    replaced_ids: tuple[str, ...]
    """Entries for which something else stands from now on."""
    replaced_bytes: int
    replaced_sha256: str
    """Of the lines of these entries, joined; empty where there are none."""
    undoes: str | None
    """Receipt of the change that this one takes back."""


class FileBefore(msgspec.Struct, frozen=True, kw_only=True):
    """The transcript as it was before the change."""

    device: int
    inode: int
    size_bytes: int
    mtime_ns: int
    head_sha256: str
    """Of its first 4 KB."""


class Receipt(msgspec.Struct, frozen=True, kw_only=True):
    receipt_id: str
    """Four digits or more; later changes of a session have greater ones."""
    state: ReceiptState
    occasion: ChangeReason
    change: ChangeKind
    path: str
    """The transcript."""
    before: FileBefore
    appended_sha256: str = ""
    """Of what went to its end; empty where nothing did."""
    originals: tuple[LineChange, ...] = ()
    """The lines of a rewrite as they were, and what took their places."""
    backup: str | None = None
    """Name of the old file, which lies beside the transcript."""
    new_path: str | None = None
    """The file of a new session."""
    new_sha256: str | None = None
    left_size_bytes: int | None = None
    """Of the file that the change left: of a new session's as it was made, or as it was when that
    was taken back; else of the transcript."""
