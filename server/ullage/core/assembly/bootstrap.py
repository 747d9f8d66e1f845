"""Bootstrap files: what an agent is given of the files of its workspace, in which order.

docs/design/assembly.md, "Bootstrap files" and "Truncation".
"""

from collections.abc import Iterable
from typing import Literal, TypeAlias

import msgspec

from ullage.core.documents.instructions import find_openclaw_cut
from ullage.core.text.positions import utf16_length

RULES = ("AGENTS.md", "CLAUDE.md")
IDENTITY = ("SOUL.md", "USER.md", "IDENTITY.md")
MARKER = "\n\n[... content truncated ...]\n\n"
"""Stands for the middle of a file that is too long (docs/design/assembly.md, "Truncation")."""

FileKind: TypeAlias = Literal["rules", "identity", "custom", "memory", "daily log"]


class TrimmedText(
    msgspec.Struct,
    frozen=True,
    kw_only=True,
    rename={"is_truncated": "truncated", "original_length": "originalLength"},
):
    """A text as an agent is given it."""

    content: str
    is_truncated: bool
    original_length: int
    """In UTF-16 units, as JavaScript counts."""


class WorkspaceFile(msgspec.Struct, frozen=True, kw_only=True):
    """A file that may be given, as it stands in the workspace."""

    path: str
    """Relative, with slashes."""
    text: str
    kind: FileKind


class ContextFile(msgspec.Struct, frozen=True, kw_only=True):
    """A file as the system prompt holds it."""

    path: str
    content: str


class BootstrapFile(msgspec.Struct, frozen=True, kw_only=True):
    """A file that is given, whole, without its middle, or not at all."""

    path: str
    kind: FileKind
    trimmed: TrimmedText
    """Its content is empty where it is not given."""
    cut: str = ""
    """What of it is not given, and why; empty where it is whole."""

    @property
    def warning(self) -> str:
        return f"{self.path}: {self.cut}"


def trim_bootstrap_text(text: str, max_chars: int) -> TrimmedText:
    """Keep the beginning and the end of a text of more than `max_chars` UTF-16 units."""
    cut = find_openclaw_cut(text, max_chars)
    content = text if cut is None else f"{text[: cut.start]}{MARKER}{text[cut.end :]}"
    return TrimmedText(
        content=content, is_truncated=cut is not None, original_length=utf16_length(text)
    )


def build_bootstrap_files(
    files: Iterable[WorkspaceFile], max_chars: int, *, is_minimal: bool, is_primary: bool
) -> tuple[BootstrapFile, ...]:
    """Give of each file what a session is given of it, in their order; empty files are none."""
    built: list[BootstrapFile] = []
    for file in files:
        if not file.text.strip():
            continue
        trimmed = trim_bootstrap_text(file.text, max_chars)
        refusal = _tell_refusal(file, is_minimal=is_minimal, is_primary=is_primary)
        if refusal:
            trimmed = msgspec.structs.replace(trimmed, content="")
        cut = refusal or _tell_cut(trimmed, max_chars)
        built.append(BootstrapFile(path=file.path, kind=file.kind, trimmed=trimmed, cut=cut))
    return tuple(built)


def is_for_subagents(path: str) -> bool:
    """Whether a file has rules of the work, which hold for subagents too."""
    return path.replace("\\", "/").rpartition("/")[2] in RULES


def _tell_refusal(file: WorkspaceFile, *, is_minimal: bool, is_primary: bool) -> str:
    if is_minimal and not is_for_subagents(file.path):
        return "minimal mode leaves it out"
    if file.kind == "memory" and not is_primary:
        return "only the primary session is given it"
    return ""


def _tell_cut(trimmed: TrimmedText, max_chars: int) -> str:
    if not trimmed.is_truncated:
        return ""
    n_kept = utf16_length(trimmed.content) - len(MARKER)
    return (
        f"{trimmed.original_length - n_kept:,} of {trimmed.original_length:,} characters in its"
        f" middle are left out: more than {max_chars:,}"
    )
