"""New files in the sweep: a branch, a restore, an import, an export, and installing in an agent.

Whatever happens, the session that was there is as it was, a new one is whole or not there, nothing
stays beside it, and doing it again does it.
"""

import json
from pathlib import Path

from crash.checker import Expected, Seen, transcript_problems
from crash.places import leave_alone, places_of
from pi_files import conversation
from store.checkpoint.test_files import checkpoint
from ullage.app.change.restore import plan_restore, restore
from ullage.app.install import plan as installing
from ullage.app.sessions.load import Loaded, load
from ullage.app.sessions.open import open_session
from ullage.app.transfer.branch import plan_branch, write_branch
from ullage.app.transfer.bundle import plan_export, plan_import, write_export, write_import
from ullage.core.config.settings import Config
from ullage.errors import UllageError
from ullage.formats.registry import agent_info
from ullage.store.change.recovery import recover
from ullage.store.transcript.reader import Fingerprint

REAL = conversation(2, chars=100)
LEAF = str(json.loads(REAL.lines[-1])["id"])
BUNDLE, EXPORTED = "bundle.json", "exported.json"
AGENT = "claude-code"
SETTINGS = b'{\n  "model": "opus"\n}\n'


def count_roughly(text: str, encoding: str) -> int:
    del encoding
    return len(text) // 4


def _load(root: Path) -> Loaded:
    path = root / "agent" / "s.jsonl"
    return load(open_session(path), Config(), places_of(root), count_roughly)


def branch(root: Path, _: Fingerprint) -> None:
    places = places_of(root)
    session = open_session(root / "agent" / "s.jsonl")
    write_branch(plan_branch(session, None, places), places)


def restore_apart(root: Path, _: Fingerprint) -> None:
    plan = plan_restore(_load(root), checkpoint("cp_001"), "new", Config())
    restore(plan, Config(), places_of(root))


def check_session_made(seen: Seen) -> list[str]:
    """Look at the folder of a session of which another one was made."""
    old = Expected(original=tuple(REAL.lines), has_receipt=False)
    problems = transcript_problems(Seen(root=seen.root, outcome="", foreign=seen.foreign), old)
    folder = seen.root / "agent"
    made = [path for path in folder.iterdir() if path.name != "s.jsonl"]
    return problems + _made_problems(seen, made)


def _made_problems(seen: Seen, made: list[Path]) -> list[str]:
    if seen.outcome.startswith("bug"):
        return [seen.outcome]
    problems = [f"left behind: {path.name}" for path in made if path.name.startswith(".")]
    if seen.outcome == "made" and len(made) != 1:
        problems.append(f"success was reported, and there are {len(made)} new sessions")
    for path in made:
        data = path.read_bytes()
        if not data.endswith(b"\n") or any(not _is_json(line) for line in data.split(b"\n")[:-1]):
            problems.append(f"a part of a session: {path.name}")
        elif path.stat().st_mode & 0o777 != 0o600:
            problems.append("the new session is not for the user alone")
    return problems


def _is_json(line: bytes) -> bool:
    try:
        json.loads(line)
    except ValueError:
        return False
    return True


def bundle_before(root: Path) -> None:
    write_export(plan_export(_load(root), Path(BUNDLE), places_of(root), is_redacted=True))


def import_bundle(root: Path, _: Fingerprint) -> None:
    places = places_of(root)
    write_import(plan_import(Path(BUNDLE), places), places)


def check_imported(seen: Seen) -> list[str]:
    places = places_of(seen.root)
    (folder,) = agent_info("openclaw").workspace_folders(places.cwd, places.env, places.home)
    made = list(folder.iterdir()) if folder.is_dir() else []
    problems = _made_problems(seen, made)
    for path in made:
        if not problems and open_session(path).header.cwd != str(places.cwd):
            problems.append("the new session is not of this folder")
    if not problems:
        import_bundle(seen.root, open_session(seen.root / "agent" / "s.jsonl").lines.fingerprint)
        if len(list(folder.iterdir())) != len(made) + 1:
            problems.append("it cannot be imported any more")
    return problems


def export_bundle(root: Path, _: Fingerprint) -> None:
    write_export(plan_export(_load(root), Path(EXPORTED), places_of(root), is_redacted=True))


def check_exported(seen: Seen) -> list[str]:
    if seen.outcome.startswith("bug"):
        return [seen.outcome]
    path = seen.root / EXPORTED
    if not path.exists():
        return ["success was reported, and there is no bundle"] if seen.outcome == "made" else []
    try:
        plan_import(Path(EXPORTED), places_of(seen.root))
    except UllageError as error:
        return [f"a part of a bundle: {error}"]
    return []


def _settings(root: Path) -> Path:
    return root / ".claude" / "settings.json"


def agent_before(root: Path) -> None:
    _settings(root).parent.mkdir()
    _settings(root).write_bytes(SETTINGS)
    leave_alone(_settings(root))


def installed_before(root: Path) -> None:
    agent_before(root)
    _install(root)


def _install(root: Path) -> None:
    installing.make(installing.plan_install(AGENT, places_of(root)))


def _uninstall(root: Path) -> None:
    installing.make(installing.plan_uninstall(AGENT, places_of(root)))


def install(root: Path, _: Fingerprint) -> None:
    _install(root)


def uninstall(root: Path, _: Fingerprint) -> None:
    _uninstall(root)


def check_installed(seen: Seen) -> list[str]:
    return _install_problems(seen, is_installed=True)


def check_uninstalled(seen: Seen) -> list[str]:
    return _install_problems(seen, is_installed=False)


def _install_problems(seen: Seen, *, is_installed: bool) -> list[str]:
    if seen.outcome.startswith("bug"):
        return [seen.outcome]
    problems: list[str] = []
    path = _settings(seen.root)
    data = path.read_bytes() if path.exists() else b""
    if not _is_json(data):
        problems.append(f"torn settings: {data[:60]!r}")
    is_there = data != SETTINGS
    if seen.outcome == "made" and is_there != is_installed:
        problems.append("success was reported, and the settings are old")
    _install(seen.root)
    if b"PreCompact" not in path.read_bytes():
        problems.append("it cannot be installed any more")
    _uninstall(seen.root)
    if path.read_bytes() != SETTINGS:
        problems.append(f"the settings do not come out to the byte: {path.read_bytes()!r}")
    recover(places_of(seen.root))
    return problems
