"""Parts of a session's request, by its transcript and by what its agent loads from the disk."""

from pathlib import Path

import msgspec
import pytest

from claude_files import ClaudeFile, text
from codex_files import CodexFile, message
from pi_files import PiFile
from ullage.app.assembly.parts import inspect_session, list_sent_texts
from ullage.app.sessions.load import Loaded, load
from ullage.app.sessions.open import open_session
from ullage.core.assembly.parts import Part
from ullage.core.config.settings import BootstrapSettings, Config
from ullage.store.files.places import Places


@pytest.fixture
def project(places: Places) -> Path:
    folder = places.home.parent / "work" / "shop"
    folder.mkdir(parents=True)
    return folder


def write(path: Path, content: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content, "utf-8")
    return path


def loaded(data: bytes, path: Path, places: Places) -> Loaded:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    return load(open_session(path), Config(), places)


def by_source(parts: tuple[Part, ...]) -> dict[tuple[str, str], Part]:
    return {(part.name, part.source): part for part in parts}


def reminder(content: str) -> str:
    return f"<system-reminder>\n{content}\n</system-reminder>"


def claude_session(project: Path, files: list[dict[str, str]], *, usage: int) -> ClaudeFile:
    claude = ClaudeFile(cwd=str(project))
    claude.user("Begin.")
    contents = "\n\n".join(
        f"Contents of {file['path']} (project instructions):\n\n{file['content']}" for file in files
    )
    attached = (
        ({"type": "date", "date": "2026-02-03"}, "Today's date is 2026-02-03."),
        ({"type": "instructions", "files": files}, f"Instructions are below.\n\n{contents}"),
    )
    for attachment, rendered in attached:
        part = {"type": "text", "content": reminder(rendered)}
        claude.record("attachment", attachment=attachment, rendered=[part], renderedRole="user")
    claude.note(
        "api-request-shape",
        shapeHash="a",
        shape={
            "system": [{"type": "text", "text": "You are an agent. " * 20}],
            "tools": [{"name": "Bash", "description": "Runs a command. " * 20}],
        },
    )
    claude.note("api-request", shapeHash="a", keep=0, tail=[])
    claude.assistant(text("Done."), usage=usage)
    return claude


def test_claude_codes_transcript_names_each_file_and_what_of_memory_is_cut(
    project: Path, places: Places
) -> None:
    rules = write(project / "CLAUDE.md", "Always run the tests.\n")
    slug = str(project).replace("/", "-").replace("_", "-")
    index = "".join(f"- fact {at:03}\n" for at in range(300))
    memory = write(places.home / ".claude/projects" / slug / "memory/MEMORY.md", index)
    files = [
        {"path": str(rules), "type": "Project", "content": "Always run the tests."},
        {"path": str(memory), "type": "AutoMem", "content": index[: 200 * 11]},
    ]
    session = loaded(claude_session(project, files, usage=5_000).data, project / "a.jsonl", places)
    parts = by_source(inspect_session(session, 0, Config()).parts)
    assert list(parts) == [
        ("other", "counted by the provider alone"),
        ("system prompt", "in the transcript"),
        ("tools", "in the transcript"),
        ("environment", "in the transcript"),
        ("instructions", "in the transcript"),
        ("instructions", str(rules)),
        ("memory", str(memory)),
        ("conversation", "in the transcript"),
    ]
    cut = parts["memory", str(memory)].cut
    assert cut.startswith("1,099 characters: Claude Code loads the first 200 lines")
    assert sum(part.n_tokens for part in parts.values()) == 5_000
    assert {part.place for part in parts.values() if part.name == "memory"} == {"first message"}


