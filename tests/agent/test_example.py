"""The agent in examples/agent.py does a task, by the service in a process of its own."""

import asyncio
import json
import re
import shlex
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

import agent
from model_server import Asked, ModelServer, Reply, error_reply, head, no_server, served, text_reply
from pi_files import Json
from running import WAIT_S, Done, Place
from ullage.store.gauge.tokenizer import count_tokens

ROOT = Path(__file__).parents[2]
AGENT = ROOT / "examples/agent.py"
PAGE = ROOT / "docs/agent-protocol.md"
KEY = "sk-of-the-example"
WINDOW = 8_000
N_STEPS = 40
RULES = (
    "Never edit generated files.",
    "The cache is at port 6380, not 6379.",
    "Do not touch config/prod.yaml.",
    "Always use tabs in the Makefile.",
    "Ask before you add a dependency.",
)
PROSE = "The parser reads a line at a time and keeps what it cannot read. " * 60

Play = Callable[["Model"], Json | Reply]


class Model:
    """OpenAI's chat completions with a window that is counted; what it says is played."""

    def __init__(self, play: Play) -> None:
        self.play = play
        self.inputs: list[list[Json]] = []
        self.sizes: list[int] = []
        self.keys: list[str] = []

    @property
    def step(self) -> int:
        """How many requests there were, this one included."""
        return len(self.inputs)

    @property
    def text(self) -> str:
        """All that is in this request."""
        return text_of(self.inputs[-1])

    def reply(self, asked: Asked) -> Reply:
        body = json.loads(asked.body)
        self.inputs.append(body["messages"])
        self.keys += re.findall(r"(?im)^authorization: (.*?)\r?$", asked.head)
        tokens = count_tokens(self.text + json.dumps(body["tools"]), "o200k_base")
        self.sizes.append(tokens)
        played = self.play(self)
        if isinstance(played, tuple):
            return played
        choice = {"index": 0, "finish_reason": "stop", "message": played}
        answered = count_tokens(text_of([played]), "o200k_base")
        usage = {"prompt_tokens": tokens, "completion_tokens": answered}
        usage["total_tokens"] = tokens + answered
        start = {"id": "chatcmpl-1", "object": "chat.completion", "created": 1, "model": "m"}
        return json_reply(start | {"choices": [choice], "usage": usage})


def text_of(messages: list[Json]) -> str:
    texts = [str(message.get("content")) for message in messages]
    return "\n".join([*texts, *(json.dumps(message.get("tool_calls")) for message in messages)])


def json_reply(body: Json) -> Reply:
    data = json.dumps(body).encode()
    return (head(200, "application/json", content_length=str(len(data))), data)


def said(text: str) -> Json:
    return {"role": "assistant", "content": text}


def called(name: str, **arguments: str) -> Json:
    function = {"name": name, "arguments": json.dumps(arguments)}
    call = {"id": f"call_{abs(hash(str(arguments)))}", "type": "function", "function": function}
    return {"role": "assistant", "content": None, "tool_calls": [call]}


def refuse() -> Reply:
    return error_reply(400, {"error": {"message": "maximum context length is 8000 tokens"}})


async def run_agent(
    place: Place,
    *args: str,
    base_url: str,
    model: str = "some-model",
    stdin: bytes = b"",
    **env: str,
) -> Done:
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, str(AGENT), "--base-url", base_url, "--model", model, *args),
        cwd=place.cwd,
        env=place.env(OPENAI_API_KEY=KEY, **env),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    async with asyncio.timeout(WAIT_S):
        stdout, stderr = await process.communicate(stdin)
    assert process.returncode is not None
    return Done(process.returncode, stdout.decode(), stderr.decode())


async def run_with(
    place: Place, model: Model, *args: str, window: int = WINDOW, stdin: bytes = b""
) -> Done:
    async with served(ModelServer(model.reply)) as server:
        args = ("--window", str(window), *args)
        return await run_agent(place, *args, base_url=server.base_url, stdin=stdin)


def play_long_task(model: Model) -> Json | Reply:
    """Look at all parts, then write what the rules in the last request say."""
    if model.sizes[-1] > WINDOW:
        return refuse()
    match model.step:
        case step if step < N_STEPS and step % 8 == 0:
            return called("run", command=f"cat src/part{step}.py; printenv")
        case step if step < N_STEPS:
            return called("read_file", path=f"src/part{step}.py")
        case step if step == N_STEPS:
            port = re.search(r"at port (\d+)", model.text)
            assert port is not None
            return called("write_file", path="src/cache.ini", content=f"port = {port[1]}\n")
        case _:
            return said("The cache is ported.")


