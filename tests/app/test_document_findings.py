"""Findings on small documents: where they stand, what they say, and what settles them."""

from pathlib import Path

import msgspec
import pytest

from checkpoint_files import made_checkpoint
from ullage.app.documents.check import Surroundings, run_check
from ullage.app.documents.checkpoint_check import check_checkpoint_file, check_config_file
from ullage.app.documents.instruction_size import estimate_sent_tokens, sent_text, size_text
from ullage.app.documents.instructions import (
    check_instructions,
    check_memory,
    find_instruction_cuts,
    find_memory_cuts,
)
from ullage.core.config.settings import BootstrapSettings, Config, DiagnosticsSettings
from ullage.core.documents.finding import DocumentFinding, TextFix
from ullage.core.documents.instructions import estimate_text
from ullage.core.text.positions import Positions
from ullage.store.checkpoint.yaml_file import dump
from ullage.store.files.places import Places

RULE = "Run the whole test suite before you commit anything to the main branch."


@pytest.fixture
def around(tmp_path: Path) -> Surroundings:
    workspace = tmp_path / "shop"
    workspace.mkdir()
    for sign in (".openclaw/agents", ".codex/sessions"):
        (tmp_path / sign).mkdir(parents=True)
    places = Places(cwd=workspace, home=tmp_path, env={}, state_folder=tmp_path / "state")
    return Surroundings(config=Config(), places=places, workspaces=(workspace,), texts={})


def write(around: Surroundings, name: str, text: str) -> Path:
    path = around.places.cwd / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text.encode())
    return path


def on_instructions(around: Surroundings, path: Path) -> list[DocumentFinding]:
    return list(run_check(check_instructions, path, around))


def codes(found: list[DocumentFinding]) -> list[str]:
    return [one.code for one in found]


def text_at(text: str, one: DocumentFinding) -> str:
    positions = Positions(text)
    return text[positions.offset(one.extent.start) : positions.offset(one.extent.end)]


def applied(text: str, fix: TextFix) -> str:
    positions = Positions(text)
    start, end = positions.offset(fix.extent.start), positions.offset(fix.extent.end)
    return text[:start] + fix.new_text + text[end:]


def test_the_part_that_openclaw_cuts_is_warned_of_and_marked(around: Surroundings) -> None:
    text = (
        "# My rules\r\n"
        + "".join(f"{at:04} 😀 a rule of some length\r\n" for at in range(900))
        + "end"
    )
    path = write(around, "SOUL.md", text)
    warning, mark = on_instructions(around, path)
    assert codes([warning, mark]) == ["instructions-cut"] * 2
    assert (warning.is_unseen, mark.is_unseen) == (False, True)
    assert warning.extent.start == mark.extent.start
    units = text.encode("utf-16-le")
    before = units[: 2 * 14_000].decode("utf-16-le")
    after = units[-2 * 4_000 :].decode("utf-16-le")
    assert text_at(text, mark) == text.removeprefix(before).removesuffix(after)
    first, second, _ = warning.message.split("\n")
    assert first.startswith("OpenClaw does not see ")
    assert second.startswith("It gives the first 70 % and the last 20 % of ")
    assert "tokens" in warning.message


def test_what_an_agent_cuts_that_is_not_used_here_is_only_said(around: Surroundings) -> None:
    text = "word " * 10_000
    path, memory = write(around, "AGENTS.md", text), write(around, "MEMORY.md", "x" * 30_000)
    for sign in (".openclaw/agents", ".codex/sessions"):
        (around.places.home / sign).rmdir()
    openclaw, codex = on_instructions(around, path)
    assert openclaw.message.startswith("OpenClaw, if you use it, does not see 32,000 characters")
    assert codex.message.startswith("Codex, if you use it, does not see")
    (index,) = run_check(check_memory, memory, around)
    assert all(one.is_notice and not one.is_unseen for one in (openclaw, codex, index))
    write(around, ".codex/config.toml", "")
    assert [one.is_notice for one in on_instructions(around, path)] == [True, False, False]


