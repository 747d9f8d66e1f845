"""Every key: known by each of its spellings, typed, with the default that its source gives."""

import ast
import math
from pathlib import Path
from typing import get_args

import msgspec
import pytest

from ullage.core.config.key import (
    APPLY,
    CRON,
    FILES,
    OFFER,
    OVERRIDES,
    SHARE,
    STORE,
    TEXT,
    URL,
    Key,
    Kind,
    Source,
    Threshold,
)
from ullage.core.config.names import OPENCLAW_KEYS, SECTIONS
from ullage.core.config.read import plain_node, read_environment, read_source
from ullage.core.config.settings import KEYS, SPELLINGS, Config, config_of
from ullage.core.gauge.gauge import ratio_at, reserve_at

FIGURES: dict[str, object] = {
    "contextWindow": None,
    "gauge.trigger": "70%",
    "gauge.nudge": True,
    "gauge.showLimits": False,
    "notify.agentWaits": False,
    "checkpoint.trigger": "80%",
    "checkpoint.retention": 5,
    "checkpoint.minimumChangePercent": 5,
    "checkpoint.injectionTokens": 800,
    "compaction.autoEnabled": True,
    "compaction.notifyBeforeAuto": True,
    "compaction.maxAutoCompactions": 5,
    "compaction.warnAtCompaction": 3,
    "compaction.layers.prune.trigger": "80%",
    "compaction.layers.prune.toolOutputTokens": 50_000,
    "compaction.layers.summarize.trigger": "88%",
    "compaction.layers.summarize.protectRecentTokens": 25_000,
    "compaction.layers.full.trigger": "95%",
    "compaction.layers.full.protectRecentTokens": 15_000,
    "compaction.prune.enabled": True,
    "compaction.prune.protectRecentTokens": 40_000,
    "compaction.prune.pruneMinimumTokens": 20_000,
    "compaction.prune.protectedTools": (),
    "compaction.pruneAfterRounds": None,
    "compaction.reserveTokensFloor": 20_000,
    "compaction.reserveTokens": 16_384,
    "compaction.softThresholdTokens": 4_000,
    "compaction.warnAtTokenThreshold": None,
    "compaction.model.provider": None,
    "compaction.model.modelName": None,
    "compaction.model.temperature": 0.3,
    "compaction.model.maxTokens": 4_000,
    "compaction.model.baseUrl": None,
    "compaction.memoryFlush.enabled": True,
    "compaction.memoryFlush.prompt": (
        "Write any important context to memory files now. Respond with NO_REPLY."
    ),
    "compaction.memoryFlush.systemPrompt": (
        "You are about to run out of context. Persist important information."
    ),
    "sandbox.readOnly": False,
    "resume.offer": "ask",
    "memory.enabled": True,
    "memory.store": "inbox",
    "memory.embeddings.baseUrl": None,
    "memory.embeddings.model": None,
    "memory.embeddings.dimensions": None,
    "dreaming.triggers.schedule.cron": "0 3 * * *",
    "dreaming.triggers.session_idle.idle_minutes": 30,
    "dreaming.triggers.daily_log_size.threshold_kb": 50,
    "dreaming.lookbackDays": 7,
    "dreaming.apply": "review",
    "bootstrap.maxChars": 20_000,
    "bootstrap.files": (),
    "pins": (),
    "diagnostics.off": (),
}
"""The figures of the seeds, written once more by hand."""

SPELLED = {
    "compaction.prune.protectRecentTokens": "compaction.prune.protectRecentTokens",
    "compaction.pruneProtectTokens": "compaction.prune.protectRecentTokens",
    "compaction.layers.prune.protectRecentTokens": "compaction.prune.protectRecentTokens",
    "compaction.pruneMinimumTokens": "compaction.prune.pruneMinimumTokens",
    "compaction.pruneProtectedTools": "compaction.prune.protectedTools",
    "compaction.prune": "compaction.prune.enabled",
    "compaction.enabled": "compaction.autoEnabled",
    "compaction.autoThresholdPercent": "compaction.layers.summarize.trigger",
    "compaction.layers.prune.triggerPercent": "compaction.layers.prune.trigger",
    "compaction.layers.summarize.triggerPercent": "compaction.layers.summarize.trigger",
    "compaction.layers.full.triggerPercent": "compaction.layers.full.trigger",
    "compaction.preserveRecentTokens": "compaction.layers.summarize.protectRecentTokens",
    "compaction.keepRecentTokens": "compaction.layers.summarize.protectRecentTokens",
    "compaction.memoryFlush.softThresholdTokens": "compaction.softThresholdTokens",
    "compaction.contextWindow": "contextWindow",
    "agents.defaults.bootstrapMaxChars": "bootstrap.maxChars",
}


