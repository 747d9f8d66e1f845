"""Checkpoints as YAML: free text as block scalars, names quoted, nothing clever read back."""

import math
import re
from collections.abc import Iterator
from typing import TypeAlias, cast

import msgspec
import yaml

from ullage.core.checkpoint.checkpoint import Checkpoint, storable
from ullage.errors import CorruptCheckpoint, NewerCheckpoint

SCHEMA_VERSION = 1
HEAD = b"# OpenClaw Checkpoint Schema v1\n"
"""The first line of the format, for people."""
MAX_SIZE_BYTES = 4 * 1024 * 1024
MAX_DEPTH = 50
"""docs/safety.md, "Limits of what is read"."""
_Tree: TypeAlias = (
    "str | int | float | bool | list[_Tree] | tuple[_Tree, ...] | dict[str, _Tree] | None"
)
_TAG = "tag:yaml.org,2002:"
_BLOCK_KEYS = frozenset({"topic", "next_action", "what", "summary", "gist"})
"""Keys whose text is free, which is written as block scalars."""
_NOT_BLOCK = re.compile(r"[^\n\x20-\x7e\xa0-\u2027\u202a-\ufefe\uff00-\ufffd]|[ ](?:\n|\Z)")
"""What libyaml does not write as a block scalar: blanks that end a line, tabs, emoji and all that
is beyond U+FFFF, control characters, breaks other than LF. Double quotes hold all of these.
"""
_INTEGER = re.compile(r"-?\d{1,18}")
_FLOAT = re.compile(r"-?\d{1,18}\.\d{1,30}(?:[eE][-+]?\d{1,3})?|-?\d{1,18}[eE][-+]?\d{1,3}")
_WORDS: dict[str, bool | None] = {"": None, "~": None, "null": None, "true": True, "false": False}
_dumper = getattr(yaml, "CSafeDumper", yaml.SafeDumper)
_loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


def dump(checkpoint: Checkpoint) -> bytes:
    """Write a checkpoint; what UTF-8 cannot hold is replaced."""
    tree = cast("dict[str, _Tree]", msgspec.to_builtins(checkpoint))
    for key in ("pins", "dead_ends", "trust_anchors"):
        if not tree[key]:
            del tree[key]
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
        tree = _read(yaml.parse(data.decode(), Loader=_loader))
        _refuse_newer(tree)
        found = msgspec.convert(tree, Checkpoint)
    except UnicodeDecodeError as error:
        raise CorruptCheckpoint(f"the checkpoint is not UTF-8 (byte {error.start})") from error
    except yaml.YAMLError as error:
        raise CorruptCheckpoint(f"the checkpoint is not YAML: {_place(error)}") from error
    except msgspec.ValidationError as error:
        raise CorruptCheckpoint(f"the checkpoint does not fit its schema: {error}") from error
    use = found.meta.token_usage
    counted = (found.meta.compaction_count, use.input_tokens, use.context_window, use.utilization)
    if min(counted) < 0:
        raise CorruptCheckpoint("the checkpoint counts less than nothing")
    return found


def _refuse_newer(tree: _Tree) -> None:
    version = tree.get("schema_version") if isinstance(tree, dict) else None
    if isinstance(version, int) and version > SCHEMA_VERSION:
        raise NewerCheckpoint(f"schema version {version} is of a newer Ullage: update this one")


def _read(events: Iterator[yaml.Event]) -> _Tree:
    """Build plain values from the events, refusing all that a checkpoint has no use for."""
    root: _Tree = None
    stack: list[_Open] = []
    n_documents = 0
    for event in events:
        _check(event, len(stack))
        n_documents += isinstance(event, yaml.DocumentStartEvent)
        if n_documents > 1:
            raise CorruptCheckpoint(f"the checkpoint has a second document{_at(event)}")
        value: _Tree = None
        if isinstance(event, yaml.ScalarEvent):
            value = _value(event)
        elif isinstance(event, yaml.MappingStartEvent | yaml.SequenceStartEvent):
            is_mapping = isinstance(event, yaml.MappingStartEvent)
            stack.append(_Open(value={} if is_mapping else []))
            continue
        elif isinstance(event, yaml.MappingEndEvent | yaml.SequenceEndEvent):
            value = stack.pop().value
        else:
            continue
        if stack:
            _add(stack[-1], value, event)
        else:
            root = value
    return root


class _Open(msgspec.Struct):
    """A mapping or sequence whose end has not come yet."""

    value: list[_Tree] | dict[str, _Tree]
    key: str | None = None


def _add(parent: _Open, value: _Tree, event: yaml.Event) -> None:
    if isinstance(parent.value, list):
        parent.value.append(value)
    elif parent.key is not None:
        parent.value[parent.key] = value
        parent.key = None
    elif isinstance(event, yaml.ScalarEvent):
        if event.value in parent.value:
            raise CorruptCheckpoint(f"the checkpoint names {event.value[:60]!r} twice")
        parent.key = event.value
    else:
        raise CorruptCheckpoint(f"the checkpoint has a key that is no name{_at(event)}")


def _check(event: yaml.Event, depth: int) -> None:
    if isinstance(event, yaml.AliasEvent) or getattr(event, "anchor", None) is not None:
        raise CorruptCheckpoint(f"the checkpoint uses YAML anchors or aliases{_at(event)}")
    if getattr(event, "tag", None) is not None:
        raise CorruptCheckpoint(f"the checkpoint uses YAML tags{_at(event)}")
    if depth > MAX_DEPTH:
        raise CorruptCheckpoint(f"the checkpoint is nested deeper than {MAX_DEPTH} levels")


def _value(event: yaml.ScalarEvent) -> _Tree:
    """Read a scalar; only unquoted ones may be anything but text, and no dates."""
    text = event.value
    if not event.implicit[0]:
        return text
    if text in _WORDS:
        return _WORDS[text]
    if _INTEGER.fullmatch(text):
        return int(text)
    if not _FLOAT.fullmatch(text):
        return text
    if not math.isfinite(number := float(text)):
        raise CorruptCheckpoint(f"the checkpoint has a number beyond all numbers{_at(event)}")
    return number


def _at(event: yaml.Event) -> str:
    return f" (line {event.start_mark.line + 1})" if event.start_mark else ""


def _place(error: yaml.YAMLError) -> str:
    mark = error.problem_mark if isinstance(error, yaml.MarkedYAMLError) else None
    problem = error.problem if isinstance(error, yaml.MarkedYAMLError) else str(error)
    return f"{problem} (line {mark.line + 1})" if mark else " ".join(f"{problem}".split())
