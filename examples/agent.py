"""A small coding agent for any OpenAI-compatible address; `ullage agent` looks after its context.

$ python examples/agent.py --base-url http://127.0.0.1:8080/v1 --model NAME "Fix the failing test."

It works in the folder where it is started, and goes on with the conversation of its last run there.
A key, where the server wants one, is OPENAI_API_KEY. What is asked of the service when, and why:
docs/agent-protocol.md, "How a session goes".
"""

import argparse
import asyncio
import os
import signal
import sys
from contextlib import suppress
from pathlib import Path
from typing import Literal, cast
from urllib.parse import urlsplit

import msgspec
from agent_client import AgentClient, AgentError
from agent_history import History, NotAHistory
from agent_tools import KEY_VARIABLE, Tools, describe_tools
from openai import APIStatusError, AsyncOpenAI, DefaultAsyncHttpxClient, OpenAIError
from openai.types.chat import (
    ChatCompletion,
    ChatCompletionMessageFunctionToolCall,
    ChatCompletionMessageParam,
    ChatCompletionToolUnionParam,
)

from ullage.agent import protocol
from ullage.agent.assembly_protocol import ASSEMBLE, Assemble
from ullage.core.assembly.event import EventMessage
from ullage.core.assembly.prompt_parameters import PromptParameters
from ullage.core.transcript.entries import JsonObject
from ullage.summary.failures import is_overflow

MAX_REQUESTS = 200
"""Of one task, so that an agent that goes round in circles ends (chosen)."""
ANSWER_TOKENS = 500
"""With less room an answer is cut off before its call of a tool is whole (chosen)."""
COMPACT_TIMEOUT_S = 600
"""A model that writes the summary may need minutes (chosen)."""


class Failed(Exception):
    """The task is not done; the user is told why in one line."""


class Options(argparse.Namespace):
    base_url: str
    model: str
    window: int | None
    history: Path
    yes: bool
    task: str


