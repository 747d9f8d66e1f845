"""Which Markdown of a workspace is searched: its own, through no link, and not what is kept out."""

import os
import sys
import time
from pathlib import Path

import pytest

from ullage.store.memory import pages
from ullage.store.memory.index import SourceFile
from ullage.store.memory.pages import (
    MAX_PAGE_BYTES,
    find_page,
    list_logs,
    list_memory_names,
    list_pages,
    read_page,
)

is_posix = pytest.mark.skipif(sys.platform == "win32", reason="of POSIX alone")


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    folder = tmp_path.resolve() / "shop"
    folder.mkdir()
    return folder


def write(workspace: Path, path: str, text: str = "text") -> Path:
    full = workspace / path
    full.parent.mkdir(parents=True, exist_ok=True)
    full.write_bytes(text.encode())
    return full


def listed(workspace: Path, state: Path | None = None) -> set[str]:
    return list_pages(workspace, state or workspace.parent / "state", {}).paths


def look(workspace: Path, path: str) -> SourceFile:
    found = find_page(workspace, path)
    assert found is not None
    assert found in list_pages(workspace, workspace.parent / "state", {}).changed
    return found


@pytest.mark.parametrize(
    ("path", "is_searched"),
    [
        ("MEMORY.md", True),
        ("memory/2026-11-21.md", True),
        ("memory/topics/ports.md", True),
        ("README.md", True),
        ("docs/guide/a.markdown", True),
        ("docs/é ü.md", True),
        ("DREAMS.md", False),
        ("memory/superseded.md", False),
        ("docs/DREAMS.md", True),
        ("notes.txt", False),
        (".github/a.md", False),
        ("memory/.hidden/a.md", False),
        ("node_modules/a/README.md", False),
        ("docs/node_modules/README.md", False),
        ("lib/site-packages/a/README.md", False),
        ("venv/a.md", False),
        ("vendor/a.md", False),
        ("target/doc/a.md", False),
    ],
)
def test_what_is_the_workspaces_own_is_searched(
    workspace: Path, path: str, *, is_searched: bool
) -> None:
    write(workspace, path)
    assert listed(workspace) == ({path} if is_searched else set())


def test_an_environment_of_any_name_is_known_by_its_mark(workspace: Path) -> None:
    write(workspace, "env311/pyvenv.cfg")
    write(workspace, "env311/lib/a.md")
    assert listed(workspace) == set()


@pytest.mark.parametrize(
    ("rules", "left_out"),
    [
        ("build/\n", {"build/a.md", "docs/build/b.md"}),
        ("/build\n", {"build/a.md"}),
        ("*.local.md\n", {"docs/x.local.md"}),
        ("docs/*\n!docs/x.local.md\n", {"docs/build/b.md"}),
        ("*.md\n", {"build/a.md", "docs/build/b.md", "docs/x.local.md"}),
        ("memory/\nMEMORY.md\n*\n", {"build/a.md", "docs/build/b.md", "docs/x.local.md"}),
        ("[z-a]\n", set[str]()),
    ],
)
def test_what_git_ignores_is_left_out_but_for_memory(
    workspace: Path, rules: str, left_out: set[str]
) -> None:
    paths = {"MEMORY.md", "memory/a.md", "build/a.md", "docs/build/b.md", "docs/x.local.md"}
    for path in paths:
        write(workspace, path)
    write(workspace, ".gitignore", rules)
    assert listed(workspace) == paths - left_out
    in_folders = {path for path in left_out if (workspace / path).parent in folders(workspace)}
    assert [find_page(workspace, path) for path in in_folders] == [None] * len(in_folders)
    assert all(find_page(workspace, path) for path in paths - left_out)


def folders(workspace: Path) -> tuple[Path, ...]:
    return list_pages(workspace, workspace.parent / "state", {}).folders


def test_our_own_state_is_no_memory_by_whatever_path_it_is_named(workspace: Path) -> None:
    state = write(workspace, "state/memory/x/pre-image.md").parents[2]
    write(workspace, "a.md")
    assert listed(workspace, state) == {"a.md"}
    assert listed(workspace, workspace / "docs" / ".." / "state") == {"a.md"}
    if sys.platform != "win32":
        (workspace.parent / "link").symlink_to(state)
        assert listed(workspace, workspace.parent / "link") == {"a.md"}