def test_the_limit_is_the_configured_one(around: Surroundings) -> None:
    path = write(around, "SOUL.md", "x" * 1000)
    config = Config(bootstrap=BootstrapSettings(max_chars=500))
    small = Surroundings(
        config=config, places=around.places, workspaces=around.workspaces, texts={}
    )
    assert on_instructions(around, path) == []
    assert codes(on_instructions(small, path)) == ["instructions-cut"] * 2


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("AGENTS.md", "2,000 of 20,000 characters"),
        ("SOUL.md", "2,000 of 20,000 characters"),
        ("MEMORY.md", "2,000 of 20,000 characters"),
        ("GEMINI.md", "2,000 characters"),
        ("CLAUDE.local.md", "2,000 characters"),
        ("docs/AGENTS.md", "2,000 characters"),
        (".claude/CLAUDE.md", "2,000 characters"),
    ],
)
def test_a_limit_is_told_of_what_it_cuts(around: Surroundings, name: str, told: str) -> None:
    config = Config(bootstrap=BootstrapSettings(max_chars=500))
    small = msgspec.structs.replace(around, config=config)
    path = write(around, name, "😀" * 1000)
    assert size_text(path, "😀" * 1000, around) == told
    cuts = find_memory_cuts if name == "MEMORY.md" else find_instruction_cuts
    assert bool(cuts(path, "😀" * 1000, small)) == (" of " in told)


def test_the_cost_of_a_file_is_what_the_agents_in_sight_are_given(around: Surroundings) -> None:
    text = "word " * 8_000
    path = write(around, "AGENTS.md", text)
    assert sent_text(path, text, around) == "~3,528 to 6,422"
    (around.places.home / ".codex/sessions").rmdir()
    assert sent_text(path, text, around) == "~3,528"
    (around.places.home / ".openclaw/agents").rmdir()
    # Any agent may come: pi has no limit.
    assert sent_text(path, text, around) == "~3,528 to 7,840"
    note = write(around, "memory/2026-02-03.md", text)
    assert estimate_sent_tokens(note, text, around) == (n_all := estimate_text(text), n_all)


def test_what_claude_code_imports_is_a_part_of_the_cost(around: Surroundings) -> None:
    rules, more = "word " * 8_000, "more " * 100
    write(around, "docs/more.md", more)
    write(around, "AGENTS.md", f"See @docs/more.md and @CLAUDE.md.\n{rules}")
    text = "@AGENTS.md and @docs/more.md\n\nAlways answer in English.\n"
    path = write(around, "CLAUDE.md", text)
    # OpenClaw, which is in sight and has a limit, takes AGENTS.md instead.
    assert size_text(path, text, around) == f"{len(text)} characters, 40,534 imported"
    n_imported = estimate_text(f"See @docs/more.md and @CLAUDE.md.\n{rules}") + estimate_text(more)
    assert sent_text(path, text, around) == f"~{estimate_text(text) + n_imported:,}"
    assert estimate_sent_tokens(path, text, around) == (estimate_text(text), estimate_text(text))
    (around.places.cwd / "AGENTS.md").unlink()
    assert size_text(path, text, around) == f"{len(text)} of 20,000 characters"
    write(around, ".claude/settings.json", "{}")
    least, most = estimate_text(text), estimate_text(text) + estimate_text(more)
    assert size_text(path, text, around) == f"{len(text)} of 20,000 characters, 500 imported"
    assert sent_text(path, text, around) == f"~{least:,} to {most:,}"
    (around.places.home / ".openclaw/agents").rmdir()
    assert size_text(path, text, around) == f"{len(text)} characters, 500 imported"
    assert sent_text(path, text, around) == f"~{most:,}"


def test_openclaw_reads_no_file_further_down_and_codex_counts_those_above(
    around: Surroundings,
) -> None:
    write(around, ".git/HEAD", "ref: refs/heads/main")
    write(around, "AGENTS.md", "a" * 19_000)
    path = write(around, "packages/core/AGENTS.md", "é" * 10_000)
    warning, mark = on_instructions(around, path)
    assert warning.message.startswith("Codex does not see 3,116 characters")
    assert "files further up take 19,000" in warning.message
    assert mark.extent.start.column == (32_768 - 19_000) // 2


