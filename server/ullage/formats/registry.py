"""The formats that we read, in the order in which a file is tried against them."""

from ullage.core.transcript import Agent, Header, Lines
from ullage.formats.claude_code import adapter as claude_code
from ullage.formats.codex import adapter as codex
from ullage.formats.format import Editor, Format
from ullage.formats.gemini import adapter as gemini
from ullage.formats.openclaw import adapter as openclaw
from ullage.formats.openclaw import edit as openclaw_edit
from ullage.formats.opencode import adapter as opencode

FORMATS: tuple[Format, ...] = (openclaw, claude_code, codex, gemini, opencode)


def recognize(lines: Lines) -> tuple[Format, Header] | None:
    """Find the format of a transcript by its first lines."""
    for candidate in FORMATS:
        header = candidate.read_header(lines)
        if header is not None:
            return candidate, header
    return None


def editor_for(agent: Agent) -> Editor | None:
    """Give the module that works edits into an agent's files, None where we change none."""
    return openclaw_edit if agent == "openclaw" else None
