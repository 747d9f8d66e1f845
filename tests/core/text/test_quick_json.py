"""JSON by the functions in C alone."""

import json
import subprocess
import sys

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ullage.core.text.quick_json import parse_json, write_json

texts = st.text(st.characters(exclude_categories=["Cs"]))
values = st.recursive(
    st.none() | st.booleans() | st.integers() | texts,
    lambda inner: st.lists(inner) | st.dictionaries(texts, inner),
    max_leaves=20,
)


@given(values)
def test_what_is_written_is_what_msgspec_reads_and_what_it_writes_is_read(value: object) -> None:
    written = write_json(value)
    assert parse_json(f" {written}\n") == value
    if "9" * 18 not in str(value) and len(written) < 17:
        assert written.encode() == msgspec.json.encode(value)
    assert json.loads(written) == value


@pytest.mark.parametrize(
    "text", ["", "{", "{{", "[1,", "[] []", '{"a":}', "nope", '"', "[" * 10**6]
)
def test_what_is_no_json_is_refused_also_where_nobody_imported_json(text: str) -> None:
    script = (
        "import sys\n"
        "from ullage.core.text.quick_json import parse_json\n"
        "assert 'json' not in sys.modules\n"
        "try:\n"
        "    parse_json(sys.stdin.read())\n"
        "except (ValueError, RecursionError):\n"
        "    print('refused')\n"
    )
    done = subprocess.run(
        [sys.executable, "-P", "-c", script], input=text.encode(), capture_output=True, check=True
    )
    assert done.stdout.strip() == b"refused"


@pytest.mark.parametrize(
    "setup",
    [
        "import sys; sys.modules['_json'] = None",
        "import _json; scan = _json.make_scanner\n"
        "_json.make_scanner = lambda context: scan(context) if context.memo == {} else None",
    ],
    ids=["none", "one that wants more"],
)
def test_without_the_functions_in_c_it_is_the_same(setup: str) -> None:
    script = (
        f"{setup}\n"
        "from ullage.core.text.quick_json import parse_json, write_json\n"
        "value = {'a': ['\u00e9\\n', 1, None]}\n"
        "assert parse_json(write_json(value)) == value, write_json(value)\n"
        "for text in ('', '{', '[] []'):\n"
        "    try:\n"
        "        parse_json(text)\n"
        "    except ValueError:\n"
        "        print(write_json('\u00e9'))\n"
    )
    done = subprocess.run(
        [sys.executable, "-P", "-X", "utf8", "-c", script], capture_output=True, check=True
    )
    assert done.stdout.decode().split() == ['"é"'] * 3


@pytest.mark.parametrize("value", [1.5, b"", ["\ud83d"]])
def test_what_others_would_not_read_is_not_written(value: object) -> None:
    with pytest.raises(ValueError, match=r"JSON|utf-8"):
        write_json(value).encode("utf-8")