def test_claude_code_warns_of_a_large_file_and_cuts_nothing(around: Surroundings) -> None:
    path = write(around, "packages/CLAUDE.md", "word " * 8_001)
    (large,) = on_instructions(around, path)
    assert large.code == "instructions-large"


def test_memory_is_cut_by_the_rule_of_its_place(around: Surroundings) -> None:
    index = "".join(f"- [note {at}](n.md)\n" for at in range(201))
    claude = around.places.home / ".claude/projects/-work-shop/memory/MEMORY.md"
    claude.parent.mkdir(parents=True)
    claude.write_text(index, "utf-8")
    warning, mark = run_check(check_memory, claude, around)
    assert (warning.code, mark.extent.start.line) == ("memory-cut", 200)
    # The line without its end, as the parts of a request have it.
    assert warning.message.startswith("Claude Code does not see 18 characters")
    assert "first 200 lines" in warning.message
    assert run_check(check_memory, write(around, "MEMORY.md", "- a fact\n" * 201), around) == ()
    log = write(around, "memory/2026-02-03.md", "x\n" * 5000)
    assert "memory-cut" not in {found.code for found in run_check(check_memory, log, around)}


def test_a_duplicate_names_the_other_place_and_can_be_removed(around: Surroundings) -> None:
    write(around, "CLAUDE.md", f"# Rules\n\n- {RULE}\n")
    text = f"# Mine\n\nSome words of my own.\n\n- {RULE}\n\nMore of my own words.\n"
    path = write(around, "CLAUDE.local.md", text)
    (found,) = on_instructions(around, path)
    assert found.code == "instructions-duplicate"
    assert "CLAUDE.md, line 3" in found.message
    assert text_at(text, found) == f"- {RULE}"
    (related,) = found.related
    assert (Path(related.path).name, related.extent.start.line) == ("CLAUDE.md", 2)
    (fix,) = found.fixes
    assert not fix.is_sure
    assert applied(text, fix) == "# Mine\n\nSome words of my own.\n\nMore of my own words.\n"
    assert on_instructions(around, around.places.cwd / "CLAUDE.md") == []


def test_duplicates_that_follow_each_other_are_told_once(around: Surroundings) -> None:
    item = f"- {RULE}\n"
    text = f"{item * 200}\nMore words.\n\n{item}"
    first, second = on_instructions(around, write(around, "AGENTS.md", text))
    assert first.message.startswith("These 199 stand already in line 1; ")
    assert text_at(text, first) == (item * 199).rstrip("\n")
    assert second.message.startswith("This stands already in line 1; ")
    assert first.fixes[0].title == "Remove these 199 copies"
    assert applied(text, first.fixes[0]) == f"{item}\nMore words.\n\n{item}"


def test_of_a_block_that_is_repeated_all_lines_are_named(around: Surroundings) -> None:
    other = RULE.replace("test suite", "build")
    write(around, "CLAUDE.md", f"{RULE}\n\n{other}\n")
    text = f"{other}\n\n{RULE}\n\nMore words.\n"
    (found,) = on_instructions(around, write(around, "CLAUDE.local.md", text))
    assert found.message.startswith("These 2 stand already in CLAUDE.md, lines 1 to 3; ")
    assert applied(text, found.fixes[0]) == "More words.\n"


def test_files_that_no_agent_loads_together_repeat_nothing(around: Surroundings) -> None:
    for name in ("AGENTS.md", "CLAUDE.md", "GEMINI.md", "docs/CLAUDE.md"):
        write(around, name, f"# {name}\n\nWords of its own for {name}.\n\n- {RULE}\n")
    names = ("AGENTS.md", "CLAUDE.md", "GEMINI.md")
    found = {name: on_instructions(around, around.places.cwd / name) for name in names}
    assert not any(found.values())
    (below,) = on_instructions(around, around.places.cwd / "docs/CLAUDE.md")
    # pi takes AGENTS.md above, and below the only file that is there.
    assert "AGENTS.md, line 5" in below.message


