"""Who speaks in a user's message of pi, and of OpenClaw, which hands on what it gets from a chat
(docs/design/agents.md, "Who speaks")."""

import re
from collections.abc import Callable, Iterator, Sequence

import msgspec

from ullage.core.text.lazy_pattern import lazy_pattern
from ullage.core.transcript.entries import Block, Speech, Text
from ullage.formats.speech import OWN_OPENINGS, SpeechMarks, make_speech

MARKS = SpeechMarks(
    openings=(
        *OWN_OPENINGS,
        # What OpenClaw asks by itself.
        "[cron:",
        "[OpenClaw heartbeat poll]",
        "[OpenClaw session ",
        "[System Message]",
        "[Subagent Context] Your prior run ended",
        "[Internal task completion event]",
        "[Inter-session message]",
        "OpenClaw runtime context",
        "OpenClaw runtime event",
        "Read HEARTBEAT.md if it exists",
        "Run the following periodic tasks (only those due",
        "An async command you ran earlier has completed.",
        "A scheduled reminder has been triggered.",
        "A scheduled cron event was triggered",
        "A new session was started via /new or /reset.",
        'A subagent task "',
        "A background task finished.",
        "Agent-to-agent announce step.",
        "Pre-compaction memory flush.",
    ),
    tags={
        "file": "pasted",
        "relevant-memories": "harness",
        "active_memory_plugin": "harness",
        "ullage-checkpoint": "harness",
    },
    is_command_unknown=True,
)
_SKILL = lazy_pattern(
    r'<skill name="(?P<name>[^"\n]+)" location="[^"\n]*">\n(?P<text>.*?)\n</skill>(?:\n\n|\Z)',
    re.DOTALL,
)
_SKILL_COMMAND = lazy_pattern(
    r'Use the "(?P<name>[^"\n]+)" skill for this request\.(?:\s+User input:\n|\s*\Z)'
)
"""What OpenClaw makes of a command that names a skill."""
_ENVELOPE = lazy_pattern(
    # A block of what OpenClaw knows of the message; versions of 2026.9 mark its label.
    r"[A-Z][^\n]{2,80} (?:\(untrusted[^\n)]*\):|\u27e6openclaw:ctx\u27e7)\n"
    r"(?:```json\n.*?(?:\n```|\Z)|(?:#\d+ [^\n]*(?:\n|\Z))+|(?<=\u27e7\n)[^\n]+(?:\n[^\n]+)*)\s*"
    r"|<<<BEGIN_OPENCLAW_INTERNAL_CONTEXT>>>.*?(?:<<<END_OPENCLAW_INTERNAL_CONTEXT>>>|\Z)\s*"
    r"|System(?: \(untrusted\))?: \[[^\n]*(?:\n+System(?: \(untrusted\))?:[^\n]*)*\s*"
    r"|(?:Note: The previous agent run was aborted by the user\.|To send an image back, "
    r"|Delivery: (?:Final assistant text|to send a message|No visible reply)|requester_profile is "
    r"|\[User sent media without caption\]|\[media attached)[^\n]*\s*"
    r"|\[Context: The previous turn [^\]\n]{0,200}\]\s*|<media:[a-z]{1,20}>\s*"
    r"|\[Subagent Context\] [^\n]*\s*|\[Subagent Task\]: |\[Current message - respond to this\]\n"
    r"|\[message_id: [^\]\n]{0,200}\]\n\s*(?:[a-z]{2}_[0-9a-f]{16,64}: )?"
    r"|\[[^\]\n]{0,200}?\b\d{4,6}-\d\d-\d\d[T ]\d\d:\d\d[^\]\n]{0,200}\] ?",
    re.DOTALL,
)
"""What OpenClaw writes before a message from a chat: who sends it, when, what happened since."""
_BEGIN = lazy_pattern(
    r"^(?:(?:Conversation info|Sender)(?: \(untrusted metadata\):|: \u27e6openclaw:ctx\u27e7)\n"
    r"|\[Current message - respond to this\]\n)",
    re.MULTILINE,
)
"""How the envelope begins: what stands before it is OpenClaw's, as the notice of a new session, or
said by others, as what a group wrote meanwhile."""
_AFTER = lazy_pattern(
    r"(?P<id>(?:\[(?:message_id|from): [^\]\n]{0,200}\]\s*){1,2})\Z"
    r"|(?:Untrusted context \(metadata, do not treat"
    r"|[A-Z][^\n]{2,80} \u27e6openclaw:ctx\u27e7\n).*\Z",
    re.DOTALL,
)
_QUEUED = "[Queued messages while agent was busy]"
_QUEUED_MESSAGE = lazy_pattern(r"^---\nQueued #\d{1,4}(?: \(from [^\n]{0,200}\))?\n", re.MULTILINE)
"""What stands before each of the messages that OpenClaw hands on at once."""
_SILENT = lazy_pattern(
    r"\[\[(?:reply_to_current|reply_to:[^\]\n]{0,200}|audio_as_voice)\]\]"
    r"|^(?:HEARTBEAT_OK|NO_REPLY|ANNOUNCE_SKIP|REPLY_SKIP)$",
    re.MULTILINE,
)
"""What an agent answers to OpenClaw, not to a person."""
_SILENT_SIGNS = ("_OK", "_REPLY", "_SKIP")
"""One stands in each of those, or `[[`: to find that none does takes a tenth of the time."""
_RULES = "\n\n<workspace-critical-rules>\n"
_TURNS = "\n\n## Recent turns preserved verbatim\n"
_TURN = lazy_pattern(r"^- (User|Assistant|Tool result \([^)\n]*\)): ", re.MULTILINE)
"""What OpenClaw adds to a summary: the workspace's rules, the last messages, each cut."""


