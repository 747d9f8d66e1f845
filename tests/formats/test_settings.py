"""Where each agent compacts by itself, by its rule, its settings and the environment."""

import json
from pathlib import Path

import pytest

from ullage.core.config.agent_settings import AgentSettings
from ullage.core.gauge.gauge import CompactionPoint
from ullage.core.gauge.window import Window, WindowSource
from ullage.core.transcript.entries import Agent, Header
from ullage.formats.agent_info import RunningSession
from ullage.formats.registry import agent_info
from ullage.store.config.agent_settings import read_settings_files

Files = dict[str, object]
"""By their paths below the home folder; what is no text is written as JSON."""
CLAUDE, LOCAL = ".claude/settings.json", "project/.claude/settings.local.json"
CODEX, GEMINI = ".codex/config.toml", ".gemini/settings.json"
OPENCODE, PI = ".config/opencode/opencode.json", ".pi/agent/settings.json"
PCT, WINDOW = "CLAUDE_AUTOCOMPACT_PCT_OVERRIDE", "CLAUDE_CODE_AUTO_COMPACT_WINDOW"


class Machine:
    """A home with a project in it, and what an agent's files there say."""

    def __init__(self, home: Path) -> None:
        self.home = home
        self.header = Header(agent=None, session_id="s", version=3, cwd=None)

    def point(
        self,
        agent: Agent,
        window: int,
        files: Files,
        env: dict[str, str],
        *,
        model: str = "",
        source: WindowSource = "model table",
        path: Path = Path("s.jsonl"),
    ) -> CompactionPoint | None:
        for name, content in files.items():
            file = self.home / name
            file.parent.mkdir(parents=True, exist_ok=True)
            text = content if isinstance(content, str) else json.dumps(content)
            file.write_text(text, encoding="utf-8")
        row = agent_info(agent)
        env = {name: value.replace("~", str(self.home)) for name, value in env.items()}
        paths = row.setting_files(path, self.home / "project", env, self.home)
        # What an organization has put on the machine that runs this is none of the test's.
        own = [file for file in paths if file.is_relative_to(self.home)]
        return row.find_compaction_point(
            RunningSession(
                header=self.header,
                path=path,
                model=model,
                window=Window(n_tokens=window, source=source, detail=""),
                settings=AgentSettings(sources=read_settings_files(own), env=env),
            )
        )


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return Machine(tmp_path)


@pytest.mark.parametrize(
    ("agent", "window", "at_tokens"),
    [
        ("claude-code", 200_000, 167_000),
        ("claude-code", 1_000_000, 967_000),
        ("codex", 272_000, 244_800),
        ("gemini", 1_048_576, 524_288),
        ("opencode", 200_000, 168_000),
        ("opencode", 40_000, 30_000),
        ("openclaw", 200_000, 183_616),
    ],
)
def test_an_agent_without_settings_compacts_by_its_own_rule(
    machine: Machine, agent: Agent, window: int, at_tokens: int
) -> None:
    point = machine.point(agent, window, {}, {})
    assert point is not None
    assert (point.at_tokens, point.source) == (at_tokens, "default")


def test_codex_tells_a_twentieth_less_than_the_window_that_it_goes_by(machine: Machine) -> None:
    point = machine.point("codex", 258_400, {}, {}, source="agent")
    assert point is not None
    assert point.at_tokens == 244_800


