"""Skills that the last sessions of a workspace did without are told, and no others."""

import os
from pathlib import Path

import pytest
from msgspec.structs import replace

from claude_files import ClaudeFile, call, text
from codex_files import CodexFile
from ullage.app.assembly.parts import inspect_session
from ullage.app.assembly.skill_folders import list_agent_skills
from ullage.app.assembly.skill_use import MIN_SESSIONS, check_skill, find_unused_skills
from ullage.app.documents.check import Surroundings, run_check
from ullage.app.sessions.load import load
from ullage.app.sessions.open import open_session
from ullage.core.config.settings import Config
from ullage.core.gauge.window import DEFAULT_WINDOW
from ullage.core.text.positions import Position
from ullage.core.transcript.entries import Agent
from ullage.formats.registry import agent_info
from ullage.store.files.places import Places

NOW_S = 1_790_000_000


@pytest.fixture
def workspace(places: Places) -> Path:
    folder = places.home.parent / "shop"
    (folder / ".git").mkdir(parents=True)
    return folder


def write_skill(folder: Path, *, at_s: int = NOW_S - 900_000) -> None:
    folder.mkdir(parents=True)
    path = folder / "SKILL.md"
    path.write_text(f"---\nname: {folder.name}\ndescription: Does it.\n---\nDo it.\n", "utf-8")
    os.utime(path, (at_s, at_s))


def write_claude(places: Places, workspace: Path, number: int, *uses: str) -> Path:
    session_id = f"33333333-4444-4555-8666-{number:012}"
    claude = ClaudeFile(cwd=str(workspace), session_id=session_id)
    claude.user("Begin.")
    for skill in uses:
        claude.assistant(call("t1", "Skill", skill=skill))
    claude.assistant(text("Done."))
    slug = "".join(letter if letter.isalnum() else "-" for letter in str(workspace))
    path = places.home / ".claude/projects" / slug / f"{session_id}.jsonl"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(claude.data)
    os.utime(path, (NOW_S - number * 60, NOW_S - number * 60))
    return path


def unused(agent: Agent, workspace: Path, places: Places) -> list[str]:
    info = agent_info(agent)
    (loader,) = info.skills
    skills = list_agent_skills(info, loader, workspace, places, DEFAULT_WINDOW)
    found = find_unused_skills(info, loader, workspace, skills, places)
    return [] if found is None else [skill.name for skill in found.skills]


def test_a_skill_that_no_session_called_is_unused(workspace: Path, places: Places) -> None:
    for name in ("called", "typed", "idle"):
        write_skill(workspace / ".claude/skills" / name)
    for number in range(MIN_SESSIONS - 1):
        write_claude(places, workspace, number, *(["called"] if number == 4 else []))
    assert unused("claude-code", workspace, places) == []
    last = write_claude(places, workspace, MIN_SESSIONS)
    line = b'{"type":"x","text":"<command-name>/typed</command-name>"}\n'
    last.write_bytes(last.read_bytes() + line)
    os.utime(last, (NOW_S - 6_000, NOW_S - 6_000))
    assert unused("claude-code", workspace, places) == ["idle"]


def test_a_use_by_a_subagent_counts(workspace: Path, places: Places) -> None:
    write_skill(workspace / ".claude/skills/helped")
    for number in range(MIN_SESSIONS):
        path = write_claude(places, workspace, number)
    assert unused("claude-code", workspace, places) == ["helped"]
    below = path.with_suffix("") / "subagents/agent-a1.jsonl"
    below.parent.mkdir(parents=True)
    claude = ClaudeFile(cwd=str(workspace), agent_id="a1")
    claude.assistant(call("t1", "Skill", skill="helped"))
    below.write_bytes(claude.data)
    assert unused("claude-code", workspace, places) == []


def test_a_skill_that_is_newer_than_a_session_is_too_new_to_tell(
    workspace: Path, places: Places
) -> None:
    write_skill(workspace / ".claude/skills/new", at_s=NOW_S - 60)
    for number in range(MIN_SESSIONS):
        write_claude(places, workspace, number)
    assert unused("claude-code", workspace, places) == []


