"""The process that counts tokens is there while something is counted."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from ullage.store.gauge import token_worker
from ullage.store.gauge.token_worker import TokenWorker


def test_a_worker_that_nobody_asked_for_a_while_ends_and_another_counts_on(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    worker = TokenWorker()
    assert not worker.is_idle()
    assert worker.count_tokens("hello", "o200k_base") == 1
    assert not worker.is_idle()
    monkeypatch.setattr(token_worker, "IDLE_S", 0.0)
    assert worker.is_idle()
    worker.close()
    assert not worker.is_idle()
    assert worker.count_tokens("hello world", "o200k_base") == 2
    worker.close()


def test_a_worker_that_was_killed_is_replaced() -> None:
    worker = TokenWorker()
    assert worker.count_tokens("hello", "o200k_base") == 1
    process = worker._process
    assert process is not None
    process.kill()
    process.wait()
    assert worker.count_tokens("hello world", "o200k_base") == 2
    worker.close()


def test_no_module_of_the_folder_that_the_server_stands_in_is_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("ullage.py", "json.py", "tiktoken.py"):
        (tmp_path / name).write_text("open('was run', 'w')", "utf-8")
    monkeypatch.chdir(tmp_path)
    worker = TokenWorker()
    assert worker.count_tokens("hello", "o200k_base") == 1
    worker.close()
    assert not (tmp_path / "was run").exists()


def test_whoever_was_killed_leaves_a_worker_without_a_word() -> None:
    """What it said would stand in the editor as the reason that its server ended."""
    command = [sys.executable, "-P", "-m", token_worker.__name__]
    read_end, write_end = os.pipe()
    os.close(read_end)
    request = b'["o200k_base", "hello"]\n'
    worker = subprocess.run(
        command, input=request, stdout=write_end, stderr=subprocess.PIPE, check=True
    )
    os.close(write_end)
    assert worker.stderr == b""