def attribute(blocks: Sequence[Block]) -> tuple[Block, ...]:
    """Say who speaks in each text of a user's message."""
    return _give_speech(blocks, lambda text: tuple(_split_messages(text)))


def attribute_answer(blocks: Sequence[Block]) -> tuple[Block, ...]:
    """Part what an agent says to a person from its answers to OpenClaw."""
    return _give_speech(blocks, _split_answer)


def split_summary(summary: str) -> Iterator[Speech]:
    """Part a summary from what OpenClaw adds to it; of the last messages give what was typed."""
    written, _, rules = summary.partition(_RULES)
    written, _, turns = written.partition(_TURNS)
    yield Speech(speaker="summary", text=written)
    # A name and a text for each turn, behind what stands before the first.
    names_and_texts = _TURN.split(turns)[1:]
    for name, text in zip(names_and_texts[::2], names_and_texts[1::2], strict=True):
        typed = read_typed(text) if name == "User" else ""
        if typed:
            yield Speech(speaker="summary", text=f"## User message\n- {' '.join(typed.split())}")
        yield Speech(speaker="harness", text=text)
    if rules:
        yield Speech(speaker="harness", text=rules)


def read_typed(text: str) -> str:
    """Give what a person typed of a user's message."""
    spoken = tuple(_split_messages(text)) or (Speech(speaker="typed", text=text),)
    return "\n".join(part.text for part in spoken if part.speaker == "typed").strip()


def _give_speech(
    blocks: Sequence[Block], split: Callable[[str], tuple[Speech, ...]]
) -> tuple[Block, ...]:
    return tuple(
        msgspec.structs.replace(block, speech=speech)
        if isinstance(block, Text) and (speech := split(block.text))
        else block
        for block in blocks
    )


def _split_answer(text: str) -> tuple[Speech, ...]:
    if "[[" not in text and not ("_" in text and any(sign in text for sign in _SILENT_SIGNS)):
        return ()
    said = _SILENT.sub("", text)
    if said == text:
        return ()
    return make_speech(("harness", " ".join(_SILENT.findall(text))), ("assistant", said))


def _split_messages(text: str) -> Iterator[Speech]:
    """Part each of the messages that OpenClaw hands on in one."""
    before, *messages = _QUEUED_MESSAGE.split(text) if _QUEUED in text else (text,)
    if not messages:
        yield from _split(text)
        return
    yield Speech(speaker="harness", text=before.strip())
    for message in messages:
        yield from _split(message.strip()) or (Speech(speaker="typed", text=message.strip()),)


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
