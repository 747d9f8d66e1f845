"""Apply changes of files to bytes, as `store` does to files."""

from ullage.core.change.edit import Append, FileChange, NewSession, Rewrite


def applied(data: bytes, change: FileChange) -> bytes:
    """Give the file after a change; for a new session, that session's."""
    match change:
        case Append():
            return data + change.data
        case NewSession():
            return change.data
        case Rewrite():
            pieces: list[bytes] = []
            at = 0
            for one in change.changes:
                assert at <= one.offset, "changes are in order and apart"
                assert data.startswith(one.old, one.offset), "what changes is what stands there"
                pieces += [data[at : one.offset], one.new]
                at = one.offset + len(one.old)
            return b"".join([*pieces, data[at:], change.appended])
