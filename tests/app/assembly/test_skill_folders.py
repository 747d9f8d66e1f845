"""Skills as they lie on the disk: OpenClaw's places, and those of agents."""

import json
import os
from pathlib import Path

import pytest
from msgspec.structs import replace

from ullage.app.assembly.skill_folders import (
    find_workspace_skills,
    list_agent_skills,
)
from ullage.core.gauge.window import Window
from ullage.formats.registry import agent_info
from ullage.store.files.places import Places
from ullage.store.files.text_files import MAX_TEXT_BYTES

WINDOW = Window(n_tokens=200_000, source="model table", detail="")


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    folder = tmp_path / "work"
    (folder / ".git").mkdir(parents=True)
    return folder


def write_skill(folder: Path, description: str = "Does it.", more: str = "") -> None:
    folder.mkdir(parents=True, exist_ok=True)
    text = f"---\nname: {folder.name}\ndescription: {description}\n{more}---\n# Do it\n"
    (folder / "SKILL.md").write_text(text, "utf-8")


def told(agent: str, workspace: Path, places: Places) -> list[str]:
    info = agent_info("claude-code" if agent == "claude-code" else "codex")
    (loader,) = info.skills
    skills = list_agent_skills(info, loader, workspace, places, WINDOW)
    return [skill.text for skill in skills if skill.is_listed]


def test_a_skill_of_a_later_place_wins_by_its_name(workspace: Path, places: Places) -> None:
    home, bundled = places.home, places.home / "package"
    places = replace(places, env={"OPENCLAW_BUNDLED_SKILLS_DIR": str(bundled)})
    extra = home / "extra"
    (home / ".openclaw").mkdir()
    (home / ".openclaw/openclaw.json").write_text(
        f"{{ skills: {{ load: {{ extraDirs: ['{extra.as_posix()}'] }} }}, }}"
    )
    in_order = (
        extra,
        bundled,
        home / ".openclaw/skills",
        home / ".agents/skills",
        workspace / ".agents/skills",
        workspace / "skills",
    )
    for at, folder in enumerate(in_order):
        for later in range(at + 1):
            write_skill(folder / f"up-to-{len(in_order) - later}", f"from {at}")
    skills = find_workspace_skills(workspace, places).skills
    assert {skill.name: skill.description for skill in skills} == {
        f"up-to-{n}": "from 5" for n in range(1, 7)
    }
    (workspace / "skills/up-to-6/SKILL.md").unlink()
    (winner,) = (s for s in find_workspace_skills(workspace, places).skills if s.name == "up-to-6")
    assert (winner.description, winner.source) == ("from 4", "project")


def test_what_is_not_eligible_here_is_left_out_with_its_reasons(
    workspace: Path, places: Places, tmp_path: Path
) -> None:
    program = tmp_path / "bin/there"
    program.parent.mkdir()
    program.write_text("#!/bin/sh\nexit 1\n")
    program.chmod(0o755)
    places = replace(places, env={"PATH": str(program.parent), "SET": "x", "EMPTY": ""})
    needs = "metadata: {{ openclaw: {{ requires: {{ bins: [{}], env: [{}] }} }} }}\n"
    write_skill(workspace / "skills/fine", more=needs.format("there", "SET"))
    write_skill(workspace / "skills/not", more=needs.format("gone", "EMPTY"))
    write_skill(workspace / "skills/none", "''")
    found = find_workspace_skills(workspace, places)
    assert [skill.name for skill in found.skills] == ["fine"]
    assert {skill.name: skill.reasons for skill in found.left_out} == {
        "none": ("has no description",),
        "not": ("the program gone is not on PATH", "the variable EMPTY is not set"),
    }


@pytest.mark.skipif(os.name == "nt", reason="links need rights there")
def test_what_comes_with_openclaw_lies_beside_its_program(
    workspace: Path, places: Places, tmp_path: Path
) -> None:
    package = tmp_path / "modules/openclaw"
    write_skill(package / "skills/bundled")
    write_skill(tmp_path / "modules/skills/of-another-package")
    (package / "package.json").write_text("{}")
    (package / "openclaw.mjs").write_text("#!/usr/bin/env node\n")
    (package / "openclaw.mjs").chmod(0o755)
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin/openclaw").symlink_to(package / "openclaw.mjs")
    places = replace(places, env={"PATH": str(tmp_path / "bin")})
    (skill,) = find_workspace_skills(workspace, places).skills
    assert (skill.name, skill.source) == ("bundled", "bundled")


