"""Which repository and branch a folder is of; git itself makes the repositories."""

import os
import subprocess
from pathlib import Path

import pytest
from msgspec.structs import replace

from running import Place
from ullage.store.files.work_tree import WorkTree, find_work_tree


def git(folder: Path, *args: str) -> str:
    who = ("-c", "user.name=a", "-c", "user.email=a@example.com")
    done = subprocess.run(["git", *who, *args], cwd=folder, check=True, capture_output=True)
    return done.stdout.decode().strip()


@pytest.fixture
def repository(place: Place) -> Path:
    git(place.cwd, "init", "-q", "-b", "main")
    git(place.cwd, "commit", "-q", "--allow-empty", "-m", "first")
    return place.cwd.resolve()


def found(folder: Path, place: Place) -> WorkTree | None:
    tree = find_work_tree(folder, place.places())
    return tree and replace(tree, made_s=0.0)


def origin_of(repository: Path, place: Place) -> str:
    tree = find_work_tree(repository, place.places())
    assert tree is not None
    return tree.origin


def test_a_folder_within_a_repository_is_of_its_branch(place: Place, repository: Path) -> None:
    below = repository / "src" / "deep"
    below.mkdir(parents=True)
    assert found(below, place) == WorkTree(root=repository, branch="main")
    git(repository, "switch", "-q", "-c", "feature/a")
    assert found(below, place) == WorkTree(root=repository, branch="feature/a")


def test_where_no_branch_is_checked_out_the_commit_counts(place: Place, repository: Path) -> None:
    git(repository, "checkout", "-q", "--detach")
    commit = git(repository, "rev-parse", "HEAD")
    assert found(repository, place) == WorkTree(root=repository, branch=commit)


def test_a_second_work_tree_is_of_its_own(place: Place, repository: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    git(repository, "worktree", "add", "-q", "-b", "side", str(other))
    assert found(other, place) == WorkTree(root=other.resolve(), branch="side")


def test_where_a_repository_comes_from_tells_it_from_others_without_its_address(
    place: Place, repository: Path, tmp_path: Path
) -> None:
    assert origin_of(repository, place) == ""
    git(repository, "config", "branch.main.remote", "origin")
    git(repository, "remote", "add", "upstream", "https://example.com/up.git")
    git(repository, "remote", "add", "origin", "https://me:secret@example.com/shop.git")
    first = origin_of(repository, place)
    assert len(first) == 16
    assert "secret" not in first
    other = tmp_path / "other"
    git(repository, "worktree", "add", "-q", "-b", "side", str(other))
    assert origin_of(other, place) == first
    git(repository, "remote", "set-url", "origin", "https://me:renewed@example.com/shop.git")
    assert origin_of(repository, place) == first
    git(repository, "remote", "set-url", "origin", "https://example.com/parcels.git")
    assert origin_of(repository, place) not in ("", first)


def test_when_a_repository_was_made_here_is_told(
    place: Place, repository: Path, tmp_path: Path
) -> None:
    other = tmp_path / "other"
    git(repository, "worktree", "add", "-q", "-b", "side", str(other))
    at_s = 1_700_000_000
    for once in (repository / ".git" / "description", other / ".git"):
        os.utime(once, (at_s, at_s))
    for folder in (repository, other):
        git(folder, "commit", "-q", "--allow-empty", "-m", "second")
        tree = find_work_tree(folder, place.places())
        assert tree is not None
        assert tree.made_s == at_s


def test_outside_of_a_repository_a_folder_stands_for_itself(place: Place) -> None:
    below = place.cwd / "notes"
    below.mkdir()
    tree = WorkTree(root=below.resolve(), branch="")
    assert find_work_tree(below, place.places()) == tree
    # A repository of the home folder holds settings.
    git(place.home, "init", "-q")
    folder = place.home / "notes"
    folder.mkdir()
    assert find_work_tree(folder, place.places()) == WorkTree(root=folder.resolve(), branch="")


@pytest.mark.parametrize("head", [b"ref: refs/heads/.invalid\n"])
def test_branches_in_a_table_cannot_be_told(place: Place, repository: Path, head: bytes) -> None:
    (repository / ".git" / "HEAD").write_bytes(head)
    assert find_work_tree(repository, place.places()) is None


@pytest.mark.parametrize("content", [b"", b"\xff\0", b"gitdir: /nowhere\n"])
def test_what_is_no_repository_is_none(place: Place, content: bytes) -> None:
    (place.cwd / ".git").write_bytes(content)
    root = place.cwd.resolve()
    assert find_work_tree(root, place.places()) == WorkTree(root=root, branch="")
