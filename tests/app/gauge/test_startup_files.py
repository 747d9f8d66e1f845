"""It is told which files AGENTS.md asks for and the agent did not read after a compaction."""

from datetime import timedelta
from pathlib import Path

import pytest

from claude_files import ClaudeFile, call, result, text
from pi_files import START
from planning import loaded
from ullage.app.checkpoint.write import write_checkpoint
from ullage.app.gauge.history import history_text, read_history
from ullage.app.gauge.startup_files import unread_text
from ullage.app.gauge.status_report import report_status
from ullage.app.gauge.status_text import status_text
from ullage.app.sessions.open import open_session
from ullage.core.config.settings import CheckpointSettings, Config
from ullage.store.files.places import Places
from ullage.store.state.runtime_state import carry_state
from ullage.store.state.startup_files import STARTUP_FILE, read_unread_files

DAY = f"{START.astimezone():%Y-%m-%d}"
BEFORE = f"{START.astimezone() - timedelta(days=1):%Y-%m-%d}"
LOG = f"memory/{DAY}.md"
RULES = (
    "## Session Startup\n- Read SOUL.md, never asked.\n- Read `USER.md` and `gone.md`\n"
    "- Read memory/YYYY-MM-DD.md (today and yesterday)\n"
)


@pytest.fixture
def workspace(places: Places) -> Path:
    (places.cwd / "memory").mkdir()
    (places.cwd / "AGENTS.md").write_text(RULES, "utf-8")
    for name in ("SOUL.md", "USER.md", LOG):
        (places.cwd / name).write_text("x\n", "utf-8")
    return places.cwd


class Agent:
    """A session of Claude Code that is compacted, and reads files afterwards."""

    def __init__(self, workspace: Path) -> None:
        self.file = ClaudeFile(cwd=str(workspace))
        self.path = workspace / "session.jsonl"
        self.file.user("Fix the parser.")
        self.file.assistant(text("Fixed."))

    def compact(self) -> None:
        self.file.boundary()
        self.file.summary("What came before.")

    def read(self, *paths: str) -> None:
        for path in paths:
            self.file.assistant(call(f"c{len(self.file.uuids)}", "Read", file_path=path))
            self.file.user([result(f"c{len(self.file.uuids) - 1}", "x")])

    def answer(self) -> Path:
        self.file.assistant(text("Done."))
        self.path.write_bytes(self.file.data)
        return self.path


@pytest.fixture
def agent(workspace: Path) -> Agent:
    return Agent(workspace)


def unread(path: Path, places: Places) -> tuple[str, ...] | None:
    return report_status(loaded(path, places, Config())).unread_startup_files


def test_what_is_there_and_was_not_read_is_told(
    agent: Agent, places: Places, workspace: Path
) -> None:
    assert unread(agent.answer(), places) is None
    agent.compact()
    agent.read(str(workspace / "USER.md"))
    path = agent.answer()
    assert unread(path, places) == (LOG,)
    told = " ".join(status_text(loaded(path, places, Config())).split())
    assert "Startup Files: after the compaction at " in told
    assert f"the agent did not read {LOG} that AGENTS.md asks for" in told
    agent.read(LOG)
    path = agent.answer()
    assert unread(path, places) == ()
    assert "Startup Files" not in status_text(loaded(path, places, Config()))


def test_where_nothing_is_asked_for_nothing_is_told(
    agent: Agent, places: Places, workspace: Path
) -> None:
    (workspace / "AGENTS.md").write_text("## Red Lines\n- Read USER.md\n", "utf-8")
    agent.compact()
    path = agent.answer()
    assert unread(path, places) is None
    write_checkpoint(loaded(path, places, Config()), CheckpointSettings(), places, trigger="manual")
    assert not list(places.state_folder.rglob(STARTUP_FILE.name))


def test_the_history_keeps_what_was_noted_before_the_next_compaction(
    agent: Agent, places: Places, workspace: Path
) -> None:
    (workspace / f"memory/{BEFORE}.md").write_text("x\n", "utf-8")
    agent.compact()
    agent.read("USER.md")
    before = loaded(agent.answer(), places, Config())
    write_checkpoint(before, CheckpointSettings(), places, trigger="compaction")
    agent.compact()
    agent.read(LOG, f"memory/{BEFORE}.md", "USER.md")
    session = open_session(agent.answer())
    # The rules of today are not those of then.
    (workspace / "AGENTS.md").write_text(RULES.replace("USER.md", "SOUL.md"), "utf-8")
    report = read_history(session, places)
    told = [compaction.unread_startup_files for compaction in report.compactions]
    assert told == [(LOG, f"memory/{BEFORE}.md"), ("SOUL.md",)]
    lines = history_text(report, 80).split("\n")
    assert all(len(line) <= 80 for line in lines)
    assert f"did not read {LOG}, memory/{BEFORE}.md" in " ".join(map(str.strip, lines))


def test_a_note_goes_with_the_session_and_ends_with_an_undone_compaction(
    agent: Agent, places: Places
) -> None:
    for _ in range(2):
        agent.compact()
        path = agent.answer()
        before = loaded(path, places, Config())
        write_checkpoint(before, CheckpointSettings(), places, trigger="compaction")
    key = before.session.state_key
    assert read_unread_files(key, places) == dict.fromkeys((1, 2), ("USER.md", LOG))
    carry_state(key, "claude-code:other", places)
    assert read_unread_files("claude-code:other", places) == read_unread_files(key, places)
    undone = Agent(places.cwd)
    undone.compact()
    undone.read("USER.md")
    after = loaded(undone.answer(), places, Config())
    write_checkpoint(after, CheckpointSettings(), places, trigger="compaction")
    assert read_unread_files(key, places) == {1: (LOG,)}


def test_a_damaged_note_counts_as_none(agent: Agent, places: Places) -> None:
    agent.compact()
    before = loaded(agent.answer(), places, Config())
    path = STARTUP_FILE.path(before.session.state_key, places)
    path.parent.mkdir(parents=True)
    path.write_bytes(b"{")
    assert read_history(before.session, places).compactions[0].unread_startup_files is not None
    write_checkpoint(before, CheckpointSettings(), places, trigger="compaction")
    assert read_unread_files(before.session.state_key, places) == {1: ("USER.md", LOG)}


def test_many_files_are_told_in_short() -> None:
    names = tuple(f"{letter}.md" for letter in "abcdefg")
    assert unread_text(names, "14:02") == (
        "after the compaction at 14:02 the agent did not read"
        " a.md, b.md, c.md, d.md, e.md and 2 more that AGENTS.md asks for"
    )