class Agent:
    """A session: its history, the model that answers, and the service that looks after both."""

    def __init__(
        self, options: Options, history: History, service: AgentClient, model: AsyncOpenAI
    ) -> None:
        self.options, self.history, self.service, self.model = options, history, service, model
        self.session = ""
        self.system: JsonObject = {}
        self.functions: list[ChatCompletionToolUnionParam] = []

    @property
    def messages(self) -> list[JsonObject]:
        return [self.system, *self.history.messages]

    async def work(self) -> str:
        """Open the session, and let the model call tools until it has an answer."""
        opened = await self.service.request(
            protocol.OPEN,
            protocol.Open(
                agent="example",
                message_format="openai-chat",
                cwd=str(Path.cwd()),
                session_id=self.history.session_id,
                model=self.options.model,
                window_tokens=self.options.window,
            ),
        )
        self.session = opened.session
        if not self.history.messages:
            await self.take_up_last_work()
        await self.assemble()
        # Of an output: a quarter of the window, at four characters a token (chosen).
        tools = Tools(self.service, opened.session, self.agree, max_chars=opened.window_tokens)
        for _ in range(MAX_REQUESTS):
            response = await self.request()
            answer = response.choices[0].message
            used_tokens = response.usage.total_tokens if response.usage else None
            calls = [call for call in answer.tool_calls or () if call.type == "function"]
            results = [await self.answer_call(call, tools) for call in calls]
            said: JsonObject = {"role": "assistant", "content": answer.content or ""}
            if calls:
                said["tool_calls"] = [call.model_dump() for call in calls]
            usage = protocol.Usage(used_tokens=used_tokens)  # of all up to the last answer
            self.history.add(said, *results, usage=usage)
            if not results:
                await self.service.request(protocol.CLOSE, protocol.Close(session=self.session))
                return answer.content or ""
        raise Failed(f"not done after {MAX_REQUESTS} requests: the task `go on` goes on")

    async def take_up_last_work(self) -> None:
        """Tell of what the last session of the folder, of any agent, left undone."""
        offer = protocol.Offer(session=self.session)
        offered = await self.service.request(protocol.OFFER, offer)
        if offered.text is not None:
            self.history.add(user_message(offered.text))
            tell(offered.note or "")

    async def assemble(self) -> None:
        """Build the request, once for a run: a prompt that changes is cached by no provider."""
        assembled = await self.service.request(
            ASSEMBLE,
            Assemble(
                session=self.session,
                parameters=PromptParameters(tools=describe_tools()),
                messages=self.history.messages,
                event=EventMessage(text=self.options.task),
            ),
        )
        for warning in assembled.warnings:
            tell(warning)
        self.system = {"role": "system", "content": assembled.system}
        # Of its messages only the task is taken: a summary in them has the role `system`, which
        # the templates of some local models take in the first place alone.
        self.history.add(assembled.messages[-1])
        functions = [{"type": "function", "function": tool} for tool in assembled.tools]
        self.functions = cast(list[ChatCompletionToolUnionParam], msgspec.to_builtins(functions))

    async def request(self) -> ChatCompletion:
        """Send the context; one that is too large, as often as the service says."""
        sent = await self.prepare()
        while True:
            try:
                response = await self.model.chat.completions.create(
                    model=self.options.model,
                    messages=cast(list[ChatCompletionMessageParam], sent),
                    tools=self.functions,
                )
            except APIStatusError as error:
                if not is_overflow(str(error)):
                    raise
                sent = await self.make_room()
                continue
            # Where the address has a page of HTML, the client gives its text.
            if not isinstance(response, ChatCompletion) or not response.choices:  # pyright: ignore[reportUnnecessaryIsInstance]
                raise Failed("the model gave no answer: --base-url mostly ends in /v1")
            return response

    async def prepare(self) -> list[JsonObject]:
        """Give the messages as they are to be sent, after what there is to do about them."""
        while True:
            prepared = await self.service.request(
                protocol.PREPARE,
                protocol.Prepare(
                    session=self.session, messages=self.messages, usage=self.history.usage
                ),
            )
            sent = put_replacements(self.messages, prepared.replacements)
            for event in prepared.system_events:
                self.history.add(user_message(event.text))
                sent.append(user_message(event.text))
            if not await self.act(prepared.actions):
                break
        gauge = prepared.gauge
        if (gauge.used_tokens or 0) > gauge.window_tokens - ANSWER_TOKENS:
            return await self.make_room()  # what would be refused is not sent
        if prepared.gauge_line:
            sent.append(user_message(prepared.gauge_line))
        return sent

    async def act(self, actions: list[protocol.TakenOrAsked]) -> bool:
        """Do what the service asks for; true where the context was compacted."""
        for action in actions:
            match action:
                case protocol.CompactNow():
                    return await self.compact("threshold")
                case protocol.AskUser():
                    if self.agree(f"{action.reason}. Compact?"):
                        return await self.compact("threshold")
                    declined = protocol.Decline(session=self.session, layer=action.layer)
                    await self.service.request(protocol.DECLINE, declined)
                case protocol.WarnUser():
                    tell(action.reason)
                case _:
                    pass  # the service did it
        return False

    async def make_room(self) -> list[JsonObject]:
        """Give messages that take less, after a request that was too large."""
        advice = await self.service.request(
            protocol.OVERFLOW,
            protocol.Overflow(
                session=self.session, messages=self.messages, usage=self.history.usage
            ),
        )
        match advice.action:
            case "retry":
                return put_replacements(self.messages, advice.replacements)
            case "compact" if await self.compact("overflow"):
                return await self.prepare()
            case _:
                raise Failed(advice.message)

    async def compact(self, reason: Literal["threshold", "overflow"]) -> bool:
        asked = protocol.Compact(
            session=self.session, messages=self.messages, usage=self.history.usage, reason=reason
        )
        try:
            done = await self.service.request(protocol.COMPACT, asked, timeout_s=COMPACT_TIMEOUT_S)
        except AgentError as error:
            tell(str(error))
            return False
        # Of the system there is but the prompt before the history: `standing_indexes` is [0].
        n_kept = len(self.messages) - done.first_kept_index
        self.history.compact(done.summary_message, n_kept, done.tokens_after)
        tell(f"compacted ({reason}): {done.tokens_before:,} tokens became {done.tokens_after:,}")
        return True

    async def answer_call(
        self, call: ChatCompletionMessageFunctionToolCall, tools: Tools
    ) -> JsonObject:
        name, arguments = call.function.name, call.function.arguments
        tell(f"{name} {arguments[:100]}")
        output, is_error = await tools.use(name, arguments)
        # The message that the model gets does not say whether the call failed; this does.
        result = protocol.ToolResult(
            call_id=call.id,
            name=name,
            arguments=arguments,
            is_error=is_error,
            error=output if is_error else "",
        )
        noted = protocol.Capture(session=self.session, events=[result])
        await self.service.notify(protocol.EVENT, noted)
        return {"role": "tool", "tool_call_id": call.id, "content": output}

    def agree(self, question: str) -> bool:
        """Ask the user, whose Ctrl-C ends the question as well."""
        if self.options.yes:
            return True
        before = signal.signal(signal.SIGINT, signal.default_int_handler)
        try:
            print(question, "[y/N] ", end="", file=sys.stderr, flush=True)
            return sys.stdin.readline().strip().lower() in {"y", "yes"}
        finally:
            signal.signal(signal.SIGINT, before)