@pytest.mark.parametrize(
    ("agent", "files", "env", "at_tokens", "origin"),
    [
        ("claude-code", {CLAUDE: {"autoCompactWindow": 120_000}}, {}, 87_000, CLAUDE),
        ("claude-code", {}, {WINDOW: "120k"}, 87_000, WINDOW),
        ("claude-code", {}, {WINDOW: "150000"}, 117_000, WINDOW),
        (
            "claude-code",
            {CLAUDE: {"autoCompactWindow": 120_000}},
            {WINDOW: "150k"},
            117_000,
            WINDOW,
        ),
        ("claude-code", {}, {WINDOW: "5000"}, 67_000, WINDOW),
        ("claude-code", {CLAUDE: {"autoCompactWindow": "auto"}}, {}, 167_000, "rule"),
        ("claude-code", {CLAUDE: {"env": {PCT: "50"}}}, {}, 90_000, PCT),
        ("claude-code", {}, {PCT: "50"}, 90_000, PCT),
        ("claude-code", {}, {PCT: "99"}, 167_000, "rule"),
        ("claude-code", {}, {PCT: "+5e1%"}, 90_000, PCT),
        ("claude-code", {}, {"CLAUDE_CODE_MAX_OUTPUT_TOKENS": "8000"}, 179_000, "rule"),
        (
            "claude-code",
            {CLAUDE: {"autoCompactWindow": 120_000}, LOCAL: {"autoCompactWindow": 150_000}},
            {},
            117_000,
            "settings.local.json",
        ),
        (
            "claude-code",
            {"elsewhere/settings.json": {"autoCompactWindow": 120_000}},
            {"CLAUDE_CONFIG_DIR": "~/elsewhere"},
            87_000,
            "elsewhere/settings.json",
        ),
        ("codex", {CODEX: "model_auto_compact_token_limit = 90_000"}, {}, 90_000, CODEX),
        ("codex", {CODEX: "model_auto_compact_token_limit = 900_000"}, {}, 180_000, "90 %"),
        (
            "codex",
            {"c/config.toml": "model_auto_compact_token_limit = 80000"},
            {"CODEX_HOME": "~/c"},
            80_000,
            "c/config.toml",
        ),
        ("gemini", {GEMINI: {"model": {"compressionThreshold": 0.8}}}, {}, 160_000, GEMINI),
        (
            "gemini",
            {GEMINI: '{"model": {"compressionThreshold": 0.2}, /* mine */}'},
            {},
            40_000,
            GEMINI,
        ),
        ("gemini", {GEMINI: {"model": {"compressionThreshold": 0}}}, {}, 100_000, "default"),
        ("opencode", {OPENCODE: {"compaction": {"reserved": 10_000}}}, {}, 168_000, "answer"),
        (
            "opencode",
            {
                "project/opencode.jsonc": '{"provider": {"x": {"models": // mine\n'
                '{"m": {"limit": {"output": 8000}}}}}}'
            },
            {},
            192_000,
            "answer",
        ),
        (
            "opencode",
            {
                OPENCODE: {
                    "compaction": {"reserved": 10_000},
                    "provider": {"x": {"models": {"m": {"limit": {"input": 150_000}}}}},
                }
            },
            {},
            140_000,
            "reserved",
        ),
        (
            "openclaw",
            {PI: {"compaction": {"reserveTokens": 50_000}}},
            {},
            150_000,
            "agent/settings.json",
        ),
        (
            "openclaw",
            {"project/.pi/settings.json": {"compaction": {"reserveTokens": 30_000}}},
            {},
            170_000,
            ".pi/settings.json",
        ),
    ],
)
def test_settings_and_the_environment_move_the_point(
    machine: Machine,
    agent: Agent,
    files: Files,
    env: dict[str, str],
    at_tokens: int,
    origin: str,
) -> None:
    point = machine.point(agent, 200_000, files, env, model="m")
    assert point is not None
    assert point.at_tokens == at_tokens
    assert origin in point.detail


def test_a_model_of_claude_code_has_a_window_of_its_own(machine: Machine) -> None:
    own = {"autoCompactWindow": 110_000}
    files: Files = {
        CLAUDE: {"autoCompactWindow": 180_000, "modelSettings": {"claude-opus-4-6": own}}
    }
    for model, at_tokens in (("claude-opus-4-6-20260101", 77_000), ("claude-sonnet-4-6", 147_000)):
        point = machine.point("claude-code", 200_000, files, {}, model=model)
        assert point is not None
        assert point.at_tokens == at_tokens


@pytest.mark.parametrize(
    ("model", "env", "at_tokens"),
    [
        ("qwen3-coder-plus", {}, 167_000),
        ("qwen3-coder-plus[1m]", {}, 967_000),
        ("qwen3-coder-plus", {"CLAUDE_CODE_MAX_CONTEXT_TOKENS": "500000"}, 467_000),
        ("us.anthropic.claude-opus-4-7-v1", {"CLAUDE_CODE_MAX_CONTEXT_TOKENS": "500000"}, 967_000),
    ],
)
def test_claude_code_takes_a_model_that_it_does_not_recognize_for_a_small_one(
    machine: Machine, model: str, env: dict[str, str], at_tokens: int
) -> None:
    point = machine.point("claude-code", 1_000_000, {}, env, model=model)
    assert point is not None
    assert point.at_tokens == at_tokens


def test_claude_code_that_sent_more_than_that_does_not_go_by_it(machine: Machine) -> None:
    point = machine.point("claude-code", 1_000_000, {}, {}, model="mine", source="disproved")
    assert point is not None
    assert point.at_tokens == 967_000


def test_openclaw_keeps_its_floor_and_reads_its_own_settings(machine: Machine) -> None:
    path = machine.home / ".openclaw" / "agents" / "main" / "sessions" / "s.jsonl"
    settings = {"agents": {"defaults": {"compaction": {"reserveTokens": 50_000}}}}
    before = machine.point(
        "openclaw", 200_000, {PI: {"compaction": {"enabled": False}}}, {}, path=path
    )
    after = machine.point("openclaw", 200_000, {".openclaw/openclaw.json": settings}, {}, path=path)
    assert before is not None
    assert after is not None
    assert (before.at_tokens, after.at_tokens) == (180_000, 150_000)