def bounds(kind: Kind) -> tuple[float, float]:
    (meta,) = get_args(kind.accepted)[1:]
    return meta.ge, meta.le


def sample(key: Key) -> object:
    """Give a value of a key's kind that is not its default."""
    kind = key.kind
    if kind.base is bool:
        return not key.default
    if kind.base is int:
        return (key.default or bounds(kind)[0]) + 1
    if kind.base is float:
        return (key.default or 0) / 2
    if kind is SHARE:
        return 77
    if kind is URL:
        return "http://127.0.0.1:8080/v1"
    if kind is STORE:
        return "log"
    if kind is APPLY:
        return "unread"
    if kind is OFFER:
        return "always"
    if kind is CRON:
        return "*/5 1-3 * JAN,MAR mon#2"
    return ["docs/a.md"] if kind.base is tuple else "ein wörtlicher Text"


def wrong(key: Key) -> tuple[object, ...]:
    """Give values that a key cannot have."""
    other = ({"a": 1}, "-", [[]])
    kind = key.kind
    if kind.base is bool:
        return (0, 1, "yes", "true", *other)
    if kind.base is int:
        minimum, maximum = bounds(kind)
        return (minimum - 1, maximum + 1, 0.5, True, "5000", math.inf, math.nan, 10**30, *other)
    if kind.base is float:
        minimum, maximum = bounds(kind)
        return (minimum - 1, maximum + 1, True, "1", math.nan, *other)
    if kind is SHARE:
        return (0, -1, 0.8, 100.5, 101, 999, 1000.5, True, "101%", "80 tokens", 10**30, *other)
    if kind is URL:
        bad = ("ftp://h", "file:///x", "https://u@h", "https://h?q=1", "https://h/#f", "h", 5)
        return (*bad, *other)
    if kind is CRON:
        bad = ("0 3 * *", "* * * * * *", "61 3 * * *", "0 3 30 2 *", "a b c d é", "@daily", 5)
        return (*bad, *other)
    if kind is FILES:
        outside = ("../a", "a/../b", "/etc/x", "~/x", "C:\\x", "\\x", "..\\x")
        return (*([name] for name in outside), "a", [1], [""], {"a": 1})
    if kind.base is tuple:
        return ("a", [1], [None], [""], [["a"]], {"a": 1}, ["a"] * 1001)
    return (5, True, "x" * 20_001, {"a": 1}, ["a"])


def tree(name: str, value: object) -> dict[str, object]:
    first, _, rest = name.partition(".")
    return {first: tree(rest, value) if rest else value}


def read(value: object, place="user file", is_trusted=True):
    source = Source(place=place, name="f", root=plain_node(value))
    return read_source(source, is_trusted=is_trusted)


def field(config: Config, key: Key) -> object:
    value: object = config
    for name in key.field.split("."):
        value = getattr(value, name)
    return value


def as_read(key: Key, value: object) -> object:
    return tuple(value) if isinstance(value, list) else 0.77 if key.kind is SHARE else value


by_key = pytest.mark.parametrize("key", KEYS, ids=lambda key: key.name)


def test_the_table_names_every_key() -> None:
    assert [key.name for key in KEYS] == list(FIGURES)


@by_key
def test_the_default_is_the_figure_of_its_source(key: Key) -> None:
    default = key.default.text if isinstance(key.default, Threshold) else key.default
    assert default == FIGURES[key.name]
    assert key.source.startswith("docs/")
    assert key.meaning