async def test_a_task_that_overflows_the_window_three_times_keeps_every_rule(place: Place) -> None:
    place.write("AGENTS.md", b"# Agents\n\nRun `make check` before you say that it is done.\n")
    for number in range(1, N_STEPS):
        lines = (f"def step_{number}_{line}(value):\n    return value\n" for line in range(24))
        place.write(f"src/part{number}.py", "".join(lines).encode())
    model = Model(play_long_task)
    task = f"Port the cache to the new client. {' '.join(RULES)} Look at every part first."
    done = await run_with(place, model, "--yes", task)
    assert (done.returncode, done.stdout) == (0, "The cache is ported.\n"), done.stderr
    assert (place.cwd / "src/cache.ini").read_text() == "port = 6380\n"
    reasons = re.findall(r"^- compacted \((\w+)\): ", done.stderr, re.MULTILINE)
    assert len(reasons) >= 3
    assert set(reasons) == {"threshold"}
    assert len(model.inputs) == N_STEPS + 1
    assert max(model.sizes) <= WINDOW
    summaries = {str(m["content"]) for sent in model.inputs for m in sent if is_summary(m)}
    assert len(summaries) == len(reasons)
    for sent in model.inputs:
        assert [rule for rule in RULES if rule not in text_of(sent)] == []
        assert "Run `make check`" in str(sent[0]["content"])
        assert [message["role"] for message in sent].count("system") == 1
    restored = "[Post-compaction checkpoint restore]"
    assert sum(restored in text_of(sent) for sent in model.inputs) > N_STEPS / 4


def is_summary(message: Json) -> bool:
    return "This summary stands for it" in str(message["content"])


async def test_the_key_goes_to_the_address_and_nowhere_else(place: Place) -> None:
    steps = (called("run", command="printenv; echo done"), said("Looked."))
    model = Model(lambda model: steps[model.step - 1])
    done = await run_with(place, model, "--yes", "Look at the environment.")
    assert model.keys == [f"Bearer {KEY}"] * 2
    assert "done" in model.text
    for text in (model.text, done.stdout, done.stderr, *map(str, place.files().values())):
        assert KEY not in text


async def test_neither_a_redirect_nor_a_proxy_is_followed(place: Place) -> None:
    async with served(ModelServer(Model(lambda _: said("Never.")).reply)) as other:
        moved = head(307, location=f"{other.base_url}/chat/completions", content_length="0")
        async with served(ModelServer(Model(lambda _: (moved,)).reply)) as server:
            proxies = {"HTTP_PROXY": other.base_url, "http_proxy": other.base_url}
            done = await run_agent(place, "Go.", base_url=server.base_url, **proxies)
    assert other.asked == []
    assert "Error code: 307" in done.stderr.splitlines()[-1]


async def test_the_next_run_goes_on_with_the_conversation(place: Place) -> None:
    first = Model(lambda _: said("It is tabs, then."))
    await run_with(place, first, "Use tabs.")
    history = place.cwd / ".agent-history.jsonl"
    with history.open("ab") as file:
        file.write(b'\n{"messages": [{"role": "as')
    second = Model(lambda _: said("You said tabs."))
    await run_with(place, second, "What did I say?")
    third = Model(lambda _: said("Twice."))
    await run_with(place, third, "How often?")
    assert [message["content"] for message in third.inputs[0][1:]] == [
        *("Use tabs.", "It is tabs, then."),
        *("What did I say?", "You said tabs.", "How often?"),
    ]


async def test_a_history_is_compacted_where_the_next_run_reads_it(place: Place) -> None:
    turns = (said(PROSE), said("Noted. " + PROSE), said("Yes. " + PROSE), said("No."))
    for number, text in enumerate(("Look.", "Always use tabs.", "Is it clear?", "Go on.")):
        task = f"{PROSE} {PROSE} {text}"
        await run_with(place, model := Model(lambda _, at=number: turns[at]), "--yes", task)
    assert any(map(is_summary, model.inputs[-1]))
    done = await run_with(place, after := Model(lambda _: said("Yes.")), "--yes", "And now?")
    assert done.returncode == 0, done.stderr
    sent = [message for message in model.inputs[-1] if "[Context: " not in str(message["content"])]
    assert after.inputs[0][1 : len(sent)] == sent[1:]
    assert "Always use tabs" in after.text


async def test_a_request_that_the_provider_refuses_as_too_large_is_sent_again(place: Place) -> None:
    place.write("a.txt", PROSE.encode())

    def play(model: Model) -> Json | Reply:
        match model.step:
            case 1 | 2 | 3:
                return called("read_file", path="a.txt")
            case 4:
                return refuse()
            case _:
                return said("Read.")

    done = await run_with(place, model := Model(play), "--yes", "Read a.txt three times. " + PROSE)
    assert (done.returncode, done.stdout) == (0, "Read.\n"), done.stderr
    assert model.sizes[4] < model.sizes[3]


async def test_a_gauge_line_is_for_its_request_alone(place: Place) -> None:
    place.write("a.txt", (PROSE * 2).encode())
    steps = [called("read_file", path="a.txt")] * 3 + [said("It is long.")]
    model = Model(lambda model: steps[model.step - 1])
    await run_with(place, model, "--yes", "Read it. " + PROSE * 2)
    told = [sum("[Context: " in str(m["content"]) for m in sent) for sent in model.inputs]
    assert max(told) == 1
    assert told[0] == 0
    assert "[Context: " not in (place.cwd / ".agent-history.jsonl").read_text()


