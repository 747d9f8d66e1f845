"""What an agent wrote into memory is its own, and what it only copied is not."""

import pytest

from pi_files import PiFile
from reading import read_context
from ullage.core.memory.agent_writes import list_agent_lines
from ullage.core.memory.origin import Origin, digest_line

WORKSPACE = "/work/shop"
LINE = "- the port is 8123"


def lines_of(pi: PiFile) -> dict[str, Origin]:
    return list_agent_lines(read_context(pi.data).items, WORKSPACE)


def told(name: str, **arguments: object) -> Origin | None:
    pi = PiFile(cwd=WORKSPACE)
    pi.user("note the port")
    pi.assistant(calls=[("c1", name, arguments)], stop="toolUse")
    return lines_of(pi).get(digest_line(LINE))


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("write", {"path": "MEMORY.md", "content": f"# Memory\n\n{LINE}\n"}),
        ("Write", {"file_path": f"{WORKSPACE}/memory/a/b.md", "content": LINE}),
        ("edit", {"path": "./memory/a.md", "oldText": "x", "newText": f"x\n{LINE}"}),
        ("bash", {"command": f"cat >> memory/a.md <<'EOF'\n{LINE}\nEOF"}),
        ("bash", {"command": f"echo '{LINE}' >> MEMORY.md"}),
        ("apply_patch", {"input": f"*** Begin Patch\n*** Update File: MEMORY.md\n@@\n+{LINE}\n"}),
    ],
)
def test_each_way_to_write_memory_is_known(name: str, arguments: dict[str, object]) -> None:
    assert told(name, **arguments) == "agent"


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("read", {"path": "MEMORY.md"}),
        ("write", {"path": "notes/a.md", "content": LINE}),
        ("write", {"path": "/other/MEMORY.md", "content": LINE}),
        ("edit", {"path": "MEMORY.md", "oldText": LINE, "newText": "gone"}),
    ],
)
def test_other_calls_write_none(name: str, arguments: dict[str, object]) -> None:
    assert told(name, **arguments) is None


@pytest.mark.parametrize("shown", [LINE, f"a page:\n\n{LINE}\nmore", f"     1→# x\n    12→{LINE}"])
def test_a_line_that_a_result_held_before_is_the_tools(shown: str) -> None:
    pi = PiFile(cwd=WORKSPACE)
    pi.user("remember what the page says")
    pi.assistant(calls=[("c1", "fetch", {"url": "https://example.org"})], stop="toolUse")
    pi.result("c1", shown)
    content = f"{LINE}\n- my own"
    pi.assistant(calls=[("c2", "write", {"path": "MEMORY.md", "content": content})], stop="toolUse")
    lines = lines_of(pi)
    assert lines[digest_line(LINE)] == "tool"
    assert lines[digest_line("my own")] == "agent"


def test_what_an_agent_wrote_and_read_again_stays_its_own() -> None:
    pi = PiFile(cwd=WORKSPACE)
    for n in range(2):
        call = ("write", {"path": "MEMORY.md", "content": f"{LINE}\n- {n}"})
        pi.assistant(calls=[(f"c{n}", *call)], stop="toolUse")
        pi.result(f"c{n}", LINE)
    assert lines_of(pi)[digest_line(LINE)] == "agent"
