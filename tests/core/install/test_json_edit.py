"""Edits of settings: what is put in can be taken out, and nothing else changes."""

import json
from copy import deepcopy

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.text.test_json5 import plain
from profiles import examples
from ullage.core.install.json_edit import (
    NotEditable,
    append_item,
    find_route,
    is_blank,
    note_containers,
    remove,
    replace_scalar,
    set_member,
)
from ullage.core.text.json5 import parse_json5

BLANKS = (
    "", "", "", " ", "\n", "\n  ", "\n\t\t", "\r\n    ", "\r", " // a, b]}\n", "// c  \r\n  ",
    "/* , */", "\n/* // */", "\xa0", "// d\u2028", "\ufeff",
)  # fmt: skip
blanks = st.lists(st.sampled_from(BLANKS), max_size=2).map("".join)
KEYS = ("hooks", "PreCompact", "a", "ü", "$b", "'x'", '"y"', '"hooks"', '"z\\n"')
leaves = st.sampled_from(
    ("1", "-0.5", "true", "null", '""', "'it'", '"a, // b"', '"é\\u00e9"', "0xF", "Infinity")
)
strict_blanks = st.sampled_from(("", " ", "\n", "\n  ", "\n\t", "\r\n  "))


def container(brackets: str, items: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    """Write a table or list in some manner: blanks anywhere, with a trailing comma or not."""

    def written(parts: list[tuple[str, str, str]], ends: str, end: str, has_comma: bool) -> str:
        inside = ",".join(f"{before}{item}{after}" for before, item, after in parts)
        return brackets[0] + inside + ("," if parts and has_comma else "") + end + ends

    parts = st.lists(st.tuples(blanks, items, blanks), max_size=3)
    return st.builds(written, parts, st.just(brackets[1]), blanks, st.booleans())


def deeper(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    entry = st.builds(
        lambda key, before, after, value: f"{key}{before}:{after}{value}",
        st.sampled_from(KEYS),
        blanks,
        blanks,
        inner,
    )
    return container("{}", entry) | container("[]", inner)


values = st.recursive(leaves, deeper, max_leaves=8)
tables = deeper(values).filter(lambda text: text.startswith("{"))
documents = st.builds("{}{}{}".format, blanks, tables, blanks) | blanks
paths = st.lists(st.sampled_from(("hooks", "PreCompact", "a", "new")), min_size=1, max_size=3)
items = st.sampled_from(("x", {"command": "c", "list": [1, {}]}, [], {"é": "\u2028"}))


def prefixes(path: tuple[str, ...]) -> list[tuple[str, ...]]:
    return [path[:n] for n in range(1, len(path) + 1)]


def value_of(text: str) -> object:
    return {} if is_blank(text) else plain(parse_json5(text))


def put(tree: object, path: tuple[str, ...], value: object, *, is_item: bool) -> object:
    """Do to the values what the edit does to the text."""
    tree = deepcopy(tree)
    at = tree
    for key in path[:-1]:
        assert isinstance(at, dict)
        at = at.setdefault(key, {})
    assert isinstance(at, dict)
    if is_item:
        at.setdefault(path[-1], []).append(value)
    else:
        at[path[-1]] = value
    return tree


@settings(max_examples=examples(150))
@given(documents, paths.map(tuple), items, st.booleans())
def test_what_is_put_into_any_text_is_merged_and_comes_out_again(
    text: str, path: tuple[str, ...], item: object, is_item: bool
) -> None:
    if not is_item and not is_blank(text) and find_route(parse_json5(text), path) is not None:
        return
    before = note_containers(text, prefixes(path))
    try:
        new = append_item(text, path, item) if is_item else set_member(text, path, item)
    except NotEditable:
        return
    merged = put(value_of(text), path, item, is_item=is_item)
    assert value_of(new) == json.loads(json.dumps(merged))
    route = find_route(parse_json5(new), path)
    assert route is not None
    if is_item:
        route = (*route, len(put_list(new, path)) - 1)
    assert remove(new, route, before) == text


def put_list(text: str, path: tuple[str, ...]) -> list[object]:
    at = value_of(text)
    for key in path:
        assert isinstance(at, dict)
        at = at[key]
    assert isinstance(at, list)
    return at


@settings(max_examples=examples(60))
@given(documents, st.permutations(("b", "c", "d")))
def test_what_was_put_in_comes_out_in_any_order(text: str, order: list[str]) -> None:
    names = ("b", "c", "d")
    before = note_containers(text, [("new",)])
    new = text
    for name in names:
        new = append_item(new, ("new",), name)
    for name in order:
        route = find_route(parse_json5(new), ("new",))
        assert route is not None
        new = remove(new, (*route, put_list(new, ("new",)).index(name)), before)
    assert new == text


@settings(max_examples=examples(60))
@given(documents, st.data())
def test_taking_any_value_out_leaves_all_others(text: str, data: st.DataObject) -> None:
    if is_blank(text) or not (tree := value_of(text)):
        return
    assert isinstance(tree, dict)
    table = parse_json5(text)
    index = data.draw(st.integers(0, len(table.members) - 1))
    left = [entry for at, entry in enumerate(table.members) if at != index]
    new = parse_json5(remove(text, (index,), None))
    assert [(entry.key, plain(entry.node)) for entry in new.members] == [
        (entry.key, plain(entry.node)) for entry in left
    ]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", '{\n  "a": [\n    1\n  ]\n}\n'),
        ("{}", '{\n  "a": [\n    1\n  ]\n}'),
        ("{\n}\n", '{\n  "a": [\n    1\n  ]\n}\n'),
        ('{"b": 1}', '{"b": 1,\n  "a": [\n    1\n  ]}'),
        ('{\n\t"b": 1\n}', '{\n\t"b": 1,\n\t"a": [\n\t\t1\n\t]\n}'),
        ('{\r\n    "b": 1\r\n}', '{\r\n    "b": 1,\r\n    "a": [\r\n        1\r\n    ]\r\n}'),
        ('{\n  "a": [0]\n}', '{\n  "a": [0, 1]\n}'),
        ("{a: [0, ]}", "{a: [0, 1, ]}"),
        ('{\n  "a": [\n    0\n  ]\n}', '{\n  "a": [\n    0,\n    1\n  ]\n}'),
        ("{\n  a: [\n    0, // why\n  ],\n}", "{\n  a: [\n    0, // why\n    1,\n  ],\n}"),
        ("{\n  a: [\n    0 // why\n  ],\n}", "{\n  a: [\n    0, // why\n    1\n  ],\n}"),
        ('{"a": [], "a": []}', '{"a": [], "a": [\n  1\n]}'),
    ],
)
def test_an_insertion_is_in_the_manner_of_the_text(text: str, expected: str) -> None:
    assert append_item(text, ("a",), 1) == expected


