"""Bundles: a session's context and working state as one JSON document, to keep or to hand on.

One format, and JSON: nothing in it is ever a path, so that an archive's dangers (members that
leave the folder, links, bombs of zeros) do not arise; what is left are size, depth and types,
which are checked before anything is made of a bundle.
"""

import hashlib
import json
from typing import Literal, cast

import msgspec

from ullage.core.checkpoint.checkpoint import Checkpoint
from ullage.core.secrets.redaction import Redaction
from ullage.core.transcript.entries import Agent, JsonObject

FORMAT = "ullage.session"
VERSION = 1
MAX_BUNDLE_BYTES = 64 * 1024 * 1024
"""Chosen (docs/safety.md, "Limits of what is read")."""
MAX_DEPTH = 200
"""Of what is nested in a bundle; messages of agents stay below 20 (chosen)."""


class Origin(msgspec.Struct, frozen=True, kw_only=True):
    """The session that a bundle was made from; nothing here is used to make a new one."""

    agent: Agent
    session_id: str
    format_version: int
    """Of the agent's format; 0 where it has none."""
    dialect: str
    cwd: str | None
    model: str | None
    file_name: str
    size_bytes: int
    transcript_sha256: str


class Bundle(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The document that `ullage context export` writes."""

    format: Literal["ullage.session"] = FORMAT
    version: int = VERSION
    made_by: str
    created_at: str
    origin: Origin
    summary: str | None
    """That of the last compaction, which the messages begin with."""
    messages: list[JsonObject]
    """The context that would be sent, in the agent's own shape."""
    entries: list[JsonObject] | None
    """The records that make this context, oldest first; null where it cannot be imported."""
    checkpoint: Checkpoint | None
    """The working state at the time of the export."""
    is_redacted: bool
    redactions: list[Redaction]
    n_unreadable_lines: int
    """Lines of the transcript that could not be read, and are not in here."""
    sha256: str = ""
    """Of all other fields, by `digest`."""


class BadBundleError(Exception):
    """Why a document is no bundle that can be used."""


def render(bundle: Bundle) -> bytes:
    """Write a bundle with its digest; characters beyond ASCII are escaped."""
    body = cast(JsonObject, msgspec.to_builtins(bundle))
    body["sha256"] = digest(body)
    return json.dumps(body, indent=1, allow_nan=False).encode() + b"\n"


def parse(data: bytes) -> Bundle:
    """Read a bundle and check it: size, depth, version, digest, types.

    Raises:
        BadBundleError: it is none, or not as it was made.
    """
    if len(data) > MAX_BUNDLE_BYTES:
        raise BadBundleError(f"has more than {MAX_BUNDLE_BYTES // 2**20} MB")
    try:
        body = cast(object, json.loads(data.decode(), parse_constant=_refuse))
    except (ValueError, RecursionError):
        raise BadBundleError("is not JSON") from None
    if not isinstance(body, dict) or cast(JsonObject, body).get("format") != FORMAT:
        raise BadBundleError("is not a bundle of Ullage")
    body = cast(JsonObject, body)
    if body.get("version") != VERSION:
        raise BadBundleError("was made by a newer Ullage, or by none")
    if _is_deeper(body, MAX_DEPTH):
        raise BadBundleError(f"is nested deeper than {MAX_DEPTH} levels")
    if body.get("sha256") != digest(body):
        raise BadBundleError("was changed or cut since it was made")
    try:
        return msgspec.convert(body, Bundle)
    except (msgspec.ValidationError, UnicodeEncodeError) as error:
        # The second for a lone surrogate in a name of a field.
        raise BadBundleError(f"does not fit its schema: {error}") from None


def digest(body: JsonObject) -> str:
    """Give the SHA-256 of all fields but the digest itself: JSON with sorted keys, no spaces."""
    rest = {key: value for key, value in body.items() if key != "sha256"}
    text = json.dumps(rest, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


def _is_deeper(value: object, limit: int) -> bool:
    level: list[object] = [value]
    for _ in range(limit):
        level = [
            inner
            for v in level
            if isinstance(v, dict | list)
            for inner in (
                cast(JsonObject, v).values() if isinstance(v, dict) else cast(list[object], v)
            )
            if isinstance(inner, dict | list)
        ]
        if not level:
            return False
    return True


def _refuse(name: str) -> None:
    raise ValueError(name)
