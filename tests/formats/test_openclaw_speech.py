"""Who speaks in a session of pi or OpenClaw."""

import pytest

from ullage.core.transcript.entries import JsonObject, Speaker, Text, ToolResult
from ullage.formats.agents.openclaw.messages import to_message

SKILL = '<skill name="commit" location="/s/commit">\nNever push.\n\nAlways sign.\n</skill>'
SENDER = 'Sender (untrusted metadata):\n```json\n{\n  "label": "Never push"\n}\n```\n\n'


@pytest.mark.parametrize(
    ("text", "spoken"),
    [
        ("Fix the page.", []),
        (
            f"{SKILL}\n\nonly the tests",
            [("harness", "Never push.\n\nAlways sign."), ("typed", "only the tests")],
        ),
        (
            "Conversation context (untrusted, chronological, selected for current message):\n"
            "#2 Sun 2026-05-24 01:37 UTC Ann: Send it.\n#3 Sun 01:38 UTC Ann: Now?\n\n"
            "Yes, send it.",
            [
                (
                    "harness",
                    "Conversation context (untrusted, chronological, selected for current "
                    "message):\n"
                    "#2 Sun 2026-05-24 01:37 UTC Ann: Send it.\n#3 Sun 01:38 UTC Ann: Now?",
                ),
                ("typed", "Yes, send it."),
            ],
        ),
        (
            f"{SENDER}[message_id: om_1]\nou_0123456789abcdef: Send it.",
            [
                ("harness", f"{SENDER}[message_id: om_1]\nou_0123456789abcdef:"),
                ("typed", "Send it."),
            ],
        ),
        (
            "Session Startup: read the notes.\nConversation info (untrusted metadata):\n"
            '```json\n{"a": 1}\n```\n\nSend it.',
            [
                (
                    "harness",
                    "Session Startup: read the notes.\nConversation info (untrusted metadata):\n"
                    '```json\n{"a": 1}\n```',
                ),
                ("typed", "Send it."),
            ],
        ),
        (
            'Use the "report" skill for this request.',
            [("harness", 'Use the "report" skill for this request.'), ("typed", "/report")],
        ),
        (
            'Use the "report" skill for this request.\n\nUser input:\nof May',
            [
                ("harness", 'Use the "report" skill for this request.\n\nUser input:'),
                ("typed", "of May"),
            ],
        ),
        (SKILL, [("harness", "Never push.\n\nAlways sign."), ("typed", "/skill:commit")]),
        (
            '<file name="/a.md">\nNever push.\n</file>\nRead it.',
            [("pasted", "Never push."), ("typed", "Read it.")],
        ),
        (
            f"{SENDER}[Wed 2026-04-15 15:56 GMT+1] does it exist?",
            [("harness", f"{SENDER}[Wed 2026-04-15 15:56 GMT+1]"), ("typed", "does it exist?")],
        ),
        (
            "[Zalo user:b1 +2047d 58087-09-29 06:23 UTC] hello",
            [("harness", "[Zalo user:b1 +2047d 58087-09-29 06:23 UTC]"), ("typed", "hello")],
        ),
        (
            "[Telegram Ann id:7 2026-01-05T12:00Z] hello\n[message_id: 5]",
            [
                ("harness", "[Telegram Ann id:7 2026-01-05T12:00Z]"),
                ("typed", "hello"),
            ],
        ),
        (
            "System: [2026-04-14 09:45] Exec failed\n\nRead HEARTBEAT.md if it exists. Obey.",
            [
                ("harness", "System: [2026-04-14 09:45] Exec failed"),
                ("harness", "Read HEARTBEAT.md if it exists. Obey."),
            ],
        ),
        (
            "System: [2026-04-14 09:45] Restarted.\nSystem: Never push.\n\n"
            "Note: The previous agent run was aborted by the user. Resume carefully.\n\n"
            f"{SENDER}Go on.",
            [
                (
                    "harness",
                    "System: [2026-04-14 09:45] Restarted.\nSystem: Never push.\n\n"
                    "Note: The previous agent run was aborted by the user. Resume carefully.\n\n"
                    f"{SENDER.strip()}",
                ),
                ("typed", "Go on."),
            ],
        ),
        (
            "Conversation info: ⟦openclaw:ctx⟧\n```json\n{}\n```\n\n"
            "Reply target: ⟦openclaw:ctx⟧\nAnn: Never push.\n\nSend it.\n\n"
            "Location: ⟦openclaw:ctx⟧\n```json\n{}\n```",
            [
                (
                    "harness",
                    "Conversation info: ⟦openclaw:ctx⟧\n```json\n{}\n```\n\n"
                    "Reply target: ⟦openclaw:ctx⟧\nAnn: Never push.",
                ),
                ("typed", "Send it."),
                ("harness", "Location: ⟦openclaw:ctx⟧\n```json\n{}\n```"),
            ],
        ),
        (
            f"[Queued messages while agent was busy]\n\n---\nQueued #1 (from Ann)\n{SENDER}"
            "Send it.\n\n---\nQueued #2\nNot to Bob.",
            [
                ("harness", "[Queued messages while agent was busy]"),
                ("harness", SENDER.strip()),
                ("typed", "Send it."),
                ("typed", "Not to Bob."),
            ],
        ),
        (
            "[Chat messages since your last reply - for context]\nBob: Never push.\n\n"
            "[Current message - respond to this]\nAnn: Send it.\n[from: Ann (7)]\n[message_id: 5]",
            [
                (
                    "harness",
                    "[Chat messages since your last reply - for context]\nBob: Never push.\n\n"
                    "[Current message - respond to this]",
                ),
                ("typed", "Ann: Send it."),
            ],
        ),
        (
            "[Wed 2026-04-15 15:56 UTC] <<<BEGIN_OPENCLAW_INTERNAL_CONTEXT>>>\nNever push.\n"
            "<<<END_OPENCLAW_INTERNAL_CONTEXT>>>\n\nSend it.",
            [
                (
                    "harness",
                    "[Wed 2026-04-15 15:56 UTC] <<<BEGIN_OPENCLAW_INTERNAL_CONTEXT>>>\n"
                    "Never push.\n<<<END_OPENCLAW_INTERNAL_CONTEXT>>>",
                ),
                ("typed", "Send it."),
            ],
        ),
        (
            "[Subagent Context] You are running as a subagent.\n\n[Subagent Task]: Count them.",
            [
                (
                    "harness",
                    "[Subagent Context] You are running as a subagent.\n\n[Subagent Task]:",
                ),
                ("typed", "Count them."),
            ],
        ),
        ("[OpenClaw heartbeat poll]", [("harness", "[OpenClaw heartbeat poll]")]),
        ("[cron:7 daily] Never push.", [("harness", "[cron:7 daily] Never push.")]),
        ("/mode", [("harness", "/mode")]),
        ("/tmp/a.png", []),
        ("[x] is broken since 2026-01-05 12:00", []),
    ],
)
def test_a_users_message_is_parted_by_who_speaks(
    text: str, spoken: list[tuple[Speaker, str]]
) -> None:
    message, category = to_message({"role": "user", "content": text})
    (block,) = message.blocks
    assert isinstance(block, Text)
    assert [(part.speaker, part.text) for part in block.speech] == spoken
    is_heard = not spoken or any(speaker in ("typed", "pasted") for speaker, _ in spoken)
    assert category == ("user" if is_heard else "injected")


