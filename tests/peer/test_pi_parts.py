"""Each part of a request that we list is in what the real pi sends, and counted as it is there."""

import json
from pathlib import Path
from typing import cast

import pytest
from recorded_requests import check_request, cut_before_answer

from loopback_model import Answer, Json, LoopbackModel
from pi_process import PI_PACKAGES, Pi
from ullage.app.assembly.skill_folders import list_agent_skills
from ullage.core.gauge.window import DEFAULT_WINDOW
from ullage.formats.registry import agent_info
from ullage.store.files.places import Places


@pytest.mark.parametrize("version", PI_PACKAGES)
def test_what_is_listed_is_what_is_sent(tmp_path: Path, version: str) -> None:
    contents = {
        "home/.pi/agent/AGENTS.md": "Always answer in English.\n",
        "home/.pi/agent/APPEND_SYSTEM.md": "Be short.\n",
        "AGENTS.md": "Run the tests before each commit.\n",
        "project/CLAUDE.md": "Never push to the main branch.\n",
    }
    for name, content in contents.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content, "utf-8")
    with LoopbackModel() as model:
        model.answers = [Answer("I look.", ("echo one",)), Answer("Done.")]
        with Pi(tmp_path, model, version=version, command=None) as pi:
            pi.ask("Begin.")
            (transcript,) = pi.agent_folder.glob("sessions/*/*.jsonl")
    before = cut_before_answer(transcript.read_bytes(), number=2)
    assert before is not None
    path = tmp_path / transcript.name
    path.write_bytes(before)
    places = Places(cwd=pi.project, home=pi.home, env={}, state_folder=tmp_path / "state")
    checked = check_request(model.requests[-1], path, places, is_disk_old=False)
    assert checked.is_right, checked
    files = {part.source for part in checked.parts if "/" in part.source}
    assert files == {str(tmp_path / name) for name in contents}


def write(path: Path, content: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content, "utf-8")


def write_skills(root: Path) -> None:
    """Skills of every place, and of every kind that pi leaves out or writes in its own way."""
    described = "---\nname: {0}\ndescription: From {1}.\n---\n# Do it\n"
    own, project = root / "home/.pi/agent", root / "project"
    places = {
        project / ".pi/skills": "project",
        project / ".agents/skills": "agents",
        root / ".agents/skills": "above",
        own / "skills": "user",
        root / "home/.agents/skills": "personal",
    }
    for folder, name in places.items():
        write(folder / name / "SKILL.md", described.format(name, name))
        write(folder / "group" / f"in-{name}" / "SKILL.md", described.format(f"in-{name}", name))
        write(folder / "same" / "SKILL.md", described.format("same", name))
        write(folder / f"loose-{name}.md", described.format(f"loose-{name}", name))
        write(folder / f"group/below-{name}.md", described.format(f"below-{name}", name))
    odd = {
        "blank": "---\nname: blank\ndescription: ''\n---\n",
        "damaged": "---\nname: damaged\ndescription: Use when: asked\n---\n",
        "users": "---\nname: users\ndescription: x\ndisable-model-invocation: true\n---\n",
        "off": described.format("off", "off"),
        "marks": '---\nname: marks\ndescription: "It\'s <b> & \\"c\\"."\n---\n',
        "lines": "---\ndescription: >\n  Folded\n  lines.\n---\n",
        ".hidden": described.format("hidden", "hidden"),
    }
    for name, text in odd.items():
        write(own / "skills" / name / "SKILL.md", text)
    write(own / "skills/note.md", "No fields.\n")
    write(own / "trust.json", json.dumps({str(project): True}))


@pytest.mark.parametrize("version", PI_PACKAGES)
def test_the_skills_that_are_listed_are_those_that_pi_tells_of(
    tmp_path: Path, version: str
) -> None:
    write_skills(tmp_path)
    with LoopbackModel() as model:
        model.answers = [Answer("Done.")]
        pi = Pi(tmp_path, model, version=version, command=None, has_skills=True)
        settings = pi.agent_folder / "settings.json"
        settings.write_text(
            json.dumps(json.loads(settings.read_text()) | {"skills": ["-skills/off"]})
        )
        with pi:
            pi.ask("Begin.")
    places = Places(cwd=pi.project, home=pi.home, env={}, state_folder=tmp_path / "state")
    info = agent_info("openclaw")
    skills = list_agent_skills(info, info.skills[0], pi.project, places, DEFAULT_WINDOW)
    listed = [skill for skill in skills if skill.is_listed]
    if version == "0.73.1":  # which reads no loose files in folders
        listed = [skill for skill in listed if "below" not in skill.name]
    told = "\n".join(skill.text for skill in listed)
    first, *_ = cast(list[Json], model.requests[-1]["messages"])
    prompt = str(first["content"])
    assert told == prompt.partition("<available_skills>\n")[2].partition("\n</available_skills>")[0]
    assert {s.name: s.reason for s in skills if not s.is_listed and s.name != "same"} == {
        "blank": "has no description",
        "damaged": "has fields that are no YAML",
        "off": "is switched off (skills in agent/settings.json)",
        "users": "is for the user alone (disable-model-invocation)",
    }
