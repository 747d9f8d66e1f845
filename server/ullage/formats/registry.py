"""The formats that we read, in the order in which a file is tried against them."""

from ullage.core.transcript import Agent, Header, Lines
from ullage.formats.claude_code import adapter as claude_code
from ullage.formats.codex import adapter as codex
from ullage.formats.format import Appender, Format
from ullage.formats.gemini import adapter as gemini
from ullage.formats.openclaw import adapter as openclaw
from ullage.formats.openclaw import append as openclaw_append
from ullage.formats.opencode import adapter as opencode

FORMATS: tuple[Format, ...] = (openclaw, claude_code, codex, gemini, opencode)


def recognize(lines: Lines) -> tuple[Format, Header] | None:
    """Find the format of a transcript by its first lines."""
    for candidate in FORMATS:
        header = candidate.read_header(lines)
        if header is not None:
            return candidate, header
    return None


def appender_for(agent: Agent) -> Appender | None:
    """Give the module that makes lines for an agent's sessions, None where we write none."""
    return openclaw_append if agent == "openclaw" else None
