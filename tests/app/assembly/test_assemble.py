"""A request is assembled from the files of a workspace, its skills, and a session of any agent."""

from datetime import date, timedelta
from pathlib import Path

import msgspec
import pytest

from ullage.app.assembly.assemble import (
    AssembledRequest,
    AssemblyWish,
    assemble,
    mask_assembled,
)
from ullage.app.assembly.source import AssemblySource, open_source
from ullage.app.config.load import load_config
from ullage.app.sessions.open import open_session
from ullage.core.assembly.bootstrap import ContextFile
from ullage.core.assembly.event import EventMessage
from ullage.core.assembly.history import build_session_history
from ullage.core.assembly.prompt_parameters import PromptParameters, SubagentParameters, Tool
from ullage.core.assembly.tool_policy import ToolPolicy
from ullage.core.transcript.lineage import EMPTY_INDEX
from ullage.errors import InputError
from ullage.formats.in_memory import as_system_message
from ullage.formats.registry import AGENTS
from ullage.store.files.places import Places
from ullage.store.files.text_files import MAX_TEXT_BYTES

SAMPLES = Path(__file__).parents[2] / "samples"
SKILL = "---\nname: {name}\ndescription: Does {name}.\n---\nHow to do it.\n"


@pytest.fixture
def work(places: Places) -> Path:
    for name in ("AGENTS.md", "SOUL.md", "MEMORY.md"):
        (places.cwd / name).write_text(f"Text of {name}.\n", "utf-8")
    return places.cwd


def source_of(places: Places, named: str | None = None, **env: str) -> AssemblySource:
    places = msgspec.structs.replace(places, env=env)
    return open_source(named, load_config(places, workspace=places.cwd), places)[0]


def run(places: Places, **fields: object) -> AssembledRequest:
    return assemble(AssemblyWish(**fields), source_of(places))


def paths_of(assembled: AssembledRequest) -> list[str]:
    return [file.path for file in assembled.files]


def write_log(work: Path, day: date) -> str:
    (work / "memory").mkdir(exist_ok=True)
    (work / f"memory/{day}.md").write_text("Built the mill.\n", "utf-8")
    return f"memory/{day}.md"


def test_files_come_in_the_order_of_the_reference(places: Places, work: Path) -> None:
    for name in ("USER.md", "IDENTITY.md", "CLAUDE.md", "RULES.md"):
        (work / name).write_text(f"Text of {name}.\n", "utf-8")
    today = date.today()
    write_log(work, today - timedelta(days=2))
    logs = [write_log(work, today - timedelta(days=1)), write_log(work, today)]
    (work / "ullage.yaml").write_text("", "utf-8")
    trust = {"ULLAGE_BOOTSTRAP_FILES": "RULES.md", "ULLAGE_TRUST_WORKSPACE": str(work)}
    assembled = assemble(AssemblyWish(), source_of(places, **trust))
    expected = "AGENTS.md CLAUDE.md SOUL.md USER.md IDENTITY.md RULES.md MEMORY.md".split()
    assert paths_of(assembled) == [*expected, *logs]
    for path in expected:
        assert f"## {path}\n\nText of {path}.\n" in assembled.system


def test_a_file_that_is_the_same_comes_once(places: Places, work: Path) -> None:
    (work / "CLAUDE.md").symlink_to("AGENTS.md")
    assert paths_of(run(places)) == ["AGENTS.md", "SOUL.md", "MEMORY.md"]


