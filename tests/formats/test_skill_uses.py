"""The skills whose use a line of a transcript notes."""

import time
from collections.abc import Callable, Iterable

import pytest

from ullage.core.transcript.entries import Agent
from ullage.formats.registry import agent_info

KILOBYTE = 1024
HARD_LINES = {
    "a long name": (b"", b"a"),
    "a path without its end": (b'"path":"', b"a"),
    "paths without an end": (b"", b'"path":"a/'),
    "slashes": (b'"path":"a', b"/"),
    "skills without an end": (b"", b'<skill name=\\"a'),
    "commands without an end": (b'"name":"Skill","input":', b"<command-name>/a"),
}


def find_uses(agent: Agent) -> Callable[[bytes], Iterable[str]]:
    return agent_info(agent).skills[0].list_uses


@pytest.mark.parametrize(
    ("path", "names"),
    [
        ("/w/skills/deploy/SKILL.md", ["deploy"]),
        (r"C:\\w\\skills\\deploy\\SKILL.md", ["deploy"]),
        ("deploy/SKILL.md", ["deploy"]),
        ("/w/.pi/skills/loose.md", ["loose"]),
        ("/w/a/SKILL.md.txt", []),
        ("/w/readme.txt", []),
        ("/SKILL.md", []),
        ("", []),
    ],
)
def test_pi_uses_a_skill_whose_file_it_reads(path: str, names: list[str]) -> None:
    line = f'{{"type":"toolCall","arguments":{{"path":"{path}"}}}}'.encode()
    assert [*find_uses("openclaw")(line)] == names
    assert not [*find_uses("openclaw")(line.replace(b"toolCall", b"other"))]


@pytest.mark.parametrize("agent", ["openclaw", "claude-code", "codex"])
@pytest.mark.parametrize(("begin", "unit"), HARD_LINES.values(), ids=HARD_LINES)
def test_a_line_made_to_be_hard_takes_time_by_its_length(
    agent: Agent, begin: bytes, unit: bytes
) -> None:
    def cpu_s(n_bytes: int) -> float:
        marks = b'"toolCall" "function_call" SKILL.md <skill name=\\"'
        line = marks + begin + unit * (n_bytes // len(unit))
        began_s = time.process_time()
        assert len([*find_uses(agent)(line)]) <= n_bytes
        return time.process_time() - began_s

    # Quadratic would be 64 times the time of an eighth, at least where it matters: above 0.1 s.
    assert cpu_s(64 * KILOBYTE) < 16 * cpu_s(8 * KILOBYTE) + 0.1