def test_a_program_of_the_workspace_itself_is_not_there(workspace: Path, places: Places) -> None:
    (workspace / "gh").write_text("#!/bin/sh\n")
    (workspace / "gh").chmod(0o755)
    places = replace(places, env={"PATH": str(workspace)})
    write_skill(workspace / "skills/s", more="metadata: {openclaw: {requires: {bins: gh}}}\n")
    assert find_workspace_skills(workspace, places).skills == ()


@pytest.mark.parametrize(
    "yaml",
    [
        "name: &a [x, x]\ndescription: *a\nmore: Use",
        "name: [" * 200,
        "name: x\ndescription: !!python/object/apply:os.system ['touch pwned']",
        "\x00\x01",
        "- a\n- b",
    ],
)
def test_hostile_fields_do_no_harm(workspace: Path, places: Places, yaml: str) -> None:
    folder = workspace / "skills/bad"
    folder.mkdir(parents=True)
    (folder / "SKILL.md").write_text(f"---\n{yaml}\n---\n", "utf-8")
    write_skill(workspace / "skills/good")
    assert "good" in {skill.name for skill in find_workspace_skills(workspace, places).skills}
    assert not list(workspace.rglob("pwned"))


@pytest.mark.skipif(os.name == "nt", reason="links need rights there")
def test_links_in_a_circle_end_and_none_leads_out_of_a_workspace(
    workspace: Path, places: Places, tmp_path: Path
) -> None:
    skills = workspace / "skills"
    write_skill(skills / "group/inner")
    (skills / "group/up").symlink_to(skills)
    (skills / "self").symlink_to(skills / "self")
    write_skill(tmp_path / "outside/secret")
    (skills / "out").symlink_to(tmp_path / "outside/secret")
    managed = places.home / ".openclaw/skills"
    managed.mkdir(parents=True)
    write_skill(tmp_path / "outside/own")
    (managed / "own").symlink_to(tmp_path / "outside/own")
    found = find_workspace_skills(workspace, places)
    assert [skill.name for skill in found.skills] == ["inner", "own"]
    assert [skill.reasons for skill in found.left_out] == [("leads out of its folder by a link",)]


def test_what_cannot_be_read_is_named(workspace: Path, places: Places) -> None:
    huge = workspace / "skills/huge"
    write_skill(huge)
    with (huge / "SKILL.md").open("a") as file:
        file.write("x" * MAX_TEXT_BYTES)
    (workspace / "skills/folder/SKILL.md").mkdir(parents=True)
    left_out = find_workspace_skills(workspace, places).left_out
    assert {skill.name for skill in left_out} == {"huge", "folder"}
    assert all("cannot be read" in skill.reasons[0] for skill in left_out)


def test_no_more_than_two_thousand_folders_are_looked_at(workspace: Path, places: Places) -> None:
    for n in range(1_000):
        write_skill(workspace / f"skills/s{n:04}")
        (workspace / f"skills/t{n:04}").mkdir()
    found = find_workspace_skills(workspace, places)
    assert len(found.skills) == 1_000
    assert [skill.reasons for skill in found.left_out] == [
        ("has more than 2,000 folders: the others were not looked at",)
    ]


def test_claude_code_reads_skills_of_the_folder_and_above_it_and_commands(
    workspace: Path, places: Places
) -> None:
    sub = workspace / "sub"
    write_skill(places.home / ".claude/skills/user")
    write_skill(sub / ".claude/skills/sub")
    write_skill(workspace / ".claude/skills/project")
    write_skill(workspace / ".claude/skills/group/too-deep")
    write_skill(workspace.parent / ".claude/skills/above-the-repository")
    write_skill(workspace / "skills/not-claudes")
    commands = workspace / ".claude/commands"
    (commands / "git").mkdir(parents=True)
    (commands / "git/push.md").write_text("---\ndescription: Push.\n---\n")
    (commands / "plain.md").write_text("# Say it plainly\n")
    assert told("claude-code", sub, places) == [
        "- user: Does it.",
        "- sub: Does it.",
        "- project: Does it.",
        "- git:push: Push.",
        "- plain: Say it plainly",
    ]


