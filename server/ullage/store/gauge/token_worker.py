"""Counting in a process of its own: building a tokenizer holds the interpreter for 0.3 s.

The worker reads requests from its standard input and ends with it, so it never outlives the
process that started it.
"""

import json
import os
import subprocess
import sys
import time
from contextlib import suppress
from threading import Lock
from typing import cast

from ullage.errors import StorageError
from ullage.store.gauge.tokenizer import count_tokens

IDLE_S = 60.0
"""The process has the memory of a whole server, and takes half a second to start (chosen)."""


class TokenWorker:
    """Counts texts in another process, which is started when there is none."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._asked_at = 0.0

    def count_tokens(self, text: str, encoding: str) -> int:
        """Count the tokens of a text; callable from any thread.

        Raises:
            StorageError: the worker ended, and a second one did too.
        """
        request = json.dumps([encoding, text]).encode() + b"\n"
        with self._lock:
            self._asked_at = time.monotonic()
            for _ in range(2):
                answer = self._ask(request)
                if answer:
                    return int(answer)
                self._end()
        raise StorageError("the process that counts tokens ended: restart the server")

    def is_idle(self) -> bool:
        """Whether the process is there for nothing."""
        return self._process is not None and time.monotonic() - self._asked_at >= IDLE_S

    def close(self) -> None:
        with self._lock:
            self._end()

    def _end(self) -> None:
        process, self._process = self._process, None
        if process is not None:
            # It ends with its input, which cannot be ended where it was killed.
            with suppress(OSError), process:
                pass

    def _ask(self, request: bytes) -> bytes:
        """Send a request and read the answer; empty where the worker is gone."""
        if self._process is None:
            # Without `-P`, modules of the folder that an editor starts the server in are run.
            self._process = subprocess.Popen(
                [sys.executable, "-P", "-m", __name__],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
            )
        if self._process.stdin is None or self._process.stdout is None:
            return b""
        try:
            self._process.stdin.write(request)
            self._process.stdin.flush()
        except OSError:
            return b""
        return cast(bytes, self._process.stdout.readline()).strip()


def main() -> None:
    for line in sys.stdin.buffer:
        encoding, text = cast(tuple[str, str], json.loads(line))
        try:
            os.write(sys.stdout.fileno(), b"%d\n" % count_tokens(text, encoding))
        except OSError:
            # Whoever asked was killed.
            return


if __name__ == "__main__":
    main()
