"""What is done at each event, and what the agent is told."""

import json
from pathlib import Path

import pytest

from claude_files import SESSION_ID as CLAUDE_ID
from claude_files import ClaudeFile, text
from codex_files import SESSION_ID as CODEX_ID
from codex_files import CodexFile
from hook_inputs import claude, codex, copilot, data, tool_call
from pi_files import MODEL, Json
from running import Place
from secret_samples import SAMPLES
from ullage.agent.hook_agents import hook_agent
from ullage.agent.hook_answer import MAX_CONTEXT_CHARS, STEERING_CHARS, answer
from ullage.agent.hook_event import parse_event
from ullage.core.checkpoint.working_state import WorkingState
from ullage.errors import NotATranscript, Unreadable
from ullage.store.checkpoint.files import list_ids, read_latest
from ullage.store.checkpoint.working_state import read_working_state
from ullage.store.files.places import session_folder

RULE = "Never touch the migrations folder."
KEY = f"claude-code:{CLAUDE_ID}"


@pytest.fixture
def lab(hook_place: Place) -> "Lab":
    return Lab(hook_place)


class Lab:
    """An agent with one session, whose hooks are run in this process."""

    def __init__(self, place: Place) -> None:
        self.place = place
        self.places = place.places()
        self.path = place.cwd / "session.jsonl"

    def claude_session(self, *, used: int, model: str = MODEL) -> ClaudeFile:
        file = ClaudeFile(cwd=str(self.place.cwd))
        file.user(f"Fix the parcel router. {RULE}")
        file.assistant(text("We decided to use sqlite for the cache."), usage=used, model=model)
        self.path.write_bytes(file.data)
        return file

    def ask(self, told: Json, agent: str = "claude-code") -> str:
        told = {"session_id": CLAUDE_ID} | told | {"cwd": str(self.place.cwd)}
        told["session_id"] = CODEX_ID if agent == "codex" else CLAUDE_ID
        told["transcript_path"] = str(self.path)
        event = parse_event(data(told), hook_agent(agent))
        return "" if event is None else answer(event).decode()

    def ids(self, key: str = KEY) -> tuple[str, ...]:
        return list_ids(session_folder("checkpoints", key, self.places))

    def state(self, key: str = KEY) -> WorkingState:
        return read_working_state(key, self.places)


def told_context(output: str, event: str) -> str:
    """Give the text that an agent adds; there is nothing beside it that Codex would refuse."""
    value = json.loads(output)
    assert set(value) == {"hookSpecificOutput"}
    assert set(value["hookSpecificOutput"]) == {"hookEventName", "additionalContext"}
    assert value["hookSpecificOutput"]["hookEventName"] == event
    return value["hookSpecificOutput"]["additionalContext"]


def test_before_a_compaction_claude_code_is_told_what_to_keep(lab: Lab) -> None:
    lab.claude_session(used=100_000)
    told = lab.ask(claude("PreCompact", trigger="manual"))
    assert f"- {RULE}" in told
    assert "- We decided to use sqlite for the cache." in told
    assert len(told) <= STEERING_CHARS
    assert "decision" not in told.partition("\n")[0]
    latest = read_latest(session_folder("checkpoints", KEY, lab.places)).checkpoint
    assert latest is not None
    assert latest.meta.trigger == "compaction"


def test_before_a_compaction_codex_is_told_nothing(lab: Lab) -> None:
    file = CodexFile()
    file.user(f"Fix the parcel router. {RULE}")
    file.assistant("Done.", n_total=120)
    lab.path.write_bytes(file.data)
    assert lab.ask(codex("PreCompact", trigger="auto"), "codex") == ""
    assert lab.ids(f"codex:{CODEX_ID}") == ("cp_001",)
    told = lab.ask(codex("SessionStart", source="compact"), "codex")
    assert RULE in told_context(told, "SessionStart")


def test_a_compaction_that_is_announced_again_and_again_is_one_checkpoint(lab: Lab) -> None:
    lab.claude_session(used=100_000)
    told = [lab.ask(claude("PreCompact", trigger="auto")) for _ in range(3)]
    assert told[0] == told[1] == told[2] != ""
    assert lab.ids() == ("cp_001",)


def test_after_a_compaction_the_agent_gets_its_state_back(lab: Lab) -> None:
    file = lab.claude_session(used=100_000)
    lab.ask(claude("PreCompact", trigger="auto"))
    file.boundary()
    file.summary("What came before.")
    lab.path.write_bytes(file.data)
    told = told_context(lab.ask(claude("SessionStart", source="compact")), "SessionStart")
    assert told.startswith("[Post-compaction checkpoint restore]")
    assert RULE in told
    assert len(told) <= MAX_CONTEXT_CHARS


