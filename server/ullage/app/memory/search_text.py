"""What a search of memory found, as text: for an agent, and for a person."""

from ullage.core.memory.answer import MemoryAnswer, MemoryHit
from ullage.core.memory.quoted import cite_lines, fence_memory


def agent_text(answer: MemoryAnswer) -> str:
    """Word an answer for a model: data with its places, which is known again wherever it goes."""
    parts = [fence_memory(map(_agent_part, answer.results))] if answer.results else []
    if answer.note is not None:
        parts.append(f"Note: {answer.note}.")
    return "\n\n".join(parts)


def _agent_part(hit: MemoryHit) -> str:
    place = cite_lines(hit.path, hit.first_line, hit.last_line)
    of = f"under {hit.heading}, " if hit.heading else ""
    return f"{place} ({of}origin {hit.origin}, score {hit.score:.2f})\n{hit.text}"
