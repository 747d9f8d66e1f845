"""Who says how large the window is: the first who knows, unless a request disproves it."""

import json
from pathlib import Path

import pytest

from claude_files import ClaudeFile, text
from pi_files import Json
from running import Place
from ullage.app.gauge.status_text import DOUBT_NOTE, status_text
from ullage.app.sessions.load import Loaded, load
from ullage.app.sessions.open import open_session
from ullage.core.config.settings import Config
from ullage.core.gauge.window import Window

PLAIN, LARGE = "claude-sonnet-4-5", "claude-sonnet-4-5[1m]"


def loaded(place: Place, data: bytes, config: Config | None = None) -> Loaded:
    path = place.home / "session.jsonl"
    path.write_bytes(data)
    return load(open_session(path), config or Config(), place.places(), lambda text, _: len(text))


def window_of(place: Place, data: bytes, config: Config | None = None) -> Window:
    return loaded(place, data, config).status.gauge.window


def claude(model: str, n_tokens: int = 150_000, **fields: object) -> bytes:
    file = ClaudeFile()
    file.user("hello")
    file.assistant(text("hi"), model=model, usage=n_tokens, **fields)
    return file.data


def pi(model: str, provider: str = "anthropic", n_input: int = 150_000) -> bytes:
    usage = {"input": n_input, "output": 0, "cacheRead": 0, "cacheWrite": 0}
    answer = {"role": "assistant", "content": [], "provider": provider, "model": model}
    at = "2026-02-24T15:00:00.000Z"
    lines: list[Json] = [
        {"type": "session", "version": 3, "id": "s", "timestamp": at, "cwd": "/nowhere"},
        {
            "type": "message",
            "id": "a1",
            "parentId": None,
            "timestamp": at,
            "message": answer | {"usage": usage | {"totalTokens": n_input}, "stopReason": "stop"},
        },
    ]
    return "".join(json.dumps(line) + "\n" for line in lines).encode()


@pytest.mark.parametrize(
    ("model", "fields", "expected"),
    [
        ("claude-opus-5-5", {}, (1_000_000, "model table")),
        (PLAIN, {}, (200_000, "model table")),
        (PLAIN, {"requestedModel": LARGE}, (1_000_000, "agent")),
        ("claude-of-next-year", {}, (200_000, "default")),
    ],
)
def test_claude_code_gives_each_model_its_own_window(
    place: Place, model: str, fields: Json, expected: tuple[int, str]
) -> None:
    window = window_of(place, claude(model, **fields))
    assert (window.n_tokens, window.source) == expected


def test_the_users_setting_comes_first_and_stands(place: Place) -> None:
    config = Config(window_tokens=100_000)
    window = window_of(place, claude(PLAIN, requestedModel=LARGE), config)
    assert (window.n_tokens, window.source) == (100_000, "setting")


def test_one_model_has_different_windows_in_different_agents(place: Place) -> None:
    assert window_of(place, claude("claude-opus-4-6")).n_tokens == 200_000
    assert window_of(place, pi("claude-opus-4-6")).n_tokens == 1_000_000


PI_MODELS: Json = {
    "providers": {
        "own": {"models": [{"id": "mine", "contextWindow": 32_000}]},
        "anthropic": {"modelOverrides": {"claude-opus-4-6": {"contextWindow": 500_000}}},
    }
}


@pytest.mark.parametrize(
    ("provider", "model", "expected"),
    [
        ("own", "mine", (32_000, "configuration", "mine in agent/models.json")),
        ("anthropic", "claude-opus-4-6", (500_000, "configuration", "agent/models.json")),
        ("anthropic", "claude-sonnet-4-5", (200_000, "model table", "2026")),
        ("else", "mine", (200_000, "default", "")),
    ],
)
def test_pis_own_list_of_models_counts(
    place: Place, provider: str, model: str, expected: tuple[int, str, str]
) -> None:
    path = place.home / ".pi" / "agent" / "models.json"
    path.parent.mkdir(parents=True)
    path.write_text(json.dumps(PI_MODELS), encoding="utf-8")
    window = window_of(place, pi(model, provider, n_input=1000))
    assert (window.n_tokens, window.source) == expected[:2]
    assert expected[2] in window.detail


@pytest.mark.parametrize(
    "content", ["", "[]", '{"providers": 3}', '{"providers": {"own": []}}', "{"]
)
def test_a_damaged_list_of_models_says_nothing(place: Place, content: str) -> None:
    path = place.home / ".pi" / "agent" / "models.json"
    path.parent.mkdir(parents=True)
    path.write_text(content, encoding="utf-8")
    assert window_of(place, pi("mine", "own", n_input=1000)).source == "default"


def test_a_request_beyond_the_window_disproves_it(place: Place) -> None:
    session = loaded(place, claude(PLAIN, n_tokens=402_554))
    gauge = session.status.gauge
    assert (gauge.window.n_tokens, gauge.window.source) == (1_000_000, "disproved")
    assert gauge.used_tokens == 402_554
    shown = " ".join(status_text(session).split())
    assert DOUBT_NOTE in shown
    line = "1,000,000, as 402,547 tokens were sent, more than 200,000 by model table (@anthropic"
    assert line in shown


def test_a_later_prune_does_not_prove_it_right_again(place: Place) -> None:
    file = ClaudeFile()
    file.user("hello")
    file.assistant(text("hi"), model=PLAIN, usage=402_554)
    file.user("and now?")
    file.assistant(text("less"), model=PLAIN, usage=90_000)
    assert window_of(place, file.data).source == "disproved"


def test_the_request_of_another_model_disproves_nothing(place: Place) -> None:
    file = ClaudeFile()
    file.user("hello")
    file.assistant(text("hi"), model="claude-opus-5-5", usage=402_554)
    file.user("and now?")
    file.assistant(text("smaller"), model=PLAIN, usage=90_000)
    window = window_of(place, file.data)
    assert (window.n_tokens, window.source) == (200_000, "model table")


def test_a_long_answer_disproves_nothing(place: Place) -> None:
    usage: Json = {
        "input_tokens": 199_000,
        "cache_creation_input_tokens": 0,
        "cache_read_input_tokens": 0,
        "output_tokens": 8_000,
    }
    file = ClaudeFile()
    file.user("hello")
    file.assistant(text("hi"), model=PLAIN, usage=usage)
    gauge = loaded(place, file.data).status.gauge
    assert gauge.window.source == "model table"
    assert gauge.used_tokens == 207_000


@pytest.mark.parametrize("name", ["opencode.json", "opencode.jsonc", ".opencode/opencode.json"])
def test_opencodes_own_limit_is_found(place: Place, name: str) -> None:
    from ullage.core.config.agent_settings import AgentSettings
    from ullage.formats.registry import agent_info
    from ullage.store.config.agent_settings import read_settings_files

    limit = {"context": 128_000, "output": 8_000}
    content = {"provider": {"mock": {"models": {"m": {"limit": limit}}}}}
    cwd = place.home / "project" / "inner"
    path = cwd.parent / name
    path.parent.mkdir(parents=True)
    comment = "// the folder's own\n" if name.endswith("c") else ""
    path.write_text(comment + json.dumps(content), encoding="utf-8")
    row = agent_info("opencode")
    paths = row.setting_files(Path("opencode.db"), cwd, {}, place.home)
    settings = AgentSettings(sources=read_settings_files(paths))
    found = row.find_window(settings, "mock", "m")
    assert found is not None
    assert found.value == 128_000
    assert row.find_window(settings, "mock", "other") is None
    assert row.find_window(settings, "other", "m") is None
