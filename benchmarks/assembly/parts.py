"""How true the parts that we list are to the requests that agents sent.

    python benchmarks/assembly/parts.py REQUESTS [-v]

REQUESTS has, for each AGENT and SCENARIO, recorded requests in AGENT/SCENARIO/NN-LABEL.json (those
without tools end in `-aside`), AGENT/SCENARIO/transcripts, and in roots/AGENT/SCENARIO the folders
`home` and `work` that produced them, as they were at the end. Each transcript is read as it stood
when the request was sent. `-v` lists each part.
"""

import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from recorded_requests import (
    CheckedRequest,
    check_request,
    cut_before_answer,
    list_turns,
    read_json,
)

from ullage.store.files.places import Places


def main(root: Path, *, shows_all: bool) -> bool:
    print("| agent | scenario | requests | texts | cut | wrong | furthest | whole | wrong files |")
    print("|---|---|---|---|---|---|---|---|---|")
    is_right = True
    for folder in sorted(root.glob("*/*/transcripts")):
        agent, scenario = folder.parent.parent.name, folder.parent.name
        checked = list(check_scenario(folder.parent, root / "roots" / agent / scenario))
        parts = [part for request in checked for part in request.parts]
        wrong = [part for part in parts if not part.is_right]
        files = [file for request in checked for file in request.wrong_files]
        n_cut = sum(bool(part.cut) for part in parts)
        furthest = max((part.deviation for part in parts if part.n_recorded), default=0.0)
        whole = max((request.deviation for request in checked), default=0.0)
        print(
            f"| {agent} | {scenario} | {len(checked)} | {len(parts)} | {n_cut}"
            f" | {len(wrong)} | {furthest:.2%} | {whole:.2%} | {len(files)} |",
            flush=True,
        )
        for each in (*(parts if shows_all else wrong), *files):
            print(f"    {each}")
        is_right = is_right and bool(checked) and all(request.is_right for request in checked)
    return is_right


def check_scenario(folder: Path, home_root: Path) -> Iterator[CheckedRequest]:
    """Check each recorded request that a transcript holds the answer to."""
    for transcript in sorted((folder / "transcripts").glob("*.jsonl")):
        data = transcript.read_bytes()
        turns = list_turns(folder)
        for number, request in turns:
            before = cut_before_answer(data, number)
            if before:
                with tempfile.TemporaryDirectory() as temporary:
                    path = Path(temporary) / transcript.name
                    path.write_bytes(before)
                    places = Places(
                        cwd=home_root / "work/project",
                        home=home_root / "home",
                        env={},
                        state_folder=Path(temporary) / "state",
                    )
                    is_old = request != turns[-1][1]
                    yield check_request(read_json(request), path, places, is_disk_old=is_old)


if __name__ == "__main__":
    arguments = sys.argv[1:]
    is_verbose = "-v" in arguments
    folders = [Path(argument) for argument in arguments if argument != "-v"]
    sys.exit(0 if all(main(folder, shows_all=is_verbose) for folder in folders) else 1)
