"""What can be configured: a field for each setting, with the row of the table that it is.

A key's name is the one that the documents behind Ullage use below `compaction`, `dreaming` and
`sandbox`; other spellings of the same setting stand beside it. `agents.defaults.compaction` means
`compaction` everywhere, so that is no spelling of its own.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import Annotated, Literal, cast, get_args

import msgspec

from ullage.core.config.key import (
    FILES,
    FLAG,
    OFFER,
    PLACES,
    SHARE,
    TEXT,
    TEXTS,
    URL,
    Finding,
    Key,
    Kind,
    Setting,
    Threshold,
    Value,
    number,
    tokens,
    whole,
)
from ullage.core.config.memory_settings import (
    DreamingSettings,
    EmbeddingSettings,
    FlushSettings,
    MemorySettings,
)

WINDOW = "contextWindow"
READ_ONLY = "sandbox.readOnly"
PINS = "pins"
DEFAULT_WINDOW_TOKENS = 200_000
"""Where nothing names a window: docs/design/gauge.md, "Window"."""
NEAR_END_RATIO = 0.95
"""An agent's own compaction point beyond this share of the window changes no threshold of ours
(docs/design/gauge.md, "The agent's own compaction point")."""
_RESERVES = ("compaction.reserveTokensFloor", "compaction.reserveTokens")
_SOFT = "compaction.softThresholdTokens"

_WINDOW = 'docs/design/gauge.md, "Window"'
_BANDS = 'docs/design/gauge.md, "Bands"'
_RESERVE = 'docs/design/gauge.md, "Reserve"'
_DEGRADATION = 'docs/design/gauge.md, "Degradation"'
_LAYERS = 'docs/design/layers.md, "The three layers"'
_PLAN = 'docs/design/gauge.md, "Limits of the plan"'
_WAITS = 'docs/design/sessions.md, "When an agent waits"'
_LIMITS = 'docs/design/layers.md, "Limits of automatic runs"'
_SANDBOX = 'docs/design/layers.md, "Read-only mode"'
_PRUNE = 'docs/design/prune.md, "The six rules"'
_MODEL = 'docs/design/summaries.md, "Which model"'


def _limit(name: str, kind: Kind, meaning: str, source: str, *spellings: str) -> Key:
    """Declare a threshold or an amount: any workspace sets it, and each model may have its own."""
    return Key(name, kind, meaning, source, spellings, scope="workspace", is_per_model=True)


# fmt: off
class Policy(msgspec.Struct, frozen=True, kw_only=True):
    """When something is done about a filling context, and what is left alone then."""

    gauge_ratio: Annotated[float, _limit("gauge.trigger", SHARE,
        "Where the agent is told how full it is", _BANDS)] = 0.70
    shows_nudges: Annotated[bool, Key("gauge.nudge", FLAG,
        "Whether the editor says once, for each band, that the window fills", _BANDS)] = True
    shows_limits: Annotated[bool, Key("gauge.showLimits", FLAG,
        "Whether the limits of your plan stand beside the gauge in the editor", _PLAN)] = False
    tells_waiting: Annotated[bool, Key("notify.agentWaits", FLAG,
        "Whether the editor says that an agent is done or asks something", _WAITS)] = False
    checkpoint_ratio: Annotated[float, _limit("checkpoint.trigger", SHARE,
        "Where a checkpoint is written", _BANDS)] = 0.80
    is_auto_enabled: Annotated[bool, Key("compaction.autoEnabled", FLAG,
        "Whether anything is compacted unasked", _LIMITS, ("compaction.enabled",))] = True
    notifies_before_auto: Annotated[bool, Key("compaction.notifyBeforeAuto", FLAG,
        "Whether you are asked before an automatic compaction", _LIMITS)] = True
    max_auto_compactions: Annotated[int, Key("compaction.maxAutoCompactions",
        whole(0, 1000, "compactions"),
        "After how many compactions of a session none is automatic any more", _LIMITS)] = 5
    warn_at_compaction: Annotated[int, Key("compaction.warnAtCompaction",
        whole(1, 1000, "compactions"), "From how many compactions on a session is called degraded",
        _DEGRADATION, scope="workspace")] = 3
    prune_ratio: Annotated[float, _limit("compaction.layers.prune.trigger", SHARE,
        "Where old tool output is pruned", _LAYERS,
        "compaction.layers.prune.triggerPercent")] = 0.80
    prune_tool_tokens: Annotated[int, _limit("compaction.layers.prune.toolOutputTokens", tokens(),
        "Above how much tool output it is pruned at all", _LAYERS)] = 50_000
    summarize_ratio: Annotated[float, _limit("compaction.layers.summarize.trigger", SHARE,
        "Where older messages become a summary", _LAYERS,
        "compaction.layers.summarize.triggerPercent", "compaction.autoThresholdPercent")] = 0.88
    summarize_protect_tokens: Annotated[int, _limit(
        "compaction.layers.summarize.protectRecentTokens", tokens(),
        "How much of the recent context that leaves as it is", _LAYERS,
        "compaction.preserveRecentTokens", "compaction.keepRecentTokens")] = 25_000
    full_ratio: Annotated[float, _limit("compaction.layers.full.trigger", SHARE,
        "Where nearly everything becomes a summary", _LAYERS,
        "compaction.layers.full.triggerPercent")] = 0.95
    full_protect_tokens: Annotated[int, _limit("compaction.layers.full.protectRecentTokens",
        tokens(), "How much of the recent context that leaves as it is", _LAYERS)] = 15_000
    is_prune_enabled: Annotated[bool, Key("compaction.prune.enabled", FLAG,
        "Whether anything is pruned", _PRUNE, ("compaction.prune",))] = True
    prune_protect_tokens: Annotated[int, _limit("compaction.prune.protectRecentTokens", tokens(),
        "How much of the recent tool output is never pruned", _PRUNE,
        "compaction.pruneProtectTokens", "compaction.layers.prune.protectRecentTokens")] = 40_000
    prune_minimum_tokens: Annotated[int, _limit("compaction.prune.pruneMinimumTokens", tokens(),
        "Below which gain nothing is pruned", _PRUNE, "compaction.pruneMinimumTokens")] = 20_000
    protected_tools: Annotated[tuple[str, ...], Key("compaction.prune.protectedTools", TEXTS,
        "Tools whose output is never pruned, beside skill, gandiva_recall and those of memory",
        'docs/design/prune.md, "Protected tools"', ("compaction.pruneProtectedTools",),
        scope="workspace")] = ()
    prune_after_rounds: Annotated[int | None, _limit("compaction.pruneAfterRounds",
        whole(1, 10_000, "rounds"),
        "After how many requests a turn's tool output goes, else 10; read-only also turns, 3",
        'docs/design/prune.md, "Rounds"')] = None
    reserve_tokens: Annotated[int, _limit("compaction.reserveTokensFloor", tokens(),
        "What is kept free for a compaction at least", _RESERVE),
        Key("compaction.reserveTokens", tokens(),
        "What is kept free for a compaction, where that is more than the floor", _RESERVE,
        scope="workspace", is_per_model=True, default=16_384)] = 20_000
    soft_tokens: Annotated[int, _limit(_SOFT, tokens(),
        "How long before the reserve memory is flushed and compaction starts", _RESERVE,
        "compaction.memoryFlush.softThresholdTokens")] = 4_000
    warn_at_tokens: Annotated[int | None, _limit("compaction.warnAtTokenThreshold", tokens(1000),
        "Where a read-only sandbox is warned; else where compaction would start", _SANDBOX)] = None
    is_read_only: Annotated[bool, Key(READ_ONLY, FLAG,
        "Whether nothing may be written: tool output is pruned in memory alone", _SANDBOX)] = False
    reserve_before_tokens: int | None = None
    """Where the reserve ends: at the agent's own compaction point, None for the window's end."""


class CheckpointSettings(msgspec.Struct, frozen=True, kw_only=True):
    """Checkpoints beside their trigger, which is the policy's."""

    n_kept: Annotated[int, Key("checkpoint.retention", whole(1, 10_000, "checkpoints"),
        "How many checkpoints of a session are kept", 'docs/design/checkpoints.md, "Files"')] = 5
    minimum_change_percent: Annotated[float, Key("checkpoint.minimumChangePercent", number(0, 100),
        "By how much the used tokens must differ for another checkpoint",
        'docs/design/checkpoints.md, "When one is written"')] = 5.0
    injection_tokens: Annotated[int, Key("checkpoint.injectionTokens", tokens(100),
        "How much of a checkpoint the agent is given back at most",
        'docs/design/checkpoints.md, "The text for the agent"')] = 800


