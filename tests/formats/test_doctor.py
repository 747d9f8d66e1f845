"""Every fault is found at its place, and a copy without faults keeps all that was whole."""

from collections.abc import Callable

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from claude_files import ClaudeFile, call, claude_files, result, text
from codex_files import CodexFile, codex_files
from pi_files import PiFile, entry_line, pi_files
from profiles import examples
from ullage.core.transcript.entries import Header, JsonObject, Line, MemoryLines
from ullage.formats.agent_info import AgentInfo
from ullage.formats.examine import Examination, examine
from ullage.formats.json_line import compact_json, decode_object
from ullage.formats.registry import guess, recognize, records_of
from ullage.formats.repair import CopyIdentity, RepairResult, repair

NEW_ID = "019c2f00-0000-7000-8000-00000000dddd"
IDENTITY = CopyIdentity(session_id=NEW_ID, cwd="/work/shop", timestamp="2026-02-03T12:00:00.000Z")


def whose(data: bytes) -> tuple[AgentInfo, Header, bool]:
    found = recognize(MemoryLines(data))
    if found is not None:
        return *found, True
    guessed = guess(MemoryLines(data))
    assert guessed is not None
    return *guessed, False


def look(data: bytes) -> Examination:
    known, header, is_recognized = whose(data)
    return examine(MemoryLines(data), header if is_recognized else None, known, records_of(header))


def mend(data: bytes) -> RepairResult:
    known, header, _ = whose(data)
    records = records_of(header)
    assert records is not None
    return repair(MemoryLines(data), header, known, records, IDENTITY)


def codes(data: bytes) -> list[str]:
    return [one.code for one in look(data).findings]


def natives(data: bytes) -> list[JsonObject]:
    found = (decode_object(line) for line in MemoryLines(data).forward())
    return [native for native in found if not isinstance(native, str)]


# Valid sessions


def pi() -> PiFile:
    made = PiFile()
    made.user("first")
    made.assistant("reading", calls=[("c1", "read", {"path": "a.py"})], stop="toolUse")
    made.result("c1", "content", name="read")
    made.assistant("done")
    made.user("second")
    made.assistant("the end")
    return made


def claude() -> ClaudeFile:
    made = ClaudeFile()
    made.user("first")
    made.assistant(text("reading"), call("t1", command="ls"))
    made.user([result("t1", "content")])
    made.assistant(text("done"))
    made.user("second")
    made.assistant(text("the end"))
    return made


def codex() -> CodexFile:
    made = CodexFile()
    made.turn()
    made.user("first")
    made.tool("content")
    made.assistant("done")
    made.user("second")
    made.assistant("the end")
    return made


SESSIONS: dict[str, Callable[[], PiFile | ClaudeFile | CodexFile]] = {
    "pi": pi,
    "claude": claude,
    "codex": codex,
}


@pytest.mark.parametrize("name", SESSIONS)
def test_nothing_is_wrong_with_a_whole_session(name: str) -> None:
    data = SESSIONS[name]().data
    assert codes(data) == []
    repaired = mend(data)
    assert (repaired.n_changed, repaired.n_dropped, repaired.n_added) == (0, 0, 0)
    assert repaired.n_kept == len(natives(data))


# Faults of lines, in every format: what is done to the lines, code, place, records lost

