"""What several places say, made one: the strongest counts, and lists add up."""

from collections.abc import Iterable

import msgspec

from ullage.core.config.keys import KEYS
from ullage.core.config.settings import Setting


def merged(layers: Iterable[Iterable[Setting]]) -> tuple[Setting, ...]:
    """Merge what the places say, weakest first; lists add up, so that no place takes away."""
    found: dict[tuple[str | None, str], Setting] = {}
    for layer in layers:
        for setting in layer:
            slot = (setting.model, setting.key.name)
            before = found.get(slot)
            found[slot] = setting if before is None else _joined(before, setting)
    order = {key.name: at for at, key in enumerate(KEYS)}
    return tuple(
        sorted(found.values(), key=lambda setting: (setting.model or "", order[setting.key.name]))
    )


def _joined(before: Setting, after: Setting) -> Setting:
    if not isinstance(before.value, tuple) or not isinstance(after.value, tuple):
        return after
    return msgspec.structs.replace(
        after,
        value=tuple(dict.fromkeys((*before.value, *after.value))),
        origins=(*before.origins, *after.origins),
    )
