"""`ullage install` and `ullage uninstall`, in a home of its own."""

import json
import shlex
import sys
from pathlib import Path

import pytest

from running import Place
from ullage.store.files.programs import package_folder

SETTINGS = b'{\r\n\t"model": "opus",\r\n\t"hooks": {"Stop": []}\r\n}'
START = f"import sys; sys.path.append({json.dumps(package_folder())});"
START += " from ullage.__main__ import main; main()"
COMMAND = json.dumps(shlex.join((sys.executable, "-E", "-P", "-S", "-c", START, "hook")))[1:-1]
needs_posix = pytest.mark.skipif(sys.platform == "win32", reason="other paths are shown there")


def settings_of(place: Place, name: str = ".claude/settings.json", data: bytes = SETTINGS) -> Path:
    path = place.home / name
    path.parent.mkdir(parents=True)
    path.write_bytes(data)
    return path


def test_installed_edited_and_taken_back(place: Place) -> None:
    path = settings_of(place)
    before = place.files()
    shown = place.run("install", "claude-code", "--dry-run")
    assert shown.returncode == 0
    assert place.files() == before
    asked = place.run("install", "claude-code", stdin="y\n")
    assert asked.returncode == 0
    assert asked.stderr == "Install Ullage in Claude Code? [y/N]: "
    assert asked.stdout.startswith(shown.stdout)
    installed = path.read_bytes()
    again = place.run("install", "claude-code", "--yes")
    assert again.stdout == "Ullage is already installed in Claude Code; nothing changes.\n"
    assert path.read_bytes() == installed
    path.write_bytes(installed.replace(b'"opus"', b'"sonnet"'))
    out = place.run("uninstall", "claude-code", "--yes")
    assert out.stdout.endswith("Ullage is no longer in Claude Code.\n")
    assert path.read_bytes() == SETTINGS.replace(b'"opus"', b'"sonnet"')
    path.write_bytes(SETTINGS)
    place.state.rmdir()
    assert place.files() == before
    none = place.run("uninstall", "claude-code", "--yes")
    assert none.stdout == "Ullage is not installed in Claude Code; nothing changes.\n"


@needs_posix
def test_each_line_is_shown_as_it_will_be(place: Place) -> None:
    settings_of(place, ".codex/hooks.json", b"{}\n")
    done = place.run("install", "codex", "--yes")
    assert done.stderr == ""
    lines = done.stdout.split("\n")
    assert lines[:16] == [
        "--- ~/.codex/hooks.json",
        "+++ ~/.codex/hooks.json",
        "@@ -1 +1,49 @@",
        "-{}",
        "+{",
        '+  "hooks": {',
        '+    "PreCompact": [',
        "+      {",
        '+        "hooks": [',
        "+          {",
        '+            "type": "command",',
        f'+            "command": "{COMMAND} codex",',
        '+            "timeout": 30',
        "+          }",
        "+        ]",
        "+      }",
    ]
    assert lines[-4:] == [
        "Installed in Codex. Codex runs new hooks only once you trust them: start it,",
        "type /hooks, and trust those of Ullage. Until then they do nothing. `ullage",
        "uninstall codex` takes all of it back.",
        "",
    ]


def test_the_list_says_where_it_is_installed(place: Place) -> None:
    settings_of(place)
    (place.home / ".codex").mkdir()
    place.run("install", "codex", "--yes")
    nobody = str(place.root / "bin")
    listed = place.run("install", PATH=nobody)
    assert listed.stdout == (
        "claude-code  not installed\n"
        "codex        installed\n"
        "pi           not found on this machine\n"
        "openclaw     not found on this machine\n"
        "schedule     not installed (this folder)\n"
        "`ullage install NAME` shows what it would change, and asks.\n"
    )
    report = json.loads(place.run("install", "--json", PATH=nobody).stdout)
    assert report["schedule"]["state"] == "not-installed"
    agents = report["agents"]
    assert [(one["agent"], one["state"]) for one in agents] == [
        ("claude-code", "not-installed"),
        ("codex", "installed"),
        ("pi", "not-found"),
        ("openclaw", "not-found"),
    ]


