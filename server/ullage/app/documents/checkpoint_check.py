"""Findings on a checkpoint (its schema, id and chain) and on a configuration file."""

import re
from collections.abc import Iterator
from pathlib import Path

from ullage.app.config.load import check_source
from ullage.app.documents.check import Surroundings
from ullage.core.checkpoint.checkpoint import Checkpoint
from ullage.core.documents.finding import DocumentFinding, TextFix
from ullage.core.secrets.scan import list_known_secrets, mask
from ullage.core.text.positions import Extent, Positions
from ullage.core.text.tree import ListNode, MappingNode, Member, Node, ParseError, ScalarNode
from ullage.errors import CorruptCheckpoint, NewerCheckpoint
from ullage.store.checkpoint.files import read_checkpoint
from ullage.store.checkpoint.yaml_file import load
from ullage.store.config.files import guess_place, parse_config
from ullage.store.files.yaml_tree import parse_yaml

_KEY_PATH = re.compile(r"at `\$(?P<path>[^`]*)`")
"""How msgspec names the place of what does not fit."""
_LINE = re.compile(r"\(line (?P<line>\d+)\)")


def check_checkpoint_file(path: Path, text: str, around: Surroundings) -> Iterator[DocumentFinding]:
    del around  # Its folder and its own text say all.
    positions = Positions(text)
    try:
        checkpoint = load(text.encode("utf-8", "replace"))
    except NewerCheckpoint as error:
        yield _at_key("checkpoint-newer", ("schema_version",), f"{error}", text, positions)
    except CorruptCheckpoint as error:
        yield _schema_finding(f"{error}", text, positions)
    else:
        yield from _chain_findings(path, checkpoint, text, positions)


def _chain_findings(
    path: Path, checkpoint: Checkpoint, text: str, positions: Positions
) -> Iterator[DocumentFinding]:
    meta = checkpoint.meta
    if meta.checkpoint_id != path.stem:
        message = f"The id of this checkpoint is not that of its file, {path.name}."
        yield _at_key("checkpoint-id", ("meta", "checkpoint_id"), message, text, positions)
    problem = _chain_problem(path, checkpoint)
    if problem is not None:
        key = ("meta", "previous_checkpoint")
        yield _at_key("checkpoint-chain", key, problem, text, positions)


def _chain_problem(path: Path, checkpoint: Checkpoint) -> str | None:
    previous = checkpoint.meta.previous_checkpoint
    if previous is None:
        return None
    if not re.fullmatch(r"cp_\d{3,9}", previous):
        return "The checkpoint before this one has no name of a checkpoint."
    if int(previous[3:]) >= int(path.stem[3:]):
        return f"{previous} is not before this checkpoint, which says that it follows it."
    try:
        before = read_checkpoint(path.with_name(f"{previous}.yaml"))
    except FileNotFoundError:
        return f"{previous}, which this checkpoint follows, is not there any more."
    except (CorruptCheckpoint, NewerCheckpoint) as error:
        return f"{error}; this checkpoint follows it."
    if before.meta.created_at > checkpoint.meta.created_at:
        return f"{previous}, which this checkpoint follows, was written after it."
    return None


def _schema_finding(message: str, text: str, positions: Positions) -> DocumentFinding:
    match = _KEY_PATH.search(message)
    keys = tuple(re.findall(r"[^.\[\]]+", match["path"])) if match else ()
    line = _LINE.search(message)
    says = f"{message[:1].upper()}{message[1:]}."
    if line is not None:
        number = int(line["line"]) - 1
        start = positions.line_start(number)
        extent = positions.extent(start, start + len(positions.line_text(number)))
        return DocumentFinding(code="checkpoint-schema", extent=extent, message=says)
    return _at_key("checkpoint-schema", keys, says, text, positions)


def _at_key(
    code: str, keys: tuple[str, ...], message: str, text: str, positions: Positions
) -> DocumentFinding:
    return DocumentFinding(code=code, extent=key_extent(keys, text, positions), message=message)


def key_extent(keys: tuple[str, ...], text: str, positions: Positions) -> Extent:
    """Give where a key stands, or the innermost one around it; else the first line."""
    first = positions.extent(0, len(positions.line_text(0)))
    try:
        node: Node = parse_yaml(text)
    except ParseError:
        return first
    extent = first
    for key in keys:
        inner = _inside(node, key)
        if inner is None:
            break
        extent = positions.extent(inner.start, inner.end)
        node = inner.node if isinstance(inner, Member) else inner
    if isinstance(node, ScalarNode) and node.end > node.start:
        return positions.extent(node.start, node.end)
    return extent


def _inside(node: Node, key: str) -> Member | Node | None:
    if isinstance(node, MappingNode):
        return next((member for member in node.members if member.key == key), None)
    if isinstance(node, ListNode) and key.isdigit() and int(key) < len(node.items):
        return node.items[int(key)]
    return None


def check_config_file(path: Path, text: str, around: Surroundings) -> Iterator[DocumentFinding]:
    positions = Positions(text)
    source = parse_config(guess_place(path), str(path), text.encode("utf-8", "replace"))
    secrets = list_known_secrets(around.places.env)
    for finding in check_source(source).findings:
        origin, new = finding.origin, finding.new_text
        end = len(positions.line_text(0)) if origin.line is None else origin.end
        extent = positions.extent(origin.start, end)
        fix = TextFix(title=f"Change to {new}", extent=extent, new_text=new) if new else None
        yield DocumentFinding(
            code=finding.code,
            extent=extent,
            message=mask(f"{_sentence(finding.message)} {_sentence(finding.fix)}", secrets),
            fixes=(fix,) if fix else (),
        )


def _sentence(text: str) -> str:
    end = "" if text.endswith(("?", ".")) else "."
    return f"{text[:1].upper()}{text[1:]}{end}"
