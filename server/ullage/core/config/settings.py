"""What is configured, in types: one struct for each part of the system that asks."""

from collections.abc import Mapping, Sequence

import msgspec

from ullage.core.config.keys import KEYS, OVERRIDES, READ_ONLY, SPELLINGS, Key
from ullage.core.config.tree import STRENGTH, Finding, Origin, origin_text
from ullage.core.config.values import Threshold, Value
from ullage.core.gauge.policy import Policy
from ullage.core.gauge.window import DEFAULT_WINDOW_TOKENS


class ModelSettings(msgspec.Struct, frozen=True, kw_only=True):
    """Who summarizes (S0 §Compaction Model Resolution); keys are never configured."""

    provider: str | None = None
    name: str | None = None
    temperature: float = 0.3
    max_tokens: int = 4000
    base_url: str | None = None


class FlushSettings(msgspec.Struct, frozen=True, kw_only=True):
    """Memory written before a compaction (S3 §Pre-Compaction Memory Flush)."""

    is_enabled: bool = True
    prompt: str = "Write any important context to memory files now. Respond with NO_REPLY."
    system_prompt: str = "You are about to run out of context. Persist important information."


class DreamingSettings(msgspec.Struct, frozen=True, kw_only=True):
    """Consolidation of daily logs (S4 §27.5); a trigger that is None never fires."""

    cron: str | None = "0 3 * * *"
    idle_minutes: int | None = 30
    daily_log_kb: int | None = 50
    n_days: int = 7


class BootstrapSettings(msgspec.Struct, frozen=True, kw_only=True):
    """Files that the agent is given at the start (S3 §Bootstrap Files)."""

    max_chars: int = 20_000
    files: tuple[str, ...] = ()


class CheckpointSettings(msgspec.Struct, frozen=True, kw_only=True):
    """Checkpoints beside their trigger, which is the policy's (S1 §5)."""

    n_kept: int = 5
    minimum_change_percent: float = 5.0
    injection_tokens: int = 800


class DiagnosticsSettings(msgspec.Struct, frozen=True, kw_only=True):
    """Findings in an editor."""

    off: tuple[str, ...] = ()
    """Codes that are not shown."""


class Setting(msgspec.Struct, frozen=True, kw_only=True):
    """One value that somebody set, and where."""

    key: Key
    value: Value
    origins: tuple[Origin, ...]
    """One, or for a list each place that added to it."""
    model: str | None = None
    """The model that it is for; None for every model without a setting of its own."""

    @property
    def name(self) -> str:
        if self.model is None:
            return self.key.name
        return f"{OVERRIDES}.{self.model}.{self.key.name.removeprefix('compaction.')}"


class Config(msgspec.Struct, frozen=True, kw_only=True):
    """What holds for a workspace. The defaults are those of the specifications."""

    window_tokens: int | None = None
    """The user's word on the window; None lets the agent or the model table say."""
    policy: Policy = Policy()
    """For a model without settings of its own; `policy_for` knows the others."""
    model: ModelSettings = ModelSettings()
    flush: FlushSettings = FlushSettings()
    dreaming: DreamingSettings = DreamingSettings()
    bootstrap: BootstrapSettings = BootstrapSettings()
    checkpoint: CheckpointSettings = CheckpointSettings()
    diagnostics: DiagnosticsSettings = DiagnosticsSettings()
    pins: tuple[str, ...] = ()
    settings: tuple[Setting, ...] = ()
    """What was set and counts, in the order of the keys."""
    findings: tuple[Finding, ...] = ()

    def window_for(self, model: str | None) -> int | None:
        """Give the window that the user named for a model, or for all of them."""
        found = effective(self.settings, model).get("contextWindow")
        return found if isinstance(found, int) else self.window_tokens

    def window_name(self, model: str | None) -> str:
        """Name where that stands: a variable, a flag, a file and its line."""
        origins = [
            setting.origins[-1]
            for setting in _fitting(self.settings, model)
            if setting.key.name == "contextWindow"
        ]
        return origin_text(origins[-1]) if origins else ""

    def policy_for(self, model: str | None, window_tokens: int) -> Policy:
        """Give the policy for a model in its window; thresholds in tokens become shares."""
        changes = _part(effective(self.settings, model), "policy", window_tokens)
        return msgspec.structs.replace(self.policy, **changes) if changes else self.policy


