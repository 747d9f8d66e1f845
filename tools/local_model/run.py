"""Have a real model on this machine summarize a small made-up session, and print the figures.

`python tools/local_model/run.py --server-python VENV/bin/python --model MODEL.gguf`, as
docs/local-model.md describes. It shows that the wire works with a server that is not ours
(streaming, usage, stop reasons, overflow), not how good a model's summaries are.
"""

import argparse
import asyncio
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2] / "tests"))

from factories import assistant, numbered, tool_result, user
from ullage.core.summary.audit import audit
from ullage.core.summary.extract import summarize
from ullage.core.summary.prompts import Prompt
from ullage.core.transcript.context import ContextItem
from ullage.core.transcript.tokens import count_items
from ullage.errors import ModelError
from ullage.store.gauge.tokenizer import DEFAULT_ENCODING, count_tokens
from ullage.summary.client import ask, connect
from ullage.summary.endpoint import Endpoint, ModelChoice, endpoint_for
from ullage.summary.limits import LOCAL, ClockAndJitter
from ullage.summary.request import Progress, SummaryRequest
from ullage.summary.stages import summarize_with_model

SERVE = Path(__file__).parent / "serve.py"
WINDOW_TOKENS = 3072
"""So small that the session makes two parts."""
MAX_ANSWER_TOKENS = 400
BUDGET_TOKENS = 400
FACTS = (
    "src/billing/totals.py",
    "schema.sql",
    "ROUND_HALF_EVEN",
    "test_cents",
    "10.02",
    "INV-2291",
    "4f1c9e2",
    "port 5433",
    "BILLING_LOCALE",
    "migrations/0042_cents.sql",
)


def session() -> tuple[ContextItem, ...]:
    """Make about 1,500 tokens of work on invoices, with ten facts to be kept."""
    file = "src/billing/totals.py"
    return numbered(
        [
            user(f"Invoice INV-2291 is a cent off. Fix {file}. Never touch schema.sql."),
            assistant("I look at how totals are made.", [("c1", "read", {"path": file})]),
            tool_result(
                "def total(lines):\n    return sum(round(line.net * line.rate, 2) for line in lines)\n"
                + "".join(f"# line {n}: kept for the auditors since 2019\n" for n in range(30)),
                "c1",
                "read",
            ),
            assistant(
                "Each line is rounded; the sum should be.", [("c2", "bash", {"c": "pytest"})]
            ),
            tool_result(
                "FAILED tests/test_totals.py::test_cents - assert 10.01 == 10.02\n"
                + "".join(f"tests/test_{n}.py ..... [{n} %]\n" for n in range(25)),
                "c2",
            ),
            user(
                "Use ROUND_HALF_EVEN, as the tax office asks for. The test database is on port 5433."
            ),
            assistant(
                "Decided: ROUND_HALF_EVEN on the sum, not half up, because the tax office asks.",
                [("c3", "edit", {"path": file, "new": "quantize(sum(...), ROUND_HALF_EVEN)"})],
            ),
            tool_result("ok", "c3", "edit"),
            assistant("", [("c4", "bash", {"c": "git commit -am 'round sums' && pytest"})]),
            tool_result("[main 4f1c9e2] round sums\n212 passed in 3.1 s\n", "c4"),
            user("Old invoices stay as they are. BILLING_LOCALE decides on the format, see later."),
            assistant(
                "Committed as 4f1c9e2. Open: migrations/0042_cents.sql is not written yet, and"
                " BILLING_LOCALE is read nowhere."
            ),
        ]
    )


@contextmanager
def server(python: str, model: str, n_ctx: int) -> Iterator[str]:
    """Run the server while it is needed; give its address."""
    command = [python, str(SERVE), model, str(n_ctx)]
    with subprocess.Popen(
        command,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        encoding="utf-8",
    ) as process:
        try:
            assert process.stdout is not None
            address = process.stdout.readline().strip()
            if not address:
                raise RuntimeError("the server did not start: see docs/local-model.md")
            yield f"{address}/v1"
        finally:
            process.terminate()


