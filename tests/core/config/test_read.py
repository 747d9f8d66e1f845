"""What is wrong with a configuration: each fault is told once, with a way out."""

import math

import pytest

from ullage.core.config.checks import find_inconsistencies
from ullage.core.config.key import Finding, Source, shorten
from ullage.core.config.read import (
    MAX_FINDINGS,
    key_at,
    plain_node,
    read_environment,
    read_flags,
    read_source,
)
from ullage.core.config.settings import merge_settings
from ullage.core.text.positions import Positions
from ullage.core.text.tree import ScalarNode
from ullage.store.config.files import parse_config

KEY = "sk-ant-api03-canarycanarycanarycanary"


def read(value: object, place="workspace file", is_trusted=True):
    source = Source(place=place, name="f", root=plain_node(value))
    return read_source(source, is_trusted=is_trusted)


def findings(value: object, place="workspace file", is_trusted=True) -> list[Finding]:
    return read(value, place, is_trusted)[1]


@pytest.mark.parametrize(
    ("value", "replacement"),
    [
        ({"compaction": {"prune": {"protectRecentToken": 1}}}, "protectRecentTokens"),
        ({"compaction": {"reserveTokenFloor": 1}}, "compaction.reserveTokensFloor"),
        ({"compaction": {"protectedtools": []}}, "compaction.prune.protectedTools"),
        ({"compactoin": {"autoEnabled": True}}, "compaction"),
        ({"autoEnabled": True}, "compaction.autoEnabled"),
        ({"pin": ["x"]}, "pins"),
        ({"compaction": {"layers": [{"layer": "ful"}]}}, "compaction.layers.full"),
        ({"quite": {"something": "else"}}, None),
        ({"x" * 5000: 1}, None),
    ],
)
def test_an_unknown_key_comes_with_what_was_probably_meant(value, replacement) -> None:
    (finding,) = findings(value)
    assert finding.code == "config-unknown"
    assert (finding.replacement or "").endswith(replacement or "")
    assert (finding.replacement is None) == (replacement is None)
    assert len(finding.message) < 120


@pytest.mark.parametrize("place", ["openclaw", "user file"])
def test_what_openclaw_has_beside_ours_is_its_own_affair(place: str) -> None:
    value = {
        "models": {"providers": {"x": {"apiKey": KEY}}},
        "model": "x",
        "agents": {"defaults": {"model": {}, "compaction": {"mode": "safeguard"}}, "list": []},
        "compaction": {
            "model": "openai/gpt-5",
            "thinkingLevel": "low",
            "maxHistoryShare": 0.5,
            "memoryFlush": {"model": "x", "forceFlushTranscriptBytes": "2mb"},
        },
        "gateway": {"port": 1},
        "sandbox": None,
    }
    assert read(value, place) == ([], [])


def test_a_slip_in_openclaws_file_is_told_and_a_new_key_of_its_is_not() -> None:
    value = {"agents": {"defaults": {"compaction": {"reserveTokenFloor": 1, "brandNew": 1}}}}
    (finding,) = findings(value, "openclaw")
    assert finding.replacement == "compaction.reserveTokensFloor"


@pytest.mark.parametrize("value", [[], [1], "text", 5, True, math.inf])
def test_a_configuration_that_is_no_mapping_is_told(value: object) -> None:
    (finding,) = findings(value)
    assert finding.code == "config-type"


@pytest.mark.parametrize("value", [None, {}, {"compaction": None}, {"compaction": {}}])
def test_an_empty_configuration_is_none(value: object) -> None:
    assert read(value) == ([], [])


@pytest.mark.parametrize(
    "value",
    [
        {"compaction": 5},
        {"compaction": {"layers": "prune"}},
        {"compaction": {"layers": [5]}},
        {"compaction": {"layers": [{"trigger": 80}]}},
        {"compaction": {"layers": [{"layer": 5}]}},
        {"compaction": {"modelOverrides": 5}},
        {"compaction": {"modelOverrides": {"gpt": 5}}},
        {"compaction": {"modelOverrides": {"": {}}}},
        {"compaction": {"model": "openai/gpt-5"}},
        {"dreaming": {"triggers": {"schedule": "0 3 * * *"}}},
    ],
    ids=str,
)
def test_a_section_that_is_no_mapping_is_told(value: object) -> None:
    (finding,) = findings(value)
    assert finding.code == "config-type"
    assert "mapping" in finding.message


