"""What one place says: the settings in it, and what is wrong with them.

A place is a file, the editor, the environment or a command's flags. Nothing here fails: what
cannot be used is a finding, and the next weaker place decides.
"""

import math
import re
from collections.abc import Mapping
from typing import cast

from ullage.core.config.keys import (
    KEYS,
    KNOWN_NAMES,
    LISTED_SECTIONS,
    OPENCLAW_KEYS,
    OVERRIDES,
    PREFIX,
    SECTIONS,
    SPELLINGS,
    Key,
)
from ullage.core.config.settings import Setting
from ullage.core.config.suggest import nearest_key
from ullage.core.config.tree import (
    MAX_DEPTH,
    MAX_DIGITS,
    Code,
    Entry,
    Finding,
    Items,
    Leaf,
    Node,
    Origin,
    Source,
    Span,
    Table,
    shown,
)
from ullage.core.config.value_finding import holds_secret, value_finding
from ullage.core.config.values import Fault, read_text, read_value
from ullage.core.secrets.scan import mask

MAX_FINDINGS = 100
"""Of one place; more would only hide the first (chosen)."""
USER_FILE = "~/.openclaw/config.yaml"

_COMPACTION = ("agents", "defaults", "compaction")
_KEY_LIKE = (
    r"(?i)(?:^|[-_.]|(?<=[a-z]))(?:api[-_]?keys?|secrets?|passw(?:or)?d|credentials?"
    r"|authorization|(?:access|auth|bearer|refresh|api)[-_]?token)$|^(?:key|token)$"
)
"""A text, as compiling it takes longer than reading a usual configuration."""
_OWN_SECTIONS = (
    "compaction",
    "gauge",
    "checkpoint",
    "dreaming",
    "bootstrap",
    "sandbox",
    "diagnostics",
)
_OWN_VARIABLES = tuple(f"{PREFIX}{section.upper()}_" for section in _OWN_SECTIONS)


def read_source(source: Source, *, is_trusted: bool) -> tuple[list[Setting], list[Finding]]:
    """Read what a file or the editor says; a workspace's file says less if it is not trusted."""
    reader = _Reader(source, is_trusted=is_trusted)
    if source.root is not None:
        reader.read_root(source.root)
    return list(reader.settings.values()), [*source.findings, *reader.findings[:MAX_FINDINGS]]


def read_environment(env: Mapping[str, str]) -> tuple[list[Setting], list[Finding]]:
    """Read the variables `ULLAGE_…` that are named after keys; an empty one says nothing."""
    settings: list[Setting] = []
    findings: list[Finding] = []
    names = sorted(name for name in env if name.startswith(PREFIX) and env[name].strip())
    if not names:
        return settings, findings
    keys = {key.variable: key for key in KEYS}
    for name in names:
        origin = Origin(place="environment", name=shown(name))
        key = keys.get(name)
        if key is not None:
            node = read_text(key.kind, env[name])
            _add(key, node, origin, settings, findings)
        elif name.startswith(_OWN_VARIABLES):
            near = nearest_key(name, keys)
            findings.append(
                Finding(
                    code="config-unknown",
                    origin=origin,
                    message="no setting has this variable",
                    fix=f"did you mean `{near}`?" if near else "remove it",
                    replacement=near,
                )
            )
    return settings, findings[:MAX_FINDINGS]


def read_flags(flags: Mapping[str, tuple[str, object]]) -> tuple[list[Setting], list[Finding]]:
    """Read a command's flags: by the flag as a user types it, the name of its key and the value."""
    settings: list[Setting] = []
    findings: list[Finding] = []
    for flag, (name, value) in flags.items():
        _add(
            SPELLINGS[name],
            plain_node(value),
            Origin(place="flag", name=flag),
            settings,
            findings,
        )
    return settings, findings


def plain_node(value: object, depth: int = 0) -> Node:
    """Make a tree of a value as `json` gives it; what JSON has not, or is too deep, is nothing."""
    if isinstance(value, dict) and depth < MAX_DEPTH:
        table = cast("dict[str, object]", value)
        entries = (Entry(key=key, node=plain_node(part, depth + 1)) for key, part in table.items())
        return Table(entries=tuple(entries))
    if isinstance(value, list | tuple) and depth < MAX_DEPTH:
        parts = cast("tuple[object, ...]", value)
        return Items(nodes=tuple(plain_node(part, depth + 1) for part in parts))
    if isinstance(value, int) and not isinstance(value, bool) and abs(value) >= 10**MAX_DIGITS:
        return Leaf(value=math.inf)
    return Leaf(value=value if isinstance(value, bool | int | float | str) else None)