def test_without_a_prompt_in_the_transcript_the_disk_tells_what_is_loaded(
    project: Path, places: Places
) -> None:
    home = places.home / ".claude"
    names = [
        write(home / "CLAUDE.md", "Of mine."),
        write(home / "rules/a.md", "A rule."),
        write(project.parent / "CLAUDE.md", "Above."),
        write(project / "CLAUDE.md", "See @docs/one.md.\n<!-- not this -->\n"),
        write(project / "docs/one.md", "@two.md"),
        *(write(project / f"docs/{name}.md", f"{name}: @{after}.md") for name, after in HOPS),
        write(project / ".claude/CLAUDE.md", "In the folder."),
        write(project / ".claude/rules/b.md", "---\nother: x\n---\nA rule of the project."),
        write(project / "CLAUDE.local.md", "Local."),
    ]
    write(project / "docs/five.md", "a hop too far")
    write(project / ".claude/rules/some.md", "---\npaths: src/**\n---\nNot at first.")
    write(project / "AGENTS.md", "Of others.")
    claude = ClaudeFile(cwd=str(project))
    claude.user("Begin.")
    claude.assistant(text("Done."), usage=2_000)
    session = loaded(claude.data, project / "a.jsonl", places)
    texts = {text.source: text.text for text in list_sent_texts(session, Config())}
    assert list(texts) == list(map(str, names))
    assert texts[str(project / "CLAUDE.md")] == "See @docs/one.md."
    assert texts[str(project / ".claude/rules/b.md")] == "A rule of the project."
    first, *_ = inspect_session(session, 0, Config()).parts
    assert (first.name, first.source) == ("system prompt and tools", "and what else was reported")


HOPS = (("two", "three"), ("three", "four"), ("four", "five"))


def test_claude_codes_settings_leave_out_files_and_let_in_what_lies_outside(
    project: Path, places: Places
) -> None:
    outside = write(places.home / "more.md", "From home.")
    write(project.parent / "CLAUDE.md", "Above.")
    rules = write(project / "CLAUDE.md", "See @~/more.md\n")
    write(places.home / ".claude/settings.json", '{"claudeMdExcludes": ["**/work/CLAUDE.md"]}')
    claude = ClaudeFile(cwd=str(project))
    claude.user("Begin.")
    session = loaded(claude.data, project / "a.jsonl", places)
    assert [text.source for text in list_sent_texts(session, Config())] == [str(rules)]
    approved = {"projects": {str(project): {"hasClaudeMdExternalIncludesApproved": True}}}
    write(places.home / ".claude.json", msgspec.json.encode(approved).decode())
    sources = [text.source for text in list_sent_texts(session, Config())]
    assert sources == [str(rules), str(outside)]


def codex_session(project: Path, instructions: str) -> bytes:
    codex = CodexFile(cwd=str(project), base_instructions={"text": "You are Codex. " * 30})
    codex.turn()
    sent = (
        f"# AGENTS.md instructions for {project}\n\n<INSTRUCTIONS>\n{instructions}\n</INSTRUCTIONS>"
    )
    codex.item(message("user", sent))
    codex.item(message("user", "Begin."))
    return codex.data


def test_codexs_one_text_is_parted_by_the_files_that_it_was_made_of(
    project: Path, places: Places
) -> None:
    own = write(places.home / ".codex/AGENTS.md", "Of mine.")
    top = write(project / "AGENTS.md", "é" * 200)
    below = write(project / "sub/AGENTS.md", "é" * 100)
    (project / ".git").mkdir()
    write(places.home / ".codex/config.toml", "project_doc_max_bytes = 500\n")
    sent = f"Of mine.\n\n--- project-doc ---\n\n{'é' * 200}\n\n{'é' * 50}"
    data = codex_session(project / "sub", sent)
    session = loaded(data, project / "a.jsonl", places)
    parts = by_source(inspect_session(session, 0, Config()).parts)
    files = {source: part for (name, source), part in parts.items() if name == "instructions"}
    assert list(files) == ["in the transcript", str(own), str(top), str(below)]
    assert [part.cut for part in files.values()][:3] == ["", "", ""]
    assert files[str(below)].cut == (
        "50 characters: Codex stops after 500 bytes of a project's instructions, of which files"
        " further up take 400"
    )
    assert ("system prompt", "in the transcript") in parts


def test_codex_reads_nothing_of_a_folder_that_is_not_trusted(project: Path, places: Places) -> None:
    own = write(places.home / ".codex/AGENTS.md", "Of mine.")
    write(project / "AGENTS.md", "Of theirs.")
    level = f'[projects."{project}"]\ntrust_level = "untrusted"\n'
    write(places.home / ".codex/config.toml", level)
    codex = CodexFile(cwd=str(project))
    codex.item(message("user", "Begin."))
    session = loaded(codex.data, project / "a.jsonl", places)
    assert [text.source for text in list_sent_texts(session, Config())] == [str(own)]


