"""A checkpoint as it may leave the session: without secrets, and with what a file can hold."""

from collections.abc import Callable
from typing import cast

import msgspec

from ullage.core.checkpoint.checkpoint import Checkpoint, storable
from ullage.core.secrets.scan import list_texts, mask, may_hold_secret


def cleaned(checkpoint: Checkpoint, known_secrets: tuple[str, ...]) -> Checkpoint:
    """Mask the secrets in every text but the metadata, which is ours; replace lone surrogates."""
    fields = cast("dict[str, object]", msgspec.to_builtins(checkpoint))
    meta = fields.pop("meta")
    # One look over all texts spares one for each.
    is_masked = may_hold_secret("\0".join(list_texts(fields)), known_secrets)

    def clean(text: str) -> str:
        return mask(storable(text), known_secrets) if is_masked else storable(text)

    changed = _with_texts(fields, clean)
    return msgspec.convert(
        {"meta": _with_texts(meta, storable), **cast("dict[str, object]", changed)}, Checkpoint
    )


def _with_texts(value: object, change: Callable[[str], str]) -> object:
    match value:
        case str():
            return change(value)
        case dict():
            pairs = cast("dict[str, object]", value).items()
            return {key: _with_texts(item, change) for key, item in pairs}
        case list() | tuple():
            return [_with_texts(item, change) for item in cast("list[object]", value)]
        case _:
            return value
