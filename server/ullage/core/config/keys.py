"""Every key there is: its name, what it may be, its default, and who named it.

A key's canonical name is the one that S0, S3 and S4 use below `compaction`, `dreaming` and
`sandbox`; other spellings of the same setting are listed beside it. `agents.defaults.compaction`
means `compaction` everywhere (S2 §Configuration), so that is no spelling of its own.
"""

import re
from collections.abc import Iterator
from typing import Literal, TypeAlias

import msgspec

from ullage.core.config.values import (
    MAX_TOKENS,
    Flag,
    Kind,
    Names,
    Real,
    Share,
    Threshold,
    Value,
    Whole,
    Words,
)

Scope: TypeAlias = Literal["workspace", "trusted", "user"]
"""Whose files may set a key: any workspace's; a trusted one's; only the user's own.

SPEC §14: thresholds, pins and protected tools come from any workspace, and so do
amounts and diagnostics. Where text is sent is the
user's alone, even in a trusted workspace (research/reliability.md K1).
"""

PREFIX = "ULLAGE_"
"""Of every environment variable of ours."""
READ_ONLY = "sandbox.readOnly"
OVERRIDES = "compaction.modelOverrides"
"""Below it stands the name of a model, and below that keys of `compaction` (as in pi)."""


class Key(msgspec.Struct, frozen=True, kw_only=True):
    name: str
    kind: Kind
    default: Value
    """None where something else decides, as `meaning` says."""
    meaning: str
    source: str
    field: str
    """The struct and the field of `core.config.settings` that it becomes."""
    spellings: tuple[str, ...] = ()
    scope: Scope = "trusted"
    is_nullable: bool = False
    """Whether `null` turns it off."""
    is_per_model: bool = False

    @property
    def variable(self) -> str:
        """The environment variable that sets it."""
        return variable_of(self.name)


def variable_of(name: str) -> str:
    """Write a key as a variable: `compaction.autoEnabled` is ULLAGE_COMPACTION_AUTO_ENABLED."""
    snake = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name)
    return PREFIX + snake.replace(".", "_").upper()


def _tokens(default: int | None, *, minimum: int = 0) -> tuple[Kind, int | None]:
    return Whole(minimum=minimum, maximum=MAX_TOKENS, unit="tokens"), default


def _percent(default: int) -> tuple[Kind, Threshold]:
    return Share(), Threshold(ratio=default / 100)


def _key(
    name: str,
    of: tuple[Kind, Value],
    meaning: str,
    source: str,
    field: str,
    *spellings: str,
    scope: Scope = "trusted",
    is_nullable: bool = False,
    is_per_model: bool = False,
) -> Key:
    kind, default = of
    return Key(
        name=name,
        kind=kind,
        default=default,
        meaning=meaning,
        source=source,
        field=field,
        spellings=spellings,
        scope=scope,
        is_nullable=is_nullable,
        is_per_model=is_per_model,
    )


def _threshold(
    name: str, of: tuple[Kind, Value], meaning: str, source: str, field: str, *spellings: str
) -> Key:
    """Declare a threshold: any workspace may set it, and each model may have its own."""
    return _key(name, of, meaning, source, field, *spellings, scope="workspace", is_per_model=True)


_LAYER = "compaction.layers"
_S0 = "S0 §Layer Configuration"
_S0_CONFIG = "S0 §Configuration Integration"
_S2 = "S2 §Options"
_S4 = "S4 §27.2.2"

