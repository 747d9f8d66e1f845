"""A checkpoint for tests of its file."""

from ullage.core.checkpoint.checkpoint import Checkpoint, Meta, Resources, TokenUsage, Working
from ullage.core.facts.thread import Exchange, Thread


def made_checkpoint(
    checkpoint_id: str,
    *,
    previous_checkpoint: str | None = None,
    created_at: str = "2026-02-24T15:30:00Z",
    session_file: str = "/work/shop/s.jsonl",
) -> Checkpoint:
    return Checkpoint(
        meta=Meta(
            checkpoint_id=checkpoint_id,
            session_key="agent:s",
            session_file=session_file,
            created_at=created_at,
            trigger="manual",
            compaction_count=2,
            token_usage=TokenUsage(input_tokens=162_431, context_window=200_000, utilization=0.81),
            previous_checkpoint=previous_checkpoint,
            channel="terminal",
            agent_id="default",
        ),
        working=Working(
            topic="Rework of the *gauge*",
            status="in_progress",
            interrupted=False,
            last_tool_call=None,
            next_action="Run the tests",
        ),
        decisions=(),
        resources=Resources(files_read=(), files_modified=(), tools_used=()),
        thread=Thread(summary="Reworking.", key_exchanges=(Exchange(role="user", gist="go"),)),
        open_items=(),
        learnings=(),
    )
