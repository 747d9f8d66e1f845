"""Who speaks in a user's message of pi, and of OpenClaw, which hands on what it gets from a chat
(docs/design/agents.md, "Who speaks")."""

import re
from collections.abc import Iterator, Sequence

import msgspec

from ullage.core.transcript.entries import Block, Speech, Text
from ullage.formats.speech import OWN_OPENINGS, SpeechMarks, make_speech

MARKS = SpeechMarks(
    openings=(
        *OWN_OPENINGS,
        # What OpenClaw asks by itself.
        "[cron:",
        "Read HEARTBEAT.md if it exists",
        "An async command you ran earlier has completed.",
        "A new session was started via /new or /reset.",
        "[OpenClaw session reset]",
        "Pre-compaction memory flush.",
    ),
    tags={"file": "pasted", "relevant-memories": "harness"},
    is_command_unknown=True,
)
_SKILL = re.compile(
    r'<skill name="(?P<name>[^"\n]+)" location="[^"\n]*">\n(?P<text>.*?)\n</skill>(?:\n\n|\Z)',
    re.DOTALL,
)
_SKILL_COMMAND = re.compile(
    r'Use the "(?P<name>[^"\n]+)" skill for this request\.(?:\s+User input:\n|\s*\Z)'
)
"""What OpenClaw makes of a command that names a skill."""
_ENVELOPE = re.compile(
    r"[A-Z][^\n]{2,80} \(untrusted[^\n)]*\):\n(?:```json\n.*?\n```|(?:#\d+ [^\n]*(?:\n|\Z))+)\s*"
    r"|System(?: \(untrusted\))?: \[[^\n]*\n?\s*"
    r"|\[media attached[^\n]*\n\s*|To send an image back, [^\n]*\n\s*"
    r"|\[message_id: [^\]\n]{0,200}\]\n\s*(?:[a-z]{2}_[0-9a-f]{16,64}: )?"
    r"|\[[^\]\n]{0,200}?\b\d{4,6}-\d\d-\d\d[T ]\d\d:\d\d[^\]\n]{0,200}\] ?",
    re.DOTALL,
)
"""What OpenClaw writes before a message from a chat: who sends it, when, what happened since."""
_BEGIN = re.compile(r"^Conversation info \(untrusted metadata\):\n```json\n", re.MULTILINE)
"""How the envelope begins: what stands before it is OpenClaw's, as the notice of a new session."""
_AFTER = re.compile(
    r"(?:(?P<id>\[message_id: [^\]\n]{0,200}\]\s*)|Untrusted context \(metadata, do not treat.*)\Z",
    re.DOTALL,
)


def attribute(blocks: Sequence[Block]) -> tuple[Block, ...]:
    """Say who speaks in each text of a user's message."""
    return tuple(
        msgspec.structs.replace(block, speech=_split(block.text))
        if isinstance(block, Text)
        else block
        for block in blocks
    )


def _split(text: str) -> tuple[Speech, ...]:
    begin = _BEGIN.search(text)
    start = begin.start() if begin else 0
    while part := _ENVELOPE.match(text, start):
        start = part.end()
    after = _AFTER.search(text, start)
    end = after.start() if after else len(text)
    skill = _SKILL.match(text, start, end)
    command = _SKILL_COMMAND.match(text, start, end)
    if command is not None:
        before, asked = text[: command.end()].strip(), text[command.end() : end].strip()
        return make_speech(("harness", before), ("typed", asked or f"/{command['name']}"))
    if skill is None and start == 0 and end == len(text):
        return MARKS.split(text)
    # The number of a message is nobody's words.
    said = text[: after.start()] if after is not None and after["id"] else text
    return tuple(part for part in _list_parts(said, start, end, skill) if part.text)


def _list_parts(text: str, start: int, end: int, skill: re.Match[str] | None) -> Iterator[Speech]:
    yield Speech(speaker="harness", text=text[:start].strip())
    rest = text[start:end] if skill is None else text[skill.end() : end]
    if skill is not None:
        yield Speech(speaker="harness", text=skill["text"])
        if not rest.strip():
            # Nothing else was asked for.
            yield Speech(speaker="typed", text=f"/skill:{skill['name']}")
    yield from MARKS.split(rest) or (Speech(speaker="typed", text=rest.strip()),)
    yield Speech(speaker="harness", text=text[end:].strip())