@is_posix
def test_no_link_pipe_or_folder_is_a_page(workspace: Path) -> None:
    outside = write(workspace.parent, "outside/secret.md")
    (workspace / "a.md").symlink_to(outside)
    (workspace / "docs").symlink_to(outside.parent)
    (workspace / "loop").symlink_to(workspace)
    (workspace / "gone.md").symlink_to(workspace / "nowhere")
    os.mkfifo(workspace / "pipe.md")
    (workspace / "folder.md").mkdir()
    assert listed(workspace) == set()
    for name in ("a.md", "gone.md", "pipe.md", "folder.md"):
        assert find_page(workspace, name) is None
        assert not read_page(workspace, name)


@is_posix
def test_names_that_are_no_text_are_passed_over(workspace: Path) -> None:
    write(workspace, "a.md")
    for name in (b"\xff.md", b"\xff"):
        try:
            os.mkdir(os.path.join(os.fsencode(workspace), name))  # noqa: PTH102, PTH118
        except OSError:
            pytest.skip("this file system takes no such name")
    (workspace / os.fsdecode(b"\xfe.md")).write_text("text")
    (workspace / os.fsdecode(b"\xff") / "b.md").write_text("text")
    assert listed(workspace) == {"a.md"}
    assert find_page(workspace, os.fsdecode(b"\xfe.md")) is None


@is_posix
def test_folders_deeper_than_python_calls_are_looked_into(workspace: Path) -> None:
    made = [workspace]
    try:
        for _ in range(1_100):
            deeper = made[-1] / "d"
            deeper.mkdir()
            made.append(deeper)
        page = made[-1] / "a.md"
        page.write_text("text")
        assert len(listed(workspace)) == 1
        page.unlink()
    except OSError:
        pytest.skip("this system takes no such path")
    finally:
        # Who tidies up behind tests calls itself for each folder.
        for folder in reversed(made[1:]):
            folder.rmdir()


@is_posix
def test_what_cannot_be_looked_into_is_passed_over(workspace: Path) -> None:
    locked = write(workspace, "locked/a.md").parent
    write(workspace, "b.md")
    locked.chmod(0)
    try:
        if os.access(locked, os.R_OK):
            pytest.skip("this user may read everything")
        assert listed(workspace) == {"b.md"}
    finally:
        locked.chmod(0o700)


