"""Compact a made-up session through the command line with a real model on this machine.

`python tools/local_model/compact.py --server-python VENV/bin/python --model MODEL.gguf --runs 5`,
as docs/local-model.md describes. Each run is the real `ullage compact` in a home of its own, whose
`~/.openclaw/config.yaml` names the server; it prints who wrote the summary that then stands in the
session file, and the model's requests and answers as the server counted them.
"""

import argparse
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2] / "tests"))

from run import server, session

from pi_files import PiFile
from running import Place
from ullage.core.transcript.context import ContextItem
from ullage.core.transcript.entries import ToolCall, ToolResult, plain_text, result_text

SERVED_TOKENS = 8192
WINDOW_TOKENS = 3000
"""Of the agent's model, so that half of it, the newest messages, stays as it is."""
MAX_ANSWER_TOKENS = 900
TIMEOUT_S = 900
CONFIG = """\
compaction:
  model:
    provider: custom
    baseUrl: {base_url}
    modelName: {name}
    temperature: {temperature}
    maxTokens: {max_tokens}
"""


def written(pi: PiFile, items: Iterable[ContextItem]) -> None:
    """Write messages into a session file of pi."""
    for item in items:
        message = item.message
        calls = [
            (block.call_id, block.name, json.loads(block.arguments))
            for block in message.blocks
            if isinstance(block, ToolCall)
        ]
        results = [block for block in message.blocks if isinstance(block, ToolResult)]
        if message.role == "user":
            pi.user(plain_text(message))
        elif message.role == "assistant":
            pi.assistant(plain_text(message), calls=calls, stop="toolUse" if calls else "stop")
        for block in results:
            pi.result(block.call_id, result_text(block), name=block.name)


def session_file() -> bytes:
    """Make the file: the work on invoices, then newer work that a compaction leaves alone."""
    pi = PiFile()
    written(pi, session())
    for n in range(3):
        pi.user(f"Now explain module {n} of the reports to me.")
        pi.assistant("I read it.", calls=[(f"r{n}", "read", {"path": f"src/reports/m{n}.py"})])
        pi.result(f"r{n}", f"def report_{n}(rows): ...\n" + "    total += row.net\n" * 70)
        pi.assistant(f"Module {n} adds up the net amounts of its rows.")
    return pi.data


def run_once(base_url: str, name: str, temperature: float) -> str:
    """Compact the session in a new home; give a line of the table."""
    with tempfile.TemporaryDirectory() as folder:
        place = Place(Path(folder))
        config = place.home / ".openclaw" / "config.yaml"
        config.parent.mkdir()
        config.write_text(
            CONFIG.format(
                base_url=base_url, name=name, temperature=temperature, max_tokens=MAX_ANSWER_TOKENS
            )
        )
        path = place.write("session.jsonl", session_file())
        n_lines = len(path.read_bytes().splitlines())
        began = time.perf_counter()
        done = subprocess.run(
            [
                *(sys.executable, "-m", "ullage", "compact", "--yes", "--json"),
                *("--session", str(path), "--window", str(WINDOW_TOKENS)),
            ],
            cwd=place.cwd,
            env=place.env(),
            capture_output=True,
            encoding="utf-8",
            timeout=TIMEOUT_S,
            check=False,
        )
        seconds = time.perf_counter() - began
        if done.returncode:
            return f"| {temperature} | failed: {done.stderr.strip()} |"
        told = json.loads(done.stdout)
        *_, last = path.read_bytes().splitlines()
        stands = json.loads(last)["summary"] == told["summary"]
        n_added = len(path.read_bytes().splitlines()) - n_lines
    found = told["audit"]
    print(told["summary"], file=sys.stderr)
    print(json.dumps({**found, "lines": n_added}), file=sys.stderr, flush=True)
    outcome = found["warnings"][0] if found["by"] == "extractive" else f"by {found['by']}"
    return (
        f"| {temperature} | {outcome} | {found['model_calls']} calls,"
        f" {found['model_input_tokens']:,} in, {found['model_output_tokens']:,} out |"
        f" {sum(found['put_back'].values())} put back, {len(found['invented'])} invented |"
        f" {told['messages_compacted']} messages, {told['tokens_before']:,} ->"
        f" {told['tokens_after']:,}, summary {found['tokens']:,}"
        f"{', in the file' if stands else ', NOT in the file'} | {seconds:.0f} s |"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--server-python", required=True, metavar="PATH")
    parser.add_argument("--model", required=True, metavar="GGUF")
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--temperature", type=float, default=0.3)
    args = parser.parse_args()
    print("| temperature | summary | calls, tokens by the server | facts | compaction | time |")
    print("|---|---|---|---|---|---|", flush=True)
    with server(args.server_python, args.model, SERVED_TOKENS) as base_url:
        for _ in range(args.runs):
            print(run_once(base_url, "local", args.temperature), flush=True)


if __name__ == "__main__":
    main()
