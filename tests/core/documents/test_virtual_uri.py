"""URIs of virtual documents: what is written is read, by whatever editor it went through."""

from typing import get_args
from urllib.parse import quote, unquote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ullage.core.documents.virtual_uri import (
    VirtualName,
    VirtualUri,
    parse_virtual_uri,
    write_virtual_uri,
)

values = st.none() | st.text(
    st.characters(categories=["L", "N", "P", "Z", "S"]), min_size=1, max_size=30
)
PATHS = (
    "/home/me/a b/100%/#1?x=1&y=2/größe 😀.jsonl",
    "C:\\Users\\Jörg\\s & t\\a%20b.jsonl",
    "/tmp/session=1&entry=2+3.jsonl",
)


def through_an_editor(uri: str) -> str:
    """Decode and encode a URI as VS Code does: path and query whole."""
    scheme, _, rest = uri.partition(":")
    path, _, query = rest.partition("?")
    again = f"{scheme}:{quote(unquote(path))}"
    return f"{again}?{quote(unquote(query), safe='')}" if query else again


@given(st.sampled_from(get_args(VirtualName)), values, values, values)
def test_a_uri_is_read_as_it_was_written(name, session, entry, old) -> None:
    document = VirtualUri(name=name, session=session, entry=entry, old=old)
    uri = write_virtual_uri(document)
    assert uri.isascii()
    assert " " not in uri
    assert parse_virtual_uri(uri) == document
    assert parse_virtual_uri(through_an_editor(uri)) == document


@pytest.mark.parametrize("path", PATHS)
def test_a_path_stays_what_it_is(path: str) -> None:
    document = VirtualUri(name="Summary.md", session=path, entry="a1")
    uri = write_virtual_uri(document)
    assert parse_virtual_uri(through_an_editor(through_an_editor(uri))) == document
    once = f"ullage:/Summary.md?session={quote(path, safe='')}&entry=a1"
    assert parse_virtual_uri(once) == document


@pytest.mark.parametrize(
    "uri", ["", "ullage:", "ullage:/Other", "file:///Context Status", "ullage:/Summary.md/x"]
)
def test_what_is_no_document_of_ours_is_none(uri: str) -> None:
    assert parse_virtual_uri(uri) is None