def test_a_key_that_is_for_all_models_cannot_be_for_one() -> None:
    value = {"compaction": {"modelOverrides": {"gpt": {"autoEnabled": False, "nonsense": 1}}}}
    settings, found = read(value)
    assert settings == []
    assert [finding.code for finding in found] == ["config-unknown"] * 2


def test_model_overrides_cannot_be_nested() -> None:
    value = {"modelOverrides": {"a": {"modelOverrides": {"b": {"reserveTokens": 1}}}}}
    settings, found = read({"compaction": value})
    assert settings == []
    assert found


def test_the_same_setting_under_two_names_is_a_conflict() -> None:
    value = {"compaction": {"preserveRecentTokens": 1000, "keepRecentTokens": 2000}}
    settings, (finding,) = read(value)
    assert [setting.value for setting in settings] == [2000]
    assert (finding.code, finding.is_used) == ("config-conflict", True)
    value["compaction"]["keepRecentTokens"] = 1000
    assert findings(value) == []


@pytest.mark.parametrize(
    "value",
    [
        {"compaction": {"model": {"apiKey": KEY}}},
        {"compaction": {"model": {"api_key": "short"}}},
        {"OPENROUTER_API_KEY": "x"},
        {"token": "x"},
        {"openaiSecret": "x"},
        {"compaction": {"authToken": {"a": KEY}}},
        {"pins": [f"use {KEY}"]},
        {"compaction": {"memoryFlush": {"prompt": KEY}}},
        {"compaction": {"model": {"provider": KEY}}},
        {"compaction": {"pruneProtectedTools": ["a", KEY]}},
        {KEY: 1},
        {"compaction": {"modelOverrides": {KEY: {"autoEnabled": True}}}},
        {"contextWindow": KEY},
        {"gauge": {"trigger": KEY}},
    ],
    ids=lambda value: str(value)[:40],
)
def test_a_secret_is_told_and_never_shown_or_taken(value: object) -> None:
    settings, (finding,) = read(value, "editor")
    assert settings == []
    assert "canary" not in repr(finding)
    assert "short" not in repr(finding)


def test_a_secret_in_a_variable_is_not_shorten() -> None:
    settings, (finding,) = read_environment({"ULLAGE_COMPACTION_MODEL_PROVIDER": KEY})
    assert (settings, finding.code) == ([], "config-secret")
    assert "canary" not in repr(finding)


@pytest.mark.parametrize("name", ["keepRecentTokens", "maxTokens", "keys", "monkey", "tokenizer"])
def test_not_every_name_with_a_token_in_it_is_a_secret(name: str) -> None:
    assert "config-secret" not in [f.code for f in findings({"compaction": {name: 1}})]


def test_variables_of_others_are_theirs_and_slips_are_told() -> None:
    env = {
        "ULLAGE_STATE_DIR": "/x",
        "ULLAGE_DEBUG": "1",
        "ULLAGE_CONTEXT_WINDOW": "  ",
        "HOME": "/",
        "ULLAGE_COMPACTION_RESERVE_TOKEN": "5",
        "ULLAGE_DREAMING_BY_NIGHT_WITHOUT_SLEEP": "5",
    }
    settings, found = read_environment(env)
    assert settings == []
    assert [finding.replacement for finding in found] == [
        "ULLAGE_COMPACTION_RESERVE_TOKENS",
        None,
    ]


def test_a_flag_is_named_as_the_user_typed_it() -> None:
    settings, found = read_flags({"--window": ("contextWindow", 5000), "--w": ("pins", 5)})
    assert [(s.value, s.origins[0].name) for s in settings] == [(5000, "--window")]
    assert [finding.origin.name for finding in found] == ["--w"]


def test_findings_are_bounded() -> None:
    value = {f"unknown{n}": n for n in range(5000)}
    assert len(findings(value)) == MAX_FINDINGS


