"""The formats that we read, in the order in which a file is tried against them."""

from collections.abc import Mapping

from ullage.core.transcript.entries import Agent, Header, Lines
from ullage.core.transcript.message import MessageFormat
from ullage.formats import openai_chat
from ullage.formats.agents.claude_code import adapter as claude_code
from ullage.formats.agents.claude_code import doctor as claude_code_doctor
from ullage.formats.agents.claude_code import edit as claude_code_edit
from ullage.formats.agents.claude_code import in_memory as claude_code_in_memory
from ullage.formats.agents.codex import adapter as codex
from ullage.formats.agents.codex import doctor as codex_doctor
from ullage.formats.agents.codex import edit as codex_edit
from ullage.formats.agents.codex import in_memory as codex_in_memory
from ullage.formats.agents.gemini import adapter as gemini
from ullage.formats.agents.openclaw import adapter as openclaw
from ullage.formats.agents.openclaw import doctor as openclaw_doctor
from ullage.formats.agents.openclaw import edit as openclaw_edit
from ullage.formats.agents.openclaw import in_memory as openclaw_in_memory
from ullage.formats.agents.openclaw.seed_entries import FLAT
from ullage.formats.agents.opencode import adapter as opencode
from ullage.formats.doctor import Records
from ullage.formats.format import Editor, Format
from ullage.formats.in_memory import InMemory
from ullage.formats.json_line import decode_object

FORMATS: tuple[Format, ...] = (openclaw, claude_code, codex, gemini, opencode)
GUESSED: dict[Agent, Records] = {
    "openclaw": openclaw_doctor,
    "claude-code": claude_code_doctor,
    "codex": codex_doctor,
}
MAX_GUESS_LINES = 200
"""Records that are looked at to tell a transcript without its beginning (chosen)."""
EDITORS: Mapping[Agent, Editor] = {
    "openclaw": openclaw_edit,
    "claude-code": claude_code_edit,
    "codex": codex_edit,
}

IN_MEMORY: Mapping[MessageFormat, InMemory] = {
    "openclaw": openclaw_in_memory,
    "claude-code": claude_code_in_memory,
    "codex": codex_in_memory,
    "openai-chat": openai_chat,
}


def recognize(lines: Lines) -> tuple[Format, Header] | None:
    """Find the format of a transcript by its first lines."""
    for candidate in FORMATS:
        header = candidate.read_header(lines)
        if header is not None:
            return candidate, header
    return None


def editor_for(agent: Agent) -> Editor | None:
    """Give the module that works edits into an agent's files, None where we change none."""
    return EDITORS.get(agent)


def format_of(agent: Agent) -> Format:
    return next(known for known in FORMATS if agent == known.AGENT)


def records_of(header: Header) -> Records | None:
    """Give what a doctor must know of a session's records, None where only lines are judged.

    Of pi's sessions the first version has no ids, and in OpenClaw's it takes more than parents
    to tell the path; S0's events have no parents.
    """
    match header.agent:
        case "openclaw" if header.version in (2, 3) and header.dialect in ("", FLAT):
            return openclaw_doctor
        case "claude-code":
            return claude_code_doctor
        case "codex":
            return codex_doctor
        case _:
            return None


def guess(lines: Lines) -> tuple[Format, Header] | None:
    """Tell by its records what a transcript is whose beginning is damaged."""
    counts = dict.fromkeys(GUESSED, 0)
    for line, _ in zip(lines.forward(), range(MAX_GUESS_LINES), strict=False):
        native = decode_object(line)
        for one, records in GUESSED.items():
            counts[one] += not isinstance(native, str) and records.is_record(native)
    agent = max(counts, key=lambda one: counts[one])
    if not counts[agent]:
        return None
    header = Header(agent=agent, session_id="", version=3, cwd=None)
    return format_of(agent), header
