"""What agents write to a hook, in their shapes, with content of our own."""

import json

from pi_files import Json

SESSION_ID = "33333333-4444-4555-8666-777777777777"


def claude(event: str, **fields: object) -> Json:
    return {
        "session_id": SESSION_ID,
        "transcript_path": "/h/.claude/projects/-work-shop/33333333.jsonl",
        "cwd": "/work/shop",
        "permission_mode": "default",
        "prompt_id": "841abfe6-0000-4fe8-80e1-f762d152664f",
        "hook_event_name": event,
        **fields,
    }


def codex(event: str, **fields: object) -> Json:
    return {
        "session_id": SESSION_ID,
        "turn_id": "01a1fbde-13fc-7d40-b7b7-4fc250753293",
        "transcript_path": "/h/.codex/sessions/2026/11/21/rollout-x.jsonl",
        "cwd": "/work/shop",
        "hook_event_name": event,
        "model": "gpt-5.5",
        "permission_mode": "bypassPermissions",
        **fields,
    }


def copilot(event: str, **fields: object) -> Json:
    """VS Code's spelling; its later pages have snake_case here too."""
    return {
        "timestamp": "2026-11-21T10:00:00.000Z",
        "sessionId": SESSION_ID,
        "hookEventName": event,
        "transcript_path": "/h/GitHub.copilot-chat/transcripts/33333333.jsonl",
        "cwd": "/work/shop",
        **fields,
    }


def tool_call(call_id: str = "toolu_000000001", **fields: object) -> Json:
    return {
        "tool_name": "Edit",
        "tool_input": {"file_path": "/work/shop/cart.py", "old_string": "a", "new_string": "b"},
        "tool_response": {"filePath": "/work/shop/cart.py"},
        "tool_use_id": call_id,
        **fields,
    }


def data(value: Json) -> bytes:
    return json.dumps(value).encode()