def test_after_a_compaction_the_rules_of_the_workspace_come_again(lab: Lab) -> None:
    (lab.place.cwd / "AGENTS.md").write_text("## Red Lines\n- Never push.\n", "utf-8")
    file = lab.claude_session(used=100_000)
    lab.ask(claude("PreCompact", trigger="auto"))
    file.boundary()
    file.summary("What came before.")
    lab.path.write_bytes(file.data)
    told = told_context(lab.ask(claude("SessionStart", source="compact")), "SessionStart")
    assert told.startswith("[Post-compaction checkpoint restore]\n\nWorking on:")
    assert told.endswith("> ## Red Lines\n> - Never push.")
    make_older(lab)
    file.record("attachment", attachment={"type": "hook_additional_context", "content": [told]})
    lab.path.write_bytes(file.data)
    # It is there still, however the rules changed since.
    (lab.place.cwd / "AGENTS.md").write_text("## Red Lines\n- Push.\n", "utf-8")
    assert lab.ask(claude("SessionStart", source="resume")) == ""


def test_what_the_hook_says_keeps_its_limit_whatever_is_allowed(lab: Lab) -> None:
    (lab.place.home / ".openclaw").mkdir(exist_ok=True)
    config = "checkpoint:\n  injectionTokens: 100000\n"
    (lab.place.home / ".openclaw" / "config.yaml").write_text(config, "utf-8")
    limits = "- Never push.\n" * 1000
    (lab.place.cwd / "AGENTS.md").write_text(f"## Red Lines\n{limits}", "utf-8")
    file = ClaudeFile(cwd=str(lab.place.cwd))
    for number in range(60):
        file.user(f"Never touch the folder number {number}, {'which is ours, ' * 20}whatever is.")
        file.assistant(text("I will not."), usage=100_000)
    lab.path.write_bytes(file.data)
    lab.ask(claude("PreCompact", trigger="auto"))
    told = told_context(lab.ask(claude("SessionStart", source="compact")), "SessionStart")
    assert len(told.encode()) <= MAX_CONTEXT_CHARS
    assert len(told) > 8_000
    assert told.endswith("[… the rest is left out]")


def test_a_session_without_a_checkpoint_is_told_nothing(lab: Lab) -> None:
    lab.claude_session(used=100_000)
    assert lab.ask(claude("SessionStart", source="compact")) == ""
    assert lab.ask(claude("SessionStart", source="resume")) == ""


def test_a_resumed_session_that_was_not_compacted_has_all_of_it_still(lab: Lab) -> None:
    lab.claude_session(used=100_000)
    lab.ask(claude("PreCompact", trigger="auto"))
    assert lab.ask(claude("SessionStart", source="resume")) == ""


def test_a_checkpoint_from_after_the_last_compaction_is_in_the_context_still(lab: Lab) -> None:
    file = lab.claude_session(used=100_000)
    file.boundary()
    file.summary("What came before.")
    file.user(f"Go on. {RULE}")
    lab.path.write_bytes(file.data)
    lab.ask(claude("PreCompact", trigger="auto"))
    make_older(lab)
    assert lab.ask(claude("SessionStart", source="resume")) == ""


def test_a_resumed_session_gets_once_what_a_compaction_took(lab: Lab) -> None:
    file = lab.claude_session(used=100_000)
    lab.ask(claude("PreCompact", trigger="auto"))
    file.boundary()
    file.summary("What came before.")
    lab.path.write_bytes(file.data)
    # The checkpoint is seconds old: the event of the compaction itself is still to come.
    assert lab.ask(claude("SessionStart", source="resume")) == ""
    make_older(lab)
    told = told_context(lab.ask(claude("SessionStart", source="resume")), "SessionStart")
    assert RULE in told
    attachment = {"type": "hook_additional_context", "content": [told]}
    file.record("attachment", attachment=attachment)
    lab.path.write_bytes(file.data)
    assert lab.ask(claude("SessionStart", source="resume")) == ""


