"""Who speaks in a message of Codex in the user's role (docs/design/agents.md, "Who speaks")."""

from collections.abc import Iterator, Sequence

import msgspec

from ullage.core.transcript.entries import Image, Speech, Text
from ullage.formats.speech import OWN_OPENINGS, SpeechMarks, make_speech

_FRAGMENTS = (
    "environment_context",
    "permissions instructions",
    "user_instructions",
    "INSTRUCTIONS",
    "collaboration_mode",
    "codex_internal_context",
    "context_window",
    "context_window_reminder",
    "managed_developer_instructions",
    "model_switch",
    "multi_agent_mode",
    "personality_spec",
    "plugins_instructions",
    "realtime_conversation",
    "recommended_plugins",
    "rollout_budget",
    "skill",
    "skills_instructions",
    "subagent_notification",
    "token_budget",
    "turn_aborted",
    "user_action",
    "user_shell_command",
    "user_verification_notice",
)
MARKS = SpeechMarks(
    openings=(
        *OWN_OPENINGS,
        "# AGENTS.md instructions",
        "<image name=",
        "</image>",
        *(f"<{name}>" for name in _FRAGMENTS),
    ),
    tags={"send_user_message_question_reply": "typed", "environment_context": "harness"},
)
_REQUEST = "## My request for Codex:\n"
"""What a person typed stands behind its last one, and before it what the editor or the app adds,
below headings such as `# Context from my IDE setup:` and `# Files mentioned by the user:`."""
_SUMMARY = "Another language model started to solve this problem"


def attribute(blocks: Sequence[Text | Image], kinds: Sequence[str]) -> tuple[Text | Image, ...]:
    """Say who speaks in each text, by its kind where Codex names one, else by its marks."""
    return tuple(
        msgspec.structs.replace(block, speech=tuple(_split(block.text, kind)))
        if isinstance(block, Text)
        else block
        for block, kind in zip(blocks, kinds, strict=True)
    )


def _split(text: str, kind: str) -> Iterator[Speech]:
    source = kind.partition(".")[0]
    if source == "compaction" or text.startswith(_SUMMARY):
        preface, end, summary = text.partition("\n")
        if not text.startswith(_SUMMARY):
            preface, summary = "", text
        yield from make_speech(("harness", preface + end), ("summary", summary))
    elif source not in ("", "user"):
        yield Speech(speaker="harness", text=text)
    elif _REQUEST in text and text.lstrip().startswith("# "):
        notes, heading, request = text.rpartition(_REQUEST)
        yield from make_speech(("harness", notes + heading), ("typed", request))
    else:
        yield from MARKS.split(text)
