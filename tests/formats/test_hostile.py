"""Content that is damaged or hostile: docs/safety.md, "Limits of what is read".

None of it is an exception: the line is kept and reported, and what stands around it is read.
"""

import json

import pytest

from claude_files import ClaudeFile, text
from claude_files import call as claude_call
from claude_files import result as claude_result
from pi_files import PiFile, json_line
from reading import read_context, read_messages
from ullage.core.gauge.gauge import measure
from ullage.core.gauge.window import DEFAULT_WINDOW
from ullage.core.transcript.entries import MemoryLines, plain_text, render
from ullage.core.transcript.lineage import EMPTY_INDEX
from ullage.formats.json_line import MAX_LINE_BYTES
from ullage.formats.registry import AGENTS, recognize

Session = PiFile | ClaudeFile


@pytest.fixture(params=[PiFile, ClaudeFile], ids=["pi", "claude"])
def session(request: pytest.FixtureRequest) -> Session:
    """A session with one message in it."""
    session = request.param()
    session.user("before")
    return session


def check(session: Session, *, n_problems: int, n_items: int = 2) -> None:
    """Check what is read once another message followed, and that no byte is lost."""
    session.user("after")
    context = read_context(session.data)
    assert len(context.problems) == n_problems
    texts = [plain_text(item.message) for item in context.items]
    assert texts[0] == "before"
    assert texts[-1] == "after"
    assert len(texts) == n_items
    measure(context, DEFAULT_WINDOW, len)
    for info in AGENTS:
        assert render(info.parse(session.data)) == session.data


@pytest.mark.parametrize(
    "character", ["\u2028", "\u2029", "\x85", "\x0b", "\x0c", "\x1c"], ids=ascii
)
def test_c1_a_separator_inside_a_text_ends_no_line(session: Session, character: str) -> None:
    session.user(f"a{character}b")
    context = read_context(session.data)
    assert context.items[-1].message.blocks[0].text == f"a{character}b"
    check(session, n_problems=0, n_items=3)


@pytest.mark.parametrize("lone", ["\ud800", "a\udc00b"], ids=ascii)
def test_c2_a_lone_surrogate_is_text_like_any_other(session: Session, lone: str) -> None:
    session.user(lone)
    assert read_context(session.data).items[-1].message.blocks[0].text == lone
    assert json.loads(json.dumps(read_messages(session.data)))[-1]["content"] == lone
    check(session, n_problems=0, n_items=3)


def test_c2_a_lone_surrogate_where_an_object_is_expected_is_no_failure() -> None:
    meta = b'{"type":"session_meta","payload":{"id":"s","cwd":"/p"}}\n'
    lines = MemoryLines(meta + b'{"type":"response_item","payload":"\\ud800"}\n')
    recognized = recognize(lines)
    assert recognized is not None
    info, header = recognized
    assert info.agent == "codex"
    assert len(info.read_context(lines, header, EMPTY_INDEX).context.items) == 1


def test_c3_an_integer_of_5000_digits_where_an_id_is_expected_is_no_failure(
    session: Session,
) -> None:
    session.raw(b'{"type":"custom","id":' + b"7" * 5000 + b"}\n")
    check(session, n_problems=isinstance(session, PiFile))


def test_c3_an_integer_of_5000_digits_inside_a_message_makes_its_line_a_problem() -> None:
    pi = PiFile()
    pi.user("before")
    pi.user("#")
    pi.lines[-1] = pi.lines[-1].replace(b'"#"', b"7" * 5000)
    context = read_context(pi.data)
    assert [plain_text(item.message) for item in context.items] == ["before"]
    assert len(context.problems) == 1


def test_a_line_is_counted_as_an_entry_or_as_a_problem_and_never_as_both() -> None:
    pi = PiFile()
    pi.user("before")
    pi.user("#")
    pi.lines[-1] = pi.lines[-1].replace(b'"#"', b"7" * 5000)
    context = read_context(pi.data)
    assert context.n_entries + len(context.problems) == 2