@pytest.mark.parametrize(
    ("kind", "category"),
    [
        ("external_user", "user"),
        ("inter_session", "injected"),
        ("internal_system", "injected"),
    ],
)
def test_openclaw_tells_whose_message_it_is(kind: str, category: str) -> None:
    native: JsonObject = {"role": "user", "content": "Go on.", "provenance": {"kind": kind}}
    assert to_message(native)[1] == category


@pytest.mark.parametrize(("status", "is_error"), [("error", True), ("completed", False)])
def test_a_tool_of_openclaw_says_in_its_details_that_it_failed(status: str, is_error: bool) -> None:
    native: JsonObject = {
        "role": "toolResult",
        "toolCallId": "c1",
        "toolName": "gateway",
        "content": [{"type": "text", "text": "raw required"}],
        "details": {"status": status},
        "isError": False,
    }
    (result,) = to_message(native)[0].blocks
    assert isinstance(result, ToolResult)
    assert result.is_error is is_error


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("HEARTBEAT_OK", []),
        ("[[reply_to_current]] It is sent.\nNO_REPLY", ["It is sent."]),
        ("It is sent; NO_REPLY follows.", None),
    ],
)
def test_what_an_agent_answers_to_openclaw_is_said_to_nobody(
    text: str, said: list[str] | None
) -> None:
    (block,) = to_message({"role": "assistant", "content": text})[0].blocks
    assert isinstance(block, Text)
    spoken = [part.text for part in block.speech if part.speaker == "assistant"]
    assert (spoken if block.speech else None) == said


def test_of_the_last_turns_in_a_summary_what_was_typed_is_kept() -> None:
    summary = (
        "## Decisions\nUse port 7044.\n\n## Recent turns preserved verbatim\n"
        f"- User: {SENDER}Send it\nto Ann.\n- Assistant: Sent.\n- Tool result (read): ## Rules\n"
        "- Never push.\n- User: Read HEARTBEAT.md if it exists. Obey.\n\n"
        "<workspace-critical-rules>\nNever push.\n</workspace-critical-rules>"
    )
    (block,) = to_message({"role": "compactionSummary", "summary": summary})[0].blocks
    assert isinstance(block, Text)
    assert summary in block.text
    assert [part.text for part in block.speech if part.speaker == "summary"] == [
        "## Decisions\nUse port 7044.",
        "## User message\n- Send it to Ann.",
    ]


@pytest.mark.parametrize("role", ["compactionSummary", "branchSummary"])
def test_a_summary_is_without_the_words_around_it(role: str) -> None:
    (block,) = to_message({"role": role, "summary": "## Goal\nPort it."})[0].blocks
    assert isinstance(block, Text)
    assert [part.text for part in block.speech if part.speaker == "summary"] == [
        "## Goal\nPort it."
    ]


@pytest.mark.parametrize(
    "gap",
    [
        "\n" * 300_000,
        "[message_id: " * 30_000,
        " 2025-01-01 10:00" * 30_000,
        "System: [ " * 30_000,
        "A ⟦openclaw:ctx⟧" * 30_000,
    ],
)
def test_a_long_message_is_read_at_once(gap: str) -> None:
    # Each took minutes where an expression tried every way through it.
    text = f"[Fix{gap}it."
    (block,) = to_message({"role": "user", "content": text})[0].blocks
    assert isinstance(block, Text)
    assert block.speech == ()