@pytest.mark.parametrize(
    ("answer", "error"), [(b"", "the user does not want it"), (b"y\n", "[exit code 0]")]
)
async def test_a_command_is_run_once_the_user_agrees(
    place: Place, answer: bytes, error: str
) -> None:
    steps = (called("run", command="echo x > made.txt"), said("Tried."))
    model = Model(lambda model: steps[model.step - 1])
    done = await run_with(place, model, "Make it.", stdin=answer)
    assert "Run 'echo x > made.txt'? [y/N]" in done.stderr
    assert error in str(model.inputs[1][-1]["content"])
    assert (place.cwd / "made.txt").exists() is bool(answer)


async def test_what_a_tool_cannot_do_the_model_is_told(place: Place) -> None:
    place.write("../outside.txt", b"a secret")
    steps = [
        called("read_file", path="../outside.txt"),
        called("write_file", path="/tmp/of-the-example.txt", content="x"),
        called("read_file", path="missing.txt"),
        called("read_file", file="a.txt"),
        called("fly"),
        called("run", command="yes some words | head -c 100000; exit 3"),
        said("Nothing worked."),
    ]
    model = Model(lambda model: steps[model.step - 1])
    done = await run_with(place, model, "--yes", "Try it.")
    assert done.stdout == "Nothing worked.\n"
    outputs = [str(m["content"]) for m in model.inputs[-1] if m["role"] == "tool"]
    assert "outside the workspace" in outputs[0]
    assert "outside the workspace" in outputs[1]
    assert "No such file" in outputs[2]
    assert "`path`" in outputs[3]
    assert "no tool fly" in outputs[4]
    assert outputs[5].startswith("[exit code 3]\nsome words\n")
    assert len(outputs[5]) < WINDOW + 100


async def test_what_is_stored_in_memory_is_found_again(place: Place) -> None:
    place.write("docs/cache.md", b"# Cache\n\nThe cache is flushed at midnight.\n")
    note = {"text": "The user deploys on Fridays only.", "kind": "fact"}
    steps = (
        called("memory_search", query="when is the cache flushed"),
        called("memory_store", **note),
        said("Noted."),
    )
    model = Model(lambda model: steps[model.step - 1])
    await run_with(place, model, "--yes", "When is the cache flushed? I deploy on Fridays only.")
    assert "flushed at midnight" in str(model.inputs[1][-1]["content"])
    assert "Fridays" in (place.cwd / "DREAMS.md").read_text("utf-8")


@pytest.mark.parametrize(
    ("reply", "told"),
    [
        (error_reply(401, {"error": {"message": f"bad key {KEY}"}}), "bad key [the key]"),
        (error_reply(404, {"error": {"message": "no model some-model"}}), "no model some-model"),
        (text_reply("not asked for a stream"), "--base-url mostly ends in /v1"),
        (json_reply({}), "--base-url mostly ends in /v1"),
    ],
)
async def test_an_error_of_the_model_is_one_line(place: Place, reply: Reply, told: str) -> None:
    done = await run_with(place, Model(lambda _: reply), "Go.")
    *_, line = done.stderr.splitlines()
    assert done.returncode == 1
    assert line.startswith("agent: ")
    assert told in line
    assert "Traceback" not in done.stderr
    assert KEY not in done.stderr


async def test_an_address_where_nobody_listens_is_one_line(place: Place) -> None:
    async with no_server() as server:
        done = await run_agent(place, "Go.", base_url=server.base_url)
    assert done.returncode == 1
    assert done.stderr.startswith(f"agent: {server.base_url}: Connection error.")
    assert len(done.stderr.splitlines()) == 1


@pytest.mark.parametrize("url", ["", "nonsense", "http://[::1", "http://::1", "http://a:b@c/"])
def test_what_is_no_address_is_refused(url: str) -> None:
    with pytest.raises(agent.Failed, match="give an address such as"):
        agent.check_address(url)


async def test_a_file_that_is_no_history_is_left_alone(place: Place) -> None:
    path = place.write("notes.txt", b"My notes.\n")
    done = await run_with(place, Model(lambda _: said("Never.")), "--history", "notes.txt", "Go.")
    assert (
        done.stderr == "agent: notes.txt is not a history of this agent: give another --history\n"
    )
    assert path.read_bytes() == b"My notes.\n"


async def test_the_command_of_the_page_is_one_that_the_agent_takes(place: Place) -> None:
    command = re.search(
        r"^```sh\npython (examples/agent\.py .*)\n```$", PAGE.read_text("utf-8"), re.MULTILINE
    )
    assert command is not None
    program, *args = shlex.split(command[1])
    assert ROOT / program == AGENT
    at = args.index("--base-url")
    del args[at : at + 2]
    async with served(ModelServer(Model(lambda _: said("Fixed.")).reply)) as server:
        done = await run_agent(place, *args, base_url=server.base_url)
    assert done.stdout == "Fixed.\n"
