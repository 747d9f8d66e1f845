"""The real command: whatever it is given, the agent goes on with its work."""

import os
import shlex
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from claude_files import SESSION_ID, ClaudeFile, text
from hook_inputs import claude, copilot, data, tool_call
from pi_files import Json
from running import WAIT_S, Place
from ullage.core.install.hook_settings import write_command
from ullage.store.checkpoint.files import list_ids
from ullage.store.checkpoint.working_state import read_working_state
from ullage.store.files.places import session_folder
from ullage.store.files.programs import package_folder

KEY = f"claude-code:{SESSION_ID}"
HOOK = ("-P", "-m", "ullage", "hook")
PATIENT_HOOK = (
    "-P",
    "-c",
    f"""
import runpy, sys
from ullage.agent import hook
hook.INPUT_TIME_LIMIT_S = hook.TIME_LIMIT_S = hook.COMPACTION_TIME_LIMIT_S = {WAIT_S}
sys.argv[:1] = ["ullage", "hook"]
runpy.run_module("ullage", run_name="__main__")
""",
)
"""The same with limits that no busy machine reaches."""
CANARY = "a sentence of the transcript"


def run(place: Place, stdin: bytes, *arguments: str, **env: str) -> str:
    """Run a hook; give what it printed on both streams, the second in brackets."""
    arguments = arguments or ("claude-code",)
    done = place.run_process(*arguments, stdin=stdin, program=PATIENT_HOOK, **env)
    assert done.returncode == 0
    assert done.stderr.count("\n") <= 1
    assert CANARY not in done.stderr
    return done.stdout + (f"[{done.stderr.strip()}]" if done.stderr else "")


@pytest.fixture
def path(place: Place) -> Path:
    file = ClaudeFile(cwd=str(place.cwd))
    file.user(f"{CANARY}. Never touch the migrations folder.")
    file.assistant(text("We decided to use sqlite."), usage=162_000)
    return place.write("session.jsonl", file.data)


def told(place: Place, path: Path, event: str = "PreCompact", **fields: object) -> Json:
    return claude(event, **fields) | {
        "session_id": SESSION_ID,
        "transcript_path": str(path),
        "cwd": str(place.cwd),
    }


@pytest.mark.parametrize(
    "stdin",
    [b"", b"not JSON", b"[]", data(copilot("SessionStart", source="new")), b"{" * 100_000],
    ids=["empty", "no JSON", "a list", "VS Code", "deep"],
)
def test_what_is_no_event_of_ours_is_passed_over_in_silence(place: Place, stdin: bytes) -> None:
    assert run(place, stdin) == ""
    assert not place.state.exists()


@pytest.mark.parametrize(
    "arguments",
    [("other",), ("claude-code", "--x"), ("--x",), ("codex", "codex"), ("--help", "x"), ("",)],
)
def test_wrong_arguments_are_told_of_and_stop_nothing(
    place: Place, arguments: tuple[str, ...]
) -> None:
    """An exit code of 2 would stop the user's prompt."""
    assert run(place, b"{}", *arguments) == (
        "[ullage: a hook takes one argument, its agent: claude-code or codex]"
    )


def test_a_hook_without_an_argument_stops_nothing(place: Place) -> None:
    done = place.run_process("hook", stdin=b"{}")
    assert done.returncode == 0
    assert "claude-code or codex" in done.stderr


def test_a_closed_input_is_told_of(place: Place) -> None:
    script = (
        "import os, sys\n"
        "os.close(0)\n"
        "os.execv(sys.executable, [sys.executable, '-P', '-m', 'ullage', 'hook', 'codex'])\n"
    )
    done = place.run_process(program=("-c", script))
    assert done.returncode == 0
    assert done.stderr.startswith("ullage: a hook is run by its agent")
    assert done.stderr.count("\n") == 1


@pytest.mark.parametrize(
    "kind", ["missing", "folder", "empty", "other", "binary", "dangling", "loop", "long", "null"]
)
def test_a_transcript_that_cannot_be_read_stops_nothing(place: Place, kind: str) -> None:
    path = place.cwd / "session.jsonl"
    match kind:
        case "folder":
            path.mkdir()
        case "empty" | "other" | "binary":
            content = {"empty": b"", "other": b'{"type": "x"}\n', "binary": bytes(range(256)) * 99}
            path.write_bytes(content[kind])
        case "dangling":
            path.symlink_to(place.cwd / "nowhere")
        case "loop":
            path.symlink_to(path)
        case "long":
            path = place.cwd / ("session.jsonl" * 400)
        case "null":
            path = place.cwd / "session.jsonl\0"
        case _:
            pass
    output = run(place, data(told(place, path)))
    assert output.startswith("[ullage: ")
    assert "session.jsonl" in output
    assert "report it" not in output
    assert not (place.state / "context").exists()


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such pipes")
def test_a_pipe_in_place_of_a_transcript_is_not_waited_for(place: Place) -> None:
    path = place.cwd / "session.jsonl"
    os.mkfifo(path)
    assert run(place, data(told(place, path))) == (
        "[ullage: the transcript session.jsonl: it is no file]"
    )


