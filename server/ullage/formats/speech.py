"""What the programs of agents put into a user's message, told from what a person typed there.

Which marks an agent writes is its adapter's own table (docs/design/agents.md, "Who speaks").
"""

import re
from collections.abc import Iterator, Sequence
from functools import cache

import msgspec

from ullage.core.transcript.agent_lines import ADVICE_OPENING
from ullage.core.transcript.context import (
    FLUSH_OPENING,
    GAUGE_OPENING,
    OFFER_OPENING,
    RESTORE_OPENING,
    WARNING_OPENING,
)
from ullage.core.transcript.entries import Block, Speaker, Speech, Text
from ullage.core.transcript.recalled import MEMORY_TAG

OWN_OPENINGS = (
    GAUGE_OPENING,
    RESTORE_OPENING,
    ADVICE_OPENING,
    WARNING_OPENING,
    OFFER_OPENING,
    FLUSH_OPENING,
)
"""How the texts begin that Ullage itself gives to an agent."""

_COMMAND = re.compile(r"\s*/[\w:.-]*\s*")
_TEMPLATE = re.compile(r"\s*## User Input\s+```text\s(.*?)```\s", re.DOTALL)
"""How the commands of Spec Kit begin, which agents expand before they send them: within the fence
stands what a person typed behind the command (0.0.50 and later)."""
_NAMED = re.compile(r"[ \t]+\S")
"""What stands behind a tag that a sentence begins with."""


class SpeechMarks(msgspec.Struct, frozen=True, kw_only=True):
    """How an agent marks the parts of a user's message that nobody typed."""

    openings: tuple[str, ...] = OWN_OPENINGS
    """A text that begins so is the program's, whole."""
    tags: dict[str, Speaker] = {}
    """Who speaks within an element; one that begins the text and has no end is all of it."""

    is_command_unknown: bool = False
    """Whether the name of a command alone is one that the program did not know, and sent."""

    def split(self, text: str) -> tuple[Speech, ...]:
        """Part a text by who speaks; empty where a person typed all of it."""
        is_command = self.is_command_unknown and _COMMAND.fullmatch(text)
        if is_command or text.startswith(self.openings):
            return (Speech(speaker="harness", text=text),)
        if template := _TEMPLATE.match(text):
            return make_speech(("typed", template[1]), ("harness", text[template.end() :]))
        if "<" not in text:
            return ()
        speech = tuple(self._split_tags(text))
        if not speech:
            # Elements with nothing in them.
            return (Speech(speaker="harness", text=text),)
        return () if len(speech) == 1 and speech[0].text == text else speech

    def read_typed(self, text: str) -> str:
        """Give what a person typed of a text."""
        speech = self.split(text) or (Speech(speaker="typed", text=text),)
        return "\n".join(part.text for part in speech if part.speaker == "typed")

    def _split_tags(self, text: str) -> Iterator[Speech]:
        start = 0
        first = len(text) - len(text.lstrip())
        unclosed: set[str] = set()
        for opening in _opening_tag((*self.tags, MEMORY_TAG)).finditer(text):
            if opening.start() < start or opening[1] in unclosed:
                continue
            closing = f"</{opening[1]}>"
            end = text.find(closing, opening.end())
            if end < 0:
                unclosed.add(opening[1])
                if opening.start() > first or _NAMED.match(text, opening.end()):
                    # Whoever names a tag does not open it.
                    continue
                end = len(text)
            if typed := text[start : opening.start()].strip():
                yield Speech(speaker="typed", text=typed)
            # What memory handed out is said by nobody.
            speaker = self.tags.get(opening[1])
            if speaker and (inner := text[opening.end() : end].strip()):
                yield Speech(speaker=speaker, text=inner)
            start = end + len(closing)
        if not start:
            yield Speech(speaker="typed", text=text)
        elif typed := text[start:].strip():
            yield Speech(speaker="typed", text=typed)


@cache
def _opening_tag(names: tuple[str, ...]) -> re.Pattern[str]:
    alternatives = "|".join(map(re.escape, names))
    return re.compile(rf"<({alternatives})(?:\s[^<>]*)?>")


COMMON_MARKS = SpeechMarks(
    tags={
        **dict.fromkeys(
            (
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
            ),
            "harness",
        ),
        "command-args": "typed",
    }
)
"""For runtimes that are not known: the elements that the known ones write."""


def make_speech(*parts: tuple[Speaker, str]) -> tuple[Speech, ...]:
    """Make what is said of its parts, without the empty ones."""
    return tuple(
        Speech(speaker=speaker, text=text.strip()) for speaker, text in parts if text.strip()
    )


def attribute(blocks: Sequence[Block], marks: SpeechMarks) -> tuple[Block, ...]:
    """Say who speaks in each text of a user's message."""
    return tuple(
        msgspec.structs.replace(block, speech=marks.split(block.text))
        if isinstance(block, Text)
        else block
        for block in blocks
    )


def attribute_to_harness(blocks: Sequence[Block]) -> tuple[Block, ...]:
    """Give all texts of a message to the agent's program."""
    return tuple(
        msgspec.structs.replace(block, speech=(Speech(speaker="harness", text=block.text),))
        if isinstance(block, Text)
        else block
        for block in blocks
    )


def is_harness(blocks: Sequence[Block]) -> bool:
    """Whether no person speaks in the texts of a message, and there are some."""
    texts = [block for block in blocks if isinstance(block, Text)]
    return bool(texts) and all(
        text.speech and all(part.speaker not in ("typed", "pasted") for part in text.speech)
        for text in texts
    )
