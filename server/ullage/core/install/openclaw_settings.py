"""OpenClaw's `openclaw.json` with our plug-in named in it, and without.

Three things make the plug-in work: the folder that it lies in, its entry, and that compaction
is asked of it (docs/design/agents.md, "OpenClaw's plug-ins"). Where a list says which
plug-ins may load, it must be in that too.
"""

import re
from collections.abc import Iterator

from ullage.core.install import json_edit
from ullage.core.text.json5 import parse_json5
from ullage.core.text.tree import ListNode, MappingNode, Node, ScalarNode

PLUGIN = "ullage"
LOAD_PATHS = ("plugins", "load", "paths")
ENTRY = ("plugins", "entries", PLUGIN)
ALLOW = ("plugins", "allow")
PROVIDER = ("agents", "defaults", "compaction", "provider")
_OUR_FOLDER = re.compile(r"[/\\]ullage[/\\]agents[/\\]openclaw\Z")
"""Where the plug-in lies below any state folder that is named as it is by default."""


def add_plugin(text: str, folder: str, before: json_edit.Before | None) -> str:
    """Give the text with our plug-in, lying in `folder`, loaded, on and asked to compact.

    Another provider of compaction stays: `notes_on` tells of it.

    Raises:
        ParseError: the text is not JSON5.
        NotEditable: something is of another kind than OpenClaw's configuration has there.
    """
    while len(places := _load_places(text, folder)) > 1:
        text = json_edit.remove(text, places[-1], before)
    if not places:
        text = json_edit.append_item(text, LOAD_PATHS, folder)
    elif _value(text, places[0]) != folder:
        text = json_edit.replace_scalar(text, places[0], folder)
    switch = _route(text, (*ENTRY, "enabled"))
    if _route(text, ENTRY) is None:
        text = json_edit.set_member(text, ENTRY, {"enabled": True})
    elif switch is not None and _value(text, switch) is False:
        text = json_edit.replace_scalar(text, switch, value=True)
    allowed = _node(text, ALLOW)
    if isinstance(allowed, ListNode) and allowed.items and _allow_route(text) is None:
        text = json_edit.append_item(text, ALLOW, PLUGIN)
    if _route(text, PROVIDER) is None:
        text = json_edit.set_member(text, PROVIDER, PLUGIN)
    return text


def remove_plugin(text: str, folder: str, before: json_edit.Before | None) -> str:
    """Give the text without our plug-in, and without what only held what is ours.

    Raises:
        ParseError: the text is not JSON5.
    """
    while (route := next(_plugin_routes(text, folder), None)) is not None:
        text = json_edit.remove(text, route, before)
    return text


def note_before_plugin(text: str, folder: str, before: json_edit.Before | None) -> json_edit.Before:
    """Note what must be known to take our plug-in back, also where it is there already."""
    paths = [
        path[:depth]
        for path in (LOAD_PATHS, ENTRY[:-1], ALLOW, PROVIDER[:-1])
        for depth in range(1, len(path) + 1)
    ]
    return json_edit.note_containers(remove_plugin(text, folder, before), sorted(set(paths)))


def find_other_provider(text: str) -> str | None:
    """Name who is asked to compact where it is not we, as the text has it."""
    route = _route(text, PROVIDER)
    value = None if route is None else _value(text, route)
    return None if value is None or value == PLUGIN else str(value)


def find_off_switch(text: str) -> str | None:
    """Name the setting by which OpenClaw would not load our plug-in."""
    switch, denied = _node(text, ("plugins", "enabled")), _node(text, ("plugins", "deny"))
    if isinstance(switch, ScalarNode) and switch.value is False:
        return "plugins.enabled"
    if isinstance(denied, ListNode) and _index_of(denied, PLUGIN) is not None:
        return "plugins.deny"
    return None


def _plugin_routes(text: str, folder: str) -> Iterator[json_edit.Route]:
    yield from _load_places(text, folder)
    for route in (_route(text, ENTRY), _allow_route(text)):
        if route is not None:
            yield route
    provider = _route(text, PROVIDER)
    if provider is not None and _value(text, provider) == PLUGIN:
        yield provider


def _load_places(text: str, folder: str) -> list[json_edit.Route]:
    node, route = _node(text, LOAD_PATHS), _route(text, LOAD_PATHS)
    if not isinstance(node, ListNode) or route is None:
        return []
    return [
        (*route, at)
        for at, item in enumerate(node.items)
        if isinstance(item, ScalarNode)
        and isinstance(item.value, str)
        and (item.value == folder or _OUR_FOLDER.search(item.value))
    ]


def _allow_route(text: str) -> json_edit.Route | None:
    node, route = _node(text, ALLOW), _route(text, ALLOW)
    if route is None or not isinstance(node, ListNode):
        return None
    index = _index_of(node, PLUGIN)
    return None if index is None else (*route, index)


def _index_of(node: ListNode, value: str) -> int | None:
    values = [item.value if isinstance(item, ScalarNode) else None for item in node.items]
    return values.index(value) if value in values else None


def _route(text: str, path: tuple[str, ...]) -> json_edit.Route | None:
    return None if json_edit.is_blank(text) else json_edit.find_route(parse_json5(text), path)


def _node(text: str, path: tuple[str, ...]) -> Node | None:
    node: Node | None = None if json_edit.is_blank(text) else parse_json5(text)
    for key in path:
        node = json_edit.find_child(node, key) if isinstance(node, MappingNode) else None
    return node


def _value(text: str, route: json_edit.Route) -> object:
    node = json_edit.find_node(parse_json5(text), route)
    return node.value if isinstance(node, ScalarNode) else None
