"""YAML: plain values with places, and none of its traps."""

import math
import re

import pytest
import yaml
from hypothesis import example, given, settings
from hypothesis import strategies as st

from profiles import examples
from ullage.core.text.positions import Positions
from ullage.core.text.tree import ListNode, MappingNode, Member, Node, ParseError, ScalarNode
from ullage.store.files import yaml_tree
from ullage.store.files.yaml_tree import parse_yaml

LOADERS = [
    pytest.param(getattr(yaml, name), id=name)
    for name in ("CSafeLoader", "SafeLoader")
    if hasattr(yaml, name)
]


@pytest.fixture(params=LOADERS, autouse=True)
def loader(request, monkeypatch) -> None:
    """Run every test with libyaml and without it."""
    monkeypatch.setattr(yaml_tree, "_loader", request.param)


def plain(node: Node) -> object:
    match node:
        case ScalarNode():
            return node.value
        case ListNode():
            return [plain(part) for part in node.items]
        case MappingNode():
            return {member.key: plain(member.node) for member in node.members}


def all_places(node: Node) -> list[tuple[int, int]]:
    places = [(node.start, node.end)]
    match node:
        case ListNode():
            places += [place for part in node.items for place in all_places(part)]
        case MappingNode():
            for member in node.members:
                places += [(member.start, member.end), *all_places(member.node)]
        case _:
            pass
    return places


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("", None),
        ("a:", {"a": None}),
        ("a: ~\nb: null\nc: 'null'", {"a": None, "b": None, "c": "null"}),
        ("a: true\nb: 'true'\nc: yes\nd: on", {"a": True, "b": "true", "c": "yes", "d": "on"}),
        (
            "a: 5\nb: '5'\nc: 40_000\nd: -1\ne: +2",
            {"a": 5, "b": "5", "c": 40_000, "d": -1, "e": 2},
        ),
        ("a: 0.3\nb: .5\nc: 1e3\nd: 5.", {"a": 0.3, "b": 0.5, "c": 1000.0, "d": 5.0}),
        ("a: 2026-99-99\nb: 2026-01-01", {"a": "2026-99-99", "b": "2026-01-01"}),
        ("a: 0x1F\nb: 0o17\nc: 12:30", {"a": "0x1F", "b": "0o17", "c": "12:30"}),
        ("a: [1, {b: c}]\nd:\n- e\n- f", {"a": [1, {"b": "c"}], "d": ["e", "f"]}),
        ("a: |\n  two\n  lines\n", {"a": "two\nlines\n"}),
        ("<<: {a: 1}", {"<<": {"a": 1}}),
        ("1: a\ntrue: b", {"1": "a", "True": "b"}),
        ("a: " + "9" * 5000, {"a": math.inf}),
        ("a: .inf\nb: -.inf", {"a": math.inf, "b": -math.inf}),
    ],
    ids=lambda value: str(value)[:30],
)
def test_plain_values_are_read(text: str, value: object) -> None:
    assert plain(parse_yaml(text)) == value


@pytest.mark.parametrize("newline", ["\n", "\r\n"], ids=["LF", "CRLF"])
def test_places_are_those_of_an_editor(newline: str) -> None:
    text = newline.join(
        ["# ä𝄞", "grüße: 'ü'", "b: [1, é]", "c:", "  d: |", "    x", "", "e: 5", ""]
    )
    root, positions = parse_yaml(text), Positions(text)

    def span(at: Node | Member) -> tuple[int, int, int]:
        return (*positions.line_and_column(at.start), positions.line_and_column(at.end)[1])

    assert isinstance(root, MappingNode)
    grusse, b, c, e = root.members
    assert span(grusse)[:2] == (2, 1)
    assert span(grusse.node) == (2, 8, 11)
    assert isinstance(b.node, ListNode)
    assert span(b.node.items[1])[:2] == (3, 8)
    assert isinstance(c.node, MappingNode)
    assert span(c.node.members[0])[:2] == (5, 3)
    assert span(e.node) == (8, 4, 5)
    assert text[e.node.start : e.node.end] == "5"
    assert text[b.node.start : b.node.end] == "[1, é]"


@pytest.mark.parametrize(
    ("text", "words", "offset"),
    [
        ("a: &x 1", "anchors", 3),
        ("a: *x", "anchors", 3),
        ("a: &a [x]\nb: &b [*a,*a]\nc: [*b,*b]", "anchors", 3),
        ("a: !!python/object:os.system x", "tags", 3),
        ("a: !x 1", "tags", 3),
        ("a: 1\n---\nb: 2", "second document", 5),
        ("? [a]\n: b", "cannot be a key", 2),
        ("[" * 100_000, "nested deeper", None),
        ("{a: " * 100_000, "nested deeper", None),
        ("- " * 100_000, "nested deeper", 102),
        ("a: [", "not YAML", 4),
        ("a: b: c", "not YAML", 4),
        ("a: 'x", "not YAML", None),
        ("\t- x", "not YAML", 0),
        ("a: \0", "not allowed", None),
        ('a: "\\UFFFFFFFF"', "not YAML", None),
    ],
    ids=lambda value: str(value)[:20],
)
def test_what_is_no_plain_yaml_is_refused_with_its_place(
    text: str, words: str, offset: int | None
) -> None:
    with pytest.raises(ParseError, match=words) as refused:
        parse_yaml(text)
    assert refused.value.offset == offset or offset is None


# PyYAML writes "1e4" as it is; with us, as in YAML 1.2 and JSON, that is a number.
texts = st.text(max_size=8).filter(lambda text: not re.fullmatch(r"[-+]?[0-9]+[eE].*", text))


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers(-(10**16), 10**16) | texts,
        lambda parts: st.lists(parts, max_size=3) | st.dictionaries(texts, parts, max_size=3),
        max_leaves=8,
    )
)
@settings(max_examples=examples(60))
def test_what_pyyaml_writes_is_read_back(value: object) -> None:
    node = parse_yaml(yaml.safe_dump(value))
    assert plain(node) == value


@given(st.text(alphabet="ab:-[]{}&*!|>'\"#? \n\r\t,0.%\\u~é\x85\u2028𝄞\0", max_size=40) | st.text())
@example('"\\ud800"')
@example("%YAML 9999999999999999999999.1\n---\na")
@example("!<\t")
@settings(max_examples=examples(300))
def test_any_text_is_read_or_refused_and_places_are_inside_it(text: str) -> None:
    text = text.encode("utf-8", "replace").decode()
    offsets = [0]
    try:
        node = parse_yaml(text)
    except ParseError as refused:
        offsets = [refused.offset]
    else:
        assert all(start <= end for start, end in all_places(node))
        offsets += [offset for place in all_places(node) for offset in place]
    assert 0 <= min(offsets) <= max(offsets) <= len(text)
