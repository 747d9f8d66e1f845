"""Who speaks in a session of pi or OpenClaw."""

import pytest

from ullage.core.transcript.entries import Speaker, Text
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


@pytest.mark.parametrize("role", ["compactionSummary", "branchSummary"])
def test_a_summary_is_without_the_words_around_it(role: str) -> None:
    (block,) = to_message({"role": role, "summary": "## Goal\nPort it."})[0].blocks
    assert isinstance(block, Text)
    assert [part.text for part in block.speech if part.speaker == "summary"] == [
        "## Goal\nPort it."
    ]


@pytest.mark.parametrize(
    "gap", ["\n" * 300_000, "[message_id: " * 30_000, " 2025-01-01 10:00" * 30_000]
)
def test_a_long_message_is_read_at_once(gap: str) -> None:
    # Each took minutes where an expression tried every way through it.
    text = f"[Fix{gap}it."
    (block,) = to_message({"role": "user", "content": text})[0].blocks
    assert isinstance(block, Text)
    assert block.speech == ()