@by_key
def test_the_default_is_the_one_of_its_struct(key: Key) -> None:
    expected = key.default.ratio if isinstance(key.default, Threshold) else key.default
    if key.name == "compaction.reserveTokens":
        expected = 20_000  # the floor lifts it
    assert field(Config(), key) == expected
    assert field(config_of(()), key) == expected


@by_key
def test_a_value_arrives_in_its_field_and_changes_no_other(key: Key) -> None:
    value = sample(key)
    if key.name == "compaction.reserveTokens":
        value = 30_000
    settings, findings = read(tree(key.name, value))
    assert findings == []
    config = config_of(tuple(settings))
    assert field(config, key) == as_read(key, value)
    others = [other for other in KEYS if other.field != key.field]
    if key.name == "contextWindow":
        assert config.window_for("any") == value
    assert [field(config, other) for other in others] == [
        field(Config(), other) for other in others
    ]


@by_key
def test_a_wrong_value_is_a_finding_and_does_not_count(key: Key) -> None:
    for value in wrong(key):
        if key.kind is TEXT and value == "-":
            continue
        settings, findings = read(tree(key.name, value))
        if key.name == "compaction.prune.enabled" and isinstance(value, dict):
            continue
        assert settings == [], value
        assert findings, value
        codes = {finding.code for finding in findings}
        assert codes <= {"config-type", "config-range"}, value
        (finding,) = findings
        assert finding.message.startswith(f"`{key.name}` must be ")
        assert "\n" not in finding.message + finding.fix
        assert not finding.is_used


@by_key
def test_nothing_at_all_is_as_if_the_line_were_not_there(key: Key) -> None:
    settings, findings = read(tree(key.name, None))
    assert findings == []
    assert [setting.value for setting in settings] == ([None] if key.is_nullable else [])


@by_key
def test_its_variable_sets_it(key: Key) -> None:
    value = sample(key)
    text = ",".join(value) if isinstance(value, list) else str(value)
    settings, findings = read_environment({key.variable: text})
    assert findings == []
    (setting,) = settings
    assert setting.key is key
    assert setting.origins[0].name == key.variable
    expected = Threshold(ratio=0.77) if key.kind is SHARE else value
    assert setting.value == (tuple(expected) if isinstance(expected, list) else expected)


PACKAGE = Path(__file__).parents[3] / "server/ullage"


def attributes_read() -> set[tuple[str, str]]:
    """List what is read of what in the package: `policy.full_ratio` as its two names."""
    trees = (ast.parse(path.read_text("utf-8")) for path in PACKAGE.rglob("*.py"))
    nodes = (node for tree in trees for node in ast.walk(tree))
    reads = [node for node in nodes if isinstance(node, ast.Attribute)]
    owners = (getattr(node.value, "id", getattr(node.value, "attr", "")) for node in reads)
    return set(zip(owners, (node.attr for node in reads), strict=True))


def test_every_key_is_read_somewhere() -> None:
    reads = attributes_read()
    for key in KEYS:
        struct, _, name = key.field.rpartition(".")
        owners = (struct, "settings") if struct else ("config", "self")
        assert any((owner, name) in reads for owner in owners), key.name


def test_no_two_keys_have_the_same_variable_or_spelling() -> None:
    assert len({key.variable for key in KEYS}) == len(KEYS)
    assert len(SPELLINGS) == sum(1 + len(key.spellings) for key in KEYS)
    assert not OPENCLAW_KEYS & SPELLINGS.keys()
    assert SECTIONS & SPELLINGS.keys() == {"compaction.prune"}


@pytest.mark.parametrize(
    ("name", "variable"),
    [
        ("contextWindow", "ULLAGE_CONTEXT_WINDOW"),
        ("compaction.reserveTokensFloor", "ULLAGE_COMPACTION_RESERVE_TOKENS_FLOOR"),
        ("compaction.prune.enabled", "ULLAGE_COMPACTION_PRUNE_ENABLED"),
        ("sandbox.readOnly", "ULLAGE_SANDBOX_READ_ONLY"),
        (
            "dreaming.triggers.session_idle.idle_minutes",
            "ULLAGE_DREAMING_TRIGGERS_SESSION_IDLE_IDLE_MINUTES",
        ),
        ("pins", "ULLAGE_PINS"),
        ("diagnostics.off", "ULLAGE_DIAGNOSTICS_OFF"),
    ],
)
def test_variables_are_named_after_keys(name: str, variable: str) -> None:
    assert SPELLINGS[name].variable == variable