@pytest.mark.parametrize(
    ("agent", "files", "env"),
    [
        ("claude-code", {CLAUDE: {"autoCompactEnabled": False}}, {}),
        ("claude-code", {".claude.json": {"autoCompactEnabled": False}}, {}),
        ("claude-code", {}, {"DISABLE_AUTO_COMPACT": "1"}),
        ("claude-code", {LOCAL: {"env": {"DISABLE_COMPACT": "true"}}}, {}),
        ("opencode", {"opencode.json": {"compaction": {"auto": False}}}, {}),
        ("opencode", {}, {"OPENCODE_DISABLE_AUTOCOMPACT": "true"}),
        ("openclaw", {PI: {"compaction": {"enabled": False}}}, {}),
    ],
)
def test_there_is_no_point_where_the_agent_does_not_compact(
    machine: Machine, agent: Agent, files: Files, env: dict[str, str]
) -> None:
    assert machine.point(agent, 200_000, files, env) is None


@pytest.mark.parametrize("dialect", ["events", "flat"])
def test_no_agent_compacts_files_of_the_older_forms(machine: Machine, dialect: str) -> None:
    machine.header = Header(agent="openclaw", session_id="s", version=0, cwd=None, dialect=dialect)
    assert machine.point("openclaw", 200_000, {}, {}) is None


LONG = "9" * 400
"""A whole number that no float can hold."""
DAMAGED: tuple[object, ...] = (
    "",
    "{",
    "[]",
    "null",
    "\ufeff{}",
    '{"a": "\\ud800"}',
    "[" * 5_000,
    "a = nan",
    '{"autoCompactWindow": "120000", "autoCompactEnabled": "no", "env": 3, "modelSettings": []}',
    '{"autoCompactWindow": -1, "env": {"CLAUDE_AUTOCOMPACT_PCT_OVERRIDE": {"a": 1}}}',
    '{"autoCompactWindow": true, "modelSettings": {"m": 7}}',
    '{"model": {"compressionThreshold": "0.8"}}',
    '{"model": [], "compaction": "off", "provider": {"x": 3}}',
    '{"compaction": {"reserveTokens": "many", "auto": 0, "enabled": 0}, "provider": []}',
    'model_auto_compact_token_limit = "many"',
    "model_auto_compact_token_limit = -5",
    "model_auto_compact_token_limit = inf",
    f'{{"autoCompactWindow": {LONG}, "model": {{"compressionThreshold": {LONG}}}}}',
    f'{{"compaction": {{"reserveTokens": {LONG}, "reserved": {LONG}}}}}',
    f"model_auto_compact_token_limit = {LONG}",
)


@pytest.mark.parametrize("content", DAMAGED)
@pytest.mark.parametrize(
    ("agent", "name", "at_tokens"),
    [
        ("claude-code", CLAUDE, 167_000),
        ("codex", CODEX, 180_000),
        ("gemini", GEMINI, 100_000),
        ("opencode", OPENCODE, 168_000),
        ("openclaw", PI, 183_616),
    ],
)
def test_damaged_settings_leave_the_default(
    machine: Machine, agent: Agent, name: str, at_tokens: int, content: object
) -> None:
    point = machine.point(agent, 200_000, {name: content}, {}, model="m")
    assert point is not None
    assert (point.at_tokens, point.source) == (at_tokens, "default")


def test_settings_that_are_no_file_leave_the_default(machine: Machine) -> None:
    (machine.home / CLAUDE).mkdir(parents=True)
    point = machine.point("claude-code", 200_000, {}, {PCT: "x", WINDOW: "9" * 400})
    assert point is not None
    assert point.at_tokens == 167_000


def test_settings_that_were_written_anew_are_read_anew(machine: Machine) -> None:
    points = [
        machine.point("claude-code", 200_000, {CLAUDE: {"autoCompactWindow": n_tokens}}, {})
        for n_tokens in (120_000, 1_500_000, 110_000)
    ]
    assert [point and point.at_tokens for point in points] == [87_000, 167_000, 77_000]


@pytest.mark.parametrize(
    ("agent", "name"), [("claude-code", "installed_plugins.json"), ("openclaw", "trust.json")]
)
def test_what_tells_of_skills_alone_is_none_of_the_settings(agent: Agent, name: str) -> None:
    row, home = agent_info(agent), Path("/home/ann")
    settings = row.setting_files(home / "s.jsonl", home / "work", {}, home)
    assert name not in {path.name for path in settings}
    assert [path.name for path in row.skills[0].list_files({}, home)] == [name]
