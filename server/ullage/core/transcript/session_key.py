"""Names of folders for session keys, which may hold anything."""

import hashlib
import re

MAX_NAME_CHARS = 120
_UNSAFE = re.compile(r"[^a-zA-Z0-9._-]")
_RESERVED = re.compile(r"(?i)(?:con|prn|aux|nul|com[0-9]|lpt[0-9])(?:\..*)?\Z")


def folder_name(session_key: str) -> str:
    """Give a key without what a path may not hold, made unique where that lost something.

    A key that was changed, that has a capital letter, or whose name Windows or a file system
    could not hold, ends in eight hex digits of its SHA-256: `a:b` and `a_b` never share a
    folder, nor do `A` and `a` where a disk takes them for one name.
    """
    earlier = earlier_folder_name(session_key)
    if earlier != session_key or earlier == earlier.lower():
        return earlier
    return f"{earlier[:MAX_NAME_CHARS]}-{_digest(session_key)}"


def earlier_folder_name(session_key: str) -> str:
    """Give the name by which Ullage 0.1 kept a session: keys that differ in case may share it."""
    name = _UNSAFE.sub("_", session_key)
    is_kept = (
        name == session_key
        and 0 < len(name) <= MAX_NAME_CHARS
        and not name.endswith(".")
        and not _RESERVED.match(name)
    )
    if is_kept:
        return name
    if _RESERVED.match(name):
        # Windows looks at what stands before the first dot only.
        name = name.replace(".", "_")
    return f"{name[:MAX_NAME_CHARS]}-{_digest(session_key)}"


def _digest(session_key: str) -> str:
    return hashlib.sha256(session_key.encode("utf-8", "surrogatepass")).hexdigest()[:8]