def test_every_other_spelling_is_in_the_table() -> None:
    assert {name: SPELLED[name] for name in SPELLINGS if name not in FIGURES} == {
        name: key for name, key in SPELLED.items() if name != key
    }


@pytest.mark.parametrize(("name", "canonical"), SPELLED.items())
@pytest.mark.parametrize("place", ["openclaw", "user file", "workspace file", "editor"])
@pytest.mark.parametrize("prefix", ["", "agents.defaults."])
def test_every_spelling_means_its_key(name: str, canonical: str, place: str, prefix: str) -> None:
    if prefix and not name.startswith("compaction."):
        return
    key = SPELLINGS[canonical]
    settings, findings = read(tree(prefix + name, sample(key)), place)
    assert findings == []
    assert [setting.key for setting in settings] == [key]


@pytest.mark.parametrize("flat", [True, False])
def test_a_dotted_name_and_nested_mappings_are_the_same(flat: bool) -> None:
    name = "compaction.layers.full.trigger"
    settings, findings = read({name: 90} if flat else tree(name, 90))
    assert findings == []
    assert settings[0].value == Threshold(ratio=0.9)


@pytest.mark.parametrize(
    ("written", "threshold"),
    [
        (80, Threshold(ratio=0.8)),
        (1, Threshold(ratio=0.01)),
        (100, Threshold(ratio=1.0)),
        (87.5, Threshold(ratio=0.875)),
        ("80%", Threshold(ratio=0.8)),
        ("87.5 %", Threshold(ratio=0.875)),
        ("0.5%", None),
        (1000, Threshold(n_tokens=1000)),
        (160_000, Threshold(n_tokens=160_000)),
        (160_000.0, Threshold(n_tokens=160_000)),
        (0.8, None),
        (500, None),
        ("160000", None),
    ],
)
def test_a_threshold_is_percent_up_to_100_and_tokens_from_1000(
    written: object, threshold: Threshold | None
) -> None:
    settings, findings = read(tree("gauge.trigger", written))
    assert [s.value for s in settings] == ([] if threshold is None else [threshold])
    assert len(findings) == (threshold is None)


@pytest.mark.parametrize(
    ("text", "value"),
    [("true", True), ("1", True), ("Yes", True), ("on", True), ("FALSE", False), ("0", False)],
)
def test_a_variable_says_true_or_false_in_the_usual_words(text: str, value: bool) -> None:
    settings, _ = read_environment({"ULLAGE_SANDBOX_READ_ONLY": text})
    assert settings[0].value is value


def test_layers_and_triggers_may_be_lists_as_in_the_seeds() -> None:
    settings, findings = read(
        {
            "compaction": {
                "layers": [
                    {"layer": "prune", "triggerPercent": 75, "protectRecentTokens": 30_000},
                    {"layer": "full", "triggerPercent": 96},
                ]
            },
            "dreaming": {
                "triggers": [
                    {"type": "schedule", "cron": "0 4 * * *"},
                    {"type": "session_idle", "idle_minutes": 45},
                ]
            },
        }
    )
    assert findings == []
    config = config_of(tuple(settings))
    assert (config.policy.prune_ratio, config.policy.prune_protect_tokens) == (0.75, 30_000)
    assert config.policy.full_ratio == 0.96
    assert (config.dreaming.cron, config.dreaming.idle_minutes) == ("0 4 * * *", 45)


def test_the_reserve_is_never_below_its_floor() -> None:
    def reserve(**values: int) -> int:
        settings, _ = read({"compaction": values})
        return config_of(tuple(settings)).policy.reserve_tokens

    assert reserve(reserveTokens=10_000) == 20_000
    assert reserve(reserveTokens=30_000) == 30_000
    assert reserve(reserveTokensFloor=15_000) == 15_000
    assert reserve(reserveTokensFloor=15_000, reserveTokens=16_384) == 16_384
    assert reserve(reserveTokens=16_384) == 20_000
    assert reserve() == 20_000
    assert reserve(reserveTokensFloor=40_000, reserveTokens=30_000) == 40_000


