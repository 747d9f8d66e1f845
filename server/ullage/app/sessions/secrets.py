"""The secrets that we know: of the environment, of a workspace, and what a session calls one."""

from collections.abc import Iterable
from functools import cached_property
from operator import is_
from pathlib import Path
from typing import NamedTuple

from ullage.core.secrets.env_file import read_assignments
from ullage.core.secrets.redaction import list_named_in
from ullage.core.secrets.scan import MAX_KNOWN, list_known_secrets
from ullage.core.transcript.context import ContextItem
from ullage.core.transcript.entries import Header
from ullage.store.config.env_files import read_env_files
from ullage.store.files.places import Places


class SessionSecrets:
    """Those of a session, read when they are first asked for: a gauge needs none."""

    def __init__(self, header: Header, places: Places) -> None:
        self._header, self.places = header, places
        self._last: _Asked | None = None
        """One value, as threads ask."""

    @cached_property
    def values(self) -> tuple[str, ...]:
        return secrets_for(self._header, self.places)

    def values_with(self, items: tuple[ContextItem, ...]) -> tuple[str, ...]:
        """List them with what the session's messages call secret, longest first.

        What was called so once is masked wherever it stands, in whatever follows.
        """
        last = self._last
        if last is not None and items is last.items:
            return last.values
        seen, named = ((), frozenset[str]()) if last is None else (last.items, last.named)
        is_longer = len(items) >= len(seen) and all(map(is_, seen, items))
        named = named.union(list_named_in(items[len(seen) :] if is_longer else items))
        values = add_named(self.values, named)
        self._last = _Asked(items, named, values)
        return values


class _Asked(NamedTuple):
    """The messages that were asked for last, what all so far call secret, and the answer."""

    items: tuple[ContextItem, ...]
    named: frozenset[str]
    values: tuple[str, ...]


def add_named(values: Iterable[str], named: Iterable[str]) -> tuple[str, ...]:
    """Add what a session names, longest first; however many that are, the other values stay."""
    return _sort({*values, *_sort(set(named))[:MAX_KNOWN]})


def secrets_for(header: Header, places: Places) -> tuple[str, ...]:
    """List the values that must not leave a session's transcript, longest first.

    They come from the environment, from `.env` and `.env.*` of the folder that the session
    worked in, and from those of the current folder.
    """
    return secrets_in((places.cwd, *((Path(header.cwd),) if header.cwd else ())), places)


def secrets_in(folders: Iterable[Path], places: Places) -> tuple[str, ...]:
    """List those of the environment and of some folders, longest first."""
    sources = [places.env]
    for folder in dict.fromkeys(folders):
        sources += (read_assignments(text) for text in read_env_files(folder))
    # Two files may give one name different values: each is a secret.
    values = dict.fromkeys(value for source in sources for value in list_known_secrets(source))
    return _sort(values)[:MAX_KNOWN]


def _sort(values: Iterable[str]) -> tuple[str, ...]:
    return tuple(sorted(values, key=lambda value: (-len(value), value)))