@pytest.mark.parametrize(
    ("agent", "source"),
    [("claude-code", "startup"), ("claude-code", "clear"), ("codex", "startup")],
)
def test_a_fresh_session_is_offered_the_work_of_the_last_one_and_its_user_is_told(
    lab: Lab, agent: str, source: str
) -> None:
    told = claude if agent == "claude-code" else codex
    assert lab.ask(told("SessionStart", source=source), agent) == ""
    file = ClaudeFile(cwd=str(lab.place.cwd), session_id="5e55")
    file.user("Fix the parcel router.")
    path = lab.place.write("other.jsonl", file.data)
    assert lab.place.run("checkpoint", "write", "--session", path).returncode == 0
    output = json.loads(lab.ask(told("SessionStart", source=source), agent))
    note = output.pop("systemMessage")
    text = told_context(json.dumps(output), "SessionStart")
    assert text.startswith("[Context offer] An earlier session of Claude Code")
    assert "checkpoint show --text --session 5e55`" in text
    assert "1 hour ago (Claude Code): Fix the parcel router. (resume.offer: never" in note
    assert lab.ask(told("SessionStart", source=source), agent) == ""


def test_a_fresh_session_of_copilot_is_offered_nothing(lab: Lab) -> None:
    lab.claude_session(used=1_000)
    assert lab.place.run("checkpoint", "write", "--session", lab.path).returncode == 0
    assert lab.ask(copilot("SessionStart", source="startup")) == ""


@pytest.mark.parametrize(
    ("used", "expected"),
    [
        (116_000, ""),
        (117_000, "[Context: 58% | 117k/200k tokens]"),
        (133_000, "[Context: 66% | 133k/200k tokens]"),
        (134_000, "[Context: 67% | 134k/200k tokens | Checkpoint saved]"),
        (162_000, "[Context: 81% | 162k/200k tokens | Checkpoint saved]"),
    ],
)
def test_a_prompt_brings_the_gauge_from_70_percent_of_where_claude_code_compacts(
    lab: Lab, used: int, expected: str
) -> None:
    lab.claude_session(used=used)
    told = lab.ask(claude("UserPromptSubmit", prompt="Go on."))
    line = told_context(told, "UserPromptSubmit").partition("\n")[0] if told else ""
    assert line == expected
    assert lab.ids() == (("cp_001",) if "saved" in expected else ())


@pytest.mark.parametrize(
    ("used", "model", "n_checkpoints"),
    [
        # What no source names has 200,000 by default.
        (150_000, "claude-of-next-year", 1),
        (190_000, "claude-of-next-year", 1),
        # More than the table's 200,000 was sent: of a million, that is much again.
        (402_000, MODEL, 0),
        (990_000, MODEL, 1),
        # A model of a million is far from full.
        (190_000, "claude-opus-5-5", 0),
    ],
)
def test_no_agent_is_told_to_stop_by_a_guessed_or_disproved_window(
    lab: Lab, used: int, model: str, n_checkpoints: int
) -> None:
    lab.claude_session(used=used, model=model)
    assert lab.ask(claude("UserPromptSubmit", prompt="Go on.")) == ""
    assert len(lab.ids()) == n_checkpoints


def test_the_advice_names_the_size_at_which_claude_code_compacts(lab: Lab) -> None:
    lab.claude_session(used=134_000)
    settings = lab.place.home / ".claude" / "settings.json"
    told = lab.ask(claude("UserPromptSubmit", prompt="Go on."))
    assert "The context is 67% full and is compacted at 167,000 tokens." in told
    settings.parent.mkdir(parents=True, exist_ok=True)
    settings.write_text('{"autoCompactEnabled": false}', encoding="utf-8")
    assert lab.ask(claude("UserPromptSubmit", prompt="Go on.")) == ""
    lab.claude_session(used=164_000)
    told = lab.ask(claude("UserPromptSubmit", prompt="Go on."))
    assert "The context is 82% full. Bring" in told


def test_prompts_above_80_percent_write_no_checkpoint_each(lab: Lab) -> None:
    file = lab.claude_session(used=162_000)
    for used in (162_000, 163_000, 165_000, 175_000):
        file.user("Go on.")
        file.assistant(text("Yes."), usage=used)
        lab.path.write_bytes(file.data)
        assert "Checkpoint saved" in lab.ask(claude("UserPromptSubmit", prompt="Go on."))
    assert lab.ids() == ("cp_001", "cp_002")


def test_a_tool_call_is_captured_once_and_silently(lab: Lab) -> None:
    for _ in range(2):
        assert lab.ask(claude("PostToolUse", **tool_call())) == ""
    failed = tool_call("toolu_000000002", tool_name="Bash", error="Exit code 1\nno such file")
    assert lab.ask(claude("PostToolUseFailure", **failed)) == ""
    state = lab.state()
    assert state.resources.tools_used == ("Edit", "Bash")
    assert [error.text for error in state.thread.errors] != []