def count(text: str) -> int:
    return count_tokens(text, DEFAULT_ENCODING)


def local_endpoint(base_url: str) -> Endpoint:
    choice = ModelChoice(
        provider="custom", model="local", base_url=base_url, max_tokens=MAX_ANSWER_TOKENS
    )
    return endpoint_for(choice, key=None, window_tokens=WINDOW_TOKENS)


async def measure_wire(endpoint: Endpoint) -> None:
    """Ask one question that the model can answer, to see text, stop and usage arrive."""
    prompt = Prompt(system="Answer in one sentence.", user="What does a cooper make?")
    began = time.perf_counter()
    async with connect(endpoint, LOCAL, ClockAndJitter()) as connection:
        answer = await ask(connection, prompt, 100)
    assert answer.usage is not None
    print(
        f"| one question | {len(answer.text)} characters, ended by itself | 1 calls |"
        f" {answer.usage.prompt_tokens:,} in, {answer.usage.completion_tokens:,} out | |"
        f" {time.perf_counter() - began:.0f} s |"
    )


async def measure(title: str, endpoint: Endpoint, request: SummaryRequest) -> None:
    began = time.perf_counter()

    def report(told: Progress) -> None:
        print(f"  {told.stage}: call {told.n_done + 1} of {told.n_total}", file=sys.stderr)

    try:
        made = await summarize_with_model(request, endpoint, report=report)
    except ModelError as error:
        seconds = time.perf_counter() - began
        print(f"| {title} | {type(error).__name__}: {error} | | | | {seconds:.0f} s |")
        return
    seconds, spent = time.perf_counter() - began, made.spent
    print(
        f"| {title} | tier {made.tier}, {made.n_parts} parts | {spent.n_calls} calls |"
        f" {spent.n_input_tokens:,} in, {spent.n_output_tokens:,} out"
        f"{'' if spent.is_reported else ' (counted)'} |"
        f" {kept(made.text)} | {seconds:.0f} s |"
    )
    for told in (*made.warnings, *made.omitted):
        print(f"|  | {told} | | | | |")
    print(made.text, file=sys.stderr)


def kept(text: str) -> str:
    """Say what a summary keeps of our ten facts, and what the audit that it gets puts back."""
    n_facts = sum(fact in text for fact in FACTS)
    found = audit(session(), text, budget_tokens=BUDGET_TOKENS)
    return (
        f"{n_facts} of {len(FACTS)} facts, {len(found.missing)} for the audit to put back,"
        f" in {count(text)} tokens"
    )


async def measure_all(python: str, model: str) -> None:
    items = session()
    n_tokens = count_items(items, count)
    request = SummaryRequest(
        items=items, focus=None, budget_tokens=BUDGET_TOKENS, count=count, known_secrets=()
    )
    print(f"Session of {len(items)} messages, {n_tokens:,} tokens (o200k).\n")
    print("| run | outcome | calls | tokens | kept | time |")
    print("|---|---|---|---|---|---|")
    extractive = summarize(items, focus=None, budget_tokens=BUDGET_TOKENS, count=count)
    print(f"| without a model | extractive | 0 calls | | {kept(extractive)} | 0 s |")
    with server(python, model, 512) as base_url:
        # The server has less than we are told: a real overflow.
        await measure("served 512 tokens", local_endpoint(base_url), request)
    with server(python, model, WINDOW_TOKENS) as base_url:
        await measure_wire(local_endpoint(base_url))
        await measure("served as told", local_endpoint(base_url), request)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--server-python", required=True, metavar="PATH")
    parser.add_argument("--model", required=True, metavar="GGUF")
    args = parser.parse_args()
    asyncio.run(measure_all(args.server_python, args.model))


if __name__ == "__main__":
    main()
