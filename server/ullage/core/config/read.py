"""What one place says: the settings in it, and what is wrong with them.

A place is a file, the editor, the environment or a command's flags. Nothing here fails: what
cannot be used is a finding, and the next weaker place decides.
"""

import math
import re
from collections.abc import Callable, Iterable, Mapping
from typing import TypeAlias, cast

import msgspec

from ullage.core.config import names
from ullage.core.config.key import (
    OVERRIDES,
    PREFIX,
    Code,
    Finding,
    Key,
    Origin,
    Setting,
    Source,
    decode,
    explain_misfit,
    shorten,
    text_node,
)
from ullage.core.config.settings import KEYS, PINS, SPELLINGS
from ullage.core.facts.pins import mark_workspace_pin
from ullage.core.secrets.scan import mask
from ullage.core.text import tree
from ullage.core.text.tree import ListNode, MappingNode, Member, Node, ScalarNode

MAX_FINDINGS = 100
"""Of one place; more would only hide the first (chosen)."""
USER_FILE = "~/.openclaw/config.yaml"

_Path: TypeAlias = tuple[str, ...]
_COMPACTION = ("agents", "defaults", "compaction")
_KEY_LIKE = (
    r"(?i)(?:^|[-_.]|(?<=[a-z]))(?:api[-_]?keys?|secrets?|passw(?:or)?d|credentials?"
    r"|authorization|(?:access|auth|bearer|refresh|api)[-_]?token)$|^(?:key|token)$"
)
"""A text, as compiling it takes longer than reading a usual configuration."""
_OUR_SECTIONS = frozenset(name.partition(".")[0] for name in names.SECTIONS) - {"agents"}
_OUR_VARIABLES = tuple(f"{PREFIX}{section.upper()}_" for section in _OUR_SECTIONS)
_NEW_KEY = "and make a new key if others can read this file"
_UNTRUSTED = {
    "trusted": (
        "this workspace is not trusted",
        ", or trust the workspace: in the editor, or by ULLAGE_TRUST_WORKSPACE",
    ),
    "off": ("a workspace can only turn it off", ""),
    "user": ("no workspace says where text is sent or written", ""),
}


def read_source(source: Source, *, is_trusted: bool) -> tuple[list[Setting], list[Finding]]:
    """Read what a file or the editor says; a workspace's file says less if it is not trusted."""
    reader = _Reader(source, is_trusted=is_trusted)
    return list(reader.settings.values()), [*source.findings, *reader.findings]


def key_at(source: Source, offset: int) -> tuple[Key, Member] | None:
    """Find the key whose name or value holds an offset; None between keys and for unknown ones."""
    around = [
        (key, member)
        for key, member in _Reader(source, is_trusted=True).members
        if member.start <= offset <= max(member.end, member.node.end)
    ]
    return around[-1] if around else None


def read_environment(env: Mapping[str, str]) -> tuple[list[Setting], list[Finding]]:
    """Read the variables `ULLAGE_…` that are named after keys; an empty one says nothing."""
    variables = sorted(name for name in env if name.startswith(PREFIX) and env[name].strip())
    keys = {key.variable: key for key in KEYS} if variables else {}
    return _split(
        _read_variable(name, env[name], keys)
        for name in variables
        if name in keys or name.startswith(_OUR_VARIABLES)
    )


def read_flags(flags: Mapping[str, tuple[str, object]]) -> tuple[list[Setting], list[Finding]]:
    """Read a command's flags: by the flag as a user types it, the name of its key and the value."""
    return _split(
        _read_value(SPELLINGS[name], plain_node(value), lambda _, flag=flag: Origin("flag", flag))
        for flag, (name, value) in flags.items()
    )


def plain_node(value: object, depth: int = 0) -> Node:
    """Make a tree of a value as `json` gives it; what JSON has not, or is too deep, is nothing."""
    if isinstance(value, dict) and depth < tree.MAX_DEPTH:
        table = cast("dict[str, object]", value)
        members = (Member(key, plain_node(part, depth + 1)) for key, part in table.items())
        return MappingNode(tuple(members))
    if isinstance(value, list | tuple) and depth < tree.MAX_DEPTH:
        parts = cast("tuple[object, ...]", value)
        return ListNode(tuple(plain_node(part, depth + 1) for part in parts))
    if isinstance(value, int) and abs(value) >= 10**tree.MAX_DIGITS:
        return ScalarNode(math.inf)
    return ScalarNode(value if isinstance(value, bool | int | float | str) else None)


