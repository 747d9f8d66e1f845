"""Start-up: what a command does not need it does not import."""

import sys

import pytest

from claude_files import ClaudeFile
from pi_files import conversation
from running import WAIT_S

HEAVY = ("pygls", "lsprotocol", "openai", "httpx2", "keyring", "yaml", "watchdog", "asyncio")
SCRIPT = """
import sys
from ullage.cli.main import main
sys.argv = ["ullage", *sys.argv[1:]]
try:
    main()
except SystemExit as leaving:
    assert not leaving.code, leaving.code
print("imported:", [name for name in {names!r} if name in sys.modules], file=sys.stderr)
"""


@pytest.mark.parametrize(
    "args",
    [
        ("--help",),
        ("--version",),
        ("context", "status"),
        ("context", "show", "--json"),
        ("memory", "search", "parcels"),
        ("memory", "get", "MEMORY.md"),
    ],
)
def test_reading_commands_import_nothing_heavy(place, args: tuple[str, ...]) -> None:
    path = place.write("s.jsonl", conversation(2).data)
    (place.cwd / "MEMORY.md").write_text("- Parcels are stored in SQLite\n", "utf-8")
    session = ("--session", str(path)) if args[0] == "context" else ()
    done = place.run_process(*args, *session, program=("-c", SCRIPT.format(names=HEAVY)))
    assert done.stderr == "imported: []\n"


@pytest.mark.parametrize(
    ("args", "others"),
    [
        (
            ("--version",),
            (
                "msgspec",
                "importlib.metadata",
                "ullage.app",
                "ullage.core",
                "ullage.formats",
                "sqlite3",
            ),
        ),
        (
            ("memory", "search", "parcels"),
            ("subprocess", "ullage.store.memory.daily_log", "ullage.cli.compact", "ullage.formats"),
        ),
        (("memory", "status"), ("cronsim", "ullage.app.dream", "ullage.core.dream.triggers")),
    ],
    ids=["version", "search", "status"],
)
def test_a_command_pays_for_no_other(place, args: tuple[str, ...], others: tuple[str, ...]) -> None:
    (place.cwd / "MEMORY.md").write_text("- Parcels are stored in SQLite\n", "utf-8")
    done = place.run_process(*args, program=("-c", SCRIPT.format(names=others)))
    assert done.stderr == "imported: []\n"


OTHER_PARTS = (
    *(f"ullage.formats.agents.{name}.agent" for name in ("claude_code", "codex", "gemini")),
    *("ullage.formats.agents.opencode.agent", "ullage.formats.agents.openclaw.skills"),
    *("ullage.core.assembly.skills", "ullage.core.assembly.skill_frontmatter", "ullage.lsp"),
    *("ullage.core.text.json5", "ullage.core.text.wording", "ullage.core.text.sentences"),
    *("ullage.agent.hook_agents", "ullage.summary", "ullage.app.install", "ullage.app.memory"),
    *("ullage.app.sessions.find", "ullage.app.gauge.startup_files", "ullage.formats.openai_chat"),
    *(
        "ullage.store.transcript.openclaw_db",
        "ullage.store.transcript.packed",
        "platformdirs",
        "hashlib",
    ),
    *("html", "backports.zstd", "compression.zstd", "secrets", "regex", "subprocess"),
)


def test_a_status_of_claude_code_imports_the_row_of_no_other_agent(place) -> None:
    names = ("openclaw", "codex", "gemini", "opencode")
    script = SCRIPT.format(names=tuple(f"ullage.formats.agents.{name}.agent" for name in names))
    session = ClaudeFile()
    session.user("Fix the router.")
    session.assistant({"type": "text", "text": "Done."})
    path = place.write("s.jsonl", session.data)
    done = place.run_process("context", "status", "--session", path, program=("-c", script))
    assert done.stderr == "imported: []\n"


def test_a_status_imports_the_row_of_its_agent_and_nothing_of_skills(place) -> None:
    path = place.write("s.jsonl", conversation(2).data)
    script = SCRIPT.format(names=OTHER_PARTS)
    done = place.run_process("context", "status", "--session", path, program=("-c", script))
    assert done.stderr == "imported: []\n"