KEYS: tuple[Key, ...] = (
    _key(
        "contextWindow",
        _tokens(None, minimum=1000),
        "Size of the model's context window; else the agent's record or the model table says",
        "S4 §27.2.3",
        "window_tokens",
        "compaction.contextWindow",
        is_per_model=True,
    ),
    _threshold(
        "gauge.trigger", _percent(70), "Where the agent is told how full it is", "S1 §6.3",
        "policy.gauge_ratio",
    ),
    _key(
        "gauge.nudge", (Flag(), True),
        "Whether the editor says once, for each band, that the window fills",
        "SPEC §17", "policy.shows_nudges",
    ),
    _threshold(
        "checkpoint.trigger", _percent(80), "Where a checkpoint is written", "S1 §6.3",
        "policy.checkpoint_ratio",
    ),
    _key(
        "checkpoint.retention",
        (Whole(minimum=1, maximum=10_000, unit="checkpoints"), 5),
        "How many checkpoints of a session are kept", "S1 §5.5",
        "checkpoint.n_kept",
    ),
    _key(
        "checkpoint.minimumChangePercent",
        (Real(minimum=0, maximum=100), 5.0),
        "By how much the used tokens must differ for another checkpoint", "S1 §5.2",
        "checkpoint.minimum_change_percent",
    ),
    _key(
        "checkpoint.injectionTokens",
        _tokens(800, minimum=100),
        "How much of a checkpoint the agent is given back at most", "S1 §2 P5",
        "checkpoint.injection_tokens",
    ),
    _key(
        "compaction.autoEnabled", (Flag(), True), "Whether anything is compacted unasked",
        _S0, "policy.is_auto_enabled", "compaction.enabled",
    ),
    _key(
        "compaction.notifyBeforeAuto", (Flag(), True),
        "Whether you are asked before an automatic compaction",
        _S0_CONFIG, "policy.notifies_before_auto",
    ),
    _key(
        "compaction.maxAutoCompactions",
        (Whole(minimum=0, maximum=1000, unit="compactions"), 5),
        "After how many compactions of a session none is automatic any more",
        _S0, "policy.max_auto_compactions",
    ),
    _key(
        "compaction.warnAtCompaction",
        (Whole(minimum=1, maximum=1000, unit="compactions"), 3),
        "From how many compactions on a session is called degraded",
        _S0, "policy.warn_at_compaction", scope="workspace",
    ),
    _threshold(
        f"{_LAYER}.prune.trigger", _percent(80), "Where old tool output is pruned",
        _S0, "policy.prune_ratio", f"{_LAYER}.prune.triggerPercent",
    ),
    _threshold(
        f"{_LAYER}.prune.toolOutputTokens", _tokens(50_000),
        "Above how much tool output it is pruned at all",
        _S0, "policy.prune_tool_tokens",
    ),
    _threshold(
        f"{_LAYER}.summarize.trigger", _percent(88), "Where older messages become a summary",
        _S0, "policy.summarize_ratio",
        f"{_LAYER}.summarize.triggerPercent", "compaction.autoThresholdPercent",
    ),
    _threshold(
        f"{_LAYER}.summarize.protectRecentTokens", _tokens(25_000),
        "How much of the recent context that leaves as it is",
        _S0, "policy.summarize_protect_tokens",
        "compaction.preserveRecentTokens", "compaction.keepRecentTokens",
    ),
    _threshold(
        f"{_LAYER}.full.trigger", _percent(95), "Where nearly everything becomes a summary",
        _S0, "policy.full_ratio", f"{_LAYER}.full.triggerPercent",
    ),
    _threshold(
        f"{_LAYER}.full.protectRecentTokens", _tokens(15_000),
        "How much of the recent context that leaves as it is",
        _S0, "policy.full_protect_tokens",
    ),
    _key(
        "compaction.prune.enabled", (Flag(), True), "Whether anything is pruned",
        _S2, "policy.is_prune_enabled", "compaction.prune",
    ),
    _threshold(
        "compaction.prune.protectRecentTokens", _tokens(40_000),
        "How much of the recent tool output is never pruned",
        _S2, "policy.prune_protect_tokens",
        "compaction.pruneProtectTokens", f"{_LAYER}.prune.protectRecentTokens",
    ),
    _threshold(
        "compaction.prune.pruneMinimumTokens", _tokens(20_000),
        "Below which gain nothing is pruned",
        _S2, "policy.prune_minimum_tokens", "compaction.pruneMinimumTokens",
    ),
    _key(
        "compaction.prune.protectedTools", (Names(), ()),
        "Tools whose output is never pruned, beside skill, memory_search and gandiva_recall",
        _S2, "policy.protected_tools", "compaction.pruneProtectedTools", scope="workspace",
    ),
    _threshold(
        "compaction.pruneAfterRounds",
        (Whole(minimum=1, maximum=10_000, unit="turns"), None),
        "After how many turns a tool's output is pruned in memory; else 10, read-only 3",
        "S4 §27.7.3", "policy.prune_after_rounds",
    ),
    _threshold(
        "compaction.reserveTokensFloor", _tokens(20_000),
        "What is kept free for the answer at least",
        _S4, "policy.reserve_tokens",
    ),
    _threshold(
        "compaction.reserveTokens", _tokens(16_384),
        "What is kept free for the answer, where that is more than the floor",
        "S3 §Compaction Settings", "policy.reserve_tokens",
    ),
    _threshold(
        "compaction.softThresholdTokens", _tokens(4000),
        "How long before the reserve memory is flushed and compaction starts",
        _S4, "policy.soft_tokens", "compaction.memoryFlush.softThresholdTokens",
    ),
    _threshold(
        "compaction.warnAtTokenThreshold", _tokens(None, minimum=1000),
        "Where a read-only sandbox is warned; else where compaction would start",
        "S4 §27.7.3", "policy.warn_at_tokens",
    ),
    _key(
        READ_ONLY, (Flag(), False),
        "Whether nothing may be written: tool output is pruned in memory alone",
        "S4 §27.7.3", "policy.is_read_only",
    ),
    _key(
        "compaction.model.provider", (Words(), None),
        "Who summarizes: openrouter, openai, ollama or custom; without it no model is asked",
        _S0_CONFIG, "model.provider", scope="user",
    ),
    _key(
        "compaction.model.modelName", (Words(), None),
        "The model that summarizes, as its provider calls it",
        _S0_CONFIG, "model.name",
    ),
    _key(
        "compaction.model.temperature", (Real(minimum=0, maximum=2), 0.3),
        "How freely that model words", "S0 §Config Example", "model.temperature",
    ),
    _key(
        "compaction.model.maxTokens", _tokens(4000, minimum=1),
        "How long a summary may be", "S0 §Config Example", "model.max_tokens",
    ),
    _key(
        "compaction.model.baseUrl", (Words(shape="url"), None),
        "Address of an OpenAI-compatible server; else the provider's own",
        "SPEC §6", "model.base_url", scope="user",
    ),
    _key(
        "compaction.memoryFlush.enabled", (Flag(), True),
        "Whether memory is written before a compaction",
        "S3 §Pre-Compaction Memory Flush", "flush.is_enabled",
    ),
    _key(
        "compaction.memoryFlush.prompt",
        (
            Words(),
            "Write any important context to memory files now. Respond with NO_REPLY.",
        ),
        "What the agent is asked to do then",
        "S3 §Pre-Compaction Memory Flush", "flush.prompt",
    ),
    _key(
        "compaction.memoryFlush.systemPrompt",
        (Words(), "You are about to run out of context. Persist important information."),
        "What the agent is told about it",
        "S3 §Pre-Compaction Memory Flush", "flush.system_prompt",
    ),
    _key(
        "dreaming.triggers.schedule.cron", (Words(shape="cron"), "0 3 * * *"),
        "When daily logs are consolidated; null for never",
        "S4 §27.5.2", "dreaming.cron", is_nullable=True,
    ),
    _key(
        "dreaming.triggers.session_idle.idle_minutes",
        (Whole(minimum=1, maximum=100_000, unit="minutes"), 30),
        "After how long a pause they are; null for never",
        "S4 §27.5.2", "dreaming.idle_minutes", is_nullable=True,
    ),
    _key(
        "dreaming.triggers.daily_log_size.threshold_kb",
        (Whole(minimum=1, maximum=1_000_000, unit="kilobytes"), 50),
        "From which size of today's log on they are; null for never",
        "S4 §27.5.2", "dreaming.daily_log_kb", is_nullable=True,
    ),
    _key(
        "dreaming.lookbackDays", (Whole(minimum=1, maximum=3650, unit="days"), 7),
        "How many days of logs are read",
        "S4 §27.5.3", "dreaming.n_days",
    ),
    _key(
        "bootstrap.maxChars",
        (Whole(minimum=100, maximum=10_000_000, unit="characters"), 20_000),
        "How much of AGENTS.md and its kin the agent is given",
        "S3 §Loading", "bootstrap.max_chars", "agents.defaults.bootstrapMaxChars",
    ),
    _key(
        "bootstrap.files", (Names(shape="file"), ()),
        "More files of the workspace that the agent is given",
        "S3 §Bootstrap File Priority", "bootstrap.files",
    ),
    _key(
        "pins", (Names(), ()), "Texts that every summary keeps word for word",
        "SPEC §14", "pins", scope="workspace",
    ),
    _key(
        "diagnostics.off", (Names(), ()),
        "Codes of diagnostics that are not shown in an editor (docs/diagnostics.md)",
        "SPEC §16", "diagnostics.off", scope="workspace",
    ),
)  # fmt: skip