class ResumeSettings(msgspec.Struct, frozen=True, kw_only=True):
    """What a fresh session is told of the last one."""

    offer: Annotated[Literal["never", "ask", "always"], Key("resume.offer", OFFER,
        "Whether a fresh session is offered the work of the last one, or given it unasked",
        'docs/design/checkpoints.md, "A fresh session"')] = "ask"


class ModelSettings(msgspec.Struct, frozen=True, kw_only=True):
    """Who summarizes; keys of providers are never configured."""

    provider: Annotated[str | None, Key("compaction.model.provider", TEXT,
        "Who summarizes: openrouter, openai, ollama or custom; without it no model is asked",
        _MODEL, scope="user")] = None
    name: Annotated[str | None, Key("compaction.model.modelName", TEXT,
        "The model that summarizes, as its provider calls it", _MODEL)] = None
    temperature: Annotated[float, Key("compaction.model.temperature", number(0, 2),
        "How freely that model words", _MODEL)] = 0.3
    max_tokens: Annotated[int, Key("compaction.model.maxTokens", tokens(1),
        "How long a summary may be", _MODEL)] = 4_000
    base_url: Annotated[str | None, Key("compaction.model.baseUrl", URL,
        "Address of an OpenAI-compatible server; else the provider's own",
        'docs/safety.md, "Where text may be sent"', scope="user")] = None


