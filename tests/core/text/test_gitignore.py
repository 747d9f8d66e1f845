"""What a `.gitignore` names is told as git tells it."""

import shutil
import subprocess
from pathlib import Path

import pytest

from ullage.core.text.gitignore import ignore_spec, is_ignored

RULES = """\
# comment
*.log
!keep.log
/top.txt
.local/
docs/gen/*.md
**/snapshots/**
data/[0-9]?.json
\\#odd
cache
[z-a]
!
a/**/z.txt
"""
PATHS = {
    "x.log": True,
    "deep/in/x.log": True,
    "keep.log": False,
    "top.txt": True,
    "sub/top.txt": False,
    ".local/design/notes.md": True,
    "sub/.local/": True,
    "docs/gen/a.md": True,
    "docs/gen/deep/a.md": False,
    "sub/docs/gen/a.md": False,
    "test/snapshots/one.txt": True,
    "data/1x.json": True,
    "data/xx.json": False,
    "#odd": True,
    "cache": True,
    "sub/cache/keep.log": True,
    "a/z.txt": True,
    "a/b/c/z.txt": True,
    "src/main.py": False,
}


@pytest.mark.parametrize(("path", "ignored"), PATHS.items())
def test_a_path_is_ignored_by_the_patterns(path: str, ignored: bool) -> None:
    assert is_ignored(path, ignore_spec(RULES)) is ignored


@pytest.mark.skipif(shutil.which("git") is None, reason="no git here")
def test_git_says_the_same(tmp_path: Path) -> None:
    subprocess.run(["git", "init", "-q", str(tmp_path)], check=True)
    (tmp_path / ".gitignore").write_text(RULES, "utf-8")
    answer = subprocess.run(
        ["git", "check-ignore", "--stdin"],
        cwd=tmp_path,
        input="\n".join(PATHS),
        capture_output=True,
        text=True,
        check=False,
    )
    assert set(answer.stdout.split("\n")) - {""} == {
        path for path, ignored in PATHS.items() if ignored
    }