def put_replacements(
    messages: list[JsonObject], replacements: list[protocol.Replacement]
) -> list[JsonObject]:
    """Give the messages as they are sent; our own stay as they are."""
    sent = list(messages)
    for replacement in replacements:
        sent[replacement.index] = replacement.message
    return sent


def user_message(text: str) -> JsonObject:
    return {"role": "user", "content": text}


def tell(line: str) -> None:
    printable = "".join(char if char.isprintable() else " " for char in line)
    print(f"- {printable}", file=sys.stderr)


def check_address(url: str) -> None:
    """Refuse what openai would fail at in many lines, or take its own address for."""
    with suppress(ValueError):
        parts = urlsplit(url)
        _ = parts.port  # is read only now
        if parts.scheme in {"http", "https"} and parts.hostname and "@" not in parts.netloc:
            return
    raise Failed("--base-url: give an address such as http://127.0.0.1:8080/v1, without a password")


def read_options() -> Options:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--base-url", required=True)
    parser.add_argument("--model", required=True)
    parser.add_argument("--window", type=int, metavar="N", help="the context window in tokens")
    parser.add_argument("--history", type=Path, default=Path(".agent-history.jsonl"))
    parser.add_argument("--yes", action="store_true", help="run commands and compact unasked")
    parser.add_argument("task")
    return parser.parse_args(namespace=Options())


async def main(options: Options) -> str:
    check_address(options.base_url)
    key = os.environ.get(KEY_VARIABLE, "").strip() or "no key"
    # Neither a redirect nor a proxy gets the key.
    http = DefaultAsyncHttpxClient(follow_redirects=False, trust_env=False)
    history = History(options.history)
    try:
        async with (
            AsyncOpenAI(base_url=options.base_url, api_key=key, http_client=http) as model,
            AgentClient() as service,
        ):
            return await Agent(options, history, service, model).work()
    except OpenAIError as error:
        problem = f"{error} {error.__cause__ or ''}".replace(key, "[the key]")  # that it repeats
        raise Failed(f"{options.base_url}: {' '.join(problem.split())[:300]}") from error


if __name__ == "__main__":
    try:
        print(asyncio.run(main(read_options())))
    except (Failed, NotAHistory, AgentError, OSError) as error:
        sys.exit(f"agent: {error}")
    except KeyboardInterrupt:
        sys.exit(130)
