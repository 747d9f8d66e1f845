"""What a workspace adds to the text of a checkpoint: rules and files, quoted within their room.

No line of them can be taken for one of ours: docs/design/checkpoints.md, "After a compaction".
"""

from collections.abc import Sequence

import msgspec

TEXT_BYTES = 9_000
"""Of the whole text. Claude Code takes 10,000 characters, Codex 2,500 tokens of 4 bytes
(docs/design/agents.md, "Hooks")."""
RULES_BYTES = 3_000
"""OpenClaw gives its sections again in as many characters."""
_LEFT_OUT = "[… the rest is left out]"


class Quotation(msgspec.Struct, frozen=True, kw_only=True):
    heading: str
    """Ours, on one line."""
    text: str
    """Data already, without secrets."""


def write_quotations(quotations: Sequence[Quotation], max_bytes: int) -> tuple[str, ...]:
    """Quote texts within a room: each has half of what is left, or all that the later ones leave.

    What does not fit is cut behind a line, with a mark; of which no line fits is left out.
    """
    written: list[str] = []
    wholes = ["\n".join((each.heading, *_quote(each.text))) for each in quotations]
    for at, (quotation, whole) in enumerate(zip(quotations, wholes, strict=True)):
        later = wholes[at + 1 :]
        room = max_bytes - sum(count_bytes(each) for each in later)
        room = max(room, max_bytes // 2 if later else max_bytes)
        block = whole if count_bytes(whole) <= room else _cut(quotation, room)
        if block:
            written.append(block)
            max_bytes -= count_bytes(block)
    return tuple(written)


def count_bytes(block: str) -> int:
    """Count those of a block with the blank line before it, as UTF-8."""
    return len(block.encode("utf-8", "replace")) + len("\n\n")


def _quote(text: str) -> list[str]:
    return [f"> {line}".rstrip() for line in text.split("\n")]


def _cut(quotation: Quotation, room: int) -> str:
    room -= count_bytes("\n".join((quotation.heading, _LEFT_OUT)))
    shown = [quotation.heading]
    for line in _quote(quotation.text):
        room -= len(line.encode("utf-8", "replace")) + 1
        if room < 0:
            break
        shown.append(line)
    return "\n".join((*shown, _LEFT_OUT)) if len(shown) > 1 else ""
