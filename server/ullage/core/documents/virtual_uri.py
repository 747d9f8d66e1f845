"""URIs of read-only documents that no file has: `ullage:/Context Status?session=…`."""

from typing import Final, Literal, TypeAlias, cast, get_args
from urllib.parse import quote, unquote

import msgspec

SCHEME: Final = "ullage"
VirtualName: TypeAlias = Literal[
    "Context Status",
    "Context Breakdown",
    "Compaction History",
    "Context.md",
    "Summary.md",
    "Checkpoint Changes",
    "Resume.md",
    "Pins",
    "Configuration",
    "Memory Changes.diff",
]
Field: TypeAlias = Literal["session", "entry", "checkpoint", "old", "new", "workspace", "file"]
FIELDS: Final[tuple[Field, ...]] = get_args(Field)
_NAMES: Final[dict[str, VirtualName]] = {
    name: name for name in cast("tuple[VirtualName, ...]", get_args(VirtualName))
}


class VirtualUri(msgspec.Struct, frozen=True, kw_only=True):
    """A document that is made when it is asked for; what is not named is the present one."""

    name: VirtualName
    session: str | None = None
    entry: str | None = None
    checkpoint: str | None = None
    old: str | None = None
    new: str | None = None
    workspace: str | None = None
    file: str | None = None
    """Of memory, relative to its workspace, with `/`."""


def write_virtual_uri(document: VirtualUri) -> str:
    """Write a URI.

    Values are encoded twice: editors (VS Code) decode a query whole and encode it again, after
    which `&` in a path could not be told from the one between two values.
    """
    values = cast("dict[str, str | None]", msgspec.structs.asdict(document))
    pairs = ((field, values[field]) for field in FIELDS)
    query = "&".join(f"{field}={quote(value, safe='')}" for field, value in pairs if value)
    path = f"{SCHEME}:/{quote(document.name)}"
    return f"{path}?{quote(query, safe='')}" if query else path


def write_session_uri(session: str, name: VirtualName) -> str:
    """Name a document of a session as it is now."""
    return write_virtual_uri(VirtualUri(name=name, session=session))


def write_summary_uri(session: str, entry_id: str | None) -> str:
    """Name the summary of a compaction; None is the last one of the session."""
    return write_virtual_uri(VirtualUri(name="Summary.md", session=session, entry=entry_id))


def write_entry_uri(session: str, entry_id: str) -> str:
    """Name an entry of the context as readable chat."""
    return write_virtual_uri(VirtualUri(name="Context.md", session=session, entry=entry_id))


def parse_virtual_uri(uri: str) -> VirtualUri | None:
    """Read a URI, encoded once or twice; None where Ullage did not make it."""
    scheme, colon, rest = uri.partition(":")
    if not colon or scheme.lower() != SCHEME:
        return None
    path, _, query = rest.partition("#")[0].partition("?")
    name = _NAMES.get(unquote(path).lstrip("/"))
    if name is None:
        return None
    pairs = query if "=" in query else unquote(query)
    given: dict[str, str] = {}
    for pair in pairs.split("&"):
        field, _, value = pair.partition("=")
        if field in FIELDS:
            given[field] = unquote(value)
    named = {field: value for field, value in given.items() if value}
    return msgspec.convert({"name": name, **named}, VirtualUri)