def test_a_look_whether_a_dream_is_due_imports_nothing_of_dreams(place) -> None:
    script = (
        "import sys, ullage.app.dream.due\n"
        "print(*sorted(name for name in sys.modules if name.startswith('ullage.app.dream.')))"
    )
    done = place.run_process(program=("-c", script))
    assert done == (0, "ullage.app.dream.daily_logs ullage.app.dream.due\n", "")


def test_a_plain_status_says_without_click_what_click_makes_of_it(place) -> None:
    path = place.write("s.jsonl", conversation(2).data)
    script = SCRIPT.format(names=("click", "inspect", "typing_extensions"))
    done = place.run_process("context", "status", "--session", path, program=("-c", script))
    assert done.stderr == "imported: []\n"
    assert done.stdout == place.run("context", "status", f"--session={path}").stdout != ""


def test_msgspec_is_imported_without_what_others_still_find(place) -> None:
    script = (
        "import sys; from ullage.agent.hook import load_packages; load_packages()\n"
        "print('msgspec' in sys.modules, 'typing_extensions' in sys.modules)\n"
        "import typing_extensions"
    )
    assert place.run_process(program=("-c", script)) == (0, "True False\n", "")


@pytest.mark.skipif(
    sys.platform == "win32", reason="a pipe without a reader is another error there"
)
def test_a_status_that_nobody_reads_is_no_fault(place) -> None:
    path = place.write("s.jsonl", conversation(2).data)
    with place.start("context", "status", "--session", path) as process:
        process.stdout.close()
        assert (process.wait(WAIT_S), process.stderr.read()) == (0, b"")


def test_a_session_with_reported_usage_needs_no_tokenizer(place) -> None:
    path = place.write("s.jsonl", conversation(2).data)
    script = SCRIPT.format(names=("tiktoken", "toktok", "regex"))
    done = place.run_process("context", "status", "--session", path, program=("-c", script))
    assert done.stderr == "imported: []\n"


def test_the_output_that_follows_the_last_answer_is_counted_without_a_tokenizer(place) -> None:
    session = conversation(2)
    session.assistant("I read it.", calls=[("c9", "read", {"path": "a.py"})], usage=900)
    session.result("c9", "# “Größe” — ✓\n" + "def f() -> None: ...\n" * 2000, name="read")
    path = place.write("s.jsonl", session.data)
    script = SCRIPT.format(names=("tiktoken", "toktok"))
    done = place.run_process("context", "status", "--session", path, program=("-c", script))
    assert (done.stderr, "counted since" in done.stdout) == ("imported: []\n", True)


def test_the_openai_package_is_imported_by_who_asks_a_model_alone(place) -> None:
    script = (
        "import sys, ullage.summary.stages, ullage.summary.endpoint, ullage.summary.endpoint\n"
        "print([name for name in ('openai', 'httpx2', 'keyring') if name in sys.modules])"
    )
    done = place.run_process(program=("-c", script))
    assert (done.stdout, done.stderr) == ("[]\n", "")


@pytest.mark.parametrize(
    "args", [("--version",), ("-h",), ("context", "-h"), ("compact", "--help")]
)
def test_version_and_help_are_printed(place, args: tuple[str, ...]) -> None:
    done = place.run(*args)
    assert (done.returncode, done.stderr) == (0, "")
    assert "version" in done.stdout if args == ("--version",) else "Usage:" in done.stdout


def test_the_agents_service_starts_without_the_language_server_or_a_model(place) -> None:
    # It leaves without the end of a program, so that Python has to tell of the imports itself.
    done = place.run_process("agent", program=("-X", "importtime", "-m", "ullage"))
    imported = {line.rpartition("|")[2].strip() for line in done.stderr.splitlines()}
    assert "ullage.agent.server" in imported
    heavy = {"pygls", "lsprotocol", "openai", "httpx2", "keyring", "watchdog"}
    assert imported & heavy == set()
