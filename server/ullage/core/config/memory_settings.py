"""What can be configured of memory: a field for each setting, with its row (see `settings.py`)."""

from typing import Annotated, Literal

import msgspec

from ullage.core.config.key import APPLY, CRON, FLAG, STORE, TEXT, URL, Key, whole

_FLUSH = 'docs/design/memory.md, "What the agent is asked"'
_EMBEDDINGS = 'docs/design/memory.md, "Vectors"'
_DREAMING = 'docs/design/memory.md, "Dreaming"'


# fmt: off
class FlushSettings(msgspec.Struct, frozen=True, kw_only=True):
    """Memory written before a compaction."""

    is_enabled: Annotated[bool, Key("compaction.memoryFlush.enabled", FLAG,
        "Whether memory is written before a compaction",
        'docs/design/memory.md, "The flush"')] = True
    prompt: Annotated[str, Key("compaction.memoryFlush.prompt", TEXT,
        "What the agent is asked to do then",
        _FLUSH)] = "Write any important context to memory files now. Respond with NO_REPLY."
    system_prompt: Annotated[str, Key("compaction.memoryFlush.systemPrompt", TEXT,
        "What the agent is told about it",
        _FLUSH)] = "You are about to run out of context. Persist important information."


class MemorySettings(msgspec.Struct, frozen=True, kw_only=True):
    """Memory of a workspace, beside what is written before a compaction."""

    is_enabled: Annotated[bool, Key("memory.enabled", FLAG,
        "Whether memory is written, searched and handed out at all",
        'docs/design/memory.md, "Who may be believed"', scope="off")] = True
    store: Annotated[Literal["inbox", "log"], Key("memory.store", STORE,
        "Where memory_store writes: to DREAMS.md for review, or to the daily log",
        'docs/design/memory.md, "Memory tools"', scope="user")] = "inbox"


class EmbeddingSettings(msgspec.Struct, frozen=True, kw_only=True):
    """Who turns memory into vectors; nobody without an address and a model."""

    base_url: Annotated[str | None, Key("memory.embeddings.baseUrl", URL,
        "Address of an OpenAI-compatible server that embeds memory; without it words alone search",
        _EMBEDDINGS, scope="user")] = None
    model: Annotated[str | None, Key("memory.embeddings.model", TEXT,
        "The model that embeds, as that server calls it", _EMBEDDINGS, scope="user")] = None
    dimensions: Annotated[int | None, Key("memory.embeddings.dimensions",
        whole(2, 8192, "dimensions"),
        "How long its vectors are to be, for models that can shorten them; else as the model does",
        _EMBEDDINGS, scope="user")] = None


class DreamingSettings(msgspec.Struct, frozen=True, kw_only=True):
    """Consolidation of daily logs; a trigger that is None never fires."""

    cron: Annotated[str | None, Key("dreaming.triggers.schedule.cron", CRON,
        "When daily logs are consolidated; null for never", _DREAMING,
        is_nullable=True)] = "0 3 * * *"
    idle_minutes: Annotated[int | None, Key("dreaming.triggers.session_idle.idle_minutes",
        whole(1, 100_000, "minutes"), "After how long a pause they are; null for never", _DREAMING,
        is_nullable=True)] = 30
    daily_log_kb: Annotated[int | None, Key("dreaming.triggers.daily_log_size.threshold_kb",
        whole(1, 1_000_000, "kilobytes"),
        "From which size of today's log on they are; null for never", _DREAMING,
        is_nullable=True)] = 50
    n_days: Annotated[int, Key("dreaming.lookbackDays", whole(1, 3650, "days"),
        "How many days of logs are read", _DREAMING)] = 7
    apply: Annotated[Literal["review", "unread"], Key("dreaming.apply", APPLY,
        "Whether a person reviews all proposals, or what was recalled often is applied unread",
        'docs/design/memory.md, "Score of a candidate"', scope="user")] = "review"