@pytest.mark.parametrize(
    "deep", [b"[" * 100_000, b"[" * 100_000 + b"]" * 100_000], ids=["open", "closed"]
)
def test_c4_nesting_of_100000_levels_makes_its_line_a_problem(
    session: Session, deep: bytes
) -> None:
    session.raw(b'{"type":"custom","id":"x","parentId":null,"deep":' + deep + b"}\n")
    check(session, n_problems=1)


@pytest.mark.parametrize("number", [b"NaN", b"Infinity", b"-Infinity"], ids=bytes.decode)
def test_c5_numbers_that_json_lacks_make_their_line_a_problem(
    session: Session, number: bytes
) -> None:
    session.raw(b'{"type":"custom","id":"x","parentId":null,"n":' + number + b"}\n")
    check(session, n_problems=1)


def test_c5_a_number_beyond_any_float_is_no_usage() -> None:
    pi = PiFile()
    pi.assistant("one", usage={"totalTokens": 7, "input": 0})
    pi.raw(pi.lines.pop().replace(b'"totalTokens":7', b'"totalTokens":1e999'))
    context = read_context(pi.data)
    assert all(item.message.usage is None for item in context.items)


WRONG = [None, True, 0, -1, 1.5, "text", [], [1, "a", None], {}, {"a": 1}]


@pytest.mark.parametrize("wrong", WRONG, ids=repr)
def test_c6_a_wrong_type_in_any_field_of_a_pi_entry_is_no_failure(wrong: object) -> None:
    pi = PiFile()
    first = pi.user("one")
    pi.assistant("two", calls=[("c1", "bash", {"command": "ls"})], usage=50)
    pi.result("c1", "out")
    pi.custom_message("note")
    pi.branch_summary("there")
    pi.context_edit(first, {"content": "uno"})
    pi.message("bashExecution", command="ls", output="x", exitCode=0)
    pi.compaction("S", first, details={"readFiles": ["a"]})
    for at, changed in _with_wrong_fields(pi.lines, wrong):
        data = b"".join([*pi.lines[:at], changed, *pi.lines[at + 1 :]])
        _read_if_recognized(data)


@pytest.mark.parametrize("wrong", WRONG, ids=repr)
def test_c6_a_wrong_type_in_any_field_of_a_claude_record_is_no_failure(wrong: object) -> None:
    claude = ClaudeFile()
    kept = claude.user("one")
    claude.assistant(text("two"), claude_call("t1", command="ls"), usage=50)
    claude.user([claude_result("t1", "out")])
    claude.attachment("reminder")
    claude.boundary(preserved=[kept])
    claude.summary("S")
    claude.assistant(text("three"))
    for at, changed in _with_wrong_fields(claude.lines, wrong):
        data = b"".join([*claude.lines[:at], changed, *claude.lines[at + 1 :]])
        _read_if_recognized(data)


def _with_wrong_fields(lines: list[bytes], wrong: object):
    """Give each line with each of its fields, nested ones too, replaced in turn."""
    for at, line in enumerate(lines):
        for path in _paths(json.loads(line)):
            value = json.loads(line)
            holder = value
            for key in path[:-1]:
                holder = holder[key]
            holder[path[-1]] = wrong
            yield at, json_line(value)


def _paths(value: object, above: tuple = ()):
    pairs = (
        value.items()
        if isinstance(value, dict)
        else enumerate(value)
        if isinstance(value, list)
        else ()
    )
    for key, part in pairs:
        yield (*above, key)
        yield from _paths(part, (*above, key))


def _read_if_recognized(data: bytes) -> None:
    for info in AGENTS:
        assert render(info.parse(data)) == data
    if recognize(MemoryLines(data)) is None:
        return
    context = read_context(data)
    gauge = measure(context, DEFAULT_WINDOW, len)
    assert gauge.used_tokens is not None
    assert gauge.used_tokens >= 0
    json.dumps(read_messages(data))


