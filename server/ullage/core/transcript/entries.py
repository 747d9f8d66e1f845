"""Transcripts: the lines of a session, the entries in them and the messages in those."""

from collections.abc import Iterator
from typing import Literal, Protocol, TypeAlias

import msgspec

from ullage.core.transcript.line_ends import find_line_end, find_line_start

Agent: TypeAlias = Literal["openclaw", "claude-code", "codex", "opencode", "gemini"]
Role: TypeAlias = Literal["user", "assistant", "tool", "system"]
MessageFormat: TypeAlias = Literal["openclaw", "claude-code", "codex", "openai-chat"]
"""Shape of the messages that a runtime holds: those of pi, of Anthropic's Messages, of OpenAI's
Responses (items), of OpenAI's chat completions."""
JsonObject: TypeAlias = dict[str, object]
"""A JSON object kept as an agent wrote it; only the adapter that made it looks inside."""


MAX_HELD_BYTES = 24 * 1024 * 1024
"""A longer line of a file is not kept whole, so that reading commands stay below 150 MB. More than
is read of a line (16 MB): what is not read can still be copied (chosen)."""


class Line(msgspec.Struct, frozen=True):
    """One line of a file, its end included, so that lines join back to the file."""

    offset: int
    raw: bytes

    @property
    def is_torn(self) -> bool:
        """Whether the line's end is not written yet; normal for the last line."""
        return not self.raw.endswith(b"\n")

    @property
    def is_cut(self) -> bool:
        """Whether it may be the beginning and the end of a line that is too long to be held."""
        return len(self.raw) >= MAX_HELD_BYTES


class Lines(Protocol):
    """The lines of a transcript, read in either direction without holding all of them.

    Blank lines that follow each other come as one, or as a few where they are many.
    """

    @property
    def size_bytes(self) -> int: ...

    def forward(self, start: int = 0) -> Iterator[Line]:
        """Yield the lines from the one that begins at `start` on."""
        ...

    def backward(self) -> Iterator[Line]: ...


class Problem(msgspec.Struct, frozen=True, kw_only=True):
    """Something in a transcript that could not be read as its format says."""

    offset: int
    """Byte offset of the line in the file."""
    message: str


class Entry(msgspec.Struct, frozen=True, kw_only=True):
    """One record of a transcript."""

    entry_id: str
    """Empty where the agent gave none."""
    parent_id: str | None
    kind: str
    """The agent's own name for this kind of record."""
    offset: int
    size_bytes: int
    native: JsonObject


class Header(msgspec.Struct, frozen=True, kw_only=True):
    """What a transcript says of its session as a whole."""

    agent: Agent | None
    """None where an unknown runtime holds the messages, without a transcript."""
    session_id: str
    version: int
    """Version of the agent's format; 0 where the format has none."""
    cwd: str | None
    parent_session_id: str | None = None
    """The session that this one is a subagent of."""
    dialect: str = ""
    """Which of an agent's formats it is, where there are several; empty for its main one."""
    branch: str = ""
    """What was checked out when the session began; empty where that is not told."""

    def named(self, name: str) -> "Header":
        """Give it an id where its format leaves that to the name of the file."""
        return self if self.session_id else msgspec.structs.replace(self, session_id=name)

    @property
    def known_agent(self) -> Agent:
        """The agent of a session that was read from a transcript."""
        if self.agent is None:
            raise AssertionError("a transcript has an agent")
        return self.agent


class Transcript(msgspec.Struct, frozen=True, kw_only=True):
    """A whole transcript: every line is kept, whether it could be read or not."""

    header: Header | None
    lines: tuple[Line, ...]
    entries: tuple[Entry, ...]
    problems: tuple[Problem, ...]


class MemoryLines(msgspec.Struct, frozen=True):
    """Lines of bytes that are in memory already."""

    data: bytes

    @property
    def size_bytes(self) -> int:
        return len(self.data)

    def forward(self, start: int = 0) -> Iterator[Line]:
        while start < len(self.data):
            end = find_line_end(self.data, start) or len(self.data)
            yield Line(start, self.data[start:end])
            start = end

    def backward(self) -> Iterator[Line]:
        end = len(self.data)
        while end > 0:
            start = find_line_start(self.data, end)
            yield Line(start, self.data[start:end])
            end = start


Speaker: TypeAlias = Literal["typed", "pasted", "harness", "assistant", "tool", "summary"]
"""Whose words a text holds: what a person typed, or pasted as a whole; what the agent's program put
into the conversation, whatever role it gave that; the model; a tool; a compaction's summary."""


class Speech(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """Words of one speaker."""

    speaker: Speaker
    text: str


class Text(msgspec.Struct, frozen=True, kw_only=True, tag="text"):
    text: str
    speech: tuple[Speech, ...] = ()
    """Who speaks where, in order, without the marks between; empty where all of it is by whom the
    message's category says."""


class Thinking(msgspec.Struct, frozen=True, kw_only=True, tag="thinking"):
    text: str


class Image(msgspec.Struct, frozen=True, kw_only=True, tag="image"):
    media_type: str
    size_bytes: int
    """Length of the encoded data as it stands in the transcript."""


class ToolCall(msgspec.Struct, frozen=True, kw_only=True, tag="tool_call"):
    call_id: str
    name: str
    arguments: str
    """The arguments as JSON text, keys in the agent's order."""


class ToolResult(msgspec.Struct, frozen=True, kw_only=True, tag="tool_result"):
    call_id: str
    name: str
    """Empty where the agent's format does not repeat it."""
    content: tuple[Text | Image, ...]
    is_error: bool


Block: TypeAlias = Text | Thinking | Image | ToolCall | ToolResult


class Usage(msgspec.Struct, frozen=True, kw_only=True):
    """Tokens of one answer as its provider reported them."""

    n_input: int
    """Fresh input, without what came from or went to the cache."""
    n_output: int
    n_cache_read: int
    n_cache_write: int
    n_total: int
    """What the next request sends again: input, cache and output together."""
    n_hour_write: int = 0
    """Of what went to the cache, what is kept there for an hour, which has a price of its own."""

    @property
    def n_sent(self) -> int:
        """What the request held; 0 where only a total is told."""
        return self.n_input + self.n_cache_read + self.n_cache_write


class Message(msgspec.Struct, frozen=True, kw_only=True):
    role: Role
    blocks: tuple[Block, ...]
    model: str | None = None
    usage: Usage | None = None
    """Absent for answers that failed or were broken off: they tell nothing of the context."""
    unfinished_usage: Usage | None = None
    """What such an answer took, which is paid for all the same."""
    answer_id: str | None = None
    """One answer of the API may stand on several entries; they share this id."""
    ends_turn: bool | None = None
    """Whether the agent ends its turn with this answer; None where its record does not say."""


def render(transcript: Transcript) -> bytes:
    """Give back the exact bytes that a transcript was parsed from."""
    return b"".join(line.raw for line in transcript.lines)


def plain_text(message: Message) -> str:
    """Join the text blocks of a message, without thinking, calls and results."""
    return "\n".join(block.text for block in message.blocks if isinstance(block, Text))


def result_text(result: ToolResult) -> str:
    return "\n".join(part.text for part in result.content if isinstance(part, Text))
