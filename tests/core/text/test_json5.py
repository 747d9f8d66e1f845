"""JSON5 as json5.org has it, with places."""

import json
import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from profiles import examples
from ullage.core.text.json5 import parse_json5
from ullage.core.text.positions import Positions
from ullage.core.text.tree import ListNode, MappingNode, Node, ParseError, ScalarNode


def plain(node: Node) -> object:
    match node:
        case ScalarNode():
            return node.value
        case ListNode():
            return [plain(part) for part in node.items]
        case MappingNode():
            return {member.key: plain(member.node) for member in node.members}


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("{}", {}),
        ("[]", []),
        ("{a: 1, 'b': 2, \"c\": 3,}", {"a": 1, "b": 2, "c": 3}),
        ("{$_é1: 1, \\u0061b: 2}", {"$_é1": 1, "ab": 2}),
        ("[1, 2,]", [1, 2]),
        ("// one\n/* two\n * three **/ [1 /**/ , // four\n 2]", [1, 2]),
        ("[+1, -2, .5, 5., 1e3, 0x1F, -0xff, 0, -0]", [1, -2, 0.5, 5, 1000, 31, -255, 0, 0]),
        ("[Infinity, -Infinity, +Infinity]", [math.inf, -math.inf, math.inf]),
        ("[true, false, null]", [True, False, None]),
        (r"'a\'b\"c\n\t\x41é\q\0'", "a'b\"c\n\tAéq\0"),
        ("'one \\\ntwo \\\r\nthree'", "one two three"),
        ("'a\u2028b'", "a\u2028b"),
        (r"'\ud834\udd1e'", "𝄞"),
        (r"'\ud834'", "\ufffd"),
        ("\ufeff\xa0\v {a:1} \u2029", {"a": 1}),
        ("9" * 5000, math.inf),
        ("-" + "9" * 5000, -math.inf),
        ("0x" + "f" * 5000, math.inf),
        ("{true: 1, null: 2, Infinity: 3}", {"true": 1, "null": 2, "Infinity": 3}),
    ],
    ids=lambda value: str(value)[:30],
)
def test_values_are_read(text: str, value: object) -> None:
    assert plain(parse_json5(text)) == value


@pytest.mark.parametrize(
    ("text", "words", "offset"),
    [
        ("", "expected a value", 0),
        ("  // only this", "expected a value", 14),
        ("{a: 1", "expected a comma or }", 5),
        ("{a: 1 b: 2}", "expected a comma or }", 6),
        ("{a 1}", "expected a colon", 3),
        ("{5: 1}", "expected a key or }", 1),
        ("{a: }", "expected a value", 4),
        ("[1 2]", "expected a comma or ]", 3),
        ("[,]", "expected a value", 1),
        ("{,}", "expected a key", 1),
        ("{a: 1}}", "expected the end", 6),
        ("01", "expected a value", 0),
        ("1x", "expected a value", 0),
        ("1_000", "expected a value", 0),
        ("'a\nb'", "expected a value", 0),
        ("'abc", "expected a value", 0),
        ("undefined", "expected a value", 0),
        ("/* never closed", "expected a value", 0),
        ("#", "expected a value", 0),
        ("[" * 100_000, "nested deeper", 50),
        ("{a:" * 100_000, "nested deeper", 150),
    ],
    ids=lambda value: str(value)[:20],
)
def test_what_is_no_json5_is_refused_with_its_place(text: str, words: str, offset: int) -> None:
    with pytest.raises(ParseError, match=words.replace("]", r"\]")) as refused:
        parse_json5(text)
    assert refused.value.offset == offset


@pytest.mark.parametrize("newline", ["\n", "\r\n"], ids=["LF", "CRLF"])
def test_places_are_those_of_an_editor(newline: str) -> None:
    text = newline.join(["{", "  // ä𝄞", "  'grüße': [1, 'é'], x: 5 /* end */", "}"])
    root, positions = parse_json5(text), Positions(text)
    assert isinstance(root, MappingNode)
    first, second = root.members
    place = positions.line_and_column
    assert (place(first.start), place(first.end)) == ((3, 3), (3, 10))
    assert text[first.node.start : first.node.end] == "[1, 'é']"
    assert place(second.node.start) == (3, 25)
    assert text[second.node.start : second.node.end] == "5"
    assert (root.start, root.end) == (0, len(text))


@given(
    st.recursive(
        st.none()
        | st.booleans()
        | st.integers(-(10**16), 10**16)
        | st.floats(allow_nan=False)
        | st.text(st.characters(exclude_categories=["Cs"])),
        lambda parts: (
            st.lists(parts)
            | st.dictionaries(st.text(st.characters(exclude_categories=["Cs"])), parts)
        ),
        max_leaves=10,
    ),
    st.booleans(),
)
@settings(max_examples=examples(80))
def test_all_json_is_json5(value: object, is_ascii: bool) -> None:
    assert plain(parse_json5(json.dumps(value, ensure_ascii=is_ascii, indent=1))) == value


@given(st.text(alphabet="{}[]:,'\"\\/*-+.0x1eaN $_\n\r\u2028éuI", max_size=40) | st.text())
@settings(max_examples=examples(300))
def test_any_text_is_read_or_refused(text: str) -> None:
    offset = 0
    try:
        parse_json5(text)
    except ParseError as refused:
        offset = refused.offset
    assert 0 <= offset <= len(text)


@pytest.mark.parametrize(
    "evil",
    ["'" + "\\" * 250_000, "/*" + "*" * 250_000, "/* x */" * 35_000, "//" * 125_000, "-" * 250_000],
    ids=lambda text: text[:4],
)
def test_no_text_is_quadratic(evil: str) -> None:
    # A quadratic pattern would take minutes here, and the suite's patience.
    with pytest.raises(ParseError):
        parse_json5(evil)
