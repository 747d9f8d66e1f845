"""How long an editor waits for each answer on a large transcript, and the longest stall.

Run with the server's interpreter: `python benchmarks/editor.py [MB ...]`. While each request is
under way, a trivial one is sent again and again: the longest round trip of those is how long the
server's loop was held, by anything. The whole text is sent with `didOpen`, as editors do.
"""

import json
import os
import queue
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

from sessions import write_session

SIZES_MB = (1, 10, 100)
ANSWER_S = 120.0
PING_PAUSE_S = 0.002
Json = dict[str, object]


class Client:
    """An editor's end of the protocol; answers are told by a thread, with the time they came."""

    def __init__(self, folder: Path) -> None:
        env = os.environ | {"HOME": str(folder), "ULLAGE_STATE_DIR": str(folder / "state")}
        self._process = subprocess.Popen(
            [sys.executable, "-m", "ullage", "lsp"],
            env=env,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
        self._answers: dict[int, queue.Queue[tuple[float, Json]]] = {}
        self._n_sent = 0
        self._lock = threading.Lock()
        threading.Thread(target=self._listen, daemon=True).start()

    @property
    def process_id(self) -> int:
        return self._process.pid

    def notify(self, method: str, params: object) -> None:
        self._send({"jsonrpc": "2.0", "method": method, "params": params})

    def request(self, method: str, params: object) -> tuple[float, Json]:
        """Ask, and give the seconds that the answer took."""
        with self._lock:
            self._n_sent += 1
            number = self._n_sent
            answers = self._answers[number] = queue.Queue()
        started = time.perf_counter()
        self._send({"jsonrpc": "2.0", "id": number, "method": method, "params": params})
        came, answer = answers.get(timeout=ANSWER_S)
        del self._answers[number]
        return came - started, answer

    def with_stall(self, method: str, params: object) -> tuple[float, float]:
        """Ask, and give besides the longest round trip of the trivial requests meanwhile."""
        trips: list[float] = []
        is_done = threading.Event()

        def ping() -> None:
            while not is_done.is_set():
                trips.append(self.request("ullage/none", {})[0])
                time.sleep(PING_PAUSE_S)

        pinging = threading.Thread(target=ping)
        pinging.start()
        seconds, answer = self.request(method, params)
        is_done.set()
        pinging.join()
        if "error" in answer:
            raise RuntimeError(f"{method}: {answer['error']}")
        return seconds, max(trips, default=0.0)

    def stop(self) -> None:
        self.request("shutdown", None)
        self.notify("exit", None)
        self._process.wait(timeout=ANSWER_S)

    def _send(self, message: Json) -> None:
        body = json.dumps(message).encode()
        stdin = self._process.stdin
        if stdin is None:
            raise RuntimeError("no pipe")
        with self._lock:
            stdin.write(b"Content-Length: %d\r\n\r\n" % len(body) + body)
            stdin.flush()

    def _listen(self) -> None:
        stdout = self._process.stdout
        while stdout is not None and (line := stdout.readline()):
            length = 0
            while line != b"\r\n":
                name, _, value = line.partition(b":")
                length = int(value) if name == b"Content-Length" else length
                line = stdout.readline()
            message = json.loads(stdout.read(length))
            came = time.perf_counter()
            answers = self._answers.get(message.get("id"))
            if answers is not None and "method" not in message:
                answers.put((came, message))


def requests(uri: str, n_lines: int) -> list[tuple[str, str, Json]]:
    document: Json = {"textDocument": {"uri": uri}}

    def hover(line: int) -> Json:
        return document | {"position": {"line": line, "character": 0}}

    start, end = {"line": n_lines - 50, "character": 0}, {"line": n_lines, "character": 0}
    visible = document | {"range": {"start": start, "end": end}}
    return [
        ("symbols, first", "textDocument/documentSymbol", document),
        ("symbols", "textDocument/documentSymbol", document),
        ("folding", "textDocument/foldingRange", document),
        ("lenses", "textDocument/codeLens", document),
        ("links", "textDocument/documentLink", document),
        ("hints, 50 lines", "textDocument/inlayHint", visible),
        ("hover, first", "textDocument/hover", hover(n_lines - 5)),
        ("hover, live", "textDocument/hover", hover(n_lines - 7)),
        ("hover, replaced", "textDocument/hover", hover(n_lines // 4)),
    ]


def measure(n_mb: int, folder: Path) -> None:
    path = folder / f"{n_mb}.jsonl"
    write_session(path, n_mb * 1_000_000)
    text = path.read_text("utf-8")
    client = Client(folder)
    client.request("initialize", {"processId": None, "rootUri": None, "capabilities": {}})
    client.notify("initialized", {})
    document = {"uri": path.as_uri(), "languageId": "jsonl", "version": 1, "text": text}
    started = time.perf_counter()
    client.notify("textDocument/didOpen", {"textDocument": document})
    sent = time.perf_counter()
    first, _ = client.request("ullage/none", {})
    print(f"\n{n_mb} MB, {text.count(chr(10)):,} lines")
    print(f"  {'didOpen':<18}{sent - started + first:>8.3f} s sent and taken")
    for name, method, params in requests(path.as_uri(), text.count("\n")):
        seconds, stall = client.with_stall(method, params)
        print(f"  {name:<18}{seconds:>8.3f} s   longest stall {stall * 1000:>6.1f} ms")
    idle = [client.request("ullage/none", {})[0] for _ in range(50)]
    print(f"  {'idle':<18}{statistics.median(idle):>8.4f} s   worst {max(idle) * 1000:.1f} ms")
    client.stop()
    path.unlink()


def main() -> None:
    sizes = [int(arg) for arg in sys.argv[1:]] or SIZES_MB
    with tempfile.TemporaryDirectory() as folder:
        for n_mb in sizes:
            measure(n_mb, Path(folder))


if __name__ == "__main__":
    main()
