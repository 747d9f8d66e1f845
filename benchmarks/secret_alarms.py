"""Count what is masked in source code, where hardly anything is a secret: false alarms per MB.

    python benchmarks/secret_alarms.py [--show KIND] [FOLDER...]

Without folders: this repository, Python's standard library and the environment's packages, and the
extension's packages. `--show` lists what a kind masks; to be looked at here, and not kept.
"""

import argparse
import sys
import sysconfig
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import cast

from ullage.core.secrets.rules import find_by_rules, may_match

ROOT = Path(__file__).parents[1]
SUFFIXES = frozenset(
    ".c .cfg .cjs .css .go .h .html .ini .java .js .json .md .mjs .py .rs .rst .sh .sql .toml .ts"
    " .tsx .txt .xml .yaml .yml".split()
)
MAX_BYTES = 5_000_000
N_KINDS = 12
SHOWN_CHARS = 60


def default_folders() -> list[Path]:
    library, packages = sysconfig.get_path("stdlib"), sysconfig.get_path("purelib")
    extension = ROOT / "vscode-extension" / "node_modules"
    return [ROOT / "server", Path(library), Path(packages), extension]


def list_files(folder: Path) -> Iterator[Path]:
    for path in sorted(folder.rglob("*")):
        is_package = "site-packages" in path.relative_to(folder).parts
        is_source = path.suffix in SUFFIXES and not is_package and path.is_file()
        if is_source and path.stat().st_size <= MAX_BYTES:
            yield path


def count(folder: Path, shown: str | None) -> tuple[int, Counter[str]]:
    n_chars, kinds = 0, Counter[str]()
    for path in list_files(folder):
        text = path.read_text("utf-8", "replace")
        n_chars += len(text)
        if not may_match(text):
            continue
        for found in find_by_rules(text):
            kinds[found.kind] += 1
            if found.kind == shown:
                line = text[max(0, found.start - SHOWN_CHARS) : found.end][:200]
                print(f"    {path.relative_to(folder)}: {line!r}")
    return n_chars, kinds


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--show")
    parser.add_argument("folders", nargs="*", type=Path)
    options = parser.parse_args()
    shown = cast(str | None, options.show)
    for folder in cast(list[Path], options.folders) or default_folders():
        n_chars, kinds = count(folder, shown)
        if not n_chars:
            print(f"{folder}: nothing to read", file=sys.stderr)
            continue
        n_found, megabytes = kinds.total(), n_chars / 1_000_000
        worst = ", ".join(f"{kind} {n}" for kind, n in kinds.most_common(N_KINDS))
        print(f"{folder}\n  {megabytes:.1f} MB, {n_found / megabytes:.2f} per MB: {worst}")


if __name__ == "__main__":
    main()