def _spelled() -> Iterator[tuple[str, Key]]:
    for key in KEYS:
        for name in (key.name, *key.spellings):
            yield name, key


SPELLINGS: dict[str, Key] = dict(_spelled())
"""Every key by each of its names."""

SECTIONS: frozenset[str] = frozenset(
    name[:at] for name in SPELLINGS for at, char in enumerate(name) if char == "."
) | {"agents.defaults.compaction", OVERRIDES}
"""Names below which keys stand."""
KNOWN_NAMES: frozenset[str] = SECTIONS | SPELLINGS.keys()

LISTED_SECTIONS = {"compaction.layers": "layer", "dreaming.triggers": "type"}
"""Sections that S0 and S4 write as lists, and the field that names each part."""

OPENCLAW_KEYS = frozenset(
    f"compaction.{name}"
    for name in (
        "mode provider model thinkingLevel timeoutSeconds recentTurnsPreserve"
        " identifierPolicy qualityGuard midTurnPrecheck postIndexSync postCompactionSections"
        " maxActiveTranscriptBytes notifyUser maxHistoryShare truncateAfterCompaction"
        " memoryFlush.model memoryFlush.forceFlushTranscriptBytes"
    ).split()
)
"""OpenClaw's own keys beside ours, retired ones too (research/openclaw-pi.md §3.2)."""