def test_a_link_out_of_the_workspace_is_not_followed(places: Places, tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("It is a secret.", "utf-8")
    (places.cwd / "AGENTS.md").symlink_to(tmp_path / "secret")
    assembled = run(places)
    assert assembled.files == ()
    assert assembled.warnings == ("AGENTS.md: it is no text, or leads out of the workspace",)


def test_a_named_file_that_is_not_there_is_told(places: Places) -> None:
    assembled = assemble(AssemblyWish(), source_of(places, ULLAGE_BOOTSTRAP_FILES="docs/a.md"))
    assert assembled.warnings == ("docs/a.md: bootstrap.files names it, but it is not there",)


def test_a_long_file_is_cut_and_told(places: Places, work: Path) -> None:
    (work / "AGENTS.md").write_text("x" * 25_000, "utf-8")
    assembled = run(places)
    assert "x\n\n[... content truncated ...]\n\nx" in assembled.system
    cut = "7,000 of 25,000 characters in its middle are left out: more than 20,000"
    assert (assembled.files[0].n_chars, assembled.files[0].cut) == (25_000, cut)
    assert assembled.warnings == (f"AGENTS.md: {cut}",)


@pytest.mark.usefixtures("work")
def test_only_the_primary_session_is_given_memory(places: Places) -> None:
    assert "Text of MEMORY.md" in run(places).system
    other = run(places, is_primary=False)
    assert "Text of MEMORY.md" not in other.system
    assert (other.budget.memory, other.warnings) == (0, ())
    assert other.files[-1].cut == "only the primary session is given it"


def test_no_other_session_is_given_memory_by_another_way(places: Places, work: Path) -> None:
    (work / "notes.md").symlink_to("MEMORY.md")
    given = (ContextFile(path=str(work / "MEMORY.md"), content="Text of MEMORY.md."),)
    for named in ("MEMORY.md", "./MEMORY.md", "notes.md"):
        source = source_of(places, ULLAGE_BOOTSTRAP_FILES=named)
        wish = AssemblyWish(is_primary=False, parameters=PromptParameters(context_files=given))
        other = assemble(wish, source)
        assert "Text of MEMORY.md" not in other.system
        assert [file.kind for file in other.files] == ["rules", "identity", "memory", "memory"]
        assert "Text of MEMORY.md" in assemble(AssemblyWish(), source).system


def test_a_file_that_is_too_large_to_be_read_whole_is_told(places: Places, work: Path) -> None:
    (work / "AGENTS.md").write_text("x" * (MAX_TEXT_BYTES + 1), "utf-8")
    assembled = run(places)
    assert paths_of(assembled) == ["SOUL.md", "MEMORY.md"]
    assert assembled.warnings == ("AGENTS.md: it is not given, as it has more than 2 MB",)
    (work / "AGENTS.md").write_text("x" * MAX_TEXT_BYTES, "utf-8")
    assert run(places).files[0].n_chars == MAX_TEXT_BYTES


@pytest.mark.usefixtures("work")
def test_a_subagent_is_given_rules_and_its_task(places: Places) -> None:
    assembled = run(places, mode="subagent", subagent=SubagentParameters(task="Count the tests."))
    assert "Text of AGENTS.md" in assembled.system
    assert "Text of SOUL.md" not in assembled.system
    assert "You were created to handle: Count the tests." in assembled.system


def test_skills_are_named_and_filtered(places: Places, work: Path) -> None:
    for name in ("git", "mill"):
        (work / "skills" / name).mkdir(parents=True)
        (work / f"skills/{name}/SKILL.md").write_text(SKILL.format(name=name), "utf-8")
    assembled = run(places)
    assert "# Skills\n\n## Available Skills\n\n### git\nDoes git.\n\n### mill" in assembled.system
    assert assembled.budget.skills > 0
    assert "### mill" not in run(places, skill_filter=["git"]).system
    assert run(places, skill_filter=[]).budget.skills == 0
    assert run(places, skill_filter=["git ", "gti"]).warnings == (
        "the skill filter names gti, which is no skill that can be used here",
    )


def test_skills_that_the_prompt_has_no_room_for_are_told(places: Places, work: Path) -> None:
    for name in ("git", "long"):
        (work / "skills" / name).mkdir(parents=True)
        text = SKILL.format(name=name).replace("Does long.", "x" * 20_000)
        (work / f"skills/{name}/SKILL.md").write_text(text, "utf-8")
    assembled = run(places)
    assert "### git" in assembled.system
    assert "### long" not in assembled.system
    assert assembled.warnings == (
        "the prompt has no room for 1 of the skills, as it has at most 20,000 characters for them:"
        " long",
    )


def test_tools_go_through_the_policy(places: Places) -> None:
    tools = (Tool(name="read", description="Read a file."), Tool(name="exec"))
    policy = ToolPolicy(deny=("exec", "exce"))
    assembled = run(places, parameters=PromptParameters(tools=tools), tool_policy=policy)
    assert [tool.name for tool in assembled.tools] == ["read"]
    assert "- read: Read a file.\n" in assembled.system
    assert "exec" not in assembled.system
    assert assembled.warnings == ("the tool policy names exce, which is no tool",)
    policy = ToolPolicy(deny=tuple(f"x{number}*y" for number in range(30)))
    warnings = run(places, tool_policy=policy).warnings
    assert len(warnings) == 21
    assert warnings[-1] == "the tool policy names more that is no tool"


@pytest.mark.usefixtures("work")
def test_the_parts_of_the_prompt_add_up(places: Places) -> None:
    assembled = run(places, event=EventMessage(text="Hello"))
    budget = assembled.budget
    of_prompt = budget.system_prompt + budget.bootstrap + budget.skills + budget.memory
    assert of_prompt == sum(section.n_tokens for section in assembled.sections)
    assert min(budget.system_prompt, budget.bootstrap, budget.memory, budget.event) > 0
    assert assembled.messages == ({"role": "user", "content": "Hello"},)


def test_what_does_not_fit_is_warned_of(places: Places) -> None:
    source = msgspec.structs.replace(source_of(places), window_tokens=16)
    assembled = assemble(AssemblyWish(event=EventMessage(text="Hello, how are you?")), source)
    assert assembled.budget.over > 0
    assert "more than the 11 that are available" in assembled.warnings[0]


def test_what_is_shown_has_no_secret(places: Places, work: Path) -> None:
    key = "sk-ant-api03-" + "abcdefghijklmnopqrstuvwxyz0123456789abcdef"
    (work / "AGENTS.md").write_text(f"The key is {key}\n", "utf-8")
    assembled = run(places)
    assert key in assembled.system
    assert key not in str(mask_assembled(assembled, ()))


def test_the_history_of_every_format_begins_with_the_latest_summary() -> None:
    seen: set[str | None] = set()
    for path in sorted(SAMPLES.rglob("*")):
        try:
            session = open_session(path)
        except (InputError, OSError):
            continue
        context = session.agent.read_context(session.lines, session.header, EMPTY_INDEX).context
        if context.boundary is None or not context.boundary.summary:
            continue
        seen.add(session.header.agent)
        summary = context.boundary.summary
        first, *kept = build_session_history(context, as_system_message).messages(
            session.agent.messages
        )
        assert first == {"role": "system", "content": f"[Prior conversation summary]\n{summary}"}
        others = session.agent.messages(context)
        assert len(kept) < len(others), path
        assert all(message in others for message in kept), path
    assert seen == {info.agent for info in AGENTS}