def config_of(settings: tuple[Setting, ...], findings: tuple[Finding, ...] = ()) -> Config:
    """Make the typed configuration of what was set."""
    values = effective(settings, None)
    window_tokens = values.get("contextWindow")
    window_tokens = window_tokens if isinstance(window_tokens, int) else None
    window = window_tokens or DEFAULT_WINDOW_TOKENS
    pins = values.get("pins", ())
    return Config(
        window_tokens=window_tokens,
        policy=msgspec.convert(_part(values, "policy", window), Policy),
        model=msgspec.convert(_part(values, "model", window), ModelSettings),
        flush=msgspec.convert(_part(values, "flush", window), FlushSettings),
        dreaming=msgspec.convert(_part(values, "dreaming", window), DreamingSettings),
        bootstrap=msgspec.convert(_part(values, "bootstrap", window), BootstrapSettings),
        checkpoint=msgspec.convert(_part(values, "checkpoint", window), CheckpointSettings),
        diagnostics=msgspec.convert(_part(values, "diagnostics", window), DiagnosticsSettings),
        pins=pins if isinstance(pins, tuple) else (),
        settings=settings,
        findings=findings,
    )


def strictest(configs: Sequence[Config]) -> Config:
    """Give the first, made read-only where any is: what several folders of a workspace say."""
    first = configs[0]
    said = (setting for one in configs if one.policy.is_read_only for setting in one.settings)
    read_only = next((setting for setting in said if setting.key.name == READ_ONLY), None)
    if first.policy.is_read_only or read_only is None:
        return first
    others = (setting for setting in first.settings if setting.key.name != READ_ONLY)
    return config_of((*others, read_only), first.findings)


def is_of_model(pattern: str, model: str) -> bool:
    """Tell whether an override is for a model: its name begins so, whoever provides it.

    A pattern with a slash names the provider as well.
    """
    name = model.lower()
    if "/" not in pattern:
        name = name.rpartition("/")[2]
    return name.startswith(pattern.lower())


def effective(settings: tuple[Setting, ...], model: str | None) -> dict[str, Value]:
    """Give the values that hold for a model by their keys."""
    return {setting.key.name: setting.value for setting in _fitting(settings, model)}


def _fitting(settings: tuple[Setting, ...], model: str | None) -> list[Setting]:
    """List the settings that are for a model, weakest first.

    The stronger place counts, as everywhere; in one place the longest fitting pattern does.
    """
    fitting = [
        setting
        for setting in settings
        if setting.model is None or (model is not None and is_of_model(setting.model, model))
    ]
    fitting.sort(
        key=lambda setting: (STRENGTH[setting.origins[-1].place], len(setting.model or ""))
    )
    return fitting


def _part(values: Mapping[str, Value], struct: str, window_tokens: int) -> dict[str, Value]:
    """Give the fields of one struct that were set."""
    found: dict[str, Value] = {}
    for key in KEYS:
        owner, _, field = key.field.rpartition(".")
        if owner != struct or key.name not in values:
            continue
        value = values[key.name]
        if isinstance(value, Threshold):
            value = value.ratio_of(window_tokens)
        found[field] = value
    if struct == "policy" and any(name in values for name in _RESERVE):
        found["reserve_tokens"] = reserve_tokens(values)
    return found


_RESERVE = ("compaction.reserveTokens", "compaction.reserveTokensFloor")


def reserve_tokens(values: Mapping[str, Value]) -> int:
    """Give what is kept free: the floor lifts a smaller reserve (S3 §Compaction Settings)."""
    amounts = (values.get(name, SPELLINGS[name].default) for name in _RESERVE)
    return max(amount for amount in amounts if isinstance(amount, int))