class BootstrapSettings(msgspec.Struct, frozen=True, kw_only=True):
    """Files that the agent is given at the start."""

    max_chars: Annotated[int, Key("bootstrap.maxChars", whole(100, 10_000_000, "characters"),
        "How much of AGENTS.md and its kin the agent is given",
        'docs/design/assembly.md, "Truncation"', ("agents.defaults.bootstrapMaxChars",))] = 20_000
    files: Annotated[tuple[str, ...], Key("bootstrap.files", FILES,
        "More files of the workspace that the agent is given",
        'docs/design/assembly.md, "Bootstrap files"')] = ()


class DiagnosticsSettings(msgspec.Struct, frozen=True, kw_only=True):
    """Findings in an editor."""

    off: Annotated[tuple[str, ...], Key("diagnostics.off", TEXTS,
        "Codes of diagnostics that are not shown in an editor (docs/diagnostics.md)",
        "docs/diagnostics.md", scope="workspace")] = ()


class Config(msgspec.Struct, frozen=True, kw_only=True):
    """What holds for a workspace. The defaults are those of the design."""

    window_tokens: Annotated[int | None, Key(WINDOW, tokens(1000),
        "Size of the model's context window; else the agent's record or the model table says",
        _WINDOW, ("compaction.contextWindow",), is_per_model=True)] = None
    policy: Policy = Policy()
    """For a model without settings of its own; `policy_for` knows the others."""
    checkpoint: CheckpointSettings = CheckpointSettings()
    resume: ResumeSettings = ResumeSettings()
    model: ModelSettings = ModelSettings()
    flush: FlushSettings = FlushSettings()
    memory: MemorySettings = MemorySettings()
    embeddings: EmbeddingSettings = EmbeddingSettings()
    dreaming: DreamingSettings = DreamingSettings()
    bootstrap: BootstrapSettings = BootstrapSettings()
    pins: Annotated[tuple[str, ...], Key(PINS, TEXTS,
        "Texts that every summary keeps word for word", 'docs/safety.md, "Where text may be sent"',
        scope="workspace")] = ()
    diagnostics: DiagnosticsSettings = DiagnosticsSettings()