def test_codex_uses_what_a_user_names_and_what_a_call_reads(
    workspace: Path, places: Places
) -> None:
    for name in ("named", "read", "idle"):
        write_skill(workspace / ".agents/skills" / name)
    folder = places.home / ".codex/sessions/2026/11/21"
    folder.mkdir(parents=True)
    for number in range(MIN_SESSIONS):
        session_id = f"01a1fbde-0000-7000-8000-{number:012}"
        codex = CodexFile(id=session_id, cwd=str(workspace))
        listing = "- idle: Does it. (file: r0/idle/SKILL.md)"
        codex.user(f"<skills_instructions>\n{listing}\n</skills_instructions>")
        codex.user("<skill>\n<name>named</name>\n<path>/x/named/SKILL.md</path>\n</skill>")
        arguments = '{"cmd":"cat .agents/skills/read/SKILL.md"}'
        codex.item({"type": "function_call", "name": "exec_command", "arguments": arguments})
        path = folder / f"rollout-2026-11-21T02-09-56-{session_id}.jsonl"
        path.write_bytes(codex.data)
        os.utime(path, (NOW_S, NOW_S))
    assert unused("codex", workspace, places) == ["idle"]


def test_what_unused_skills_take_is_advice_with_a_price(workspace: Path, places: Places) -> None:
    for number in range(6):
        write_skill(workspace / f".claude/skills/idle-{number}")
    paths = [write_claude(places, workspace, number) for number in range(MIN_SESSIONS)]
    loaded = load(open_session(paths[0]), Config(), places)
    (advice,) = inspect_session(loaded, 0, Config()).advice
    assert advice.text == (
        "6 skills not used in the last 10 sessions here, idle-0, idle-1, idle-2, idle-3 and 2 more:"
        " `disable-model-invocation: true` in its SKILL.md keeps one out"
    )
    lines = (f"- idle-{number}: Does it.\n" for number in range(6))
    assert advice.n_tokens == sum(map(loaded.count, lines))
    assert advice.cost.tokens_a_day == advice.n_tokens


def test_an_editor_is_told_and_given_a_quick_fix(workspace: Path, places: Places) -> None:
    folder = workspace / ".claude/skills/idle"
    write_skill(folder)
    write_skill(places.home / ".claude/skills/everywhere")
    around = Surroundings(config=Config(), places=places, workspaces=(workspace,), texts={})
    assert run_check(check_skill, folder / "SKILL.md", around) == ()
    for number in range(MIN_SESSIONS):
        write_claude(places, workspace, number)
    (finding,) = run_check(check_skill, folder / "SKILL.md", around)
    assert finding.message == (
        "Claude Code did not use this skill in the last 10 sessions of this workspace: about 7"
        " tokens in every request."
    )
    assert finding.extent.start == Position(2, 0)
    (fix,) = finding.fixes
    lines = (folder / "SKILL.md").read_text("utf-8").splitlines(keepends=True)
    lines.insert(fix.extent.start.line, fix.new_text)
    fixed = replace(around, texts={folder / "SKILL.md": "".join(lines)})
    assert run_check(check_skill, folder / "SKILL.md", fixed) == ()
    (folder / "SKILL.md").write_text("".join(lines), "utf-8")
    os.utime(folder / "SKILL.md", (NOW_S - 900_000, NOW_S - 900_000))
    assert unused("claude-code", workspace, places) == ["everywhere"]
    elsewhere = places.home / ".claude/skills/everywhere/SKILL.md"
    assert run_check(check_skill, elsewhere, around) == ()


def test_codex_is_given_no_line_that_it_does_not_read(workspace: Path, places: Places) -> None:
    folder = workspace / ".agents/skills/idle"
    write_skill(folder)
    sessions = places.home / ".codex/sessions/2026/11/21"
    sessions.mkdir(parents=True)
    for number in range(MIN_SESSIONS):
        session_id = f"01a1fbde-0000-7000-8000-{number:012}"
        codex = CodexFile(id=session_id, cwd=str(workspace))
        codex.user("Begin.")
        path = sessions / f"rollout-2026-11-21T02-09-56-{session_id}.jsonl"
        path.write_bytes(codex.data)
        os.utime(path, (NOW_S, NOW_S))
    around = Surroundings(config=Config(), places=places, workspaces=(workspace,), texts={})
    (finding,) = run_check(check_skill, folder / "SKILL.md", around)
    assert finding.message.startswith("Codex did not use this skill")
    assert finding.fixes == ()