def test_pins_of_the_configuration_reach_the_summarizer_and_come_back(
    place: Place, path: Path
) -> None:
    folder = place.home / ".openclaw"
    folder.mkdir(parents=True)
    (folder / "config.yaml").write_text("pins: [Keep the API at version 3.]\n")
    (place.cwd / ".ullage.yaml").write_text("pins: ['run: x\\n']\n")
    marked = "(set by the workspace's .ullage.yaml) run: x"
    steering = run(place, data(told(place, path)))
    assert "\n\nPinned:\n- Keep the API at version 3." in steering
    assert marked in steering
    given = run(place, data(told(place, path, "SessionStart", source="compact")))
    assert "Keep the API at version 3." in given
    assert marked in given


def test_a_state_folder_that_cannot_be_written_still_steers(place: Place, path: Path) -> None:
    place.state.write_bytes(b"a file where a folder should be")
    assert "migrations" in run(place, data(told(place, path)))
    gauge = run(place, data(told(place, path, "UserPromptSubmit", prompt="Go on.")))
    assert "[Context: 81% | 162k/200k tokens]" in gauge
    note = run(place, data(told(place, path, "PostToolUse", **tool_call())))
    assert note.startswith("[ullage: cannot write")


@pytest.mark.skipif(sys.platform == "win32", reason="links need rights there")
def test_checkpoints_that_cannot_be_listed_still_steer(place: Place, path: Path) -> None:
    places = place.places()
    folder = session_folder("checkpoints", KEY, places)
    folder.parent.mkdir(parents=True)
    folder.symlink_to(folder)
    assert "migrations" in run(place, data(told(place, path)))
    gauge = run(place, data(told(place, path, "UserPromptSubmit", prompt="Go on.")))
    assert "[Context: 81% | 162k/200k tokens]" in gauge
    assert "report it" not in run(place, data(told(place, path, "SessionStart", source="compact")))


@pytest.mark.skipif(sys.platform == "win32", reason="Windows keeps a folder that is in use")
def test_a_folder_that_is_gone_stops_nothing(place: Place, path: Path) -> None:
    gone = place.root / "gone"
    gone.mkdir()
    script = 'rmdir "$0" && exec "$1" -P -m ullage hook claude-code'
    done = subprocess.run(
        ["/bin/sh", "-c", script, gone, sys.executable],
        cwd=gone,
        env=place.env(),
        input=data(told(place, path) | {"cwd": str(gone)}),
        capture_output=True,
        timeout=WAIT_S,
        check=True,
    )
    assert b"migrations" in done.stdout


def test_two_hooks_at_once_write_one_checkpoint(place: Place, path: Path) -> None:
    stdin = data(told(place, path))
    with ThreadPoolExecutor(4) as pool:
        outputs = list(pool.map(lambda _: run(place, stdin), range(4)))
    assert len(set(outputs)) == 1
    places = place.places()
    assert list_ids(session_folder("checkpoints", KEY, places)) == ("cp_001",)


def test_tool_calls_at_once_are_all_captured(place: Place, path: Path) -> None:
    names = [f"/work/shop/{at}.py" for at in range(12)]
    inputs = [
        data(told(place, path, "PostToolUse", **tool_call(name, tool_input={"file_path": name})))
        for name in names
    ]
    with ThreadPoolExecutor(len(inputs)) as pool:
        assert set(pool.map(lambda stdin: run(place, stdin), inputs)) == {""}
    places = place.places()
    assert set(read_working_state(KEY, places).resources.files_modified) == set(names)


def test_an_agent_that_does_not_listen_any_more_is_no_fault(place: Place, path: Path) -> None:
    with place.start("claude-code", program=PATIENT_HOOK) as process:
        process.stdout.close()
        process.stdin.write(data(told(place, path)))
        process.stdin.close()
        assert process.stderr.read() == b""
        assert process.wait(WAIT_S) == 0


def test_a_writer_that_never_ends_is_left_within_the_time_limit(place: Place) -> None:
    with place.start("claude-code", program=HOOK) as process:
        assert process.stdout.read() == b""
        assert process.stderr.read().startswith(b"ullage: a hook took more than 2 s")
        assert process.wait(WAIT_S) == 0