@pytest.mark.parametrize(
    ("values", "at_tokens"),
    [
        ({"contextWindow": 200_000}, 176_000),
        (
            {"contextWindow": 100_000, "reserveTokensFloor": 15_000, "softThresholdTokens": 3_000},
            82_000,
        ),
        ({"contextWindow": 200_000, "reserveTokens": 30_000}, 166_000),
    ],
)
def test_the_reserve_formula_gives_the_figures_of_its_examples(
    values: dict[str, int], at_tokens: int
) -> None:
    settings, _ = read({"compaction": values})
    config = config_of(tuple(settings))
    window = config.window_for(None)
    assert window is not None
    assert reserve_at(window, config.policy_for(None, window)) == at_tokens


def test_a_model_may_have_thresholds_of_its_own_in_tokens_or_percent() -> None:
    settings, findings = read(
        {
            "compaction": {
                "autoThresholdPercent": 160_000,
                "modelOverrides": {
                    "gpt-4.1": {"contextWindow": 1_000_000, "layers": {"full": {"trigger": 60}}},
                    "gpt-4.1-mini": {"layers": {"full": {"trigger": 600_000}}},
                    "anthropic/": {"reserveTokensFloor": 50_000, "gauge": {"trigger": 50}},
                },
            }
        }
    )
    assert findings == []
    config = config_of(tuple(settings))
    assert config.window_for("openai/GPT-4.1-2025") == 1_000_000
    assert config.window_for("openai/gpt-5") is None
    assert config.policy_for("gpt-4.1", 1_000_000).full_ratio == 0.6
    assert config.policy_for("gpt-4.1-mini", 1_000_000).full_ratio == 0.6
    assert config.policy_for("gpt-4.1-mini", 2_000_000).full_ratio == 0.3
    assert config.policy_for("gpt-4.1", 1_000_000).summarize_ratio == 0.16
    assert config.policy_for(None, 200_000).summarize_ratio == 0.8
    ours = config.policy_for("anthropic/claude", 200_000)
    assert (ours.reserve_tokens, ours.gauge_ratio) == (50_000, 0.5)
    assert config.policy_for("claude", 200_000).reserve_tokens == 20_000
    assert settings[1].name == f"{OVERRIDES}.gpt-4.1.contextWindow"


def test_the_policy_of_a_plain_config_is_its_own() -> None:
    config = Config(policy=msgspec.structs.replace(Config().policy, full_ratio=0.5))
    assert config.policy_for("any", 1000) is config.policy


def test_thresholds_lie_before_the_point_at_which_the_agent_compacts() -> None:
    policy = config_of(()).policy_for("claude", 200_000, 167_000)
    at_tokens = [
        ratio_at(200_000, ratio)
        for ratio in (
            policy.gauge_ratio,
            policy.checkpoint_ratio,
            policy.prune_ratio,
            policy.summarize_ratio,
            policy.full_ratio,
        )
    ]
    assert at_tokens == [116_900, 133_600, 133_600, 146_960, 158_650]
    assert reserve_at(200_000, policy) == 143_000


def test_a_point_near_the_end_of_the_window_moves_nothing() -> None:
    config = config_of(())
    assert config.policy_for("claude", 1_000_000, 967_000) == config.policy
    assert config.policy_for("claude", 200_000, 190_000) == config.policy
    assert config.policy_for("claude", 200_000, 189_999) != config.policy


def test_what_was_set_in_tokens_keeps_its_meaning_before_the_point() -> None:
    reserve = {"reserveTokensFloor": 30_000, "layers": {"summarize": {"trigger": "50%"}}}
    settings, findings = read({"checkpoint": {"trigger": 150_000}, "compaction": reserve})
    assert findings == []
    policy = config_of(tuple(settings)).policy_for("claude", 200_000, 160_000)
    assert ratio_at(200_000, policy.checkpoint_ratio) == 150_000
    assert ratio_at(200_000, policy.summarize_ratio) == 80_000
    assert reserve_at(200_000, policy) == 166_000