def test_more_than_is_looked_at_is_told(workspace: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for n in range(6):
        write(workspace, f"d{n}/a.md")
    assert list_pages(workspace, workspace.parent, {}).is_complete
    for limit, few in (("MAX_FILES", 3), ("MAX_ENTRIES", 8)):
        with monkeypatch.context() as patch:
            patch.setattr(pages, limit, few)
            found = list_pages(workspace, workspace.parent, {})
            assert not found.is_complete
            assert 0 < len(found.paths) < 6


def test_a_page_knows_its_day_and_whether_it_is_memory(workspace: Path) -> None:
    noon = time.mktime((2026, 3, 4, 12, 0, 0, 0, 0, -1))
    for path in (
        "memory/2026-11-21.md",
        "memory/2026-02-30.md",
        "notes/2025-01-02-talk.md",
        "a.md",
    ):
        os.utime(write(workspace, path), (noon, noon))
    found = {path: look(workspace, path) for path in listed(workspace)}
    assert {path: (page.day, page.is_memory, page.is_log) for path, page in found.items()} == {
        "memory/2026-11-21.md": ("2026-11-21", True, True),
        "memory/2026-02-30.md": ("2026-03-04", True, False),
        "notes/2025-01-02-talk.md": ("2025-01-02", False, True),
        "a.md": ("2026-03-04", False, False),
    }


@pytest.mark.parametrize("time_s", [-(10.0**6), 10.0**11])
def test_a_time_that_no_calendar_has_is_of_no_harm(workspace: Path, time_s: float) -> None:
    page = write(workspace, "a.md")
    try:
        os.utime(page, (time_s, time_s))
    except (OSError, OverflowError):
        pytest.skip("this file system takes no such time")
    assert len(look(workspace, "a.md").day) == 10


def test_a_page_that_may_change_again_unseen_has_no_time(
    workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(workspace, "a.md")
    monkeypatch.setattr(pages, "UNSETTLED_NS", 10**18)
    assert look(workspace, "a.md").changed_ns == -1
    monkeypatch.setattr(pages, "UNSETTLED_NS", -(10**18))
    assert look(workspace, "a.md").changed_ns > 0


def test_what_is_known_as_it_is_did_not_change(
    workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(workspace, "a.md")
    write(workspace, "memory/b.md")

    def list_changed(known: dict[str, tuple[int, int]]) -> set[str]:
        found = list_pages(workspace, workspace.parent / "state", known)
        assert found.paths == {"a.md", "memory/b.md"}
        return {page.path for page in found.changed}

    monkeypatch.setattr(pages, "UNSETTLED_NS", -(10**18))
    first = list_pages(workspace, workspace.parent / "state", {}).changed
    known = {page.path: (page.size, page.changed_ns) for page in first}
    assert list_changed(known) == set()
    for other in ((5, known["a.md"][1]), (4, known["a.md"][1] + 1), (4, -1)):
        assert list_changed(known | {"a.md": other}) == {"a.md"}
    monkeypatch.setattr(pages, "UNSETTLED_NS", 10**18)
    assert list_changed(known) == {"a.md", "memory/b.md"}


def test_the_last_logs_are_listed() -> None:
    paths = {"memory/2026-11-21.md", "memory/old/2026-11-22.md", "memory/2026-11-20.md", "z.md"}
    paths |= {"memory/notes.md", "2026-11-30.md"}
    assert list_logs(paths, 2) == ["memory/2026-11-21.md", "memory/old/2026-11-22.md"]
    assert list_logs({"memory/notes.md"}, 2) == []


@is_posix
def test_another_text_of_the_same_size_and_time_is_another_page(
    workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pages, "UNSETTLED_NS", -(10**18))
    page = write(workspace, "a.md", "wine")
    before, status = look(workspace, "a.md"), page.stat()
    while page.stat().st_ctime_ns == status.st_ctime_ns:
        page.write_text("beer")
        os.utime(page, ns=(status.st_atime_ns, status.st_mtime_ns))
    assert page.stat().st_mtime_ns == status.st_mtime_ns
    assert look(workspace, "a.md") != before


def test_names_in_memory_are_listed_without_a_look(workspace: Path) -> None:
    assert list_memory_names(workspace) == []
    for path in ("memory/a.md", "memory/b.txt", "memory/c/d.md"):
        write(workspace, path)
    assert list_memory_names(workspace) == ["memory/a.md"]


@pytest.mark.parametrize(
    ("data", "text"),
    [
        (b"a\nb\n", "a\nb\n"),
        (b"a\r\nb\r\n", "a\nb\n"),
        (b"\xef\xbb\xbf# A", "# A"),
        (b"a \xff b", "a \ufffd b"),
        (b"", ""),
        (b"x" * (MAX_PAGE_BYTES + 9), "x" * MAX_PAGE_BYTES),
    ],
    ids=["lines", "lines of Windows", "with a mark", "no UTF-8", "empty", "too long"],
)
def test_a_page_is_read_as_text_whatever_its_bytes(workspace: Path, data: bytes, text: str) -> None:
    (workspace / "a.md").write_bytes(data)
    assert read_page(workspace, "a.md") == text


def test_a_page_that_is_gone_is_none(workspace: Path) -> None:
    assert find_page(workspace, "a.md") is None
    assert read_page(workspace, "a.md") is None
    assert list_pages(workspace / "nowhere", workspace, {}).paths == set()


def test_of_a_home_folder_memory_alone_is_searched(workspace: Path) -> None:
    for path in ("MEMORY.md", "notes.md", "memory/a.md", "project/b.md", "project/memory/c.md"):
        (workspace / path).parent.mkdir(parents=True, exist_ok=True)
        (workspace / path).write_text("- x\n", "utf-8")
    found = list_pages(workspace, workspace.parent / "state", {}, is_project=False)
    assert found.paths == {"MEMORY.md", "memory/a.md"}
    assert find_page(workspace, "notes.md", is_project=False) is None
    assert find_page(workspace, "memory/a.md", is_project=False) is not None


def test_a_page_that_is_too_long_is_left_out(workspace: Path) -> None:
    (workspace / "long.md").write_bytes(b"x" * (MAX_PAGE_BYTES + 1))
    assert listed(workspace) == set()
    assert find_page(workspace, "long.md") is None
