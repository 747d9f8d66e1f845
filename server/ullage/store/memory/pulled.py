"""What version control holds of a workspace's memory files, as it was pulled or committed."""

from collections.abc import Sequence
from pathlib import Path

from ullage.store.files.places import Places
from ullage.store.files.programs import run_program

TIMEOUT_S = 10.0
"""Git answers within milliseconds; a disk that is gone must not hold us (chosen)."""
_ENVIRONMENT = {
    "GIT_ALLOW_PROTOCOL": "",
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_NO_REPLACE_OBJECTS": "1",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_TERMINAL_PROMPT": "0",
}
"""Nothing is fetched, asked or written; a git that is older than the second has no way to fetch."""


def read_committed(workspace: Path, paths: Sequence[str], places: Places) -> dict[str, str]:
    """Read files as the commit that is checked out has them; empty where there is none, or no git.

    `paths` are relative to the workspace, with `/`. The objects alone are read: no filter, hook
    or setting of the repository takes part.
    """
    names = [path for path in paths if "\n" not in path]
    if not names:
        return {}
    environment = {name: value for name, value in places.env.items() if not name.startswith("GIT_")}
    done = run_program(
        ("git", "cat-file", "--batch"),
        places,
        folder=workspace,
        timeout_s=TIMEOUT_S,
        data="".join(f"HEAD:./{name}\n" for name in names).encode("utf-8", "surrogateescape"),
        variables=environment | _ENVIRONMENT,
    )
    return {} if done is None else _read_answer(done.output, names)


def _read_answer(answer: bytes, names: Sequence[str]) -> dict[str, str]:
    """Read `<id> blob <size>`, the bytes and a line end for each name, or that it is missing."""
    texts: dict[str, str] = {}
    at = 0
    for name in names:
        end = answer.find(b"\n", at)
        if end < 0:
            break
        words = answer[at:end].split(b" ")
        at = end + 1
        if len(words) == 3 and words[1] in (b"blob", b"tree", b"commit", b"tag"):
            size = int(words[2])
            if words[1] == b"blob":
                texts[name] = answer[at : at + size].decode("utf-8-sig", "replace")
            at += size + 1
    return texts
