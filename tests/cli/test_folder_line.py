"""`ullage statusline` from a folder: the short way while nothing changes, and never an old line."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from claude_files import ClaudeFile, call, result, text
from codex_files import CodexFile
from pi_files import conversation
from running import IDLE_S, Place, idle
from ullage.store.files.programs import package_folder

FORMAT = ("--format", "{agent} {percent} {title} {compacts}")
IMPORTS = (
    "import os, sys\n"
    f"sys.path.append({package_folder()!r})\n"
    "from ullage.__main__ import main\n"
    "os._exit = lambda code: sys.exit(' '.join(sorted(sys.modules)))\n"
    "main()\n"
)


class Home:
    """The agents' folders, with some sessions of Claude Code in the project's folder."""

    def __init__(self, place: Place) -> None:
        self.place = place
        name = "".join(char if char.isalnum() else "-" for char in str(place.cwd))
        self.claude = place.home / ".claude" / "projects" / name
        self.running = place.home / ".claude" / "sessions"
        self.codex = place.home / ".codex" / "sessions" / "2026" / "11" / "28"
        for folder in (self.claude, self.running, self.codex):
            folder.mkdir(parents=True)
        self.files: dict[str, ClaudeFile] = {}

    def answer(self, session: str, used: int) -> None:
        """Append an answer to a session."""
        file = self.files.setdefault(
            session, ClaudeFile(cwd=str(self.place.cwd), session_id=f"{session * 8}-aaaa")
        )
        file.user(f"Fix {session}.")
        file.assistant(text("Done."), usage=used)
        self.path(session).write_bytes(file.data)

    def path(self, session: str) -> Path:
        return self.claude / f"{session * 8}-aaaa.jsonl"

    def settle(self, age_s: float) -> None:
        """Let all have been left alone for a while; who was written to last stays that."""
        paths = sorted(self.place.home.rglob("*"), key=lambda path: path.stat().st_mtime_ns)
        for n, path in enumerate([*paths, self.place.home]):
            idle(path, age_s - n)

    def line(self) -> str:
        return self._run("-m", "ullage").stdout

    def is_short(self) -> bool:
        """Whether the next line goes the short way, which alone needs no command line."""
        return "ullage.cli.main" not in self._run("-c", IMPORTS).stderr

    def truth(self) -> str:
        """Give the line of one who never saw the folder."""
        state = str(self.place.root / "other")
        return self.place.run("statusline", *FORMAT, ULLAGE_STATE_DIR=state).stdout

    def _run(self, *program: str):
        return self.place.run_process("statusline", *FORMAT, program=program)


@pytest.fixture
def home(place: Place) -> Home:
    home = Home(place)
    home.answer("1", 60_000)
    home.settle(3 * IDLE_S)
    home.answer("2", 80_000)
    home.settle(2 * IDLE_S)
    return home


def append(home: Home) -> None:
    home.answer("2", 100_000)


def append_a_tool(home: Home) -> None:
    home.files["2"].assistant(call("c1"), usage=90_000)
    home.files["2"].user([result("c1", "x y z\n" * 4_000)])
    home.path("2").write_bytes(home.files["2"].data)


def append_to_the_older(home: Home) -> None:
    home.answer("1", 120_000)


def begin(home: Home) -> None:
    home.answer("3", 20_000)


def remove(home: Home) -> None:
    home.path("2").unlink()


def replace(home: Home) -> None:
    del home.files["2"]
    home.answer("2", 4_000)


def run(home: Home, session: str, name: str = "1.json") -> None:
    """Let a process of the agent have a session open."""
    record = f'{{"pid": {os.getpid()}, "sessionId": "{session * 8}-aaaa"}}'
    (home.running / name).write_text(record, "utf-8")


def run_the_older(home: Home) -> None:
    run(home, "1")


def begin_in_codex(home: Home) -> None:
    codex = CodexFile(cwd=str(home.place.cwd))
    codex.turn()
    codex.user("Go on.")
    codex.assistant("Done.", n_total=50_000)
    folder = home.codex.with_name("29")
    folder.mkdir()
    (folder / "rollout-2026-11-29T00-00-00-1.jsonl").write_bytes(codex.data)


def begin_in_pi(home: Home) -> None:
    place = home.place
    folder = f"--{str(place.cwd).lstrip('/').replace('/', '-')}--"
    path = place.home / ".pi" / "agent" / "sessions" / folder / "s.jsonl"
    place.write(str(path), conversation(2, cwd=str(place.cwd)).data, age_s=0)


def name_it(home: Home) -> None:
    home.files["2"].note("custom-title", customTitle="Another name")
    home.path("2").write_bytes(home.files["2"].data)


def configure(home: Home) -> None:
    path = home.place.home / ".openclaw" / "config.yaml"
    path.parent.mkdir()
    path.write_bytes(b"contextWindow: 400000\n")


def configure_the_agent(home: Home) -> None:
    path = home.place.home / ".claude" / "settings.json"
    path.write_bytes(b'{"autoCompactEnabled": false}')


CHANGES: tuple[Callable[[Home], None], ...] = (
    *(append, append_a_tool, append_to_the_older, begin, remove, replace, run_the_older),
    *(begin_in_codex, begin_in_pi, name_it, configure, configure_the_agent),
)


@pytest.mark.parametrize("change", CHANGES, ids=lambda change: change.__name__)
def test_a_line_of_a_folder_is_never_an_old_one(home: Home, change: Callable[[Home], None]) -> None:
    before = home.line()
    assert home.is_short()
    assert home.line() == before == home.truth()
    change(home)
    assert home.line() == home.truth() != before


def test_what_was_left_alone_goes_the_short_way_again(home: Home) -> None:
    home.line()
    begin(home)
    assert not home.is_short()
    home.settle(IDLE_S)
    line = home.line()
    assert home.is_short()
    assert home.line() == line == home.truth()


def test_the_short_way_of_a_folder_imports_nothing_slow(home: Home) -> None:
    home.line()
    imported = set(
        home.place.run_process(
            "statusline", *FORMAT, program=("-E", "-P", "-S", "-c", IMPORTS)
        ).stderr.split()
    )
    assert "ullage.agent.status_line" in imported
    slow = "re typing json msgspec click pathlib collections threading functools enum site".split()
    assert not imported & set(slow)


def test_a_folder_without_sessions_goes_the_short_way_until_it_has_one(place: Place) -> None:
    home = Home(place)
    home.settle(IDLE_S)
    assert home.line() == ""
    assert home.is_short()
    home.answer("1", 60_000)
    assert home.line().startswith("Claude Code 30% Fix 1.")


@pytest.mark.parametrize("session", ["1", "2"])
def test_where_another_lives_the_folder_is_looked_at_each_time(home: Home, session: str) -> None:
    """What lives may stop to, without a word of it in any file."""
    run(home, "1")
    run(home, session, "2.json")
    home.settle(IDLE_S)
    assert home.line() == home.truth()
    assert not home.is_short()


def test_what_is_written_into_a_file_that_was_there_is_seen(home: Home) -> None:
    begun = ClaudeFile(cwd=str(home.place.cwd), session_id=f"{'3' * 8}-aaaa")
    begun.note("file-history-snapshot")
    home.path("3").write_bytes(begun.data)
    run(home, "9")
    home.settle(IDLE_S)
    line = home.line()
    assert home.is_short()
    run(home, "1")
    assert home.line() == home.truth() != line
    run(home, "9")
    home.settle(IDLE_S - 100)
    assert home.line() == line
    home.files["3"] = begun
    home.answer("3", 20_000)
    assert home.line() == home.truth() != line


def test_only_what_claude_code_appends_is_told_by_the_short_way(home: Home) -> None:
    codex = CodexFile(cwd=str(home.place.cwd))
    codex.turn()
    codex.assistant("Done.", n_total=50_000)
    path = home.codex / "rollout-2026-11-28T00-00-00-1.jsonl"
    path.write_bytes(codex.data)
    home.settle(IDLE_S)
    assert home.line() == home.truth()
    assert home.is_short()
    codex.assistant("Done again.", n_total=90_000)
    path.write_bytes(codex.data)
    assert not home.is_short()
    assert home.line() == home.truth()


def test_where_nothing_may_be_written_a_folder_is_looked_at_each_time(home: Home) -> None:
    settings = home.place.home / ".openclaw" / "config.yaml"
    settings.parent.mkdir()
    settings.write_bytes(b"sandbox:\n  readOnly: true\n")
    home.settle(IDLE_S)
    assert home.line() == home.truth()
    assert not home.is_short()
    assert not home.place.state.exists()