# fmt: on
    settings: tuple[Setting, ...] = ()
    """What was set and counts, in the order of the keys."""
    findings: tuple[Finding, ...] = ()

    def window_for(self, model: str | None) -> int | None:
        """Give the window that the user named for a model, or for all of them."""
        setting = effective(self.settings, model).get(WINDOW)
        n_tokens = setting.value if setting else self.window_tokens
        return n_tokens if isinstance(n_tokens, int) else None

    def window_name(self, model: str | None) -> str:
        """Name where that stands: a variable, a flag, a file and its line."""
        setting = effective(self.settings, model).get(WINDOW)
        return setting.origins[-1].text if setting else ""

    def policy_for(
        self, model: str | None, window_tokens: int, agent_compacts_at: int | None = None
    ) -> Policy:
        """Give the policy for a model in its window; thresholds in tokens become shares.

        Where the agent itself compacts before `NEAR_END_RATIO` of the window, thresholds in
        percent are shares of that point, so that ours come first.
        """
        settings = effective(self.settings, model)
        changes = _fields(settings, window_tokens)["policy"]
        policy = msgspec.structs.replace(self.policy, **changes) if changes else self.policy
        if agent_compacts_at is None or agent_compacts_at >= NEAR_END_RATIO * window_tokens:
            return policy
        return _end_at(agent_compacts_at, policy, settings, window_tokens)


def config_of(settings: tuple[Setting, ...], findings: tuple[Finding, ...] = ()) -> Config:
    """Make the typed configuration of what was set."""
    general = effective(settings, None)
    window_tokens = general[WINDOW].value if WINDOW in general else None
    is_known = isinstance(window_tokens, int)
    fields = _fields(general, window_tokens if is_known else DEFAULT_WINDOW_TOKENS)
    config = msgspec.convert({**fields.pop("", {}), **fields}, Config)
    return msgspec.structs.replace(config, settings=settings, findings=findings)


def strictest(configs: Sequence[Config]) -> Config:
    """Give the first, made read-only where any is: what several folders of a workspace say."""
    first = configs[0]
    settings = (setting for config in configs for setting in config.settings)
    read_only = [each for each in settings if each.key.name == READ_ONLY and each.value]
    if first.policy.is_read_only or not read_only:
        return first
    others = (setting for setting in first.settings if setting.key.name != READ_ONLY)
    return config_of((*others, read_only[0]), first.findings)


def merge_settings(layers: Iterable[Iterable[Setting]]) -> tuple[Setting, ...]:
    """Merge what the places say, weakest first; lists add up, so that no place takes away."""
    merged: dict[tuple[str, int], Setting] = {}
    for setting in chain.from_iterable(layers):
        slot = setting.model or "", KEYS.index(setting.key)
        before = merged.get(slot)
        merged[slot] = setting if before is None else _add_up(before, setting)
    return tuple(merged[slot] for slot in sorted(merged))


def _add_up(before: Setting, after: Setting) -> Setting:
    if not isinstance(before.value, tuple) or not isinstance(after.value, tuple):
        return after
    return msgspec.structs.replace(
        after,
        value=tuple(dict.fromkeys((*before.value, *after.value))),
        origins=(*before.origins, *after.origins),
    )