LINE_FAULTS: dict[str, tuple[Callable[[list[bytes]], list[bytes]], str, int, int]] = {
    "a mark before the header": (
        lambda lines: [b"\xef\xbb\xbf" + lines[0], *lines[1:]], "byte-order-mark", 1, 0,
    ),
    "NUL bytes at the end of a line": (
        lambda lines: [*lines[:3], lines[3].rstrip(b"\n") + b"\0" * 413 + b"\n", *lines[4:]],
        "nul-padding", 4, 0,
    ),
    "a line of NUL bytes": (
        lambda lines: [*lines[:3], b"\0" * 413 + b"\n", *lines[3:]], "nul-padding", 4, 0,
    ),
    "two records on a line": (
        lambda lines: [*lines[:3], lines[3].rstrip(b"\n") + lines[4], *lines[5:]],
        "joined-lines", 4, 0,
    ),
    "half a record before a whole one": (
        lambda lines: [*lines[:3], lines[3][:40] + lines[4], *lines[5:]], "torn-line", 4, 1,
    ),
    "half a record": (
        lambda lines: [*lines[:4], lines[4][:40] + b"\n", *lines[5:]], "torn-line", 5, 1,
    ),
    "no JSON": (lambda lines: [*lines[:4], b"oops\n", *lines[4:]], "unparseable-line", 5, 0),
    "no object": (lambda lines: [*lines[:4], b"[1]\n", *lines[4:]], "not-an-object", 5, 0),
    "a record of nothing": (
        lambda lines: [*lines[:4], b'{"type":7,"payload":[]}\n', *lines[4:]], "wrong-field", 5, 0,
    ),
    "bytes that are no text": (
        lambda lines: [*lines[:4], lines[4][:-2] + b',"x":"\xff"}\n', *lines[5:]],
        "invalid-utf8", 5, 0,
    ),
    "a last line without its end": (
        lambda lines: [*lines, lines[-1][:50]], "unfinished-line", 0, 0,
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", SESSIONS)
@pytest.mark.parametrize("fault", LINE_FAULTS)
def test_a_damaged_line_is_found_and_all_others_are_kept(name: str, fault: str) -> None:
    change, code, number, n_lost = LINE_FAULTS[fault]
    whole = SESSIONS[name]()
    data = b"".join(change(list(whole.lines)))
    finding = next(one for one in look(data).findings if one.code == code)
    lines = list(MemoryLines(data).forward())
    at = lines[number - 1]
    assert (finding.line, finding.offset) == (number or len(lines), at.offset)
    repaired = mend(data)
    assert not look(repaired.data).has_errors
    kept = [texts_of(native) for native in natives(repaired.data)]
    damaged = {4: [3], 5: [4]}.get(number, []) if n_lost else []
    for n, native in enumerate(natives(whole.data)):
        is_changed = code == "invalid-utf8" and n == 4
        if n not in damaged and n > 0 and not is_changed:
            assert texts_of(native) in kept


def texts_of(native: JsonObject) -> JsonObject:
    """Give what a record says, without whom it follows."""
    ours = ("parentId", "parentUuid", "sessionId")
    return {key: value for key, value in native.items() if key not in ours}


@pytest.mark.parametrize("name", SESSIONS)
def test_a_session_without_its_first_line_is_told_by_its_records(name: str) -> None:
    data = b"".join(SESSIONS[name]().lines[1:])
    repaired = mend(b'{"type":"sess\n' + data)
    assert not look(repaired.data).has_errors
    if name != "claude":  # which has no header
        assert "header-missing" in codes(data)
        assert repaired.n_added == 1
        assert NEW_ID.encode() in repaired.data.split(b"\n")[0]


def test_a_header_that_stands_further_down_is_put_first() -> None:
    lines = pi().lines
    repaired = mend(b"".join([lines[1], lines[0], *lines[2:]]))
    assert repaired.data.split(b"\n", 1)[1] == b"".join(lines[1:])
    assert natives(repaired.data)[0] == natives(lines[0])[0] | {"id": NEW_ID}


# Faults of the tree


def test_a_record_that_repeats_is_dropped() -> None:
    lines = pi().lines
    data = b"".join([*lines[:3], lines[2], *lines[3:]])
    assert codes(data) == ["duplicate-id"]
    assert mend(data).data.split(b"\n")[1:] == pi().data.split(b"\n")[1:]


def test_another_record_with_the_same_id_gets_one_of_its_own() -> None:
    made = pi()
    made.lines.append(entry_line(made.ids[1], made.ids[-1]))
    made.lines.append(entry_line("000000ff", made.ids[1], "after it"))
    # pi takes the later one for both, so that the path turns back there.
    assert {"duplicate-id", "parent-loop"} <= set(codes(made.data))
    repaired = mend(made.data)
    assert not look(repaired.data).findings
    assert repaired.n_changed == 2
    *_, again, after = natives(repaired.data)
    assert after["parentId"] == again["id"] != made.ids[1]
    assert after["message"] == natives(made.data)[-1]["message"]


def test_a_record_without_its_parent_follows_the_one_before() -> None:
    made = pi()
    made.lines.append(entry_line("000000ff", "deadbeef"))
    assert codes(made.data) == ["missing-parent"]
    repaired = mend(made.data)
    assert not look(repaired.data).findings
    assert natives(repaired.data)[-1]["parentId"] == made.ids[-1]
    assert repaired.data.endswith(made.lines[-1].replace(b"deadbeef", made.ids[-1].encode()))


def test_a_branch_that_hangs_in_the_air_is_no_error() -> None:
    made = pi()
    made.lines.insert(3, entry_line("000000ff", "deadbeef"))
    assert codes(made.data) == ["lost-branch"]
    assert not look(made.data).has_errors


LOOPS = {
    "itself": {5: 5},
    "two": {3: 4},
    "all": {1: 6},
    "two of them": {2: 3, 4: 6},
    "a way into one": {3: 5, 5: 5},
}


@pytest.mark.parametrize("name", LOOPS)
def test_a_loop_is_cut(name: str) -> None:
    made = pi()
    for at, parent_at in LOOPS[name].items():
        old = made.lines[at]
        parent = natives(old)[0]["parentId"]
        before = b'"parentId":' + compact_json(parent).encode()
        made.lines[at] = old.replace(before, f'"parentId":"{made.ids[parent_at - 1]}"'.encode())
    assert "parent-loop" in codes(made.data)
    repaired = mend(made.data)
    assert not look(repaired.data).has_errors
    assert len(natives(repaired.data)) == len(made.lines)


# Calls and results


def test_a_result_without_its_call_is_taken_out() -> None:
    made = PiFile()
    first = made.user("first")
    orphan = made.result("c9", "out of nowhere")
    last = made.assistant("the end")
    assert codes(made.data) == ["orphaned-result"]
    assert look(made.data).findings[0].entry_id == orphan
    repaired = mend(made.data)
    assert not look(repaired.data).findings
    assert [native["id"] for native in natives(repaired.data)[1:]] == [first, last]
    assert natives(repaired.data)[-1]["parentId"] == first


def test_a_compaction_that_kept_what_is_taken_out_keeps_what_follows() -> None:
    made = PiFile()
    made.user("first")
    orphan = made.result("c9", "out of nowhere")
    kept = made.assistant("kept")
    made.compaction("S", orphan)
    made.user("after")
    repaired = mend(made.data)
    assert not look(repaired.data).findings
    assert natives(repaired.data)[-2]["firstKeptEntryId"] == kept


def test_a_call_without_its_result_is_answered() -> None:
    made = PiFile()
    made.user("first")
    calls = [("c1", "read", {}), ("c2", "bash", {}), ("c3", "bash", {})]
    asked = made.assistant("reading", calls=calls, stop="toolUse")
    made.result("c2", "content")
    made.user("and on")
    found = look(made.data).findings
    assert [(one.code, one.entry_id) for one in found] == [("unanswered-call", asked)] * 2
    repaired = mend(made.data)
    assert not look(repaired.data).findings
    assert (repaired.n_added, repaired.n_dropped) == (2, 0)


def test_the_last_call_may_be_open_and_failed_answers_need_no_results() -> None:
    made = PiFile()
    made.user("first")
    made.assistant("no", calls=[("c1", "read", {})], stop="aborted")
    made.user("go on")
    assert codes(made.data) == []
    made.assistant("reading", calls=[("c2", "read", {})], stop="toolUse")
    assert codes(made.data) == ["open-call"]
    assert mend(made.data).n_added == 0


def test_parallel_calls_of_claude_code_are_mended_block_by_block() -> None:
    made = ClaudeFile()
    made.user("first")
    made.assistant(call("t1"), call("t2"), answer_id="msg_1")
    made.user([result("t2", "content")])
    made.user([result("t9", "from nowhere"), text("but with words")])
    made.assistant(text("on"))
    assert codes(made.data) == ["unanswered-call", "orphaned-result"]
    repaired = mend(made.data)
    assert not look(repaired.data).findings
    assert b"but with words" in repaired.data
    assert b"from nowhere" not in repaired.data


def test_codex_puts_its_calls_right_by_itself() -> None:
    made = codex()
    made.item({"type": "function_call_output", "call_id": "call_9", "output": "nowhere"})
    made.user("third")
    found = look(made.data).findings
    assert [(one.code, one.severity) for one in found] == [("orphaned-result", "warning")]


def test_a_compaction_that_names_no_entry_is_told_by_its_place() -> None:
    made = pi()
    made.compaction("S", "deadbeef")
    made.user("after")
    assert codes(made.data) == ["missing-first-kept"]


# Any damage at all


@st.composite
def damaged(draw: st.DrawFn, sessions: st.SearchStrategy[object]) -> tuple[bytes, bytes]:
    """Cut, repeat, swap, join and drop lines and bytes; give the session before and after."""
    whole = draw(sessions)
    assert isinstance(whole, PiFile | ClaudeFile | CodexFile)
    lines = list(whole.lines)
    for _ in range(draw(st.integers(1, 4))):
        at = draw(st.integers(0, len(lines) - 1)) if lines else 0
        other = draw(st.integers(0, len(lines) - 1)) if lines else 0
        if not lines:
            break
        match draw(st.integers(0, 6)):
            case 0:
                lines[at] = lines[at][: draw(st.integers(0, len(lines[at])))]
            case 1:
                lines.insert(other, lines[at])
            case 2:
                lines[at], lines[other] = lines[other], lines[at]
            case 3:
                cut = draw(st.integers(0, len(lines[at])))
                lines[at] = lines[at][:cut] + lines[other]
            case 4:
                lines[at] = lines[at].rstrip(b"\r\n")
            case 5:
                cut = draw(st.integers(0, len(lines[at])))
                noise = draw(
                    st.sampled_from([b"\0\0", b"\xff", b"{", b'"', b"\n", b"\xef\xbb\xbf"])
                )
                lines[at] = lines[at][:cut] + noise + lines[at][cut:]
            case _:
                del lines[at]
    return whole.data, b"".join(lines)


SAYINGS = {
    "openclaw": lambda native: native.get("message"),
    "claude-code": lambda native: native.get("message"),
    "codex": lambda native: native.get("payload"),
}


def check_damage(pair: tuple[bytes, bytes]) -> None:
    data = pair[1]
    if recognize(MemoryLines(data)) is None and guess(MemoryLines(data)) is None:
        return
    look(data)
    _, header, _ = whose(data)
    records = records_of(header)
    if records is None:  # the damage made it one of another version
        return
    repaired = mend(data)
    if recognize(MemoryLines(repaired.data)) is None:
        assert header.agent == "claude-code"  # nothing of the conversation is left
        return
    assert [one for one in look(repaired.data).findings if one.severity == "error"] == []
    says = SAYINGS[header.agent]
    after = [compact_json(says(native)) for native in natives(repaired.data)]
    for line in MemoryLines(data).forward():
        native = decode_object(Line(0, line.raw))
        if isinstance(native, str) or records.find_fault(native) is not None:
            continue
        said = says(native)
        if said is None or compact_json(said) in after or records.is_header(native):
            continue
        # Only a result without a call may be gone.
        assert "toolResult" in compact_json(said) or "tool_result" in compact_json(said)
    # What was repaired needs no repair.
    again = mend(repaired.data)
    assert again.data == repaired.data


@given(damaged(pi_files(versions=(3,))))
@settings(max_examples=examples(150))
def test_any_damage_to_a_session_of_pi_is_repaired(pair: tuple[bytes, bytes]) -> None:
    check_damage(pair)


@given(damaged(claude_files()))
@settings(max_examples=examples(100))
def test_any_damage_to_a_session_of_claude_code_is_repaired(pair: tuple[bytes, bytes]) -> None:
    check_damage(pair)


@given(damaged(codex_files()))
@settings(max_examples=examples(80))
def test_any_damage_to_a_session_of_codex_is_repaired(pair: tuple[bytes, bytes]) -> None:
    check_damage(pair)


def test_a_copy_of_another_version_is_left_to_the_agent() -> None:
    for version in (1, 4):
        header = Header(agent="openclaw", session_id="x", version=version, cwd=None)
        assert records_of(header) is None
        assert records_of(msgspec.structs.replace(header, agent="gemini")) is None