def test_what_is_imported_is_loaded_together(around: Surroundings) -> None:
    write(around, "AGENTS.md", f"- {RULE}\n")
    path = write(around, "CLAUDE.md", f"@AGENTS.md\n\n- {RULE}\n")
    (found,) = on_instructions(around, path)
    assert "AGENTS.md, line 1" in found.message


def test_a_file_of_which_another_is_loaded_instead_repeats_nothing(around: Surroundings) -> None:
    write(around, "AGENTS.override.md", f"- {RULE}\n")
    write(around, "SOUL.md", f"- {RULE}\n")
    path = write(around, "AGENTS.md", f"- {RULE}\n")
    assert on_instructions(around, path) == []
    (found,) = on_instructions(around, around.places.cwd / "SOUL.md")
    assert "AGENTS.md, line 1" in found.message


def test_an_item_is_removed_with_what_stands_below_it(around: Surroundings) -> None:
    item = f"- {RULE}\n  - {RULE} In the backend too.\n"
    text = f"# A\n\n{item}\n# B\n\n{item}- Other words.\n"
    (found,) = on_instructions(around, write(around, "AGENTS.md", text))
    (fix,) = found.fixes
    assert applied(text, fix) == f"# A\n\n{item}\n# B\n\n- Other words.\n"


def test_a_file_that_is_a_copy_is_told_once_and_a_link_not_at_all(around: Surroundings) -> None:
    words = ("gauge", "prune", "window", "secrets", "checkpoints")
    rules = "".join(
        f"- When the {one} changes, look at its own page again first.\n" for one in words
    )
    original = write(around, "AGENTS.md", rules)
    path = write(around, "CLAUDE.md", rules)
    (found,) = on_instructions(around, path)
    assert "5 of the 5 statements" in found.message
    assert "a line @AGENTS.md" in found.message
    assert on_instructions(around, original) == []
    path.unlink()
    try:
        path.symlink_to(original)
    except OSError:
        pytest.skip("no links here")
    assert on_instructions(around, path) == []


def test_what_is_typed_counts_and_not_what_is_on_the_disk(around: Surroundings) -> None:
    write(around, "CLAUDE.md", f"{RULE}\n")
    path = write(around, "CLAUDE.local.md", "nothing")
    typed = Surroundings(
        config=around.config,
        places=around.places,
        workspaces=around.workspaces,
        texts={path: f"{RULE}\n"},
    )
    assert codes(on_instructions(typed, path)) == ["instructions-duplicate"]
    assert on_instructions(around, path) == []


def test_a_dead_path_is_told_with_what_may_be_meant(around: Surroundings) -> None:
    write(around, "src/app/main.py", "")
    write(around, "tests/conftest.py", "")
    text = "The entry is `src/main.py`, its test `tests/test_main.py`.\n"
    path = write(around, "AGENTS.md", text)
    near, gone = on_instructions(around, path)
    assert codes([near, gone]) == ["instructions-dead-path"] * 2
    assert text_at(text, near) == "src/main.py"
    (fix,) = near.fixes
    assert fix.title == "Did you mean src/app/main.py?"
    assert applied(text, fix) == text.replace("src/main.py", "src/app/main.py")
    assert gone.fixes == ()


def test_paths_that_lead_somewhere_are_not_told(around: Surroundings) -> None:
    write(around, "src/app/main.py", "")
    write(around, ".gitignore", ".local/\n/data/*.json\n")
    write(around, ".local/here.md", "")
    write(around, "data/here.csv", "")
    write(around, "packages/core/.gitignore", "*.snap.ts\n")
    text = (
        "`src/app/main.py`, `app/main.py`, [it](../../src/app/main.py), `src/app/`,"
        " `.local/design/notes.md`, `data/last.json`, `src/app/one.snap.ts`\n"
    )
    assert on_instructions(around, write(around, "packages/core/AGENTS.md", text)) == []


