"""The runtime in docs/agent-protocol.md works as it stands there."""

import asyncio
import json
import re
import sys
from pathlib import Path

from model_server import Asked, ModelServer, Reply, served
from pi_files import Json
from running import Place

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs/agent-protocol.md"
CLIENT = ROOT / "examples/agent_client.py"
PROSE = "The parser reads a line at a time and keeps what it cannot read. " * 60
WINDOW = 8_000


class ChatServer:
    """OpenAI's chat completions by a script: answers and the tokens that they report."""

    def __init__(self, script: list[tuple[Json, int] | None]) -> None:
        self.script = script
        self.inputs: list[list[Json]] = []

    def reply(self, asked: Asked) -> Reply:
        self.inputs.append(json.loads(asked.body)["messages"])
        step = self.script.pop(0)
        if step is None:
            code = "context_length_exceeded"
            return whole(400, {"error": {"message": "maximum context length", "code": code}})
        answer, n_tokens = step
        usage = {"prompt_tokens": n_tokens, "completion_tokens": 0, "total_tokens": n_tokens}
        choice = {"index": 0, "finish_reason": "stop", "message": answer}
        head = {"id": "chatcmpl-1", "object": "chat.completion", "created": 1, "model": "m"}
        return whole(200, head | {"choices": [choice], "usage": usage})


def whole(status: int, body: Json) -> Reply:
    data = json.dumps(body).encode()
    head = f"HTTP/1.1 {status} OK\r\ncontent-type: application/json\r\n"
    return (f"{head}content-length: {len(data)}\r\nconnection: close\r\n\r\n".encode() + data,)


def said(text: str) -> Json:
    return {"role": "assistant", "content": text}


def called(path: str) -> Json:
    function = {"name": "read_file", "arguments": json.dumps({"path": path})}
    call = {"id": "call_1", "type": "function", "function": function}
    return {"role": "assistant", "content": None, "tool_calls": [call]}


async def printed_by_example(
    place: Place, api: ChatServer, *requests: str, window: int
) -> list[str]:
    """Run the page's program against a script of answers; give the lines that it printed."""
    code = re.search(r"^```python\n(.*?)^```$", PAGE.read_text("utf-8"), re.DOTALL | re.MULTILINE)
    assert code is not None
    program = place.write("runtime.py", code[1].encode())
    place.write(CLIENT.name, CLIENT.read_bytes())
    async with served(ModelServer(api.reply)) as server:
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, str(program), "some-model", *requests),
            cwd=place.cwd,
            env=place.env(
                OPENAI_BASE_URL=server.base_url,
                OPENAI_API_KEY="none",
                ULLAGE_CONTEXT_WINDOW=str(window),
            ),
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
        )
        stdout, stderr = await process.communicate()
    assert process.returncode == 0, stderr.decode()
    assert api.script == []
    return [line for line in stdout.decode().splitlines() if line]


async def test_a_large_output_after_the_last_answer_counts(place: Place) -> None:
    place.write("big.txt", ("some words of a file " * 10_000).encode())
    api = ChatServer([(called("big.txt"), 21_000), (said("It is long."), 71_000)])
    assert await printed_by_example(place, api, "Read big.txt.", window=100_000) == ["It is long."]
    assert "[Context: 71% | 71k/100k tokens]" in api.inputs[1][-1]["content"]


async def test_it_reads_files_compacts_and_survives_an_overflow(place: Place) -> None:
    place.write("a.txt", b"swordfish")
    api = ChatServer(
        [
            (called("a.txt"), 1_000),
            (said("It says swordfish. " + PROSE), 2_000),
            (said(f"Noted. {PROSE}"), 4_760),
            (said("Yes. " + PROSE), 7_500),
            (said("Compacted before this."), 2_000),
            None,
            (said("Compacted again."), 1_500),
        ]
    )
    requests = ["Read a.txt.", "Always use tabs. " + PROSE, "Is it clear? " + PROSE]
    requests += ["Then go on. " + PROSE, "And on. " + 4 * PROSE]
    printed = await printed_by_example(place, api, *requests, window=WINDOW)
    assert printed[-2:] == ["Compacted before this.", "Compacted again."]
    output = {"role": "tool", "tool_call_id": "call_1", "content": "swordfish"}
    assert output in api.inputs[1]
    # 71 % after the second turn: the line of the gauge is sent, and not kept.
    assert "[Context: 71% | 6k/8k tokens]" in api.inputs[3][-1]["content"]
    assert all("71%" not in json.dumps(items) for items in api.inputs[4:])
    compacted = json.dumps(api.inputs[4])
    assert "This summary stands for it" in compacted
    assert "Always use tabs" in compacted
    assert "[Post-compaction checkpoint restore]" in compacted
    assert all([m["role"] for m in sent].count("system") == 1 for sent in api.inputs)
    assert all(sent[0]["role"] == "system" for sent in api.inputs)
