"""What an agent is given of an instruction file or a memory file that is too long for it."""

from collections.abc import Sequence
from itertools import pairwise

import msgspec

from ullage.core.text.markdown import Part, read_parts
from ullage.core.text.positions import utf16_length, utf16_offset
from ullage.core.transcript.tokens import estimate_tokens

HEAD_RATIO = 0.7
TAIL_RATIO = 0.2
"""docs/design/assembly.md, "Truncation"."""
CLAUDE_LARGE_CHARS = 40_000
"""Above which Claude Code warns; it loads CLAUDE.md whole ("Large CLAUDE.md will impact
performance (… chars > 40.0k)")."""
CODEX_MEMORY_TOKENS = 2_500
CODEX_CHARS_A_TOKEN = 4
"""What Codex gives of `memory_summary.md`, by its own measure (0.169, seen)."""
CLAUDE_MEMORY_LINES = 200
CLAUDE_MEMORY_CHARS = 25_000
"""What Claude Code loads of MEMORY.md, whichever comes first (2.1.330, seen in its requests; its
documentation speaks of kilobytes)."""


class Cut(msgspec.Struct, frozen=True, kw_only=True):
    """The part of a text that an agent does not see: from one offset up to another."""

    reader: str
    """The agent, by the name that its loader has."""
    start: int
    end: int
    rule: str
    """Ends a sentence whose subject is the agent."""
    mark: str = ""
    """What the agent puts in its place."""

    def sent(self, text: str) -> str:
        """Give what the agent is given of a text."""
        return text[: self.start] + self.mark + text[self.end :]

    def left_out(self, text: str) -> str:
        """Give what the agent is not given of a text; a blank end is no loss."""
        return text.rstrip()[self.start : self.end]


def find_openclaw_cut(text: str, max_chars: int) -> Cut | None:
    """Give what OpenClaw's `trimBootstrapContent` leaves out; JavaScript counts UTF-16 units.

    A character that the cut would split is not seen as what it is: it counts as cut.
    """
    n_units = utf16_length(text)
    if n_units <= max_chars:
        return None
    start = utf16_offset(text, int(max_chars * HEAD_RATIO))
    n_tail = int(max_chars * TAIL_RATIO)
    end = utf16_offset(text, n_units - n_tail)
    if utf16_length(text[end:]) > n_tail:
        end += 1
    return Cut(
        reader="OpenClaw",
        start=start,
        end=end,
        rule=f"gives the first 70 % and the last 20 % of {max_chars:,} characters",
        mark="\n\n[... content truncated ...]\n\n",
    )


def find_codex_cut(text: str, n_spent_bytes: int, max_bytes: int) -> Cut | None:
    """Give what Codex leaves out where files further up have taken a part of its budget."""
    data = text.encode("utf-8", "surrogatepass")
    n_left = max(max_bytes - n_spent_bytes, 0)
    if len(data) <= n_left:
        return None
    start = len(data[:n_left].decode("utf-8", "ignore"))
    above = f", of which files further up take {n_spent_bytes:,}" if n_spent_bytes else ""
    return Cut(
        reader="Codex",
        start=start,
        end=len(text),
        rule=f"stops after {max_bytes:,} bytes of a project's instructions{above}",
    )


def find_codex_memory_cut(text: str) -> Cut | None:
    """Give what Codex leaves out of the summary of its memory: the middle."""
    half = CODEX_MEMORY_TOKENS * CODEX_CHARS_A_TOKEN // 2
    n_chars = len(text.rstrip())
    n_over = n_chars - 2 * half
    if n_over <= 0:
        return None
    return Cut(
        reader="Codex",
        start=half,
        end=n_chars - half,
        rule=f"gives the first and the last {half:,} characters",
        mark=f"…{-(-n_over // CODEX_CHARS_A_TOKEN)} tokens truncated…",
    )


def find_claude_memory_cut(text: str) -> Cut | None:
    """Give what Claude Code does not load of MEMORY.md."""
    by_lines = _line_start(text, CLAUDE_MEMORY_LINES)
    by_chars = utf16_offset(text, min(CLAUDE_MEMORY_CHARS, utf16_length(text)))
    if by_chars < by_lines:
        # Whole lines, but for one that is too long by itself.
        by_chars = text.rfind("\n", 0, by_chars + 1) + 1 or by_chars
    start = min(by_chars, by_lines)
    if not text[start:].strip():
        return None
    return Cut(
        reader="Claude Code",
        start=start,
        end=len(text),
        rule=f"loads the first {CLAUDE_MEMORY_LINES} lines or {CLAUDE_MEMORY_CHARS:,} characters",
    )


def is_large_for_claude(text: str) -> bool:
    return utf16_length(text) > CLAUDE_LARGE_CHARS


def _line_start(text: str, line: int) -> int:
    """Give where a line begins, counted from 0 as JavaScript's `split("\\n")` does."""
    at = 0
    for _ in range(line):
        at = text.find("\n", at) + 1
        if at == 0:
            return len(text)
    return at


class TextSection(msgspec.Struct, frozen=True, kw_only=True):
    """A heading and all below it, up to the next one that is not deeper."""

    start: int
    heading_end: int
    end: int
    n_tokens: int
    """Estimated."""


def estimate_text(text: str) -> int:
    """Estimate what a file costs: as much as its sections and what stands before them.

    Every place that shows a file's cost takes it from here, so that they add up.
    """
    return sum(_estimate_stretches(text, _list_headings(text)))


def cut_text_sections(text: str) -> tuple[TextSection, ...]:
    headings = _list_headings(text)
    starts = [*(part.start for part in headings), len(text)]
    own = _estimate_stretches(text, headings)[1:]
    sections: list[TextSection] = []
    for at, heading in enumerate(headings):
        after = range(at + 1, len(headings))
        last = next((to for to in after if headings[to].level <= heading.level), len(headings))
        sections.append(
            TextSection(
                start=heading.start,
                heading_end=heading.end,
                end=starts[last],
                n_tokens=sum(own[at:last]),
            )
        )
    return tuple(sections)


def _list_headings(text: str) -> list[Part]:
    return [part for part in read_parts(text) if part.kind == "heading"]


def _estimate_stretches(text: str, headings: Sequence[Part]) -> list[int]:
    """Estimate the text before the first heading, and from each one to the next."""
    # Each stretch is counted once, however deep it is nested.
    starts = [0, *(part.start for part in headings), len(text)]
    return [estimate_tokens(text[start:end]) for start, end in pairwise(starts)]