def test_a_plan_is_json_too(place: Place) -> None:
    path = settings_of(place)
    plan = json.loads(place.run("install", "claude-code", "--dry-run", "--json").stdout)
    assert (plan["action"], plan["is_needed"]) == ("install", True)
    (file,) = plan["files"]
    assert (file["path"], file["change"]) == (str(path), "edit")
    assert '+\t\t"PreCompact": [' in file["diff"]
    assert plan["is_done"] is False
    done = json.loads(place.run("install", "claude-code", "--yes", "--json").stdout)
    assert done == plan | {"is_done": True}
    refused = place.run("install", "claude-code", "--json")
    assert refused.returncode == 2


def test_declined_nothing_is_written(place: Place) -> None:
    settings_of(place)
    before = place.files()
    done = place.run("install", "claude-code", stdin="n\n")
    assert done.returncode == 0
    assert done.stderr.endswith("Nothing was changed.\n")
    assert place.files() == before


@pytest.mark.parametrize(
    ("args", "code", "told"),
    [
        (("install", "pi", "--yes"), 3, "ullage: pi was not found: there is no"),
        (("install", "cursor"), 2, "ullage: Invalid value for"),
        (("uninstall",), 2, "ullage: Missing argument"),
        (("install", "claude-code", "--yes"), 3, "ullage: "),
    ],
)
def test_what_cannot_be_is_one_line(place: Place, args, code: int, told: str) -> None:
    settings_of(place, data=b"{ torn")
    before = place.files()
    done = place.run(*args)
    assert done.returncode == code
    assert done.stderr.startswith(told)
    assert done.stderr.count("\n") == 1
    assert place.files() == before


def test_the_installed_command_takes_no_module_from_the_folder_that_it_runs_in(
    place: Place,
) -> None:
    (place.cwd / "msgspec.py").write_text("raise SystemExit('taken from the project')")
    done = place.run_process("--version", program=("-P", "-m", "ullage"))
    assert done.returncode == 0, done.stderr


@needs_posix
def test_a_folder_is_looked_after_by_the_clock(place: Place) -> None:
    programs = place.root / "bin"
    programs.mkdir()
    for name, text in {
        "systemctl": "exit 1",
        "crontab": 'if [ "$1" = -l ]; then cat "$HOME/tab"; else cat > "$HOME/tab"; fi',
    }.items():
        (programs / name).write_text(f"#!/bin/sh\n{text}\n")
        (programs / name).chmod(0o755)
    tab = place.home / "tab"
    tab.write_text("# mine\n")
    env = {"PATH": f"{programs}:/usr/bin:/bin"}
    shown = place.run("install", "schedule", "--dry-run", **env)
    assert tab.read_text() == "# mine\n"
    asked = place.run("install", "schedule", stdin="y\n", **env)
    assert asked.stderr == "Have this looked after every 30 minutes? [y/N]: "
    assert asked.stdout.startswith(shown.stdout)
    line = tab.read_text().split("\n")[1]
    assert f"+{line}" in shown.stdout.split("\n")
    assert f"{sys.executable} -P -m ullage memory dream --due # ullage-dream-" in line
    assert "\nschedule     installed (this folder)\n" in place.run("install", **env).stdout
    again = place.run("install", "schedule", "--yes", **env)
    assert again.stdout == f"{place.cwd} is already looked after by the clock; nothing changes.\n"
    report = json.loads(place.run("uninstall", "schedule", "--yes", "--json", **env).stdout)
    assert (report["agent"], report["action"], report["is_done"]) == ("schedule", "uninstall", True)
    assert tab.read_text() == "# mine\n"
    none = place.run("uninstall", "schedule", "--yes", **env)
    assert none.stdout.endswith("is not looked after by the clock; nothing changes.\n")
