"""Check a document that is open in an editor: dispatched by what it is."""

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import TypeAlias

import msgspec

from ullage.app.change.check_material import KeptMaterials
from ullage.core.config.settings import Config
from ullage.core.documents.finding import DocumentFinding
from ullage.store.files.places import Places
from ullage.store.files.text_files import read_text_file
from ullage.store.transcript.reader import Fingerprint


class Surroundings(msgspec.Struct, frozen=True, kw_only=True):
    """What a document is judged by beside its own text, as it was at one moment."""

    config: Config
    places: Places
    workspaces: tuple[Path, ...]
    texts: Mapping[Path, str]
    """Of documents that are open, as they stand in the editor."""
    materials: KeptMaterials = msgspec.field(default_factory=KeptMaterials)
    """What the open proposals are checked against, kept from one check to the next."""

    def text_of(self, path: Path) -> str | None:
        """Give a document's text, unsaved changes included; None where there is none to read."""
        text = self.texts.get(path)
        return read_text_file(path) if text is None else text

    def workspace_of(self, path: Path) -> Path | None:
        """Give the innermost folder of the workspace that a file is in."""
        around = [folder for folder in self.workspaces if path.is_relative_to(folder)]
        return max(around, key=lambda folder: len(folder.parts), default=None)


class SmallFile(msgspec.Struct, frozen=True, kw_only=True):
    """A small document as it stands in the editor, and what is around it."""

    path: Path
    text: str
    around: Surroundings


class CheckedTranscript(msgspec.Struct, frozen=True, kw_only=True):
    """What was found in a transcript, and the file as it was before that."""

    fingerprint: Fingerprint
    findings: tuple[DocumentFinding, ...]


Check: TypeAlias = Callable[[Path, str, Surroundings], Iterable[DocumentFinding]]


def run_check(check: Check, path: Path, around: Surroundings) -> tuple[DocumentFinding, ...]:
    """Check a document's present text; findings that are turned off are left out."""
    text = around.text_of(path)
    if text is None:
        return ()
    off = around.config.diagnostics.off
    return tuple(finding for finding in check(path, text, around) if finding.code not in off)
