"""The agents whose sessions we read, one row each, and what is looked up in their rows."""

from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from typing import NamedTuple

from ullage.core.transcript.entries import Agent, Header, Lines, MessageFormat
from ullage.formats.agent_info import AgentInfo, Env
from ullage.formats.doctor import RecordRules
from ullage.formats.in_memory import MessageShape
from ullage.formats.json_line import decode_object


def _read_openclaw(lines: Lines) -> Header | None:
    from ullage.formats.agents.openclaw.entries import read_header

    return read_header(lines)


def _import_openclaw() -> AgentInfo:
    from ullage.formats.agents.openclaw.agent import OPENCLAW

    return OPENCLAW


def _read_claude_code(lines: Lines) -> Header | None:
    from ullage.formats.agents.claude_code.records import read_header

    return read_header(lines)


def _import_claude_code() -> AgentInfo:
    from ullage.formats.agents.claude_code.agent import CLAUDE_CODE

    return CLAUDE_CODE


def _read_codex(lines: Lines) -> Header | None:
    from ullage.formats.agents.codex.records import read_header

    return read_header(lines)


def _import_codex() -> AgentInfo:
    from ullage.formats.agents.codex.agent import CODEX

    return CODEX


def _read_gemini(lines: Lines) -> Header | None:
    from ullage.formats.agents.gemini.records import read_header

    return read_header(lines)


def _import_gemini() -> AgentInfo:
    from ullage.formats.agents.gemini.agent import GEMINI

    return GEMINI


def _read_opencode(lines: Lines) -> Header | None:
    from ullage.formats.agents.opencode.messages import read_header

    return read_header(lines)


def _import_opencode() -> AgentInfo:
    from ullage.formats.agents.opencode.agent import OPENCODE

    return OPENCODE


class Row(NamedTuple):
    """An agent without what is known of it."""

    read_header: Callable[[Lines], Header | None]
    """Recognizes a transcript, importing no more than that takes."""
    import_info: Callable[[], AgentInfo]


ROWS: dict[Agent, Row] = {
    "openclaw": Row(_read_openclaw, _import_openclaw),
    "claude-code": Row(_read_claude_code, _import_claude_code),
    "codex": Row(_read_codex, _import_codex),
    "gemini": Row(_read_gemini, _import_gemini),
    "opencode": Row(_read_opencode, _import_opencode),
}
"""In the order in which a file is tried against them. A session needs one of them, and all take as
long to import as a status to make."""


class Agents(Iterable[AgentInfo]):
    """All rows, each imported when it is reached."""

    def __iter__(self) -> Iterator[AgentInfo]:
        return (row.import_info() for row in ROWS.values())

    def __len__(self) -> int:
        return len(ROWS)


AGENTS = Agents()
MAX_GUESS_LINES = 200
"""Records that are looked at to tell a transcript without its beginning (chosen)."""


def agent_info(agent: Agent) -> AgentInfo:
    return ROWS[agent].import_info()


def agent_of_shell(env: Env) -> AgentInfo | None:
    """Find the agent that runs a command with this environment; None where none says so."""
    return next((info for info in AGENTS if any(map(env.get, info.shell_variables))), None)


def agent_of_runtime(name: str) -> AgentInfo | None:
    """Find the agent whose messages a runtime of this name holds."""
    shapes = ((info, info.in_memory) for info in AGENTS)
    return next((info for info, shape in shapes if shape and name in shape.runtimes), None)


def message_shape(message_format: MessageFormat) -> MessageShape:
    """Give the shape of messages in memory: an agent's own, or that of most servers of models."""
    shape = None if message_format == "openai-chat" else agent_info(message_format).in_memory
    if shape is not None:
        return shape
    from ullage.formats.openai_chat import OPENAI_CHAT

    return OPENAI_CHAT


def recognize(lines: Lines) -> tuple[AgentInfo, Header] | None:
    """Find the agent of a transcript by its first lines."""
    for row in ROWS.values():
        header = row.read_header(lines)
        if header is not None:
            return row.import_info(), header
    return None


def records_of(header: Header) -> RecordRules | None:
    """Give what a doctor must know of a session's records, None where only lines are judged."""
    records = agent_info(header.known_agent).doctor
    return records if records is not None and records.covers(header) else None


def repairable_sessions() -> str:
    """Name the sessions that can be repaired."""
    *names, last = (info.doctor.sessions for info in AGENTS if info.doctor is not None)
    return f"{', '.join(names)} and {last}"


def guess(lines: Lines) -> tuple[AgentInfo, Header] | None:
    """Tell by its records what a transcript is whose beginning is damaged."""
    decoded = [decode_object(line) for line in islice(lines.forward(), MAX_GUESS_LINES)]
    natives = [native for native in decoded if not isinstance(native, str)]

    def n_records(info: AgentInfo) -> int:
        return sum(map(info.doctor.is_record, natives)) if info.doctor is not None else 0

    likeliest = max(AGENTS, key=n_records)
    if not n_records(likeliest):
        return None
    return likeliest, Header(agent=likeliest.agent, session_id="", version=3, cwd=None)
