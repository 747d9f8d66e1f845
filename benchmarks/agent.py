"""How long `context/prepare` takes, seen by a client: `python benchmarks/agent.py`.

A session in pi's shape with 300 messages and about 120,000 tokens, nothing of which is reported.
"""

import asyncio
import os
import statistics
import sys
import tempfile
import time
from pathlib import Path

from ullage.agent.protocol import OPEN, PREPARE, Open, Prepare
from ullage.core.transcript.entries import JsonObject

sys.path.insert(0, str(Path(__file__).parents[1] / "examples"))
from agent_client import AgentClient

N_TURNS = 75
N_CALLS = 40
OUTPUT = "line of the code with words " * 270


def turn(number: int) -> list[JsonObject]:
    call_id = f"call_{number}"
    call = {"type": "toolCall", "id": call_id, "name": "read", "arguments": {"path": "a.py"}}
    output = [{"type": "text", "text": f"{number} {OUTPUT}"}]
    messages: list[JsonObject] = [
        {"role": "user", "content": f"Please look at file {number}."},
        {"role": "assistant", "content": [call]},
        {"role": "toolResult", "toolCallId": call_id, "toolName": "read", "content": output},
        {"role": "assistant", "content": [{"type": "text", "text": f"Done with {number}."}]},
    ]
    return [m | {"timestamp": 1000 * number + at} for at, m in enumerate(messages)]


async def main() -> None:
    messages = [message for number in range(N_TURNS) for message in turn(number)]
    times_ms: list[float] = []
    with tempfile.TemporaryDirectory() as folder:
        env = {
            "ULLAGE_STATE_DIR": str(Path(folder, "state")),
            "HOME": folder,
            "PYTHONPATH": os.environ.get("PYTHONPATH", ""),
        }
        async with AgentClient(env=env) as client:
            opened = await client.request(OPEN, Open(agent="pi", cwd=folder, session_id="one"))
            await asyncio.sleep(2)  # the tokenizer is loaded meanwhile, as while a user types
            for number in range(N_CALLS):
                messages.append({"role": "user", "content": f"Go on {number}.", "timestamp": 10**6})
                request = Prepare(session=opened.session, messages=messages)
                started = time.perf_counter()
                prepared = await client.request(PREPARE, request)
                times_ms.append(1000 * (time.perf_counter() - started))
    print(f"{len(messages)} messages, {prepared.gauge.used_tokens} tokens")
    print(f"first {times_ms[0]:.0f} ms, then a median of {statistics.median(times_ms[1:]):.0f} ms")


asyncio.run(main())