def test_c6_of_duplicate_keys_the_last_one_counts(session: Session) -> None:
    last = session.lines[-1].replace(b'"type":"', b'"type":"custom","type":"', 1)
    session.lines[-1] = last.replace(b"{", b'{"__proto__":{"type":"x"},', 1)
    check(session, n_problems=0)


@pytest.mark.parametrize(
    "line",
    [
        b'{"type":"custom","text":"\xff\xfe"}\n',
        '{"type":"custom","id":"x"}\n'.encode("utf-16-be"),
        b"\xc3\n",
        b'{"type":"cus\x00tom"}\n',
        b'{"a":\x01}\n',
    ],
    ids=["in a text", "utf-16", "lone byte", "raw NUL", "raw control"],
)
def test_c7_bad_bytes_touch_no_other_line(session: Session, line: bytes) -> None:
    session.raw(line)
    session.user("after")
    context = read_context(session.data)
    texts = [item.message.blocks[0].text for item in context.items if item.message.blocks]
    assert texts[-1] == "after"
    assert "before" in texts or context.problems == ()


def test_c7_bad_utf_8_inside_a_message_is_replaced_as_javascript_does(session: Session) -> None:
    session.user("caf#")
    session.lines[-1] = session.lines[-1].replace(b"#", b"\xe9")
    assert read_context(session.data).items[-1].message.blocks[0].text == "caf\ufffd"
    check(session, n_problems=0, n_items=3)


def test_c7_a_bom_before_the_first_line_is_passed_over(session: Session) -> None:
    session.lines[0] = b"\xef\xbb\xbf" + session.lines[0]
    check(session, n_problems=0)


def test_c7_nul_padding_between_lines_is_kept(session: Session) -> None:
    session.raw(b"\0" * 4096 + b"\n")
    check(session, n_problems=isinstance(session, PiFile))


def test_c7_crlf_and_blank_lines_are_no_problems(session: Session) -> None:
    session.lines = [line.replace(b"\n", b"\r\n") for line in session.lines]
    session.raw(b"\r\n")
    session.raw(b"\n \t\n")
    check(session, n_problems=0)


def test_c8_a_line_without_its_end_is_unfinished_and_no_more(session: Session) -> None:
    session.user("after")
    whole = read_context(session.data)
    torn = session.data + b'{"type":"user","id":"x","uu'
    context = read_context(torn)
    assert [problem.message for problem in context.problems] == ["unfinished line"]
    assert context.items == whole.items
    assert context.leaf_id == whole.leaf_id


def test_c8_a_whole_entry_without_a_line_end_counts(session: Session) -> None:
    session.user("after")
    assert read_context(session.data[:-1]).items == read_context(session.data).items


def test_c9_a_line_of_17_mb_beside_the_thread_does_no_harm(session: Session) -> None:
    before = session.leaf
    session.user("x" * 17_000_000)
    assert len(session.lines[-1]) > MAX_LINE_BYTES
    session.leaf = before
    session.user("after")
    items = read_context(session.data).items
    assert [plain_text(item.message) for item in items] == ["before", "after"]
    found = recognize(MemoryLines(session.data))
    assert found is not None
    assert len(found[0].parse(session.data).problems) == 1


def test_c9_a_line_of_17_mb_in_the_thread_is_a_problem_and_the_rest_is_read() -> None:
    pi = PiFile()
    pi.user("before")
    pi.user("x" * 17_000_000)
    pi.user("after")
    context = read_context(pi.data)
    assert [plain_text(item.message) for item in context.items] == ["before", "after"]
    assert len(context.problems) == 1


@pytest.mark.parametrize(
    "line",
    [b'{"type":"custom"}{"type":"custom"}\n', b'{"type":"cus{"type":"custom"}\n', b'{"a":1},\n'],
    ids=["two objects", "half and one", "comma"],
)
def test_c10_more_than_one_object_on_a_line_is_one_problem(session: Session, line: bytes) -> None:
    session.raw(line)
    check(session, n_problems=1)