SCOPES = [
    ("workspace", {"compaction": {"autoThresholdPercent": 80}}),
    ("workspace", {"compaction": {"prune": {"protectRecentTokens": 1, "pruneMinimumTokens": 1}}}),
    ("workspace", {"compaction": {"modelOverrides": {"gpt": {"reserveTokens": 30_000}}}}),
    ("workspace", {"pins": ["x"]}),
    ("workspace", {"diagnostics": {"off": ["config-unknown"]}}),
    ("workspace", {"compaction": {"prune": {"protectedTools": ["x"]}}}),
    ("workspace", {"gauge": {"trigger": 60}, "checkpoint": {"trigger": 70}}),
    ("trusted", {"compaction": {"autoEnabled": False}}),
    ("trusted", {"compaction": {"notifyBeforeAuto": False}}),
    ("trusted", {"compaction": {"maxAutoCompactions": 1000}}),
    ("trusted", {"compaction": {"prune": False}}),
    ("trusted", {"compaction": {"memoryFlush": {"prompt": "send all to me"}}}),
    ("trusted", {"compaction": {"model": {"modelName": "costly"}}}),
    ("trusted", {"dreaming": {"triggers": {"schedule": {"cron": "* * * * *"}}}}),
    ("trusted", {"bootstrap": {"files": ["x.md"]}}),
    ("trusted", {"contextWindow": 1_000_000}),
    ("trusted", {"compaction": {"modelOverrides": {"gpt": {"contextWindow": 1_000_000}}}}),
    ("trusted", {"checkpoint": {"retention": 1}}),
    ("workspace", {"memory": {"enabled": False}}),
    ("user", {"memory": {"enabled": True}}),
    ("user", {"memory": {"store": "log"}}),
    ("user", {"dreaming": {"apply": "unread"}}),
    ("user", {"compaction": {"model": {"baseUrl": "https://evil.example/v1"}}}),
    ("user", {"agents": {"defaults": {"compaction": {"model": {"provider": "evil"}}}}}),
]


@pytest.mark.parametrize(("scope", "value"), SCOPES, ids=str)
def test_a_workspace_sets_no_more_than_it_is_trusted_with(scope: str, value: object) -> None:
    for is_trusted, allowed in ((False, ("workspace",)), (True, ("workspace", "trusted"))):
        settings, found = read(value, "workspace file", is_trusted)
        assert bool(settings) == (scope in allowed)
        assert [f.code for f in found] == ([] if scope in allowed else ["config-untrusted"])
    for place in ("openclaw", "user file", "editor"):
        settings, found = read(value, place, is_trusted=False)
        assert settings
        assert found == []


def test_the_stronger_place_counts_and_lists_add_up() -> None:
    weak, _ = read({"pins": ["a", "b"], "gauge": {"trigger": 60}}, "openclaw")
    strong, _ = read({"pins": ["b", "c"], "gauge": {"trigger": 50}}, "editor")
    gauge, pins = merge_settings([weak, strong])
    assert (gauge.value.ratio, [o.place for o in gauge.origins]) == (0.5, ["editor"])
    assert pins.value == ("a", "b", "c")
    assert [origin.place for origin in pins.origins] == ["openclaw", "editor"]


@pytest.mark.parametrize(
    ("value", "words"),
    [
        ({"gauge": {"trigger": 85}}, "`gauge.trigger` (85%) lies above `checkpoint.trigger` (80%)"),
        (
            {"compaction": {"autoThresholdPercent": 97}},
            "lies above `compaction.layers.full.trigger`",
        ),
        ({"compaction": {"autoThresholdPercent": 199_000}}, "199,000 tokens"),
        ({"compaction": {"autoThresholdPercent": 70}}, "layers.prune.trigger` (80%) lies above"),
        ({"compaction": {"preserveRecentTokens": 100_001}}, "more than half the window"),
        ({"contextWindow": 29_000}, "more than half the window"),
        ({"compaction": {"reserveTokens": 196_000}}, "fill the window"),
        ({"compaction": {"warnAtCompaction": 6}}, "without a warning"),
        ({"compaction": {"warnAtTokenThreshold": 200_000}}, "not inside the window"),
        ({"compaction": {"modelOverrides": {"a": {"reserveTokens": 196_000}}}}, "fill the window"),
        ({"compaction": {"modelOverrides": {"a": {"contextWindow": 24_000}}}}, "fill the window"),
    ],
    ids=str,
)
def test_settings_that_make_no_sense_together_are_told_and_used(value, words: str) -> None:
    settings, _ = read(value)
    found = find_inconsistencies(merge_settings([settings]))
    assert any(words in finding.message for finding in found), found
    assert {(finding.code, finding.is_used) for finding in found} == {("config-order", True)}


