"""Read what a workspace adds to the text that its agent is given after a compaction."""

from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path, PurePath

from ullage.app.gauge.startup_files import read_agents_file
from ullage.core.checkpoint.startup_rules import AGENTS_NAME, find_startup_rules, put_in_day
from ullage.core.checkpoint.workspace_text import (
    RULES_BYTES,
    TEXT_BYTES,
    Quotation,
    count_bytes,
    write_quotations,
)
from ullage.core.memory.quoted import quote_lines, quote_memory
from ullage.core.text.gitignore import ignore_spec, is_ignored
from ullage.core.text.quoting import quote_as_data
from ullage.core.transcript.context import RESTORE_OPENING
from ullage.store.files.local_time import local_now
from ullage.store.files.text_files import read_text_file, read_text_inside
from ullage.store.files.work_tree import list_folders_up

MAX_FILES = 3
MAX_FILE_BYTES = 64 * 1024
"""So much of a file is looked through for secrets, of which a tenth may be shown (chosen)."""


def add_workspace(
    text: str, edited: Sequence[str], workspace: Path, known_secrets: tuple[str, ...]
) -> str:
    """Put the rules of a workspace's AGENTS.md and the files edited last behind a text.

    `edited` names files in the order in which they were edited. The rules come first, up to their
    share; where there is neither, the text stays as it is.
    """
    rules = write_quotations(list(_quote_rules(workspace, known_secrets)), RULES_BYTES)
    blocks = (*((text or RESTORE_OPENING,) if text or rules else ()), *rules)
    room = TEXT_BYTES - sum(count_bytes(block) for block in blocks)
    files = list(islice(_quote_files(edited, workspace, known_secrets), MAX_FILES))
    return "\n\n".join((*blocks, *write_quotations(files, room)))


def _quote_rules(workspace: Path, known_secrets: tuple[str, ...]) -> Iterator[Quotation]:
    today = local_now().date()
    _, agents_md = read_agents_file(workspace)
    for part in find_startup_rules(agents_md):
        asks = "read now what it asks to read" if part.kind == "startup" else "it holds on"
        yield Quotation(
            heading=f"From {AGENTS_NAME} of this workspace, quoted; {asks}:",
            text=quote_memory(put_in_day(part.text, today), known_secrets),
        )


def _quote_files(
    edited: Sequence[str], workspace: Path, known_secrets: tuple[str, ...]
) -> Iterator[Quotation]:
    for name in dict.fromkeys(_relative(path, workspace) for path in reversed(edited)):
        # Names that begin with a dot hold settings and keys: `.env`, `.npmrc`, `.ssh/id_rsa`.
        if name is None or any(part.startswith(".") for part in PurePath(name).parts):
            continue
        if _is_ignored((workspace / name).resolve(), workspace):
            continue
        text = read_text_inside(workspace, name, MAX_FILE_BYTES)
        if text:
            shown = quote_as_data(quote_lines(name, known_secrets))
            data = quote_lines(text.rstrip(), known_secrets)
            note = ", with ‹ for <" if "‹" in data and "‹" not in text else ""
            yield Quotation(heading=f"{shown} as it is now, quoted{note}:", text=data)


def _is_ignored(file: Path, workspace: Path) -> bool:
    """Tell whether git keeps a file out, by the rules of each folder around it."""
    above = list_folders_up(workspace.resolve())
    below = (each for each in file.parents if each.is_relative_to(above[0]) and each != above[0])
    folders = (*below, *above)
    rules = [(folder, folder / ".gitignore") for folder in folders]
    rules.append((folders[-1], folders[-1] / ".git" / "info" / "exclude"))
    return any(
        is_ignored(file.relative_to(folder).as_posix(), ignore_spec(text))
        for folder, path in rules
        if (text := read_text_file(path))
    )


def _relative(path: str, workspace: Path) -> str | None:
    """Give the path of a file below a workspace, links followed; None for any other."""
    try:
        file = (workspace / path).resolve()
        return file.relative_to(workspace.resolve()).as_posix()
    except (OSError, ValueError, RuntimeError):
        return None
