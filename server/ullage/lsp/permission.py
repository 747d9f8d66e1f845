"""Whether anything may be written: what the editor says of trust, and `sandbox.readOnly`."""

from ullage.errors import WriteNotSupported
from ullage.lsp.state import UllageServer


def may_write(ls: UllageServer) -> bool:
    return _refusal(ls) is None


def refuse_write(ls: UllageServer) -> None:
    """Refuse to write where nothing may be written.

    Raises:
        WriteNotSupported: with the way out.
    """
    refusal = _refusal(ls)
    if refusal is not None:
        raise WriteNotSupported(refusal)


def _refusal(ls: UllageServer) -> str | None:
    if ls.editor.is_restricted:
        return (
            "The workspace is not trusted, so that Ullage only reads: trust it to change sessions"
        )
    if ls.config.policy.is_read_only:
        return "The workspace is read-only (`sandbox.readOnly`), so that Ullage writes nothing"
    return None
