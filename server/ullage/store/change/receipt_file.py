"""The shape of a receipt in its file."""

import msgspec

from ullage.core.change.edit import LineChange
from ullage.core.change.receipt import Before, Occasion, Receipt, ReceiptKind, ReceiptState

VERSION = 1


class NewerVersion(Exception):
    """A receipt that only a newer Ullage understands."""


class _Versioned(msgspec.Struct):
    version: int


class _BeforeShape(msgspec.Struct, rename="camel"):
    device: int
    inode: int
    size_bytes: int
    mtime_ns: int
    head_sha256: str


class _LineShape(msgspec.Struct):
    """A line that was changed; its bytes in base64, as they need not be text."""

    offset: int
    old: bytes
    new: bytes


class _ReceiptShape(msgspec.Struct, rename="camel"):
    version: int
    id: str
    state: ReceiptState
    kind: ReceiptKind
    layer: str | None
    at: str
    session_key: str
    tokens_before: int | None
    tokens_after: int | None
    replaced_ids: tuple[str, ...]
    replaced_bytes: int
    replaced_sha256: str
    undoes: str | None
    change: str
    path: str
    before: _BeforeShape
    appended_sha256: str
    originals: tuple[_LineShape, ...]
    backup: str | None
    new_path: str | None
    new_sha256: str | None


def encode(receipt: Receipt) -> bytes:
    occasion, before = receipt.occasion, receipt.before
    shape = _ReceiptShape(
        version=VERSION,
        id=receipt.receipt_id,
        state=receipt.state,
        kind=occasion.kind,
        layer=occasion.layer,
        at=occasion.at,
        session_key=_text(occasion.session_key),
        tokens_before=occasion.n_tokens_before,
        tokens_after=occasion.n_tokens_after,
        replaced_ids=tuple(_text(one) for one in occasion.replaced_ids),
        replaced_bytes=occasion.replaced_bytes,
        replaced_sha256=occasion.replaced_sha256,
        undoes=occasion.undoes,
        change=receipt.change,
        path=_text(receipt.path),
        before=_BeforeShape(
            device=before.device,
            inode=before.inode,
            size_bytes=before.size_bytes,
            mtime_ns=before.mtime_ns,
            head_sha256=before.head_sha256,
        ),
        appended_sha256=receipt.appended_sha256,
        originals=tuple(
            _LineShape(offset=one.offset, old=one.old, new=one.new) for one in receipt.originals
        ),
        backup=None if receipt.backup is None else _text(receipt.backup),
        new_path=None if receipt.new_path is None else _text(receipt.new_path),
        new_sha256=receipt.new_sha256,
    )
    return msgspec.json.format(msgspec.json.encode(shape), indent=1) + b"\n"


def decode(data: bytes) -> Receipt:
    """Read a receipt.

    Raises:
        NewerVersion: a newer Ullage wrote it.
        ValueError: it is damaged.
    """
    if msgspec.json.decode(data, type=_Versioned).version > VERSION:
        raise NewerVersion
    shape = msgspec.json.decode(data, type=_ReceiptShape)
    match shape.change:
        case "append" | "rewrite" | "new session" as change:
            pass
        case other:
            raise ValueError(f"no such change: {other}")
    return Receipt(
        receipt_id=shape.id,
        state=shape.state,
        occasion=Occasion(
            kind=shape.kind,
            layer=shape.layer,
            at=shape.at,
            session_key=shape.session_key,
            n_tokens_before=shape.tokens_before,
            n_tokens_after=shape.tokens_after,
            replaced_ids=shape.replaced_ids,
            replaced_bytes=shape.replaced_bytes,
            replaced_sha256=shape.replaced_sha256,
            undoes=shape.undoes,
        ),
        change=change,
        path=shape.path,
        before=Before(
            device=shape.before.device,
            inode=shape.before.inode,
            size_bytes=shape.before.size_bytes,
            mtime_ns=shape.before.mtime_ns,
            head_sha256=shape.before.head_sha256,
        ),
        appended_sha256=shape.appended_sha256,
        originals=tuple(
            LineChange(offset=one.offset, old=one.old, new=one.new) for one in shape.originals
        ),
        backup=shape.backup,
        new_path=shape.new_path,
        new_sha256=shape.new_sha256,
    )


def _text(value: str) -> str:
    """Give text that JSON can hold: a lone surrogate of a file's name becomes its escape."""
    return value.encode("utf-8", "backslashreplace").decode()
