"""How the naive write, which the checker must convict."""

import dataclasses
import shutil
import time
from pathlib import Path

from crash import file_operations as files
from crash import transcript_operations as transcripts
from crash.checker import Expected
from crash.operation import Operation, Work
from store.changing import LINES, OURS, PRUNED
from ullage.store.transcript.reader import Fingerprint


def naive_append(root: Path, _: Fingerprint) -> None:
    with transcripts.session_of(root).open("ab") as file:
        time.sleep(0)
        file.write(OURS)


def naive_replace(root: Path, _: Fingerprint) -> None:
    path = transcripts.session_of(root)
    data = path.read_bytes().replace(LINES[2], PRUNED) + OURS
    with path.open("wb") as file:
        file.write(data)


def naive_rename(root: Path, _: Fingerprint) -> None:
    path = transcripts.session_of(root)
    data = path.read_bytes().replace(LINES[2], PRUNED) + OURS
    temporary = path.with_name("tmp")
    temporary.write_bytes(data)
    path.with_name("s.jsonl.bak").write_bytes(path.read_bytes())
    temporary.rename(path)


def naive_in_place(root: Path, _: Fingerprint) -> None:
    path = transcripts.session_of(root)
    shutil.copyfile(path, path.with_name("s.jsonl.bak"))
    data = path.read_bytes().replace(LINES[2], PRUNED) + OURS
    with path.open("r+b") as file:
        file.write(data)
        file.truncate()


def naive_state(root: Path, _: Fingerprint) -> None:
    (root / "state" / "checkpoint").write_bytes(files.STATE[1])


def _naive(name: str, run: Work, expected: Expected) -> Operation:
    expected = dataclasses.replace(expected, has_receipt=False)
    return Operation(name=name, run=run, check=transcripts.check(expected), is_ours=False)


NAIVE = (
    _naive("open('a')", naive_append, transcripts.APPENDED),
    _naive("open('w')", naive_replace, transcripts.REWRITTEN),
    _naive("copy and rename without a comparison", naive_rename, transcripts.REWRITTEN),
    _naive("in place beside a copy", naive_in_place, transcripts.REWRITTEN),
    Operation(
        name="open('w') of a file of ours",
        run=naive_state,
        check=files.check_state,
        prepare=files.state_before,
        leaf=None,
        is_ours=False,
    ),
)