def _split(parts: Iterable[Setting | Finding]) -> tuple[list[Setting], list[Finding]]:
    parts = list(parts)
    findings = [part for part in parts if isinstance(part, Finding)]
    return [part for part in parts if isinstance(part, Setting)], findings[:MAX_FINDINGS]


def _read_variable(name: str, text: str, keys: Mapping[str, Key]) -> Setting | Finding:
    origin = Origin("environment", shorten(name))
    if name in keys:
        return _read_value(keys[name], text_node(keys[name].kind, text), lambda _: origin)
    near = names.nearest_name(name, keys)
    fix = f"did you mean `{near}`?" if near else "remove it"
    message = "no setting has this variable"
    return Finding("config-unknown", origin, message, fix, replacement=near)


def _read_value(
    key: Key, node: Node, origin_of: Callable[[Node], Origin], model: str | None = None
) -> Setting | Finding:
    """Take the value of a key, or say what is wrong with it."""
    name = key.name if model is None else _name((OVERRIDES, model, key.name))
    try:
        value = None if key.is_nullable and _is_null(node) else decode(key.kind, node)
    except msgspec.ValidationError as error:
        code, at, misfit = explain_misfit(key.kind, node, error)
        return Finding(code, origin_of(at), f"`{name}` {misfit}", "it is ignored until then")
    texts = value if isinstance(value, tuple) else (value,)
    if any(isinstance(text, str) and mask(text) != text for text in texts):
        message = f"`{name}` holds what looks like a key, which never belongs into a configuration"
        return Finding("config-secret", origin_of(node), message, f"remove it, {_NEW_KEY}")
    return Setting(key=key, value=value, origins=(origin_of(node),), model=model)