def effective(settings: tuple[Setting, ...], model: str | None) -> dict[str, Setting]:
    """Give the settings that hold for a model by their keys.

    The stronger place counts, as everywhere; in one place the longest fitting pattern does.
    """

    def strength(setting: Setting) -> tuple[int, int]:
        return PLACES.index(setting.origins[-1].place), len(setting.model or "")

    fitting = [each for each in settings if each.model is None or _is_of_model(each.model, model)]
    return {setting.key.name: setting for setting in sorted(fitting, key=strength)}


def _is_of_model(pattern: str, model: str | None) -> bool:
    """Tell whether an override is for a model: its name begins so, whoever provides it.

    A pattern with a slash names the provider as well.
    """
    name = (model or "").lower()
    if "/" not in pattern:
        name = name.rpartition("/")[2]
    return name.startswith(pattern.lower())


def _fields(settings: Mapping[str, Setting], window_tokens: int) -> dict[str, dict[str, Value]]:
    """Give what was set by struct and field; the struct of `Config`'s own fields is ""."""
    fields: dict[str, dict[str, Value]] = defaultdict(dict)
    values = {name: setting.value for name, setting in settings.items()}
    for name, value in values.items():
        struct, _, field = SPELLINGS[name].field.rpartition(".")
        is_threshold = isinstance(value, Threshold)
        fields[struct][field] = value.ratio_of(window_tokens) if is_threshold else value
    if any(name in values for name in _RESERVES):
        fields["policy"]["reserve_tokens"] = reserve_tokens(values)
    return fields


def _end_at(
    end_tokens: int, policy: Policy, settings: Mapping[str, Setting], window_tokens: int
) -> Policy:
    """Give the thresholds in percent as if the window ended at some size; those in tokens stay.

    So does a reserve in tokens that the user set.
    """
    fields: dict[str, object] = {}
    for key in KEYS:
        value = settings[key.name].value if key.name in settings else None
        is_in_tokens = isinstance(value, Threshold) and value.n_tokens is not None
        if key.kind is SHARE and not is_in_tokens:
            name = key.field.removeprefix("policy.")
            fields[name] = cast(float, getattr(policy, name)) * end_tokens / window_tokens
    if not any(name in settings for name in (*_RESERVES, _SOFT)):
        fields["reserve_before_tokens"] = end_tokens
    return msgspec.structs.replace(policy, **fields)


def reserve_tokens(values: Mapping[str, Value]) -> int:
    """Give what is kept free: the floor, or a larger reserve that was set; no default lifts it."""
    floor, reserve = (values.get(name) for name in _RESERVES)
    amounts = (Policy().reserve_tokens if floor is None else floor, reserve)
    return max(amount for amount in amounts if isinstance(amount, int))


def _rows(struct: type[msgspec.Struct], parent: str = "") -> Iterator[Key]:
    """Give the rows in a struct and in those that it holds, with what only the fields say."""
    for field in msgspec.structs.fields(struct):
        default = cast(object, field.default)
        if isinstance(default, msgspec.Struct):
            yield from _rows(type(default), f"{field.name}.")
        for row in cast("tuple[object, ...]", get_args(cast(object, field.type))):
            if isinstance(row, Key):
                value = cast(Value, default) if row.default is None else row.default
                if row.kind is SHARE and isinstance(value, float):
                    value = Threshold(ratio=value)
                yield msgspec.structs.replace(row, field=parent + field.name, default=value)


def _by_section(rows: tuple[Key, ...]) -> tuple[Key, ...]:
    """Put keys together whose names begin alike, in the order in which such a name comes first."""
    sections = [row.name.partition(".")[0] for row in rows]
    return tuple(sorted(rows, key=lambda row: sections.index(row.name.partition(".")[0])))


KEYS: tuple[Key, ...] = _by_section(tuple(_rows(Config)))
SPELLINGS: dict[str, Key] = {name: key for key in KEYS for name in (key.name, *key.spellings)}
"""Every key by each of its names."""
