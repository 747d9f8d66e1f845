"""Single files in the sweep: one of ours is replaced, and the settings of an agent."""

from pathlib import Path

from crash.checker import Seen, file_problems
from ullage.store.files.atomic import replace_file
from ullage.store.install.agent_files import FileChange, make_changes, read_agent_file
from ullage.store.transcript.reader import Fingerprint

STATE = (b"old\n" * 300, b"new\n" * 500)


def state_before(root: Path) -> None:
    replace_file(root / "state" / "checkpoint", STATE[0])


def replace_state(root: Path, _: Fingerprint) -> None:
    replace_file(root / "state" / "checkpoint", STATE[1])


def check_state(seen: Seen) -> list[str]:
    return file_problems(seen.root / "state" / "checkpoint", STATE, seen.outcome)


SETTINGS = (b'{"model": "a"}\n', b'{"model": "a", "hooks": {}}\n')


def settings_before(root: Path) -> None:
    path = root / "agent" / "settings.json"
    path.write_bytes(SETTINGS[0])
    path.chmod(0o640)


def change_settings(root: Path, _: Fingerprint) -> None:
    file = read_agent_file(root / "agent" / "settings.json")
    make_changes([FileChange(file=file, new=SETTINGS[1])])


def check_settings(seen: Seen) -> list[str]:
    path = seen.root / "agent" / "settings.json"
    problems = file_problems(path, SETTINGS, seen.outcome)
    mode = path.stat().st_mode & 0o777 if path.exists() else 0
    return problems if mode == seen.mode else [*problems, f"permissions are {mode:o}"]