def test_what_a_subagent_does_is_not_the_session_s(lab: Lab) -> None:
    lab.claude_session(used=162_000)
    for event in (
        claude("PostToolUse", agent_id="a1", **tool_call()),
        claude("PreCompact", agent_id="a1", trigger="auto"),
        claude("UserPromptSubmit", agent_id="a1", prompt="Go on."),
    ):
        assert lab.ask(event) == ""
    assert not lab.place.state.exists()


def test_copilot_gets_its_state_back_with_the_tool_after_a_compaction(lab: Lab) -> None:
    (lab.place.cwd / "AGENTS.md").write_text("## Red Lines\n- Never push.\n", "utf-8")
    lab.ask(copilot("UserPromptSubmit", prompt=f"Add a retry. {RULE}"))
    assert lab.ask(copilot("PostToolUse", **tool_call())) == ""
    assert lab.ask(copilot("PreCompact", trigger="auto")) == ""
    told = lab.ask(copilot("PostToolUse", **tool_call("toolu_000000002")))
    restored = told_context(told, "PostToolUse")
    assert restored.startswith("[Post-compaction checkpoint restore]")
    assert "/work/shop/cart.py" in restored
    assert RULE in restored
    assert restored.endswith("> ## Red Lines\n> - Never push.")
    assert lab.ask(copilot("PostToolUse", **tool_call("toolu_000000003"))) == ""


def test_read_only_mode_writes_nothing(lab: Lab) -> None:
    folder = lab.place.home / ".openclaw"
    folder.mkdir()
    (folder / "config.yaml").write_text("sandbox:\n  readOnly: true\n")
    lab.claude_session(used=162_000)
    before = lab.place.files()
    assert RULE in lab.ask(claude("PreCompact", trigger="auto"))
    told = lab.ask(claude("UserPromptSubmit", prompt="Go on."))
    assert told_context(told, "UserPromptSubmit").startswith("[Context: 81% | 162k/200k tokens]")
    lab.ask(claude("PostToolUse", **tool_call()))
    lab.ask(copilot("PreCompact", trigger="auto"))
    assert lab.place.files() == before


@pytest.mark.parametrize("name", ["github", "anthropic"])
def test_no_secret_leaves_the_transcript(lab: Lab, name: str) -> None:
    secret = SAMPLES[name].secret
    file = ClaudeFile(cwd=str(lab.place.cwd))
    file.user(f"Never print {secret} anywhere. We must use the token {secret}.")
    file.assistant(text(f"We decided to use {secret} for the cache. Next: test {secret}."))
    lab.path.write_bytes(file.data)
    told = [
        lab.ask(claude("PreCompact", trigger="auto")),
        lab.ask(claude("SessionStart", source="compact")),
        lab.ask(copilot("UserPromptSubmit", prompt=f"Use {secret}.")),
        lab.ask(copilot("PreCompact", trigger="auto")),
        lab.ask(copilot("PostToolUse", **tool_call(tool_input={"file_path": f"/w/{secret}"}))),
    ]
    assert "[REDACTED:" in told[0]
    assert secret not in str(told)
    for content in lab.place.files().values():
        assert content is None or content == file.data or secret.encode() not in content


def test_a_transcript_of_another_session_is_not_read(lab: Lab) -> None:
    file = ClaudeFile(session_id="44444444-4444-4555-8666-777777777777")
    file.user("Hello.")
    lab.path.write_bytes(file.data)
    with pytest.raises(NotATranscript, match="another session"):
        lab.ask(claude("PreCompact", trigger="auto"))


def test_a_session_that_has_no_transcript_yet_is_normal(lab: Lab) -> None:
    assert lab.ask(claude("UserPromptSubmit", prompt="Hello.")) == ""
    with pytest.raises(Unreadable, match="is not there"):
        lab.ask(claude("PreCompact", trigger="auto"))


def make_older(lab: Lab) -> None:
    """Let the checkpoint be of yesterday."""
    path: Path = session_folder("checkpoints", KEY, lab.places) / "cp_001.yaml"
    lines = path.read_text("utf-8").splitlines()
    at = next(n for n, line in enumerate(lines) if line.strip().startswith("created_at:"))
    lines[at] = lines[at].partition(":")[0] + ': "2026-01-01T00:00:00Z"'
    path.write_text("\n".join(lines) + "\n", "utf-8")
