"""What every message between agent runtimes and `ullage agent` is made of."""

from typing import Annotated, Generic, Literal, TypeAlias, TypeVar

import msgspec

from ullage.core.transcript.entries import JsonObject

ErrorKind: TypeAlias = Literal[
    "not_open",
    "bad_messages",
    "read_only",
    "nothing_to_compact",
    "refused",
    "unreadable",
    "storage",
    "model",
    "fault",
]
"""`not_open`: no such session handle; `bad_messages`: indexes, ids or the format do not fit;
`read_only`: the session must not be changed; `nothing_to_compact`: nothing would be gained;
`refused`, `unreadable`, `storage`, `model`: as the command line's exit codes 4, 3, 5 and 6;
`fault`: a fault of Ullage."""

MAX_MESSAGES = 100_000
"""Chosen: far above what there is, and low enough that no figure costs time or memory."""
Messages: TypeAlias = Annotated[list[JsonObject], msgspec.Meta(max_length=MAX_MESSAGES)]
MAX_LINE_BYTES = 64 * 1024 * 1024
"""More is no message but a broken stream (docs/safety.md, "Streams and processes")."""


class Wire(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """Base of everything that goes over the wire."""


P = TypeVar("P", bound=Wire)
R = TypeVar("R", bound=Wire)


class Method(msgspec.Struct, Generic[P, R], frozen=True, kw_only=True):
    name: str
    params: type[P]
    result: type[R]
