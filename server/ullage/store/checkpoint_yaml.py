"""Checkpoints as YAML: free text as block scalars, names quoted, nothing clever read back."""

import re
from collections.abc import Callable, Iterator
from typing import TypeAlias

import msgspec
import yaml

from ullage.core.checkpoint import Checkpoint
from ullage.errors import CorruptCheckpoint

MAX_SIZE_BYTES = 4 * 1024 * 1024
MAX_DEPTH = 50
"""Limits of `research/reliability.md`, C13."""
_Tree: TypeAlias = "str | int | float | bool | None | list[_Tree] | dict[str, _Tree]"
_TAG = "tag:yaml.org,2002:"
_BLOCK_KEYS = frozenset({"topic", "next_action", "what", "summary", "gist"})
"""Keys whose text is free: S1 §5.3 writes them as block scalars."""
_SURROGATE = re.compile("[\ud800-\udfff]")
_NOT_BLOCK = re.compile(r"[^\n\x20-\x7e\xa0-\u2027\u202a-\ufefe\uff00-\ufffd]|^[ \n]|[ ]\n|[ \n]$")
"""What a block scalar cannot hold: breaks other than LF, control characters, edge blanks.

PyYAML would change U+0085 in single-quoted and literal style; double quotes escape it.
"""
_INTEGER = re.compile(r"-?\d{1,18}")
_FLOAT = re.compile(r"-?\d{1,18}\.\d{1,18}(?:[eE][-+]?\d{1,3})?|-?\d{1,18}[eE][-+]?\d{1,3}")
_WORDS: dict[str, bool | None] = {"": None, "~": None, "null": None, "true": True, "false": False}
_dumper = getattr(yaml, "CSafeDumper", yaml.SafeDumper)
_loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


def dump(checkpoint: Checkpoint) -> bytes:
    """Write a checkpoint; lone surrogates, which UTF-8 cannot hold, become U+FFFD."""
    tree: _Tree = msgspec.to_builtins(checkpoint)
    if not isinstance(tree, dict):
        raise TypeError(tree)
    for key in ("pins", "dead_ends", "trust_anchors"):
        if not tree[key]:
            del tree[key]
    text: str = yaml.serialize(
        _node(tree, ""), Dumper=_dumper, allow_unicode=True, width=MAX_SIZE_BYTES, indent=2
    )
    return text.encode()


def _node(value: _Tree, key: str) -> yaml.Node:
    match value:
        case dict():
            pairs = [(_scalar("str", name), _node(part, name)) for name, part in value.items()]
            return yaml.MappingNode(_TAG + "map", pairs, flow_style=False)
        case list():
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
            return _scalar("float", repr(value))
        case str():
            text = _SURROGATE.sub("\ufffd", value)
            is_block = key in _BLOCK_KEYS and text and not _NOT_BLOCK.search(text)
            return _scalar("str", text, "|" if is_block else '"')


def _scalar(tag: str, text: str, style: str | None = None) -> yaml.ScalarNode:
    return yaml.ScalarNode(_TAG + tag, text, style=style)


def load(data: bytes) -> Checkpoint:
    """Read a checkpoint.

    Raises:
        CorruptCheckpoint: it is not one; the message names the key or the line.
    """
    if len(data) > MAX_SIZE_BYTES:
        raise CorruptCheckpoint(f"the checkpoint has {len(data):,} bytes, more than any of ours")
    try:
        tree = _read(yaml.parse(data.decode(), Loader=_loader))
        return msgspec.convert(tree, Checkpoint)
    except UnicodeDecodeError as error:
        raise CorruptCheckpoint(f"the checkpoint is not UTF-8 (byte {error.start})") from error
    except yaml.YAMLError as error:
        raise CorruptCheckpoint(f"the checkpoint is not YAML: {_place(error)}") from error
    except msgspec.ValidationError as error:
        raise CorruptCheckpoint(f"the checkpoint does not fit its schema: {error}") from error
