"""The secrets that we know of: those of the environment and of a session's workspace."""

from collections.abc import Iterable
from functools import cached_property
from pathlib import Path

from ullage.core.secrets.env_file import read_assignments
from ullage.core.secrets.scan import list_known_secrets
from ullage.core.transcript.entries import Header
from ullage.store.config.env_files import read_env_files
from ullage.store.files.places import Places


class SessionSecrets:
    """Those of a session, read when they are first asked for: a gauge needs none."""

    def __init__(self, header: Header, places: Places) -> None:
        self._header, self.places = header, places

    @cached_property
    def values(self) -> tuple[str, ...]:
        return secrets_for(self._header, self.places)


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
    return tuple(sorted(values, key=lambda value: (-len(value), value)))
