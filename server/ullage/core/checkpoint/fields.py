"""The fields of a checkpoint: how each is compared, and where it is shown.

There is a row for each field of the schema, in the order of a comparison. Where an output does
not have a field, its row says why. docs/contributing/checkpoint-field.md: how to add one.
"""

from operator import attrgetter
from typing import Literal, TypeAlias, cast

import msgspec

from ullage.core.checkpoint.checkpoint import Checkpoint, Decision, LastToolCall
from ullage.core.facts.thread import Exchange
from ullage.core.text.prose import MAX_SENTENCE_CHARS

Comparison: TypeAlias = Literal["text", "items", "names"]
"""As one text; as a list whose items may change; as a list where another name is another item."""
Order: TypeAlias = Literal["first best", "last best", "newest first"]
"""Which item of a list is worth the most; of the third the last one, which is shown first."""
SteeringOrder: TypeAlias = Literal["as it is", "newest first", "strongest first"]
"""Of the last one, the strongest rules, and the newest of those that are alike."""


class LeftOut(msgspec.Struct, frozen=True):
    """Why an output does not have a field."""

    why: str


class InText(msgspec.Struct, frozen=True):
    """Where the text for the agent has a field, and what is worth how much (chosen)."""

    section: int
    heading: str
    """Above a list; before a field that is one text."""
    worth: float
    """Of the best item."""
    order: Order = "first best"


class InSteering(msgspec.Struct, frozen=True):
    """Where the instructions to an agent's own summarizer have a field."""

    section: int
    heading: str
    order: SteeringOrder = "as it is"
    max_chars: int = 500
    """Of each item (chosen)."""


class Field(msgspec.Struct, frozen=True):
    path: str
    """That of the file."""
    label: str
    """In a comparison."""
    compared: Comparison | LeftOut
    text: InText | LeftOut
    steering: InSteering | LeftOut
    is_optional: bool = False
    """Whether the file does not have it where it is empty."""


_SAME = LeftOut("it is the same in all checkpoints of a session")
_NEW = LeftOut("it is another one in every checkpoint")
_META = LeftOut("it says what was saved, not what the work is")
_SEEN = LeftOut("the summarizer sees it in the session itself")
_MINOR = LeftOut("it would take the place of what matters more")
_EMPTY = LeftOut("nothing fills it yet: it is kept where a file has it")
_SAID = LeftOut("another line says it")

# fmt: off
FIELDS = (
    Field("schema", "Schema", _SAME, _META, _META),
    Field("schema_version", "Schema version", _SAME, _META, _META),
    Field("meta.checkpoint_id", "Id", _NEW, _META, _META),
    Field("meta.session_key", "Session", _SAME, _META, _META),
    Field("meta.created_at", "Written", _NEW, _META, _META),
    Field("meta.trigger", "Trigger", _NEW, _META, _META),
    Field("meta.previous_checkpoint", "Follows", _NEW, _META, _META),
    Field("meta.channel", "Channel", _NEW, _META, _META),
    Field("meta.agent_id", "Agent", _SAME, _META, _META),
    Field("meta.session_file", "Transcript", "text", _META, _META),
    Field("meta.compaction_count", "Compactions", "text", _SAID, _META),
    Field("meta.token_usage.input_tokens", "Tokens", "text", _META, _META),
    Field("meta.token_usage.context_window", "Window", "text", _META, _META),
    Field("meta.token_usage.utilization", "Used", _SAID, _META, _META),
    Field("working.topic", "Topic", "text", InText(1, "Working on: ", 900), _SEEN),
    Field("working.status", "Status", "text", InText(1, "Status: ", 890), _SEEN),
    Field("working.interrupted", "Interrupted", "text", _SAID, _SEEN),
    Field("working.last_tool_call", "Last tool call", "text",
          InText(1, "Interrupted in: ", 300), _SEEN),
    Field("working.next_action", "Next action", "text",
          InText(1, "Next action: ", 880), InSteering(4, "Next action:")),
    Field("thread.summary", "Thread", "text", InText(4, "Thread: ", 75), _SEEN),
    Field("decisions", "Decisions", "items",
          InText(3, "Decisions made:", 110),
          InSteering(2, "Rules and decisions:", "strongest first", MAX_SENTENCE_CHARS)),
    Field("open_items", "Open items", "items",
          InText(6, "Open items:", 95), InSteering(3, "Open items:")),
    Field("pins", "Pins", "names",
          InText(2, "Pinned:", 700), InSteering(1, "Pinned:", max_chars=1_500),
          is_optional=True),
    Field("resources.files_modified", "Files modified", "names",
          InText(7, "Files modified:", 70, "newest first"),
          InSteering(5, "Files modified:", "newest first")),
    Field("resources.files_read", "Files read", "names",
          InText(8, "Files read:", 25, "newest first"), _MINOR),
    Field("resources.tools_used", "Tools used", "names", _MINOR, _MINOR),
    Field("thread.key_exchanges", "Key exchanges", "items",
          InText(5, "Key exchanges:", 60, "last best"), _SEEN),
    Field("learnings", "Learnings", "items",
          InText(10, "Learnings (consider storing to long-term memory):", 58, "last best"),
          InSteering(7, "What was learned:", "newest first")),
    Field("dead_ends", "Dead ends", "items",
          InText(9, "Dead ends:", 58, "last best"),
          InSteering(6, "What was tried and does not work:", "newest first"),
          is_optional=True),
    Field("trust_anchors", "Trust anchors", "items", _EMPTY, _EMPTY, is_optional=True),
)
# fmt: on
LABELS = {field.path: field.label for field in FIELDS}


def read_field(checkpoint: Checkpoint, path: str) -> tuple[str, ...]:
    """Give what a field says: the items of a list, else one text, which may be empty."""
    value = cast("object", attrgetter(path)(checkpoint))
    if isinstance(value, tuple):
        return tuple(_describe(item) for item in cast("tuple[object, ...]", value))
    return (_describe(value),)


def _describe(value: object) -> str:
    match value:
        case None:
            return ""
        case bool():
            return "true" if value else "false"
        case int():
            return f"{value:,}"
        case LastToolCall():
            return f"{value.name} {value.params_summary}"
        case Decision():
            return value.what
        case Exchange():
            return f"{value.role}: {value.gist}"
        case _:
            return str(value)
