"""What an installation changed, so that it can be taken back exactly; it works without, too.

`<state>/agents/<agent>-<hash>.json`, one for each place that an agent keeps its settings in.
"""

import hashlib
import os
from pathlib import Path

import msgspec

from ullage.core.install.json_edit import Before, Container
from ullage.store.files.places import Places
from ullage.store.files.state_file import read_state

VERSION = 1


class InstallReceipt(msgspec.Struct, frozen=True, kw_only=True):
    before: Before | None
    """Of the settings; None where the agent has none that we change."""
    is_settings_new: bool
    """Whether there was no settings file."""
    files: tuple[tuple[str, str], ...]
    """Our own files, each with its SHA-256."""
    folders: tuple[str, ...]
    """Those that were made for them, the deepest first."""


class _Shape(msgspec.Struct, rename="camel"):
    version: int
    is_settings_new: bool
    has_before: bool
    blank: str | None
    containers: tuple[tuple[tuple[str, ...], str], ...]
    files: tuple[tuple[str, str], ...]
    folders: tuple[str, ...]


def receipt_path(agent: str, folder: Path, places: Places) -> Path:
    digest = hashlib.sha256(os.fsencode(folder)).hexdigest()[:8]
    return places.state_folder / "agents" / f"{agent}-{digest}.json"


def read_receipt(path: Path) -> InstallReceipt | None:
    """Read a receipt; None where there is none that can be used."""
    shape = read_state(path, _Shape, VERSION).content
    if shape is None:
        return None
    containers = tuple(Container(path=keys, inner=inner) for keys, inner in shape.containers)
    before = Before(blank=shape.blank, containers=containers) if shape.has_before else None
    return InstallReceipt(
        before=before,
        is_settings_new=shape.is_settings_new,
        files=shape.files,
        folders=shape.folders,
    )


def encode_receipt(receipt: InstallReceipt) -> bytes:
    before = receipt.before
    shape = _Shape(
        version=VERSION,
        is_settings_new=receipt.is_settings_new,
        has_before=before is not None,
        blank=None if before is None else before.blank,
        containers=tuple((one.path, one.inner) for one in before.containers) if before else (),
        files=receipt.files,
        folders=receipt.folders,
    )
    return msgspec.json.encode(shape) + b"\n"
