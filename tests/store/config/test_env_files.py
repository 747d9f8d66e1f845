"""`.env` files of a folder are read, bounded, and never waited for."""

import os
import sys
from pathlib import Path

import pytest

from ullage.store.config.env_files import MAX_ENV_FILES, read_env_files
from ullage.store.files.quick_state import MAX_ENV_BYTES


def test_env_and_its_variants_are_read_and_nothing_else(tmp_path: Path) -> None:
    for name in (".env", ".env.local", ".env.production", ".envrc", "env", ".environment"):
        (tmp_path / name).write_text(name)
    (tmp_path / ".env.d").mkdir()
    assert read_env_files(tmp_path) == (".env", ".env.local", ".env.production")


def test_a_folder_that_is_not_there_has_none(tmp_path: Path) -> None:
    assert read_env_files(tmp_path / "missing") == ()
    assert read_env_files(Path("no\0where")) == ()


def test_what_is_read_is_bounded(tmp_path: Path) -> None:
    for number in range(2 * MAX_ENV_FILES):
        (tmp_path / f".env.{number}").write_bytes(b"x" * (MAX_ENV_BYTES + 1))
    texts = read_env_files(tmp_path)
    assert len(texts) == MAX_ENV_FILES - 1  # there is no .env itself
    assert {len(text) for text in texts} == {MAX_ENV_BYTES}


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no named pipes in folders")
def test_a_named_pipe_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / ".env")
    (tmp_path / ".env.local").symlink_to("/dev/zero")
    assert read_env_files(tmp_path) == ()


def test_bytes_that_are_no_text_do_not_hide_the_others(tmp_path: Path) -> None:
    (tmp_path / ".env").write_bytes(b"\xef\xbb\xbfA_KEY=value-\xff-end\n")
    assert read_env_files(tmp_path) == ("A_KEY=value-\N{REPLACEMENT CHARACTER}-end\n",)
