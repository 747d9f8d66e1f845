"""The lines by which Claude Code and Codex tell their models of skills."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from ullage.core.assembly.listed_skills import ListedSkill, SkillRequest
from ullage.core.assembly.skill_frontmatter import SkillFile
from ullage.core.config.agent_settings import AgentSettings, SettingsFile
from ullage.core.gauge.window import Window
from ullage.core.transcript.entries import Agent, JsonObject
from ullage.formats.registry import agent_info

DAY_MS = 86_400_000
HOME = Path("/home/ann")


def make_file(
    name: str, /, scope: str = "project", root: str = "/w", **fields: object
) -> SkillFile:
    path = f"{root}/{name}/SKILL.md"
    fields = {key.replace("_", "-") if key != "when_to_use" else key: fields[key] for key in fields}
    return SkillFile(path=path, root=root, scope=scope, name=name, fields=fields)


def list_skills(
    agent: Agent,
    files: Sequence[SkillFile],
    n_window: int = 200_000,
    model: str | None = None,
    **settings: object,
) -> tuple[ListedSkill, ...]:
    content: JsonObject = {**settings}
    loader, *_ = agent_info(agent).skills
    request = SkillRequest(
        window=Window(n_tokens=n_window, source="model table", detail=""),
        model=model,
        settings=AgentSettings(sources=(SettingsFile(name="settings.json", content=content),)),
        now_ms=100 * DAY_MS,
    )
    return loader.list_skills(files, request)


def lines(skills: Sequence[ListedSkill]) -> list[str]:
    return [skill.text for skill in skills if skill.is_listed]


def reasons(skills: Sequence[ListedSkill]) -> dict[str, str]:
    return {skill.name: skill.reason for skill in skills if not skill.is_listed}


# Claude Code


def test_claude_code_tells_a_skill_by_its_folder_and_when_to_use_it() -> None:
    files = (
        make_file("git", description="Git.", when_to_use="For commits."),
        make_file("renamed", name="other", description="Says so."),
        make_file("spaced", name="two words", description="Does not."),
        SkillFile(path="/w/x.md", root="/w", scope="project", name="a:x", first_line="Do it."),
    )
    assert lines(list_skills("claude-code", files)) == [
        "- git: Git. - For commits.",
        "- renamed (other): Says so.",
        "- spaced: Does not.",
        "- a:x: Do it.",
    ]


def test_claude_code_says_why_it_does_not_tell_a_skill() -> None:
    files = (
        make_file("git", scope="user", description="The user's."),
        make_file("git", description="The project's."),
        make_file("hidden", description="H.", disable_model_invocation="yes"),
        make_file("nowhere", description="N.", paths="src/**"),
        make_file("off", description="O."),
        make_file("shown", description="S.", user_invocable=False),
        SkillFile(path="/w/b", root="/w", scope="project", name="bad", fault="cannot be read"),
    )
    skills = list_skills("claude-code", files, skillOverrides={"off": "off", "shown": "name-only"})
    assert lines(skills) == ["- git: The user's.", "- shown"]
    assert reasons(skills) == {
        "git": "has the name of one that comes before it",
        "hidden": "is for the user alone (disable-model-invocation)",
        "nowhere": "is told once a file is read that its paths match",
        "off": "is switched off (skillOverrides)",
        "bad": "cannot be read",
    }


def test_claude_code_cuts_a_description_after_1535_characters_as_javascript_counts() -> None:
    files = (make_file("long", description="𝄞" * 800), make_file("fits", description="x" * 1_536))
    long, fits = list_skills("claude-code", files, n_window=1_000_000)
    assert long.description == "𝄞" * 767 + "…"
    assert "1,536" in long.cut
    assert fits.description == "x" * 1_536
    assert not fits.cut
    (short,) = list_skills("claude-code", files[1:], skillListingMaxDescChars=10)
    assert short.text == "- fits: " + "x" * 9 + "…"


def test_claude_code_leaves_out_descriptions_that_do_not_fit_into_one_percent() -> None:
    files = [make_file(f"s{n}", description="x" * 996) for n in range(3)]
    files.append(make_file("small", description="y"))
    # Its own skills take 6,210 of the 8,000 characters, or 6,076 with fewer descriptions.
    skills = list_skills("claude-code", files)
    assert lines(skills) == [f"- s0: {'x' * 996}", "- s1", "- s2", "- small: y"]
    assert [bool(skill.cut) for skill in skills] == [False, True, True, False]
    assert "8,000 characters" in skills[1].cut
    assert len(lines(list_skills("claude-code", files[:1]))[0]) > 900
    whole = list_skills("claude-code", files, skillListingBudgetFraction=0.02)
    assert not any(skill.cut for skill in whole)
    assert not any(
        skill.cut for skill in list_skills("claude-code", files, disableBundledSkills=True)
    )


@pytest.mark.parametrize(
    ("model", "n_whole"), [("claude-sonnet-4-5-20250929", 2), ("claude-opus-5-5", 0)]
)
def test_claude_code_takes_three_characters_for_a_token_of_newer_models(
    model: str, n_whole: int
) -> None:
    files = [make_file(f"s{n}", description="x" * 900) for n in range(3)]
    skills = list_skills("claude-code", files, model=model)
    assert sum(not skill.cut for skill in skills) == n_whole


def test_claude_code_keeps_the_descriptions_of_what_is_used() -> None:
    files = [make_file(name, description="x" * 1_000) for name in ("never", "long-ago", "now")]
    usage = {
        "long-ago": {"usageCount": 5, "lastUsedAt": DAY_MS},
        "now": {"usageCount": 2, "lastUsedAt": 100 * DAY_MS},
    }
    skills = list_skills("claude-code", files, skillUsage=usage)
    assert [skill.name for skill in skills if not skill.cut] == ["now"]


def test_claude_code_reads_the_user_then_the_project_from_the_inside_out() -> None:
    (loader,) = agent_info("claude-code").skills
    folders = loader.list_folders((Path("/w/sub"), Path("/w")), {}, HOME, AgentSettings())
    assert [(folder.path.as_posix(), folder.scope) for folder in folders] == [
        ("/home/ann/.claude/skills", "user"),
        ("/w/sub/.claude/skills", "project"),
        ("/w/.claude/skills", "project"),
        ("/w/sub/.claude/commands", "project"),
        ("/w/.claude/commands", "project"),
        ("/home/ann/.claude/commands", "user"),
    ]


# Codex


def test_codex_tells_its_own_skills_first_then_the_projects_then_the_users_by_name() -> None:
    files = (
        make_file("b", root="/w/.codex/skills", description="B."),
        make_file("z", scope="user", root="/h/.codex/skills", description="Z."),
        make_file("a", scope="system", root="/h/.codex/skills/.system", description="A."),
        make_file("x", root="/w/.agents/skills", name="A  b", description="Two\nlines."),
    )
    assert lines(list_skills("codex", files)) == [
        "- a: A. (file: r2/a/SKILL.md)",
        "- A b: Two lines. (file: r3/x/SKILL.md)",
        "- b: B. (file: r0/b/SKILL.md)",
        "- z: Z. (file: r1/z/SKILL.md)",
    ]


def test_codex_says_why_it_does_not_tell_a_skill() -> None:
    policy = {"policy": {"allow_implicit_invocation": False}}
    users = SkillFile(
        path="/w/u",
        root="/w",
        scope="project",
        name="u",
        fields={"description": "U."},
        policy=policy,
    )
    files = (
        make_file("bare"),
        make_file("n" * 65, description="N."),
        make_file("off", description="O."),
        make_file("hidden", description="H.", disable_model_invocation=True),
        users,
    )
    disabled = {"config": [{"path": "/w/off/SKILL.md", "enabled": False}]}
    skills = list_skills("codex", files, skills=disabled)
    assert lines(skills) == ["- hidden: H. (file: r0/hidden/SKILL.md)"]
    assert reasons(skills) == {
        "bare": "has no description",
        "n" * 65: "has a name of more than 64 characters",
        "off": "is switched off (skills.config in config.toml)",
        "u": "is for the user alone (agents/openai.yaml)",
    }


def test_codex_cuts_a_description_after_1021_characters() -> None:
    whole = "x" * 1_021 + "..."
    files = (make_file("long", description="é" * 1_025), make_file("fits", description=whole))
    fits, long = list_skills("codex", files)
    assert (fits.description, fits.cut) == (whole, "")
    assert long.description == "é" * 1_021 + "..."
    assert "1,021" in long.cut


def test_codex_shares_two_percent_of_the_window_among_all_descriptions() -> None:
    files = [make_file(f"s{n}", description="x" * 400) for n in range(4)]
    files.append(make_file("t", description="short"))
    skills = list_skills("codex", files, n_window=12_000)
    n_chars = [len(skill.description) for skill in skills]
    assert n_chars[4] == 5
    assert 0 < max(n_chars) - min(n_chars[:4]) <= 4 < min(n_chars[:4])
    assert sum(-(-len(skill.text + "\n") // 4) for skill in skills) <= 240
    assert "2 %" in skills[0].cut
    assert not skills[4].cut


def test_codex_leaves_out_skills_whose_names_do_not_fit() -> None:
    files = [make_file(f"s{n}", description="x" * 40) for n in range(4)]
    skills = list_skills("codex", files, n_window=1_000)
    assert lines(skills) == ["- s0: (file: r0/s0/SKILL.md)", "- s1: (file: r0/s1/SKILL.md)"]
    assert "2 %" in reasons(skills)["s2"]


def test_codex_takes_at_most_10000_tokens_that_are_configured() -> None:
    files = [make_file(f"s{n:02}", description="x" * 1_000) for n in range(60)]
    skills = list_skills("codex", files, skills={"max_context_tokens": 90_000})
    n_tokens = sum(-(-len(skill.text + "\n") // 4) for skill in skills)
    assert 9_900 < n_tokens <= 10_000


def test_what_the_list_of_codexs_roots_costs_is_not_there_for_descriptions() -> None:
    root = "/" + "r" * 299
    files = [make_file(f"s{n}", root=root, description="x" * 400) for n in range(4)]
    skills = list_skills("codex", files, n_window=12_000)
    # 310 bytes of its text and 312 of the root are 156 tokens, 113 of which any list has.
    assert sum(-(-len(skill.text + "\n") // 4) for skill in skills) == 240 - 43