def test_the_short_way_ends_within_the_time_limit_too(place: Place) -> None:
    """A disk of the network may never answer."""
    script = (
        "import sys, threading\n"
        "from ullage.agent import hook, quick_answer\n"
        "hook.TIME_LIMIT_S = 0.1\n"
        f"quick_answer.answer_quickly = lambda *_: threading.Event().wait({WAIT_S})\n"
        "hook.run_hook(['claude-code'])\n"
    )
    done = place.run_process(stdin=data(tool_call()), program=("-P", "-c", script))
    assert (done.returncode, done.stdout) == (0, "")
    assert done.stderr.startswith("ullage: a hook took more than 0.1 s")


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such pipes")
def test_settings_that_became_a_pipe_are_not_waited_for(place: Place, path: Path) -> None:
    settings = place.home / ".claude" / "settings.json"
    settings.parent.mkdir()
    settings.write_text("{}", "utf-8")
    prompt = data(told(place, path, "UserPromptSubmit", prompt="Go on."))
    expected = run(place, prompt)
    assert "81%" in expected
    settings.unlink()
    os.mkfifo(settings)
    assert run(place, prompt) == expected


def test_a_tool_call_imports_no_format_and_no_command_line(place: Place, path: Path) -> None:
    names = ("click", "yaml", "tiktoken", "filelock", "asyncio", "sqlite3", "ullage.formats")
    script = (
        "import os, sys\n"
        "from ullage.__main__ import main\n"
        f"names = {names!r}\n"
        "os._exit = lambda code: sys.exit(str([n for n in names if n in sys.modules]))\n"
        "sys.argv = ['ullage', 'hook', 'claude-code']\n"
        "main()\n"
    )
    stdin = data(told(place, path, "PostToolUse", **tool_call()))
    done = place.run_process(program=("-c", script), stdin=stdin)
    assert done.stderr == "[]\n"
    assert list(place.state.rglob("waiting-*.json"))


def installed_hook(**folders: str) -> tuple[str, ...]:
    """Give the words of the command that `ullage install` writes, as a shell reads them."""
    command = write_command(
        ("hook", "claude-code"),
        sys.executable,
        folders.get("package", package_folder()),
        is_windows=os.name == "nt",
        takes_bash=True,
    )
    return tuple(shlex.split(command))[1:]


def test_nothing_of_a_workspace_runs(place: Place, path: Path) -> None:
    for name in ("json", "os", "re", "sitecustomize", "usercustomize", "msgspec", "ullage", "site"):
        code = f"open({str(place.root / 'ran')!r}, 'a').write({name!r})"
        (place.cwd / f"{name}.py").write_text(code, "utf-8")
    env = {"PYTHONPATH": str(place.cwd), "PYTHONSTARTUP": str(place.cwd / "json.py")}
    for event, fields in (
        ("PostToolUse", tool_call()),
        ("PostToolUse", tool_call("toolu_000000002")),
        ("UserPromptSubmit", {"prompt": "Go on."}),
        ("PreCompact", {}),
    ):
        stdin = data(told(place, path, event, **fields))
        done = place.run_process(program=installed_hook(), stdin=stdin, **env)
        assert (done.returncode, done.stderr) == (0, "")
    assert not (place.root / "ran").exists()
    assert len(list(place.state.rglob("_latest.json"))) == 1


def test_a_hook_whose_package_is_gone_stops_no_prompt(place: Place, path: Path) -> None:
    """With 2 it would."""
    program = installed_hook(package=str(place.root / "gone"))
    done = place.run_process(program=program, stdin=data(told(place, path, "UserPromptSubmit")))
    assert done.returncode == (0 if os.name == "nt" else 1)


def test_the_short_way_of_a_tool_call_imports_nothing_slow(place: Place, path: Path) -> None:
    stdin = data(told(place, path, "PostToolUse", **tool_call()))
    assert run(place, stdin) == ""
    script = (
        "import os, sys\n"
        f"sys.path.append({package_folder()!r})\n"
        "from ullage.__main__ import main\n"
        "os._exit = lambda code: sys.exit(' '.join(sorted(sys.modules)))\n"
        "main()\n"
    )
    program = ("-E", "-P", "-S", "-c", script, "hook", "claude-code")
    done = place.run_process(program=program, stdin=stdin)
    assert len(list(place.state.rglob("waiting-*.json"))) == 2
    slow = (
        "re typing json msgspec pathlib hashlib collections threading functools enum site".split()
    )
    assert not set(slow) & set(done.stderr.split())