def test_what_begins_with_no_folder_of_the_workspace_is_no_path_of_it(around: Surroundings) -> None:
    write(around, "src/app/main.py", "")
    write(around, "api/main.py", "")
    text = (
        "`golang.org/x/tools.go`, `k8s.io/client-go/kubernetes/`, `Next.js/React.ts`,"
        " `projects/agent-scripts/`, `api/v1/users/`, `../other-repo/README.md`,"
        " `text/x-python.py`, `AGENTS.md/CLAUDE.md`,"
        " @octocat/team.md and @src/gone.md, `nflverse/data.csv`\n"
    )
    assert on_instructions(around, write(around, "AGENTS.md", text)) == []
    found = on_instructions(around, write(around, "CLAUDE.md", text))
    assert [one.message for one in found] == ["src/gone.md does not exist in this workspace."]


def test_outside_of_a_workspace_no_path_is_dead(around: Surroundings) -> None:
    path = around.places.home / ".claude" / "CLAUDE.md"
    path.parent.mkdir()
    path.write_text("See `src/gone/main.py`.\n", "utf-8")
    assert on_instructions(around, path) == []


def test_a_code_that_is_turned_off_is_not_found(around: Surroundings) -> None:
    write(around, "src/main.py", "")
    path = write(around, "AGENTS.md", "See `src/gone/main.py`.\n")
    off = Config(diagnostics=DiagnosticsSettings(off=("instructions-dead-path",)))
    quiet = Surroundings(config=off, places=around.places, workspaces=around.workspaces, texts={})
    assert codes(on_instructions(around, path)) == ["instructions-dead-path"]
    assert on_instructions(quiet, path) == []


def test_a_file_above_two_megabytes_is_left_alone(around: Surroundings) -> None:
    assert on_instructions(around, write(around, "SOUL.md", "x" * (2 * 1024 * 1024 + 1))) == []


def test_a_finding_on_a_configuration_stands_at_its_key(around: Surroundings) -> None:
    text = "gauge:\n  triger: 60\ncompaction:\n  autoEnabled: perhaps\n"
    path = write(around, ".ullage.yaml", text)
    unknown, wrong = check_config_file(path, text, around)
    assert (unknown.code, text_at(text, unknown)) == ("config-unknown", "triger")
    assert unknown.message.startswith("There is no setting `gauge.triger`. Did you mean `")
    assert wrong.message.startswith("`compaction.autoEnabled` must be ")
    assert (wrong.code, text_at(text, wrong)) == ("config-type", "perhaps")
    (fix,) = unknown.fixes
    assert applied(text, fix).startswith("gauge:\n  trigger: 60\n")


def test_a_syntax_error_stands_where_it_is(around: Surroundings) -> None:
    text = "gauge:\n  - [\n"
    (found,) = check_config_file(write(around, ".ullage.yaml", text), text, around)
    assert found.code == "config-syntax"
    assert found.extent.start.line >= 1


def saved_checkpoint(around: Surroundings, number: int, **changes: object) -> tuple[Path, str]:
    folder = around.places.state_folder / "context/checkpoints/s"
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"cp_{number:03}.yaml"
    text = dump(made_checkpoint(f"cp_{number:03}", **changes)).decode()
    path.write_text(text, "utf-8", newline="")
    return path, text


def on_checkpoint(around: Surroundings, path: Path, text: str) -> list[DocumentFinding]:
    return list(check_checkpoint_file(path, text, around))


def test_a_chain_that_holds_has_no_findings(around: Surroundings) -> None:
    saved_checkpoint(around, 1)
    path, text = saved_checkpoint(around, 2, previous_checkpoint="cp_001")
    assert on_checkpoint(around, path, text) == []


def test_a_chain_that_does_not_hold_is_told_at_its_key(around: Surroundings) -> None:
    path, text = saved_checkpoint(around, 2, previous_checkpoint="cp_001")
    (found,) = on_checkpoint(around, path, text)
    assert (found.code, text_at(text, found)) == ("checkpoint-chain", '"cp_001"')
    before, _ = saved_checkpoint(around, 1)
    before.write_text("no: checkpoint\n", "utf-8")
    (damaged,) = on_checkpoint(around, path, text)
    assert "cp_001.yaml is damaged" in damaged.message
    path, text = saved_checkpoint(around, 2, previous_checkpoint="cp_002")
    (loop,) = on_checkpoint(around, path, text)
    assert "not before this checkpoint" in loop.message
    saved_checkpoint(around, 1, created_at="2027-01-01T00:00:00Z")
    path, text = saved_checkpoint(around, 2, previous_checkpoint="cp_001")
    (later,) = on_checkpoint(around, path, text)
    assert "was written after it" in later.message


