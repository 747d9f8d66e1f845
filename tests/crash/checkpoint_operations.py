"""Checkpoints in the sweep: one more is written, the pointer follows, the oldest goes.

Whatever happens, each file is whole, the newest that was there is there still or a newer one is,
and the next checkpoint is written as ever.
"""

import json
from pathlib import Path

from crash.checker import Seen
from crash.places import places_of
from store.checkpoint.test_files import checkpoint
from ullage.store.checkpoint.files import next_id, read_latest, save
from ullage.store.checkpoint.yaml_file import dump
from ullage.store.files.atomic import make_folder
from ullage.store.files.places import session_folder
from ullage.store.transcript.reader import Fingerprint

KEY = "openclaw:s1"
N_KEPT = 2
FILES = {
    f"cp_{number:03}.yaml": dump(checkpoint(f"cp_{number:03}", f"Step {number}. " * 40))
    for number in range(1, 5)
}


def folder_of(root: Path) -> Path:
    return session_folder("checkpoints", KEY, places_of(root))


def _save(root: Path, number: int) -> None:
    name = f"cp_{number:03}"
    save(checkpoint(name, f"Step {number}. " * 40), folder_of(root), n_kept=N_KEPT)


def checkpoints_before(root: Path) -> None:
    make_folder(folder_of(root))
    _save(root, 1)
    _save(root, 2)


def write_checkpoint(root: Path, _: Fingerprint) -> None:
    _save(root, 3)


def check_checkpoint(seen: Seen) -> list[str]:
    if seen.outcome.startswith("bug"):
        return [seen.outcome]
    folder = folder_of(seen.root)
    there = {path.name: path.read_bytes() for path in folder.glob("cp_*")}
    problems = [f"torn: {name}" for name, data in there.items() if FILES.get(name) != data]
    problems += _pointer_problems(folder, there)
    if "cp_002.yaml" not in there:
        problems.append("a checkpoint that was to be kept is gone")
    if "cp_001.yaml" not in there and "cp_003.yaml" not in there:
        problems.append("an old checkpoint went before the new one was there")
    # An old file that a disk does not let go of goes with the next checkpoint.
    if seen.outcome == "made" and "cp_003.yaml" not in there:
        problems.append("success was reported, and there is no checkpoint")
    latest = read_latest(folder)
    if latest.problem or latest.checkpoint is None:
        problems.append("the latest checkpoint cannot be read")
    elif f"{latest.checkpoint.meta.checkpoint_id}.yaml" != max(there):
        problems.append("the latest checkpoint is not the newest")
    _save(seen.root, int(next_id(folder).removeprefix("cp_")))
    after = {path.name for path in folder.glob("cp_*")}
    if len(after) != N_KEPT or _pointed(folder) != max(after):
        problems.append("the next checkpoint is not written as ever")
    return problems


def _pointer_problems(folder: Path, there: dict[str, bytes]) -> list[str]:
    try:
        name = _pointed(folder)
    except ValueError:
        return ["the pointer is torn"]
    # Retention comes last, so that whatever is pointed to is there.
    return [] if name in there else [f"the pointer names {name}, which is gone"]


def _pointed(folder: Path) -> str:
    return str(json.loads((folder / "_latest.json").read_bytes())["path"])
