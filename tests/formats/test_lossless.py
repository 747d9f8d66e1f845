"""Whatever stands in a file, parsing loses no byte of it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from claude_files import claude_files
from pi_files import BROKEN_LINES, damaged_pi_files, pi_files
from ullage.core.transcript.entries import render
from ullage.formats.agent_info import AgentInfo
from ullage.formats.registry import AGENTS

each_agent = pytest.mark.parametrize("info", tuple(AGENTS), ids=lambda info: info.agent)
line_soup = st.lists(
    st.sampled_from([*BROKEN_LINES, b'{"type":"session","id":"s"}\n', b"\r\n", b"\n", b"\x0b"])
    | st.binary(max_size=6)
).map(b"".join)


@each_agent
@given(data=st.binary() | line_soup)
def test_any_bytes_come_back_from_a_parsed_transcript(info: AgentInfo, data: bytes) -> None:
    transcript = info.parse(data)
    assert render(transcript) == data
    assert len(transcript.entries) + len(transcript.problems) <= len(transcript.lines)


@given(pi_files() | damaged_pi_files() | claude_files())
def test_every_line_is_an_entry_a_problem_a_header_or_blank(file) -> None:
    for info in AGENTS:
        transcript = info.parse(file.data)
        assert render(transcript) == file.data
        told = {found.offset for found in (*transcript.entries, *transcript.problems)}
        for line in transcript.lines:
            is_silent = not line.raw.strip(b"\0\r\n\t ") or b'"type":"session"' in line.raw
            assert is_silent or line.offset in told


@given(pi_files() | claude_files())
def test_a_valid_session_has_no_problems(file) -> None:
    for info in AGENTS:
        if info.parse(file.data).header is not None:
            assert info.parse(file.data).problems == ()


@given(claude_files(), pi_files())
def test_a_session_is_recognized_by_its_own_format_alone(claude, pi) -> None:
    for file, agent in ((claude, "claude-code"), (pi, "openclaw")):
        headers = [info.parse(file.data).header for info in AGENTS]
        assert [header.agent for header in headers if header is not None] == [agent]
