"""Programs of this machine: others are found in PATH, never in a workspace."""

import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

import msgspec

import ullage
from ullage.store.files.places import Places


class ProgramAnswer(msgspec.Struct, frozen=True, kw_only=True):
    """What a program said."""

    exit_code: int
    output: bytes
    errors: bytes


def interpreter() -> str:
    """Name the interpreter that runs us; the link of a virtual environment is not followed."""
    # Not `resolve`: behind the link the packages of the environment are not found.
    return str(Path(sys.executable).absolute())


def package_folder() -> str:
    """Name the folder that our package is in, as `sys.path` does."""
    return str(Path(ullage.__file__).parent.parent.absolute())


def find_program(name: str, places: Places, *, folder: Path) -> Path | None:
    """Find a program in PATH that does not lie in a folder; nothing is run."""
    program = shutil.which(name, path=places.env.get("PATH", ""))
    # Windows looks into the current folder first, where a repository may bring a `git.exe`.
    if program is None or Path(program).resolve().is_relative_to(folder.resolve()):
        return None
    return Path(program)


def run_program(
    command: Sequence[str],
    places: Places,
    *,
    folder: Path,
    timeout_s: float,
    data: bytes = b"",
    variables: Mapping[str, str] | None = None,
) -> ProgramAnswer | None:
    """Run a program in a folder; None where there is none of the name, or it does not end.

    `variables` are all of its environment; else it has ours.
    """
    program = find_program(command[0], places, folder=folder)
    if program is None:
        return None
    try:
        done = subprocess.run(
            [program, *command[1:]],
            cwd=folder,
            input=data,
            env=places.env if variables is None else variables,
            capture_output=True,
            timeout=timeout_s,
            check=False,
        )
    except (OSError, ValueError, subprocess.SubprocessError):
        return None
    return ProgramAnswer(exit_code=done.returncode, output=done.stdout, errors=done.stderr)
