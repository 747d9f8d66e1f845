"""What memory hands out, worded for an agent: data with its places, which is known again."""

from ullage.app.memory.get import MemoryLines
from ullage.core.memory.answer import MemoryAnswer, MemoryHit
from ullage.core.memory.quoted import cite_lines, fence_memory
from ullage.core.text.prose import plural


def answer_text(answer: MemoryAnswer) -> str:
    """Word the answer to a question."""
    parts = [fence_memory(map(_write_hit, answer.results))] if answer.results else []
    if answer.note is not None:
        parts.append(f"Note: {answer.note}.")
    return "\n\n".join(parts)


def lines_text(lines: MemoryLines) -> str:
    """Word lines of a file."""
    place = f"{lines.place} (of {plural(lines.n_lines, 'line')}, origin {lines.origin})"
    return fence_memory((f"{place}\n{lines.text}",))


def _write_hit(hit: MemoryHit) -> str:
    place = cite_lines(hit.path, hit.first_line, hit.last_line)
    of = f"under {hit.heading}, " if hit.heading else ""
    return f"{place} ({of}origin {hit.origin}, score {hit.score:.2f})\n{hit.text}"
