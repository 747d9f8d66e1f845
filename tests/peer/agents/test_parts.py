"""Each part of a request that we list is in what the real Claude Code and Codex send, and counted
as it is there; what we call cut is not."""

from pathlib import Path

import pytest
from recorded_requests import check_request, cut_before_answer

from agents_lab import ARE_INSTALLED, HOW_TO_INSTALL, PROGRAMS, Lab
from loopback_model import Answer, LoopbackModel
from ullage.store.files.places import Places

pytestmark = pytest.mark.skipif(not ARE_INSTALLED, reason=HOW_TO_INSTALL)


@pytest.mark.parametrize("agent", PROGRAMS)
def test_what_is_listed_is_what_is_sent(agent: str, tmp_path: Path) -> None:
    home, project = tmp_path / "home", tmp_path / "home" / "project"
    write_rules(home, project)
    with LoopbackModel() as model:
        lab = Lab(agent, home, model)
        lab.configure()
        model.answers = [Answer("I look.", ("echo one",)), Answer("Done.")]
        _, request = lab.ask("Begin.")
    transcript = lab.transcript()
    before = cut_before_answer(transcript.read_bytes(), number=2)
    assert before is not None
    path = tmp_path / transcript.name
    path.write_bytes(before)
    places = Places(cwd=project, home=home, env={}, state_folder=tmp_path / "state")
    checked = check_request(request, path, places, is_disk_old=False)
    assert checked.is_right, checked
    files = {Path(part.source).name: part.cut for part in checked.parts if "/" in part.source}
    assert set(files) == EXPECTED[agent]
    assert [name for name, cut in files.items() if cut] == [CUT[agent]]


EXPECTED = {
    "claude": {"CLAUDE.md", "more.md", "always.md", "MEMORY.md"},
    "codex": {"AGENTS.md", "SKILL.md"},
}
CUT = {"claude": "MEMORY.md", "codex": "AGENTS.md"}


def write_rules(home: Path, project: Path) -> None:
    slug = "".join(letter if letter.isalnum() else "-" for letter in str(project))
    contents = {
        home / ".claude/CLAUDE.md": "Always answer in English.\n",
        home / f".claude/projects/{slug}/memory/MEMORY.md": lines("a fact of memory", 300),
        home / ".codex/AGENTS.md": "Always answer in English.\n",
        project / "CLAUDE.md": "Run the tests before each commit. See @docs/more.md\n",
        project / "docs/more.md": "Tests are in the folder tests.\n",
        project / ".claude/rules/always.md": "Never push to the main branch.\n",
        project / "AGENTS.md": lines("a rule of the project", 1_200),
    }
    for path, content in contents.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content, "utf-8")


def lines(content: str, n_lines: int) -> str:
    return "".join(f"- {content}, number {at:04}\n" for at in range(n_lines))
