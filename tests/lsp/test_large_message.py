"""Long texts are taken out of messages, whatever the pieces that they come in."""

import io
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ullage.lsp.lifecycle import MAX_TEXT_BYTES, LongTexts, read_large

LONG = 'a "quoted" \\ line 🍷\n' * (MAX_TEXT_BYTES // 10)
MAX_KEPT_BYTES = 1 << 20


def opened(text: str, *, is_text_first: bool = False) -> dict[str, object]:
    document: dict[str, object] = {"uri": "file:///ü.jsonl", "languageId": "jsonl", "version": 3}
    document = {"text": text, **document} if is_text_first else {**document, "text": text}
    message: dict[str, object] = {"jsonrpc": "2.0", "method": "textDocument/didOpen"}
    return {"params": {"textDocument": document}, **message}


@given(
    st.recursive(
        st.none() | st.integers() | st.text(alphabet='ab"\\\n🍷'),
        lambda inner: st.lists(inner) | st.dictionaries(st.text(alphabet='a"\\'), inner),
    ),
    st.integers(1, 7),
)
def test_a_message_of_short_texts_is_copied_byte_for_byte(value: object, n_bytes: int) -> None:
    data = json.dumps(value, ensure_ascii=False).encode()
    texts = LongTexts()
    for at in range(0, len(data), n_bytes):
        texts.add(data[at : at + n_bytes])
    assert texts.result() == data


@pytest.mark.parametrize("n_bytes", [1000, 4097, 1 << 20])
@pytest.mark.parametrize("is_text_first", [True, False])
@pytest.mark.parametrize("ending", ["", "\\", '"', '\\"', "\\\\"])
def test_a_long_text_is_emptied_and_all_else_stays(
    n_bytes: int, ending: str, *, is_text_first: bool
) -> None:
    data = json.dumps(opened(LONG + ending, is_text_first=is_text_first)).encode()
    texts = LongTexts()
    for at in range(0, len(data), n_bytes):
        texts.add(data[at : at + n_bytes])
    assert json.loads(texts.result()) == opened("")


def read(message: object) -> object:
    data = json.dumps(message).encode()
    found = read_large(io.BytesIO(data).read, len(data), max_kept_bytes=MAX_KEPT_BYTES)
    return None if found is None else json.loads(found)


def test_a_document_that_is_opened_comes_without_its_text_whatever_its_size() -> None:
    assert read(opened(LONG)) == opened("")
    assert read(opened(LONG * 20)) == opened("")


def test_another_message_is_given_as_it_was_sent_or_not_at_all() -> None:
    message = {"jsonrpc": "2.0", "id": 1, "method": "x", "params": LONG}
    assert read(message) == message
    assert read({**message, "params": LONG * 20}) is None
    assert read({**message, "params": ["short"] * 200_000}) is None


def test_a_message_that_breaks_off_gives_what_there_is() -> None:
    data = json.dumps(opened(LONG)).encode()[:-4]
    assert read_large(io.BytesIO(data).read, len(data) + 4, max_kept_bytes=MAX_KEPT_BYTES) == data