def test_tags_of_files_that_nobody_closes_take_no_time(project: Path, places: Places) -> None:
    tag = '<project_instructions path="a">\n'
    file = f"{tag}Rule.\n</project_instructions>\n\n"
    opened = tag * 50_000
    pi = PiFile(cwd=str(project))
    sections = {"project_context": f"<project_context>\n{file}{opened}"}
    pi.message("system", content="", sections=sections)
    pi.user("Begin.")
    session = loaded(pi.data, project / "a.jsonl", places)
    sent = [text for text in list_sent_texts(session, Config()) if text.name == "instructions"]
    parts = ["<project_context>", file.strip(), opened.strip()]
    assert [text.text.strip() for text in sent] == parts


def test_pis_sections_are_parts_and_a_later_one_takes_an_earlier_ones_place(
    project: Path, places: Places
) -> None:
    pi = PiFile(cwd=str(project))
    rules = write(project / "AGENTS.md", "Whole again.")
    added = write(project / ".pi/APPEND_SYSTEM.md", "Be short.")

    def context(content: str) -> str:
        file = f'<project_instructions path="{rules}">\n{content}\n</project_instructions>'
        return f"<project_context>\nRules:\n\n{file}\n</project_context>"

    sections = {
        "preamble": "You are an assistant.",
        "addendum": "<addendum>\nBe short.\n</addendum>",
        "project_context": context("Old words. " * 50),
        "cwd": f"<cwd>\n{project}\n</cwd>",
    }
    tool = {"name": "read", "description": "Reads.", "parameters": {}, "constrainedSampling": {}}
    pi.message("system", content="", sections=sections, toolsAdded=[tool])
    pi.user("Begin.")
    later = {"project_context": context("Whole again."), "cwd": None}
    pi.message("system", content="", sections=later)
    session = loaded(pi.data, project / "a.jsonl", places)
    texts = {(text.name, text.source): text.text for text in list_sent_texts(session, Config())}
    assert "Whole again." in texts["instructions", str(rules)]
    assert texts["appended prompt", str(added)] == "Be short."
    assert (
        texts["tools", "in the transcript"]
        == '{"name":"read","description":"Reads.","parameters":{}}'
    )
    assert ("environment", "in the transcript") not in texts
    first, *_ = session.context.items
    assert first.block_categories == ("system", "bootstrap", "bootstrap")
    assert not session.context.items[2].message.blocks


def test_a_pi_that_keeps_its_prompt_to_itself_knows_no_override(
    project: Path, places: Places
) -> None:
    own = write(places.home / ".pi/agent/AGENTS.md", "Of mine.")
    rules = write(project / "AGENTS.md", "word " * 10_000)
    write(project / "AGENTS.override.md", "Of a later version.")
    pi = PiFile(cwd=str(project))
    pi.user("Begin.")
    session = loaded(pi.data, places.home / ".pi/agent/sessions/a.jsonl", places)
    config = Config(bootstrap=BootstrapSettings(max_chars=500))
    parts = by_source(inspect_session(session, 0, config).parts)
    assert [source for name, source in parts if name == "instructions"] == [str(own), str(rules)]
    # OpenClaw's limit is none of pi's.
    assert not any(part.cut for part in parts.values())


def test_what_a_subagent_was_begun_with_is_not_called_its_system_prompt(
    project: Path, places: Places
) -> None:
    claude = ClaudeFile(cwd=str(project))
    claude.user("Begin.")
    claude.assistant(text("Done."), usage=150_000)
    session = loaded(claude.data, project / "a.jsonl", places)
    (tip,) = inspect_session(session, 0, Config()).advice
    assert "not in the messages" in tip.text
    header = msgspec.structs.replace(session.session.header, parent_session_id="another")
    own = msgspec.structs.replace(session.session, header=header)
    below = msgspec.structs.replace(session, session=own)
    assert inspect_session(below, 0, Config()).advice == ()