def test_codex_reads_skills_of_the_repository_of_the_user_and_its_own(
    workspace: Path, places: Places
) -> None:
    sub, home = workspace / "sub", places.home
    for folder in (workspace, sub, home, workspace.parent):
        write_skill(folder / f".agents/skills/agents-{folder.name}")
    for folder in (workspace, home):
        write_skill(folder / f".codex/skills/codex-{folder.name}")
    write_skill(home / ".codex/skills/.system/built-in")
    write_skill(sub / ".agents/skills/deep/deeper/deepest")
    policy = sub / ".agents/skills/agents-sub/agents/openai.yaml"
    policy.parent.mkdir()
    policy.write_text("policy:\n  allow_implicit_invocation: false\n")
    assert told("codex", sub, places) == [
        "- built-in: Does it. (file: r3/built-in/SKILL.md)",
        "- agents-work: Does it. (file: r4/agents-work/SKILL.md)",
        "- codex-work: Does it. (file: r0/codex-work/SKILL.md)",
        "- deepest: Does it. (file: r5/deep/deeper/deepest/SKILL.md)",
        "- agents-home: Does it. (file: r2/agents-home/SKILL.md)",
        "- codex-home: Does it. (file: r1/codex-home/SKILL.md)",
    ]


def test_an_agents_own_settings_count(workspace: Path, places: Places) -> None:
    write_skill(workspace / ".claude/skills/off")
    (workspace / ".claude/settings.json").write_text('{"skillOverrides": {"off": "off"}}')
    assert told("claude-code", workspace, places) == []


def test_claude_code_reads_those_of_plug_ins_that_are_enabled_here(
    workspace: Path, places: Places
) -> None:
    """In the order and the words of a request of 2.1.330 (recorded)."""
    plugins = places.home / ".claude/plugins"
    write_skill(places.home / ".claude/skills/user")
    for name in ("tools", "off", "elsewhere"):
        write_skill(plugins / f"cache/mk/{name}/1.0.0/skills/alpha", more="metadata: {}\n")
    commands = plugins / "cache/mk/tools/1.0.0/commands"
    commands.mkdir()
    (commands / "run.md").write_text("---\ndescription: Runs.\n---\n")
    shown = plugins / "cache/mk/tools/1.0.0/skills/beta/SKILL.md"
    shown.parent.mkdir()
    shown.write_text("---\nname: shown\ndescription: Does it.\n---\n")
    installs = {
        f"{name}@mk": [
            {
                "scope": "project" if name == "elsewhere" else "user",
                "projectPath": "/elsewhere",
                "installPath": str(plugins / f"cache/mk/{name}/1.0.0"),
            }
        ]
        for name in ("tools", "off", "elsewhere")
    }
    (plugins / "installed_plugins.json").write_text(json.dumps({"version": 2, "plugins": installs}))
    enabled = {"tools@mk": True, "off@mk": False, "elsewhere@mk": True}
    settings = places.home / ".claude/settings.json"
    settings.write_text(json.dumps({"enabledPlugins": enabled}))
    assert told("claude-code", workspace, places) == [
        "- user: Does it.",
        "- tools:run: Runs.",
        "- tools:alpha: Does it.",
        "- tools:beta (tools:shown): Does it.",
    ]


def test_openclaws_are_those_that_are_eligible(workspace: Path, places: Places) -> None:
    write_skill(places.home / ".openclaw/skills/own")
    write_skill(places.home / ".agents/skills/personal", "Does <this>.")
    write_skill(workspace / "skills/needy", more="metadata: {openclaw: {requires: {bins: gone}}}\n")
    write_skill(workspace / "skills/users", more="disable-model-invocation: true\n")
    info = agent_info("openclaw")
    loader = next(loader for loader in info.skills if loader.folder == ".openclaw")
    skills = list_agent_skills(info, loader, workspace, places, WINDOW)
    texts = {skill.name: skill.text for skill in skills}
    assert f"<location>{places.home}/.openclaw/skills/own/SKILL.md</location>" in texts["own"]
    assert texts["personal"] == (
        "  <skill>\n    <name>personal</name>\n"
        "    <description>Does &lt;this&gt;.</description>\n"
        "    <location>~/.agents/skills/personal/SKILL.md</location>\n  </skill>"
    )
    assert {skill.name for skill in skills if skill.reason} == {"needy", "users"}