def test_damage_stands_at_the_key_or_the_line(around: Surroundings) -> None:
    path, text = saved_checkpoint(around, 1)
    wrong = text.replace('status: "in_progress"', 'status: "asleep"')
    assert wrong != text
    (found,) = on_checkpoint(around, path, wrong)
    assert (found.code, text_at(wrong, found)) == ("checkpoint-schema", '"asleep"')
    (broken,) = on_checkpoint(around, path, text.replace("meta:", "meta: ["))
    assert broken.code == "checkpoint-schema"
    newer = text.replace("schema_version: 1", "schema_version: 2")
    (found,) = on_checkpoint(around, path, newer)
    assert (found.code, text_at(newer, found)) == ("checkpoint-newer", "2")
    other = text.replace('checkpoint_id: "cp_001"', 'checkpoint_id: "cp_009"')
    (found,) = on_checkpoint(around, path, other)
    assert (found.code, text_at(other, found)) == ("checkpoint-id", '"cp_009"')


def test_lines_of_memory_that_contradict_each_other_are_told_once_with_both_ways_out(
    around: Surroundings,
) -> None:
    text = "# Memory\n\n- Indent with 2 spaces.\n- Ada answers.\n- Indent with 4 spaces.\n"
    path = write(around, "MEMORY.md", text)
    (found,) = run_check(check_memory, path, around)
    assert found.code == "memory-contradiction"
    assert found.message == "This contradicts line 3: only one of the two can hold."
    assert text_at(text, found) == "- Indent with 4 spaces."
    assert found.related[0].extent.start.line == 2
    other, this = found.fixes
    assert (other.title, this.title) == ("Remove the other line", "Remove this line")
    assert "2 spaces" not in applied(text, other)
    assert applied(text, this) == "# Memory\n\n- Indent with 2 spaces.\n- Ada answers.\n"
    assert not any(fix.is_sure for fix in found.fixes)


def test_what_is_not_loaded_of_memory_moves_to_a_note_that_the_index_names(
    around: Surroundings,
) -> None:
    lines = "".join(f"- {at:04} a fact of some length that lasts\n" for at in range(220))
    path = write(around, ".claude/projects/-shop/memory/MEMORY.md", f"# Memory\n\n{lines}")
    text = path.read_text("utf-8")
    cut, _ = run_check(check_memory, path, around)
    (fix,) = cut.fixes
    assert fix.title == "Move this part to more.md"
    assert fix.new_file is not None
    assert fix.new_file.path == str(path.with_name("more.md"))
    left = applied(text, fix)
    # All is there, once, and what is left is loaded whole, the line that names the note included.
    assert left.removesuffix("- More of this: more.md\n") + fix.new_file.text == text
    assert find_memory_cuts(path, left, around) == ()
    write(around, ".claude/projects/-shop/memory/more.md", "taken\n")
    (fix,) = run_check(check_memory, path, around)[0].fixes
    assert fix.title == "Move this part to more-2.md"


def test_what_openclaw_leaves_out_in_the_middle_moves_to_the_folder_of_memory(
    around: Surroundings,
) -> None:
    lines = "".join(f"- {at:04} a fact of some length that lasts\n" for at in range(600))
    path = write(around, "MEMORY.md", f"# Memory\n\n{lines}")
    (fix,) = run_check(check_memory, path, around)[0].fixes
    assert fix.title == "Move this part to memory/more.md"
    left = applied(path.read_text("utf-8"), fix)
    assert find_memory_cuts(path, left, around) == ()
    assert left.endswith("- 0599 a fact of some length that lasts\n")