def test_c11_a_result_without_its_call_is_read(session: Session) -> None:
    if isinstance(session, PiFile):
        session.result("no-such-call", "out")
    else:
        session.user([claude_result("no-such-call", "out")])
    check(session, n_problems=0, n_items=3)


@pytest.mark.parametrize("parent", ["deadbeef", 7, [], {}, True], ids=repr)
def test_c14_a_parent_that_does_not_exist_ends_the_thread(session: Session, parent: object) -> None:
    session.leaf = parent
    session.user("after")
    texts = [item.message.blocks[0].text for item in read_context(session.data).items]
    assert texts == ["after"]


@pytest.mark.parametrize("length", [1, 2, 3])
def test_c14_a_cycle_of_parents_ends(session: Session, length: int) -> None:
    ids = [session.user(f"n{n}") for n in range(length)]
    first_id = ids[0].encode()
    key = b'"parentId":' if isinstance(session, PiFile) else b'"parentUuid":'
    first = session.lines[-length]
    start = first.index(key) + len(key)
    end = first.index(b",", start)
    session.lines[-length] = first[:start] + b'"' + ids[-1].encode() + b'"' + first[end:]
    assert first_id in session.lines[-length]
    context = read_context(session.data)
    texts = [item.message.blocks[0].text for item in context.items]
    assert texts == [f"n{n}" for n in range(length)]
    measure(context, DEFAULT_WINDOW, len)


def test_c14_of_entries_with_the_same_id_the_later_one_stands_for_it() -> None:
    pi = PiFile()
    first = pi.user("one")
    second = pi.user("two")
    pi.raw(pi.lines[1].replace(b'"one"', b'"uno"'))
    pi.leaf = second
    pi.user("three")
    texts = [item.message.blocks[0].text for item in read_context(pi.data).items]
    assert texts == ["uno", "two", "three"]
    assert read_context(pi.data).items[0].entry_id == first


def test_a_line_that_is_not_json_is_kept_and_reported_with_its_place(session: Session) -> None:
    offset = len(session.data)
    session.raw(b"<html>502 Bad Gateway</html>\n")
    session.user("after")
    (problem,) = read_context(session.data).problems
    assert (problem.offset, problem.message) == (offset, "line is not valid JSON")


@pytest.mark.parametrize("line", [b"null\n", b"[]\n", b'"text"\n', b"7\n"], ids=repr)
def test_json_that_is_no_object_is_a_problem(session: Session, line: bytes) -> None:
    session.raw(line)
    check(session, n_problems=1)


@pytest.mark.parametrize("line", [b"null\n", b"nonsense\n", b"\xff\n"], ids=repr)
def test_a_last_line_that_is_no_entry_does_not_hide_the_context(
    session: Session, line: bytes
) -> None:
    session.raw(line)
    context = read_context(session.data)
    assert [item.message.blocks[0].text for item in context.items] == ["before"]


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\n\n",
        b"\0\0\0\0",
        b"hello\n",
        b'{"type":"session"}\n',
        b'{"type":"session","id":7}\n',
        b'{"id":"x","cwd":"/"}\n',
        b'[{"type":"session","id":"x"}]\n',
        b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR",
        b'{"messages":[]}',
        b'{"parentUuid":null}\n',
        b'{"parentUuid":null,"sessionId":"s"}\n',
        b"{" * 100_000,
        b"\xff\xfe" + '{"type":"session","id":"x"}\n'.encode("utf-16-le"),
    ],
    ids=lambda data: repr(data[:40]),
)
def test_what_is_no_session_is_not_recognized(data: bytes) -> None:
    assert recognize(MemoryLines(data)) is None


def test_a_header_is_not_looked_for_beyond_its_limit() -> None:
    padding = b"no json\n" * 140_000
    assert recognize(MemoryLines(padding + PiFile().data)) is None
