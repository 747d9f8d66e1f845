"""Tab completes commands, options, sessions and checkpoints in the real shells."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from pi_files import PiFile
from running import WAIT_S, Place

ROOT = Path(__file__).parents[2]
SESSION_ID = "01964803-5a40-7c1e-9d52-6b0f3d1c8e77"
SETUP = {
    "bash": 'eval "$(_ULLAGE_COMPLETE=bash_source ullage)"',
    "zsh": 'eval "$(_ULLAGE_COMPLETE=zsh_source ullage)"',
    "fish": "_ULLAGE_COMPLETE=fish_source ullage | source",
}
IN_BASH = """
COMP_WORDS=({line}'{begun}'); COMP_CWORD=$((${{#COMP_WORDS[@]}} - 1))
_ullage_completion ullage; printf '%s\\n' "${{COMPREPLY[@]}}"
"""
IN_FISH = "complete --do-complete '{line}{begun}'"
# A line is completed only where it is typed: zsh types it into another.
IN_ZSH = r"""
zmodload zsh/zpty; zpty shell zsh -f -i
zpty -w shell 'autoload -Uz compinit && compinit -D; {setup}; PROMPT=RE""ADY'
zpty -r shell out '*READY*'; zpty -w -n shell $'{line}{begun}\t'
zpty -r shell out '*{wanted}*'; print -r -- $out; zpty -d shell
"""


def complete(shell: str, place: Place, line: str, begun: str, wanted: str) -> str:
    script = {"bash": IN_BASH, "fish": IN_FISH, "zsh": IN_ZSH}[shell]
    filled = script.format(setup=SETUP[shell], line=line, begun=begun, wanted=wanted)
    with_setup = filled if shell == "zsh" else f"{SETUP[shell]}\n{filled}"
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        [shell, *(["-f"] if shell == "zsh" else []), "-c", with_setup],
        cwd=place.cwd,
        env={**place.env(), "PATH": path, "TERM": "dumb"},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=WAIT_S,
        check=False,
    )
    assert done.stderr == b""
    return done.stdout.decode()


@pytest.mark.parametrize(
    ("line", "begun", "wanted"),
    [
        ("ullage ", "autoc", "autocompact"),
        ("ullage context ", "st", "status"),
        ("ullage compact ", "--fo", "--focus"),
        ("ullage context status --session ", "0196", SESSION_ID),
        ("ullage checkpoint show ", "cp", "cp_001"),
    ],
)
@pytest.mark.parametrize("shell", SETUP)
def test_the_shell_completes_what_was_begun(
    shell: str, line: str, begun: str, wanted: str, place: Place
) -> None:
    if shutil.which(shell) is None or sys.platform == "win32":
        pytest.skip(f"{shell} is not here; CI installs it")
    pi = PiFile(cwd=str(place.cwd), session_id=SESSION_ID)
    pi.user("Add a parser.")
    folder = f"--{str(place.cwd).lstrip('/').replace('/', '-')}--"
    place.write(str(place.home / ".pi" / "agent" / "sessions" / folder / "a.jsonl"), pi.data)
    assert place.run("checkpoint", "write").returncode == 0
    assert wanted in complete(shell, place, line, begun, wanted)


@pytest.mark.parametrize(
    ("line", "begun", "told"),
    [
        (
            "ullage context ",
            "assem",
            "Show a whole request: files, skills, system prompt, history.",
        ),
        ("ullage ", "sess", "List the sessions of this folder, live ones first."),
        ("ullage context status --session ", "0196", "yes, please, commit"),
    ],
)
def test_fish_tells_whole_what_an_item_is(line: str, begun: str, told: str, place: Place) -> None:
    """At 45 characters and at every comma click cuts it."""
    if shutil.which("fish") is None:
        pytest.skip("fish is not here; CI installs it")
    pi = PiFile(cwd=str(place.cwd), session_id=SESSION_ID)
    pi.user("yes, please, commit")
    folder = f"--{str(place.cwd).lstrip('/').replace('/', '-')}--"
    place.write(str(place.home / ".pi" / "agent" / "sessions" / folder / "a.jsonl"), pi.data)
    assert complete("fish", place, line, begun, "").endswith(f"\t{told}\n")


@pytest.mark.parametrize("shell", SETUP)
def test_the_readme_says_how_it_is_set_up(shell: str) -> None:
    line = SETUP[shell].replace("|", "\\|")
    assert f"| {shell} | `{line}` |" in (ROOT / "README.md").read_text("utf-8")
