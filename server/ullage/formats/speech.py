"""What the programs of agents put into a user's message, told from what a person typed there."""

import re
from collections.abc import Iterator, Sequence

import msgspec

from ullage.core.transcript.context import (
    ADVICE_OPENING,
    FLUSH_OPENING,
    GAUGE_OPENING,
    RESTORE_OPENING,
    WARNING_OPENING,
)
from ullage.core.transcript.entries import Block, Speaker, Speech, Text

_HARNESS_TAGS = (
    "system-reminder",
    "command-name",
    "command-message",
    "local-command-stdout",
    "local-command-stderr",
    "local-command-caveat",
    "task-notification",
    "environment_context",
    "hook_context",
    "user_instructions",
    "INSTRUCTIONS",
    "bash-input",
    "bash-stdout",
    "bash-stderr",
)


class SpeechMarks(msgspec.Struct, frozen=True, kw_only=True):
    """How an agent marks the parts of a user's message that nobody typed."""

    openings: tuple[str, ...] = ()
    """A text that begins so is the program's, whole."""
    tags: dict[str, Speaker] = {}
    """Who speaks within an element; one without an end goes to the end of the text."""

    def split(self, text: str) -> tuple[Speech, ...]:
        """Part a text by who speaks; empty where a person typed all of it."""
        if text.startswith(self.openings):
            return (Speech(speaker="harness", text=text),)
        if "<" not in text:
            return ()
        speech = tuple(self._split_tags(text))
        return () if len(speech) == 1 and speech[0].text == text else speech

    def read_typed(self, text: str) -> str:
        """Give what a person typed of a text."""
        speech = self.split(text) or (Speech(speaker="typed", text=text),)
        return "\n".join(part.text for part in speech if part.speaker == "typed")

    def _split_tags(self, text: str) -> Iterator[Speech]:
        start = 0
        for opening in re.finditer(
            rf"<({'|'.join(map(re.escape, self.tags))})(?:\s[^<>]*)?>", text
        ):
            if opening.start() < start:
                continue
            if typed := text[start : opening.start()].strip():
                yield Speech(speaker="typed", text=typed)
            closing = f"</{opening[1]}>"
            end = text.find(closing, opening.end())
            end = len(text) if end < 0 else end
            if inner := text[opening.end() : end].strip():
                yield Speech(speaker=self.tags[opening[1]], text=inner)
            start = end + len(closing)
        if not start:
            yield Speech(speaker="typed", text=text)
        elif typed := text[start:].strip():
            yield Speech(speaker="typed", text=typed)


COMMON_MARKS = SpeechMarks(
    openings=(GAUGE_OPENING, RESTORE_OPENING, ADVICE_OPENING, WARNING_OPENING, FLUSH_OPENING),
    tags={**dict.fromkeys(_HARNESS_TAGS, "harness"), "command-args": "typed"},
)


def attribute(blocks: Sequence[Block], marks: SpeechMarks) -> tuple[Block, ...]:
    """Say who speaks in each text of a user's message."""
    return tuple(
        msgspec.structs.replace(block, speech=marks.split(block.text))
        if isinstance(block, Text)
        else block
        for block in blocks
    )


def is_harness(blocks: Sequence[Block]) -> bool:
    """Whether the program alone speaks in the texts of a message, and there are some."""
    texts = [block for block in blocks if isinstance(block, Text)]
    return bool(texts) and all(
        text.speech and all(part.speaker == "harness" for part in text.speech) for text in texts
    )