@pytest.mark.parametrize("text", ['{"a": null}', '{"a": 3}', '{"a": "x"}', '{"a": {}}', "[]", "1"])
def test_what_is_of_another_kind_is_not_edited(text: str) -> None:
    with pytest.raises(NotEditable):
        append_item(text, ("a",), 1)


@pytest.mark.parametrize(
    ("text", "index", "expected"),
    [
        ("[1, 2, 3]", 1, "[1, 3]"),
        ("[1, 2, 3]", 0, "[2, 3]"),
        ("[1, 2, 3]", 2, "[1, 2]"),
        ("[\n  1,\n  2, 3\n]", 1, "[\n  1,\n  3\n]"),
        ("[1, // why\n  2]", 1, "[1 // why\n  ]"),
        ("[1, // why\n  2,]", 1, "[1, // why\n  ]"),
        ("[\n  1, // one\n  2, // two\n  3\n]", 1, "[\n  1, // one\n   // two\n  3\n]"),
        ("[\n  // of one\n  1,\n  2\n]", 0, "[\n  // of one\n  2\n]"),
    ],
)
def test_an_item_goes_with_one_comma(text: str, index: int, expected: str) -> None:
    assert remove(text, (index,), None) == expected


def test_without_a_note_what_holds_nothing_else_goes_up_to_the_outermost() -> None:
    assert remove('{"a": {"b": [1]}}', (0, 0, 0), None) == "{}"
    assert remove('{"c": 1, "a": {"b": [1]}}', (1, 0, 0), None) == '{"c": 1}'
    assert remove('{"a": {"b": [1 /* mine */]}}', (0, 0, 0), None) == '{"a": {"b": [ /* mine */]}}'


def test_a_comment_around_a_text_that_was_blank_stays() -> None:
    before = note_containers("\n", [("a",)])
    new = "// mine\n" + append_item("\n", ("a",), 1)
    assert remove(new, (0, 0), before) == "// mine\n\n{}\n"


def test_a_value_is_replaced_in_its_place() -> None:
    assert replace_scalar("{a: [0, 'x' /* y */]}", (0, 1), 'é"') == '{a: [0, "é\\"" /* y */]}'
