"""What is wrong with a value that stands where it may stand."""

from ullage.core.config.tree import Finding, Origin
from ullage.core.config.values import Fault, Value, is_secret


def holds_secret(value: Value) -> bool:
    texts = value if isinstance(value, tuple) else (value,)
    return any(isinstance(text, str) and is_secret(text) for text in texts)


def value_finding(name: str, value: Value | Fault, origin: Origin) -> Finding:
    """Say what is wrong with a value that is not of its key's kind, or holds a secret."""
    if isinstance(value, Fault):
        return Finding(
            code=value.code,
            origin=origin,
            message=f"`{name}` must be {value.wanted}, not {value.got}",
            fix="it is ignored until then",
        )
    return Finding(
        code="config-secret",
        origin=origin,
        message=f"`{name}` holds what looks like a key, which never belongs into a configuration",
        fix="remove it, and make a new key if others can read this file",
    )