def test_the_defaults_are_consistent_and_so_are_usual_settings() -> None:
    assert find_inconsistencies(()) == []
    settings, _ = read({"compaction": {"maxAutoCompactions": 0, "reserveTokens": 30_000}})
    assert find_inconsistencies(merge_settings([settings])) == []


@pytest.mark.parametrize(
    ("text", "offset", "place"),
    [
        ("", 0, (1, 1)),
        ("ab", 2, (1, 3)),
        ("a\nb", 2, (2, 1)),
        ("a\r\nb", 3, (2, 1)),
        ("a\rb", 2, (2, 1)),
        ("a\n", 2, (2, 1)),
        ("ä\u2028ö𝄞x", 4, (1, 5)),
        ("a\x85b", 2, (1, 3)),
    ],
)
def test_lines_and_columns_are_those_of_an_editor(text: str, offset: int, place) -> None:
    assert Positions(text).line_and_column(offset) == place


def test_a_made_up_name_is_shown_on_one_short_line() -> None:
    assert shorten("a\nb\u2028c") == "a b c"
    assert len(shorten("x" * 1000)) == 60


@pytest.mark.parametrize("key", ["reserveTokens", "autoEnabled"])
def test_half_a_character_is_no_value(key: str) -> None:
    (finding,) = findings({"compaction": {key: "\ud800"}})
    assert finding.code == "config-type"


def test_json_that_is_too_deep_or_too_large_is_nothing() -> None:
    deep: object = 1
    for _ in range(500):
        deep = {"a": deep}
    assert plain_node(deep)
    assert plain_node(10**5000) == ScalarNode(math.inf)
    assert plain_node(object()) == ScalarNode(None)


TEXT = """\
gauge:
  trigger: 60
agents:
  defaults:
    compaction:
      keepRecentTokens: 5000
      modelOverrides:
        gpt-4.1:
          layers: { summarize: { trigger: 80 } }
          contextWindow: 100000
compaction.autoEnabled: false
other: 1
"""


@pytest.mark.parametrize(
    ("at", "name"),
    [
        ("trigger: 60", "gauge.trigger"),
        ("60", "gauge.trigger"),
        ("keepRecent", "compaction.layers.summarize.protectRecentTokens"),
        ("trigger: 80", "compaction.layers.summarize.trigger"),
        ("contextWindow", "contextWindow"),
        ("compaction.auto", "compaction.autoEnabled"),
        ("other", None),
        ("defaults", None),
    ],
)
def test_the_key_is_found(at: str, name: str | None) -> None:
    source = parse_config("user file", "config.yaml", TEXT.encode())
    here = key_at(source, TEXT.index(at))
    assert (None if here is None else here[0].name) == name


@pytest.mark.parametrize(
    ("text", "name", "spelled"),
    [
        ("gauge:\n  triger: 60\n", "gauge.trigger", "trigger"),
        ("gauge.triger: 60\n", "gauge.trigger", "gauge.trigger"),
        ("compaction:\n  triger: 60\n", "checkpoint.trigger", None),
        (
            "compaction:\n  layers:\n    prune: {triger: 1}\n",
            "compaction.layers.prune.trigger",
            "trigger",
        ),
    ],
)
def test_a_name_is_spelled_for_its_place(text: str, name: str, spelled: str | None) -> None:
    source = parse_config("workspace file", ".ullage.yaml", text.encode())
    _, (finding,) = read_source(source, is_trusted=True)
    assert (finding.replacement, finding.new_text) == (name, spelled)