def _add(
    key: Key, node: Node, origin: Origin, settings: list[Setting], findings: list[Finding]
) -> None:
    """Add the value of a variable or a flag, or what is wrong with it."""
    value = read_value(key.kind, node)
    if isinstance(value, Fault) or holds_secret(value):
        findings.append(value_finding(key.name, value, origin))
    else:
        settings.append(Setting(key=key, value=value, origins=(origin,)))


class _Reader:
    """Walks one source and keeps what it says."""

    def __init__(self, source: Source, *, is_trusted: bool) -> None:
        self.settings: dict[tuple[str, str | None], Setting] = {}
        self.findings: list[Finding] = []
        self._source = source
        self._is_trusted = is_trusted or source.place != "workspace file"
        # These two belong to OpenClaw, which has many more keys than we know.
        self._is_foreign = source.place in ("openclaw", "user file")

    def read_root(self, root: Node) -> None:
        if isinstance(root, Table):
            self._read_table(root, (), None)
        elif not isinstance(root, Leaf) or root.value is not None:
            self._find(
                "config-type",
                root.span,
                "a configuration must be a mapping",
                "begin with a key such as compaction:",
            )

    def _read_table(self, table: Table, path: tuple[str, ...], model: str | None) -> None:
        seen: set[str] = set()
        for entry in table.entries:
            if len(self.findings) >= MAX_FINDINGS:
                return
            if entry.key in seen and self._is_ours(path):
                self._find(
                    "config-duplicate",
                    entry.key_span,
                    f"{_named((*path, entry.key))} stands here twice, and the last one counts",
                    "remove one of them",
                    is_used=True,
                )
            seen.add(entry.key)
            self._read_entry(entry, (*path, entry.key), model)

    def _read_entry(self, entry: Entry, path: tuple[str, ...], model: str | None) -> None:
        if path == _COMPACTION:
            path = ("compaction",)
        if model is not None and ".".join(path[1:]) in KNOWN_NAMES:
            # Below a model's name stand keys of `compaction`, and the few that are not.
            path = path[1:]
        name = ".".join(path)
        node = entry.node
        key = SPELLINGS.get(name)
        if name in SECTIONS and isinstance(node, Table):
            self._read_section(node, path, name, model)
        elif name in LISTED_SECTIONS and isinstance(node, Items):
            self._read_list(node, path, name, model)
        elif key is not None:
            self._read_key(key, entry, model)
        elif name in SECTIONS or (model is not None and isinstance(node, Table)):
            self._expect_mapping(entry, path, name)
        else:
            self._report_unknown(entry, path)

    def _read_section(
        self, table: Table, path: tuple[str, ...], name: str, model: str | None
    ) -> None:
        if name != OVERRIDES:
            self._read_table(table, path, model)
            return
        for entry in table.entries:
            if isinstance(entry.node, Table) and entry.key.strip() and model is None:
                self._read_table(entry.node, ("compaction",), entry.key.strip())
            else:
                self._expect_mapping(entry, (*path, entry.key), OVERRIDES)

    def _read_list(self, items: Items, path: tuple[str, ...], name: str, model: str | None) -> None:
        """Read the form in which S0 and S4 write layers and triggers: each part names itself."""
        field = LISTED_SECTIONS[name]
        for node in items.nodes:
            entries = node.entries if isinstance(node, Table) else ()
            names = [entry.node for entry in entries if entry.key == field]
            part = names[0] if names else None
            if not isinstance(part, Leaf) or not isinstance(part.value, str):
                self._find(
                    "config-type",
                    node.span,
                    f"a part of {name} must be a mapping that has {field!r}",
                    f"add {field}: and its name",
                )
                continue
            rest = tuple(entry for entry in entries if entry.key != field)
            if f"{name}.{part.value}" in SECTIONS:
                self._read_table(Table(entries=rest, span=node.span), (*path, part.value), model)
            else:
                self._report_unknown(
                    Entry(key=part.value, key_span=part.span, node=node), (*path, part.value)
                )

    def _read_key(self, key: Key, entry: Entry, model: str | None) -> None:
        is_null = isinstance(entry.node, Leaf) and entry.node.value is None
        if is_null and not key.is_nullable:
            return  # As if the line were not there.
        if self._is_misplaced(key, entry, model):
            return
        origin = self._source.origin(entry.node.span or entry.key_span)
        name = key.name if model is None else _named((OVERRIDES, model, key.name))
        value = None if is_null else read_value(key.kind, entry.node)
        if isinstance(value, Fault) or holds_secret(value):
            at = self._origin_of(value.node, origin) if isinstance(value, Fault) else origin
            self._add_finding(value_finding(name, value, at))
        else:
            self._keep(Setting(key=key, value=value, origins=(origin,), model=model), entry)

    def _is_misplaced(self, key: Key, entry: Entry, model: str | None) -> bool:
        """Tell whether a key may not stand here, and report it."""
        if model is not None and not key.is_per_model:
            self._find(
                "config-unknown",
                entry.key_span,
                f"`{key.name}` is not set for one model",
                f"move it out of `{OVERRIDES}`",
            )
        elif not self._may_set(key):
            reason, way_out = _UNTRUSTED[key.scope]
            self._find(
                "config-untrusted",
                entry.key_span,
                f"`{key.name}` is ignored: {reason}",
                f"set it in {USER_FILE}{way_out}",
            )
        else:
            return False
        return True

    def _keep(self, setting: Setting, entry: Entry) -> None:
        slot = (setting.key.name, setting.model)
        before = self.settings.get(slot)
        if before is not None and before.value != setting.value:
            self._find(
                "config-conflict",
                entry.key_span,
                f"`{setting.name}` is set twice here, and the last one counts",
                f"remove one of them{_at_line(before.origins[0])}",
                is_used=True,
            )
        self.settings[slot] = setting

    def _may_set(self, key: Key) -> bool:
        if self._source.place != "workspace file":
            return True
        return key.scope == "workspace" or (key.scope == "trusted" and self._is_trusted)

    def _expect_mapping(self, entry: Entry, path: tuple[str, ...], name: str) -> None:
        is_empty = isinstance(entry.node, Leaf) and entry.node.value is None
        # OpenClaw's own `compaction.model` is a text, and what `agents` is, is its affair.
        is_openclaws = name in OPENCLAW_KEYS or not self._is_ours(path)
        if is_empty or (self._is_foreign and is_openclaws):
            return
        self._find(
            "config-type",
            entry.node.span,
            f"`{_named(path)}` must be a mapping",
            "put its keys below it, indented",
        )

    def _report_unknown(self, entry: Entry, path: tuple[str, ...]) -> None:
        name = ".".join(path)
        is_ours = self._is_ours(path[:-1])
        if self._is_foreign and (name in OPENCLAW_KEYS or (len(path) > 1 and not is_ours)):
            return
        if is_ours and re.search(_KEY_LIKE, entry.key):
            self._find(
                "config-secret",
                entry.key_span,
                "keys come from the environment or the keyring, never from a configuration",
                "remove this line, and make a new key if others can read this file",
            )
            return
        # Where OpenClaw has keys of its own, only what looks like a slip is worth a word.
        is_slip_only = not is_ours or self._source.place == "openclaw"
        near = nearest_key(name, KNOWN_NAMES, is_strict=is_slip_only)
        if near is None and is_slip_only:
            return
        self._find(
            "config-unknown",
            entry.key_span,
            f"there is no setting `{_named(path)}`",
            f"did you mean `{near}`?" if near else "remove it, or see `ullage config show --all`",
            replacement=near,
        )

    def _is_ours(self, path: tuple[str, ...]) -> bool:
        """Tell whether what stands below a path is ours, not OpenClaw's."""
        return not self._is_foreign or (path != () and path[0] in _OWN_SECTIONS)

    def _origin_of(self, node: Node, otherwise: Origin) -> Origin:
        return otherwise if node.span is None else self._source.origin(node.span)

    def _find(
        self,
        code: Code,
        span: Span | None,
        message: str,
        fix: str,
        *,
        is_used: bool = False,
        replacement: str | None = None,
    ) -> None:
        self._add_finding(
            Finding(
                code=code,
                origin=self._source.origin(span),
                message=message,
                fix=fix,
                is_used=is_used,
                replacement=replacement,
            )
        )

    def _add_finding(self, finding: Finding) -> None:
        if len(self.findings) < MAX_FINDINGS:
            self.findings.append(finding)


_UNTRUSTED = {
    "workspace": ("", ""),
    "trusted": (
        "this workspace is not trusted",
        ", or trust the workspace: in the editor, or by ULLAGE_TRUST_WORKSPACE",
    ),
    "user": ("no workspace says where text is sent", ""),
}


def _at_line(origin: Origin) -> str:
    return "" if origin.span is None else f"; the other stands in line {origin.span.line}"


def _named(path: tuple[str, ...]) -> str:
    return shown(mask(".".join(path)))
