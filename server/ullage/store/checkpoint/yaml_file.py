"""Checkpoints as YAML: free text as block scalars, names quoted, nothing clever read back."""

import math
from typing import TypeAlias, cast

import msgspec
import yaml

from ullage.core.checkpoint.checkpoint import Checkpoint, storable
from ullage.core.checkpoint.fields import FIELDS
from ullage.core.text.lazy_pattern import lazy_pattern
from ullage.core.text.positions import Positions
from ullage.core.text.tree import ListNode, MappingNode, Node, ParseError, ScalarNode
from ullage.errors import CorruptCheckpoint, NewerCheckpoint
from ullage.store.files.yaml_tree import parse_yaml

SCHEMA_VERSION = 1
HEAD = b"# OpenClaw Checkpoint Schema v1\n"
"""The first line of the format, for people."""
MAX_SIZE_BYTES = 4 * 1024 * 1024
"""docs/safety.md, "Limits of what is read"."""
_Tree: TypeAlias = (
    "str | int | float | bool | list[_Tree] | tuple[_Tree, ...] | dict[str, _Tree] | None"
)
_TAG = "tag:yaml.org,2002:"
_BLOCK_KEYS = frozenset({"topic", "next_action", "what", "summary", "gist"})
"""Keys whose text is free, which is written as block scalars."""
_NOT_BLOCK = lazy_pattern(r"[^\n\x20-\x7e\xa0-\u2027\u202a-\ufefe\uff00-\ufffd]|[ ](?:\n|\Z)")
"""What libyaml does not write as a block scalar: blanks that end a line, tabs, emoji and all that
is beyond U+FFFF, control characters, breaks other than LF. Double quotes hold all of these.
"""
_dumper = getattr(yaml, "CSafeDumper", yaml.SafeDumper)


def dump(checkpoint: Checkpoint) -> bytes:
    """Write a checkpoint; what UTF-8 cannot hold is replaced."""
    tree = cast("dict[str, _Tree]", msgspec.to_builtins(checkpoint))
    for field in FIELDS:
        if field.is_optional and not tree[field.path]:
            del tree[field.path]
    text = yaml.serialize(  # pyright: ignore[reportUnknownMemberType]  # its stub lacks the node
        _node(tree, ""), Dumper=_dumper, allow_unicode=True, width=MAX_SIZE_BYTES
    )
    return HEAD + text.encode()


def _node(value: _Tree, key: str) -> yaml.Node:
    match value:
        case dict():
            pairs = [(_scalar("str", name), _node(part, name)) for name, part in value.items()]
            return yaml.MappingNode(_TAG + "map", pairs, flow_style=False)
        case list() | tuple():
            # An empty block list cannot be written; `[]` can.
            parts = [_node(part, key) for part in value]
            return yaml.SequenceNode(_TAG + "seq", parts, flow_style=not parts)
        case None:
            return _scalar("null", "null")
        case bool():
            return _scalar("bool", "true" if value else "false")
        case int():
            return _scalar("int", str(value))
        case float():
            # YAML 1.1 knows no exponent without a point.
            text = repr(value)
            return _scalar("float", text if "." in text else text.replace("e", ".0e"))
        case str():
            text = storable(value)
            is_block = key in _BLOCK_KEYS and text and not _NOT_BLOCK.search(text)
            return _scalar("str", text, "|" if is_block else '"')


def _scalar(tag: str, text: str, style: str | None = None) -> yaml.ScalarNode:
    return yaml.ScalarNode(_TAG + tag, text, style=style)


def load(data: bytes) -> Checkpoint:
    """Read a checkpoint.

    Raises:
        CorruptCheckpoint: it is not one; the message names the key or the line.
        NewerCheckpoint: its schema is newer than ours.
    """
    if len(data) > MAX_SIZE_BYTES:
        raise CorruptCheckpoint(f"the checkpoint has {len(data):,} bytes, more than any of ours")
    try:
        tree = _plain(parse_yaml(data.decode()))
        version = tree.get("schema_version") if isinstance(tree, dict) else None
        if isinstance(version, int) and version > SCHEMA_VERSION:
            raise NewerCheckpoint(f"schema version {version} is of a newer Ullage: update this one")
        checkpoint = msgspec.convert(tree, Checkpoint)
    except UnicodeDecodeError as error:
        raise CorruptCheckpoint(f"the checkpoint is not UTF-8 (byte {error.start})") from error
    except ParseError as error:
        line = Positions(data.decode()).position(error.offset).line + 1
        problem = error.problem.removeprefix("this ")
        verb = "" if problem != error.problem else "cannot be read: "
        raise CorruptCheckpoint(f"the checkpoint {verb}{problem} (line {line})") from error
    except msgspec.ValidationError as error:
        raise CorruptCheckpoint(f"the checkpoint does not fit its schema: {error}") from error
    use = checkpoint.meta.token_usage
    if not math.isfinite(use.utilization):
        raise CorruptCheckpoint("the checkpoint has a number beyond all numbers")
    counts = (use.input_tokens, use.context_window, use.utilization)
    if min(checkpoint.meta.compaction_count, *counts) < 0:
        raise CorruptCheckpoint("the checkpoint counts less than nothing")
    return checkpoint


def _plain(node: Node) -> _Tree:
    match node:
        case ScalarNode():
            return node.value
        case ListNode():
            return [_plain(item) for item in node.items]
        case MappingNode():
            tree: dict[str, _Tree] = {}
            for member in node.members:
                if member.key in tree:
                    raise CorruptCheckpoint(f"the checkpoint names {member.key[:60]!r} twice")
                tree[member.key] = _plain(member.node)
            return tree
