"""Files that are still being written: every prefix can be read, and reading can go on from it."""

from hypothesis import given
from hypothesis import strategies as st

from claude_files import claude_files
from pi_files import PiFile, pi_files
from reading import essence, read
from ullage.core.transcript.entries import Line, MemoryLines
from ullage.formats.registry import AGENTS, recognize

files = pi_files() | claude_files()


@given(files, st.floats(0, 1))
def test_any_prefix_of_a_session_gives_a_context(file, share: float) -> None:
    prefix = file.data[: round(len(file.data) * share)]
    lines = MemoryLines(prefix)
    for info in AGENTS:
        info.parse(prefix)
    found = recognize(lines)
    if found is None:
        return
    reading = read(prefix)
    assert reading.context.size_bytes == len(prefix)
    assert len(reading.context.problems) <= 1
    assert {problem.message for problem in reading.context.problems} <= {"unfinished line"}


@given(files)
def test_every_line_end_of_a_session_is_a_place_to_stop_without_a_problem(file) -> None:
    data = b""
    for line in file.lines[:-1]:
        data += line
        if recognize(MemoryLines(data)) is not None:
            assert read(data).context.problems == ()


@given(files, st.floats(0, 1))
def test_an_index_of_an_earlier_reading_changes_nothing(file, share: float) -> None:
    prefix = file.data[: round(len(file.data) * share)]
    if recognize(MemoryLines(prefix)) is None:
        return
    index = read(prefix).index
    assert index.covered_bytes <= len(prefix)
    whole, again = read(file.data), read(file.data, index)
    assert essence(again.context) == essence(whole.context)
    assert again.index.n_entries == whole.index.n_entries
    assert again.index.covered_bytes == whole.index.covered_bytes


@given(files, st.floats(0, 1))
def test_reading_on_gives_what_reading_anew_gives(file, share: float) -> None:
    prefix = file.data[: round(len(file.data) * share)]
    found = recognize(MemoryLines(prefix))
    if found is None:
        return
    before = read(prefix)
    start = before.index.covered_bytes
    rest = file.data[start : file.data.rfind(b"\n") + 1]
    appended = [Line(start + line.offset, line.raw) for line in MemoryLines(rest).forward()]
    after = found[0].extend(before, appended, start + len(rest))
    if after is None or not rest:
        return
    anew = read(file.data[: start + len(rest)])
    assert essence(after.context) == essence(anew.context)
    assert after.index.n_entries == anew.index.n_entries
    assert after.context.problems == anew.context.problems


def test_reading_on_from_a_torn_line_forgets_that_it_was_torn() -> None:
    pi = PiFile()
    pi.user("one")
    pi.user("two")
    before = read(pi.data[:-20])
    assert [problem.message for problem in before.context.problems] == ["unfinished line"]
    start = before.index.covered_bytes
    found = recognize(MemoryLines(pi.data))
    assert found is not None
    appended = [
        Line(start + line.offset, line.raw) for line in MemoryLines(pi.data[start:]).forward()
    ]
    after = found[0].extend(before, appended, len(pi.data))
    if after is not None:
        assert after.context.problems == ()


def test_plain_messages_are_read_on_without_a_new_reading() -> None:
    pi = PiFile()
    pi.user("one")
    before = read(pi.data)
    start = len(pi.data)
    pi.assistant("two")
    pi.user("three")
    found = recognize(MemoryLines(pi.data))
    assert found is not None
    appended = [
        Line(start + line.offset, line.raw) for line in MemoryLines(pi.data[start:]).forward()
    ]
    after = found[0].extend(before, appended, len(pi.data))
    assert after is not None
    assert essence(after.context) == essence(read(pi.data).context)