class _Reader:
    """Walks one source and keeps what it says."""

    def __init__(self, source: Source, *, is_trusted: bool) -> None:
        self.settings: dict[tuple[str, str | None], Setting] = {}
        self.findings: list[Finding] = []
        self.members: list[tuple[Key, Member]] = []
        """Where keys stand, outermost first."""
        self._source = source
        self._is_trusted = is_trusted or source.place != "workspace file"
        # These two belong to OpenClaw, which has many more keys than we know.
        self._is_foreign = source.place in ("openclaw", "user file")
        root = source.root
        if isinstance(root, MappingNode):
            self._read_members(root.members, (), None)
        elif root is not None and not _is_null(root):
            fix = "begin with a key such as compaction:"
            self._find("config-type", root, "a configuration must be a mapping", fix)

    def _read_members(self, members: Iterable[Member], path: _Path, model: str | None) -> None:
        keys: set[str] = set()
        for member in members:
            if len(self.findings) >= MAX_FINDINGS:
                return
            inner = (*path, member.key)
            if member.key in keys and self._is_ours(path):
                message = f"{_name(inner)} stands here twice, and the last one counts"
                self._find("config-duplicate", member, message, "remove one of them", is_used=True)
            keys.add(member.key)
            self._read_member(member, inner, model)

    def _read_member(self, member: Member, path: _Path, model: str | None) -> None:
        if path == _COMPACTION:
            path = ("compaction",)
        if model is not None and ".".join(path[1:]) in names.KNOWN_NAMES:
            # Below a model's name stand keys of `compaction`, and the few that are not.
            path = path[1:]
        name, node = ".".join(path), member.node
        key = SPELLINGS.get(name)
        if key is not None:
            self.members.append((key, member))
        if name == OVERRIDES and isinstance(node, MappingNode):
            self._read_overrides(node, path, model)
        elif name in names.SECTIONS and isinstance(node, MappingNode):
            self._read_members(node.members, path, model)
        elif name in names.LISTED_SECTIONS and isinstance(node, ListNode):
            self._read_parts(node, path, model)
        elif key is not None:
            self._read_key(key, member, model)
        elif name in names.SECTIONS:
            self._expect_mapping(node, path, name)
        else:
            self._report_unknown(member, path, model)

    def _read_overrides(self, table: MappingNode, path: _Path, model: str | None) -> None:
        for member in table.members:
            if isinstance(member.node, MappingNode) and member.key.strip() and model is None:
                self._read_members(member.node.members, ("compaction",), member.key.strip())
            else:
                self._expect_mapping(member.node, (*path, member.key), OVERRIDES)

    def _read_parts(self, parts: ListNode, path: _Path, model: str | None) -> None:
        """Read layers and triggers that are written as a list: each part names itself."""
        section = ".".join(path)
        field = names.LISTED_SECTIONS[section]
        for part in parts.items:
            members = part.members if isinstance(part, MappingNode) else ()
            label = next((member.node for member in members if member.key == field), None)
            if isinstance(label, ScalarNode) and isinstance(label.value, str):
                rest = MappingNode(tuple(member for member in members if member.key != field))
                named = Member(label.value, rest, label.start, label.end)
                self._read_member(named, (*path, label.value), model)
            else:
                message = f"a part of {section} must be a mapping that has {field!r}"
                self._find("config-type", part, message, f"add {field}: and its name")

    def _read_key(self, key: Key, member: Member, model: str | None) -> None:
        if _is_null(member.node) and not key.is_nullable:
            return  # As if the line were not there.
        if self._is_misplaced(key, member, model):
            return
        setting = _read_value(key, member.node, self._source.origin, model)
        if isinstance(setting, Finding):
            self._add(setting)
            return
        before = self.settings.get((key.name, model))
        if before is not None and before.value != setting.value:
            line = before.origins[0].line
            fix = "remove one of them" + (f"; the other stands in line {line}" if line else "")
            message = f"`{setting.name}` is set twice here, and the last one counts"
            self._find("config-conflict", member, message, fix, is_used=True)
        if key.name == PINS and not self._is_trusted and isinstance(setting.value, tuple):
            marked = tuple(mark_workspace_pin(str(text)) for text in setting.value)
            setting = msgspec.structs.replace(setting, value=marked)
        self.settings[key.name, model] = setting

    def _is_misplaced(self, key: Key, member: Member, model: str | None) -> bool:
        """Tell whether a key may not stand here, and report it."""
        if model is not None and not key.is_per_model:
            message, fix = f"`{key.name}` is not set for one model", f"move it out of `{OVERRIDES}`"
            self._find("config-unknown", member, message, fix)
            return True
        is_free = key.scope == "workspace" or self._source.place != "workspace file"
        if is_free or (key.scope == "trusted" and self._is_trusted):
            return False
        if (
            key.scope == "off"
            and isinstance(member.node, ScalarNode)
            and member.node.value is False
        ):
            return False
        reason, way_out = _UNTRUSTED[key.scope]
        message, fix = f"`{key.name}` is ignored: {reason}", f"set it in {USER_FILE}{way_out}"
        self._find("config-untrusted", member, message, fix)
        return True

    def _expect_mapping(self, node: Node, path: _Path, name: str) -> None:
        # OpenClaw's own `compaction.model` is a text, and what `agents` is, is its affair.
        is_openclaws = name in names.OPENCLAW_KEYS or not self._is_ours(path)
        if not _is_null(node) and not (self._is_foreign and is_openclaws):
            message = f"`{_name(path)}` must be a mapping"
            self._find("config-type", node, message, "put its keys below it, indented")

    def _report_unknown(self, member: Member, path: _Path, model: str | None) -> None:
        name, parent = ".".join(path), path[:-1]
        is_ours = self._is_ours(parent)
        if self._is_foreign and (name in names.OPENCLAW_KEYS or (parent and not is_ours)):
            return
        if is_ours and re.search(_KEY_LIKE, member.key):
            message = "keys come from the environment or the keyring, never from a configuration"
            self._find("config-secret", member, message, f"remove this line, {_NEW_KEY}")
            return
        # Where OpenClaw has keys of its own, only what looks like a slip is worth a word.
        is_slip_only = not is_ours or self._source.place == "openclaw"
        near = names.nearest_name(name, names.KNOWN_NAMES, is_strict=is_slip_only)
        if near is None and is_slip_only:
            return
        below = "".join(f"{part}." for part in parent)
        # Right below a model's name any of its keys may stand.
        fits = near is not None and (near.startswith(below) or (model and below == "compaction."))
        fix = f"did you mean `{near}`?" if near else "remove it, or see `ullage config show --all`"
        new = near.removeprefix(below) if near and fits else None
        message, origin = f"there is no setting `{_name(path)}`", self._source.origin(member)
        self._add(Finding("config-unknown", origin, message, fix, replacement=near, new_text=new))

    def _is_ours(self, path: _Path) -> bool:
        """Tell whether what stands below a path is ours, not OpenClaw's."""
        return not self._is_foreign or (path != () and path[0] in _OUR_SECTIONS)

    def _find(
        self, code: Code, at: Node | Member, message: str, fix: str, *, is_used: bool = False
    ) -> None:
        self._add(Finding(code, self._source.origin(at), message, fix, is_used))

    def _add(self, finding: Finding) -> None:
        if len(self.findings) < MAX_FINDINGS:
            self.findings.append(finding)


def _is_null(node: Node) -> bool:
    return isinstance(node, ScalarNode) and node.value is None


def _name(path: _Path) -> str:
    return shorten(mask(".".join(path)))
