"""Document links: files that calls touched or texts name, places in memory, checkpoints."""

import asyncio
from pathlib import Path

from lsprotocol import types

from ullage.app.documents.check import SmallFile
from ullage.app.documents.checkpoint_check import key_extent
from ullage.app.documents.outline import find_targets
from ullage.core.documents.mentioned_paths import find_mentions
from ullage.core.text.positions import Positions
from ullage.errors import CorruptCheckpoint, NewerCheckpoint
from ullage.lsp.convert import range_of, uri_of
from ullage.lsp.documents.by_kind import answer_by_kind, of_text
from ullage.lsp.documents.memory import lines_uri, link_cited, list_cited
from ullage.lsp.documents.outline import read_outline
from ullage.lsp.state import UllageServer
from ullage.store.checkpoint.yaml_file import load
from ullage.store.files.text_files import exists


async def transcript_links(
    ls: UllageServer, path: Path, _: types.DocumentLinkParams
) -> list[types.DocumentLink]:
    outlined = await read_outline(ls, path)
    if outlined is None:
        return []
    return [
        types.DocumentLink(
            range=types.Range(
                types.Position(target.line, target.column),
                types.Position(target.line, target.end_column),
            ),
            target=uri_of(target.path)
            if target.first_line is None
            else lines_uri(target.path, target.first_line, target.last_line or target.first_line),
            tooltip=target.tooltip,
        )
        for target in await asyncio.to_thread(find_targets, outlined, ls.places)
    ]


def checkpoint_links(file: SmallFile, _: types.DocumentLinkParams) -> list[types.DocumentLink]:
    """Link what a checkpoint follows: its session, and the checkpoint before."""
    try:
        meta = load(file.text.encode("utf-8", "replace")).meta
    except (CorruptCheckpoint, NewerCheckpoint):
        return []
    targets = [("session_file", Path(meta.session_file), "Open the session")]
    if meta.previous_checkpoint is not None:
        previous = file.path.with_name(f"{Path(meta.previous_checkpoint).name}.yaml")
        targets.append(("previous_checkpoint", previous, "Open the checkpoint before"))
    positions = Positions(file.text)
    return [
        types.DocumentLink(
            range=range_of(key_extent(("meta", key), file.text, positions)),
            target=uri_of(target),
            tooltip=tooltip,
        )
        for key, target, tooltip in targets
        if target.is_absolute() and exists(target)
    ]


def mention_links(file: SmallFile, _: types.DocumentLinkParams) -> list[types.DocumentLink]:
    """Link the files of the workspace that a text names, from its folder or from one above."""
    workspace, folders = file.around.workspace_of(file.path), [file.path.parent]
    if workspace is not None:
        folders += [
            folder for folder in file.path.parent.parents if folder.is_relative_to(workspace)
        ]
    positions = Positions(file.text)
    links = list(link_cited(list_cited(file.text), workspace))
    taken = {(link.range.start.line, link.range.start.character) for link in links}
    for mention in find_mentions(file.text):
        targets = (folder / mention.path for folder in folders)
        target = next((target for target in targets if exists(target)), None)
        if target is not None and not mention.path.endswith("/"):
            where = range_of(positions.extent(mention.start, mention.end))
            if (where.start.line, where.start.character) not in taken:
                links.append(types.DocumentLink(range=where, target=uri_of(target)))
    return links


async def answer_links(
    ls: UllageServer, params: types.DocumentLinkParams
) -> list[types.DocumentLink]:
    shown = ls.documents.shown.get(params.text_document.uri)
    if shown is None:
        return await _answer_by_kind(ls, params)
    return await asyncio.to_thread(lambda: list(link_cited(shown.cited, shown.workspace)))


_answer_by_kind = answer_by_kind(
    {
        "transcript": transcript_links,
        "checkpoint": of_text(checkpoint_links, []),
        "instructions": of_text(mention_links, []),
        "memory": of_text(mention_links, []),
        "inbox": of_text(mention_links, []),
    },
    [],
)
