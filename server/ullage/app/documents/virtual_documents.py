"""Texts of read-only documents: what the command line prints, for an editor to show."""

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TypeAlias, assert_never

from ullage.app.change.checkpoint_report import difference_lines
from ullage.app.checkpoint.find import compare, find_checkpoint
from ullage.app.checkpoint.resume import restore_text
from ullage.app.config.report import check_text, config_text
from ullage.app.documents.outside_changes import write_outside_diff
from ullage.app.gauge.history import history_text, read_history
from ullage.app.gauge.inspect import Inspection, inspection_text
from ullage.app.gauge.status_text import ago, name_text, status_text
from ullage.app.sessions.load import Loaded
from ullage.app.sessions.past import list_all_items
from ullage.app.summary.pins import pins_text, report_pins
from ullage.core.config.settings import Config
from ullage.core.documents.virtual_uri import VirtualUri
from ullage.core.secrets.redaction import mask_items
from ullage.core.summary.preview import write_entry, write_messages
from ullage.core.transcript.context import ContextItem
from ullage.errors import EntryNotFound
from ullage.store.files.places import Places

N_LARGEST = 25
"""Entries that a breakdown lists; a document has more room than a terminal (chosen)."""
N_COLUMNS = 120
"""Longer lines are not read well (chosen)."""

LoadSession: TypeAlias = Callable[[str | None], Loaded]
"""Gives the session that is named, or the default one.

Raises:
    InputError: there is none, or none that can be read.
"""


def document_text(
    document: VirtualUri,
    load_session: LoadSession,
    inspect_session: Callable[[Loaded, int], Inspection],
    config: Config,
    places: Places,
) -> str:
    """Write a document as it is now, without secrets.

    Raises:
        InputError: the session, the entry or the checkpoint is not there.
        StorageError: the state folder cannot be read.
    """
    name = document.name
    if name == "Configuration":
        return f"{config_text(config, places, shows_all=True)}\n\n{check_text(config, places)}\n"
    if name == "Memory Changes.diff":
        return write_outside_diff(Path(document.workspace or "."), document.file or "", places)
    loaded = load_session(document.session)
    session = loaded.session
    match name:
        case "Context Status":
            text = status_text(loaded)
        case "Context Breakdown":
            text = inspection_text(inspect_session(loaded, N_LARGEST), N_COLUMNS)
        case "Compaction History":
            text = history_text(read_history(session, places), N_COLUMNS)
        case "Context.md":
            items = mask_items(_find_items(loaded, document.entry), loaded.known_secrets)
            if document.entry is None:
                text = f"# {name_text(loaded)}\n\n{write_messages(items, ago)}"
            else:
                text = write_entry(items, ago)
        case "Summary.md":
            text = _summary(loaded, document.entry, places)
        case "Checkpoint Changes":
            difference = compare(session, document.old, document.new, places)
            text = "\n".join(line for _, line in difference_lines(difference, N_COLUMNS))
        case "Resume.md":
            entry = find_checkpoint(session, document.checkpoint, places)
            text = restore_text(entry.checkpoint, config.checkpoint, loaded.known_secrets)
        case "Pins":
            text = pins_text(report_pins(session, config.pins, places), N_COLUMNS)
        case _:
            assert_never(name)
    return text.rstrip("\n") + "\n"


def _find_items(loaded: Loaded, entry: str | None) -> tuple[ContextItem, ...]:
    """Give the messages of the context, or of one entry, which a compaction may have hidden."""
    if entry is None:
        return loaded.context.items

    def of_entry(items: Iterable[ContextItem]) -> tuple[ContextItem, ...]:
        return tuple(item for item in items if item.entry_id == entry)

    items = of_entry(loaded.context.items)
    items = items or of_entry(list_all_items(loaded.session, loaded.reading))
    if not items:
        raise EntryNotFound(f"{loaded.path.name} has no entry {entry[:40]} any more")
    return items


def _summary(loaded: Loaded, entry: str | None, places: Places) -> str:
    """Give the summary of one compaction, the last one if none is named."""
    changes = read_history(loaded.session, places).compactions
    compactions = (change for change in changes if change.kind == "compaction")
    matches = [compaction for compaction in compactions if entry in (None, compaction.id)]
    if not matches:
        raise EntryNotFound(
            f"{loaded.path.name} has no compaction{f' {entry[:40]}' if entry else ''}: its history"
            " lists them all"
        )
    return matches[-1].summary
