"""Links in small documents: from a checkpoint to what it follows, from instructions to files."""

from collections.abc import Callable
from pathlib import Path
from typing import TypeAlias

from lsprotocol import types

from ullage.app.documents.check import Surroundings
from ullage.app.documents.checkpoint_check import key_extent
from ullage.core.documents.mentioned_paths import find_mentions
from ullage.core.text.positions import Positions
from ullage.errors import CorruptCheckpoint, NewerCheckpoint
from ullage.lsp.convert import uri_of
from ullage.lsp.documents.finding import range_of
from ullage.store.checkpoint.yaml_file import load
from ullage.store.files.text_files import exists

FileLinks: TypeAlias = Callable[[Path, Surroundings], list[types.DocumentLink]]


def checkpoint_links(path: Path, around: Surroundings) -> list[types.DocumentLink]:
    text = around.text_of(path)
    if text is None:
        return []
    try:
        meta = load(text.encode("utf-8", "replace")).meta
    except (CorruptCheckpoint, NewerCheckpoint):
        return []
    targets = [("session_file", Path(meta.session_file), "Open the session")]
    if meta.previous_checkpoint is not None:
        previous = path.with_name(f"{Path(meta.previous_checkpoint).name}.yaml")
        targets.append(("previous_checkpoint", previous, "Open the checkpoint before"))
    positions = Positions(text)
    return [
        types.DocumentLink(
            range=range_of(key_extent(("meta", key), text, positions)),
            target=uri_of(target),
            tooltip=tooltip,
        )
        for key, target, tooltip in targets
        if target.is_absolute() and exists(target)
    ]


def mention_links(path: Path, around: Surroundings) -> list[types.DocumentLink]:
    """Link the files of the workspace that a text names, from its folder or from one above."""
    text = around.text_of(path)
    if text is None:
        return []
    workspace = around.workspace_of(path)
    folders = [path.parent]
    if workspace is not None:
        folders += [at for at in path.parent.parents if at.is_relative_to(workspace)]
    positions = Positions(text)
    found: list[types.DocumentLink] = []
    for one in find_mentions(text):
        targets = (folder / one.path for folder in folders)
        target = next((target for target in targets if exists(target)), None)
        if target is not None and not one.path.endswith("/"):
            where = range_of(positions.extent(one.start, one.end))
            found.append(types.DocumentLink(range=where, target=uri_of(target)))
    return found
