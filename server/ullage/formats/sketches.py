"""What reads single lines of an agent's transcripts; apart, as only outlines need it."""

from collections.abc import Callable, Mapping
from typing import TypeAlias

from ullage.core.documents.outline import Sketch
from ullage.core.transcript.entries import Agent, Header, Line, Problem
from ullage.formats.agents.claude_code import outline as claude_code
from ullage.formats.agents.codex import outline as codex
from ullage.formats.agents.openclaw import outline as openclaw

ReadSketch: TypeAlias = Callable[[Line, Header], Sketch | Problem | None]
"""Reads one line by itself; None for blank lines and what is no entry."""

SKETCHES: Mapping[Agent, ReadSketch] = {
    "openclaw": openclaw.sketch,
    "claude-code": claude_code.sketch,
    "codex": codex.sketch,
}
"""opencode's sessions are rows of a database, and a line of Gemini's may change earlier ones."""
