"""The gauge of the short way is that of the long way, or there is none."""

import json
import os
import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from claude_files import SESSION_ID as CLAUDE_ID
from claude_files import ClaudeFile, call, claude_files, result, text
from codex_files import SESSION_ID as CODEX_ID
from codex_files import CodexFile, codex_files
from hook_inputs import claude, data
from pi_files import MODEL
from profiles import examples
from ullage.agent.hook_agents import HookAgent, hook_agent
from ullage.agent.hook_answer import answer
from ullage.agent.hook_event import parse_event
from ullage.agent.quick_answer import answer_quickly
from ullage.core.transcript.agent_lines import most_tokens
from ullage.core.transcript.tokens import estimate_tokens
from ullage.errors import UllageError


class Lab:
    """An agent with one session, and two states: one for the long way alone."""

    def __init__(self, root: Path, env: pytest.MonkeyPatch, agent: str = "claude-code") -> None:
        agent_found = hook_agent(agent)
        assert agent_found is not None
        self.agent: HookAgent = agent_found
        self.session_id = CODEX_ID if agent == "codex" else CLAUDE_ID
        self.root, self._env = root, env
        self.path = root / "session.jsonl"
        for name in ("HOME", "USERPROFILE"):
            env.setenv(name, str(root))
        env.delenv("CLAUDE_PROJECT_DIR", raising=False)

    def append(self, lines: bytes) -> None:
        with self.path.open("ab") as file:
            file.write(lines)

    def compare(self) -> bool:
        """Answer a prompt in both ways; tell whether the short one could."""
        fields = {"transcript_path": str(self.path), "cwd": str(self.root), "prompt": "Go on."}
        stdin = data(claude("UserPromptSubmit") | {"session_id": self.session_id} | fields)
        self._env.setenv("ULLAGE_STATE_DIR", str(self.root / "long"))
        expected = self._answer(stdin)
        self._env.setenv("ULLAGE_STATE_DIR", str(self.root / "short"))
        output = answer_quickly(stdin, self.agent)
        if output is None:
            self._answer(stdin)
        else:
            assert output == expected
        return output is not None

    def _answer(self, stdin: bytes) -> bytes:
        event = parse_event(stdin, self.agent)
        assert event is not None
        try:
            return answer(event)
        except UllageError:
            return b""


@pytest.fixture
def lab(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Lab:
    return Lab(tmp_path, monkeypatch)


files = st.one_of(
    claude_files().map(lambda file: ("claude-code", file.lines)),
    codex_files().map(lambda file: ("codex", file.lines)),
)


@settings(max_examples=examples(150))
@given(files, st.data(), st.sampled_from((150, 400, 1_000, 8_000, 0)))
def test_random_sessions_are_told_of_alike(file, drawn: st.DataObject, window: int) -> None:
    agent, lines = file
    cuts = drawn.draw(st.sets(st.integers(1, len(lines)), min_size=min(2, len(lines)), max_size=6))
    with tempfile.TemporaryDirectory() as name, pytest.MonkeyPatch.context() as env:
        if window:
            env.setenv("ULLAGE_CONTEXT_WINDOW", str(window))
        lab, done = Lab(Path(name), env, agent), 0
        for cut in sorted(cuts):
            lab.append(b"".join(lines[done:cut]))
            done = cut
            lab.compare()


answers = st.tuples(
    st.sampled_from(("answer", "tool", "branch", "system", "user", "progress", "failed")),
    st.integers(60_000, 199_000),
)


@settings(max_examples=examples(150))
@given(st.lists(st.lists(answers, max_size=4), min_size=2, max_size=5))
def test_a_session_that_goes_on_is_told_of_alike(turns) -> None:
    file, n_lines = ClaudeFile(), 0
    file.user("Fix the parcel router.")
    file.assistant(text("Done."), usage=100_000)
    with tempfile.TemporaryDirectory() as name, pytest.MonkeyPatch.context() as env:
        lab = Lab(Path(name), env)
        for turn in [[], *turns]:
            for kind, used in turn:
                add(file, kind, used)
            lab.append(b"".join(file.lines[n_lines:]))
            n_lines = len(file.lines)
            lab.compare()


def add(file: ClaudeFile, kind: str, used: int) -> None:
    match kind:
        case "answer":
            file.assistant(text("I look."), text("Done."), usage=used)
        case "tool":
            file.assistant(call(f"c{used}"), usage=used)
            file.user([result(f"c{used}", "x " * (used % 700))])
        case "branch":
            file.user("Rather this.", parent=file.uuids[-2])
        case "failed":
            file.assistant(text("no"), usage=0, model="<synthetic>", isApiErrorMessage=True)
        case "user":
            file.user("Go on.")
        case _:
            file.record(kind, content="")


def test_a_turn_that_was_appended_is_told_of_in_each_band(lab: Lab) -> None:
    file = ClaudeFile()
    for used in (20_000, 60_000, 118_000, 125_000, 140_000, 141_000, 150_000):
        file.user("Go on.")
        file.assistant(call("c1", command="ls"), usage=used - 500)
        file.user([result("c1", "a.py")])
        file.assistant(text("Done."), usage=used)
        file.record("system", subtype="turn_duration")
        lab.append(b"".join(file.lines))
        ways = [lab.compare(), lab.compare()]
        # The first one of all, and those that a checkpoint is due for.
        assert ways == [used not in (20_000, 140_000, 150_000), True], used
        file.lines.clear()


def test_a_turn_of_codex_too(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    lab = Lab(lab.root, monkeypatch, "codex")
    file = CodexFile()
    ways: list[bool] = []
    for used in (20_000, 60_000, 190_000, 191_000):
        file.turn()
        file.user("Go on.")
        file.tool("a.py", n_total=used - 500)
        file.assistant("Done.", n_total=used)
        lab.append(file.data)
        file.lines.clear()
        ways.append(lab.compare())
    assert ways == [False, True, True, True]


@pytest.mark.parametrize(
    "kind",
    "replaced cut torn changed settings model announced long rewound between boundary"
    " costs".split(),
)
def test_what_only_a_whole_reading_can_tell_goes_the_long_way(lab: Lab, kind: str) -> None:
    file = ClaudeFile()
    file.user("Go on.")
    file.assistant(text("Done."), usage=120_000)
    lab.append(file.data)
    lab.compare()
    assert lab.compare()
    match kind:
        case "replaced":
            new = lab.root / "new"
            new.write_bytes(file.data)
            new.replace(lab.path)
        case "cut":
            lab.path.write_bytes(file.lines[0])
        case "torn":
            lab.append(b'{"type":"assist')
        case "changed":
            with lab.path.open("r+b") as transcript:
                transcript.seek(len(file.data) - 5)
                transcript.write(b" ")
        case "settings":
            (lab.root / ".claude").mkdir()
            settings_file = lab.root / ".claude" / "settings.json"
            settings_file.write_text('{"numStartups": 1}', "utf-8")
            assert lab.compare()
            settings_file.write_text('{"autoCompactWindow": 150000}', "utf-8")
        case "rewound":
            file.record("system", parent=file.uuids[0], content="")
            lab.append(file.lines[-1])
        case "between":
            for block in (call("c1"), None, text("Done.")):
                if block is None:
                    file.user([result("c1", "a.py " * 2_000)])
                else:
                    file.assistant(block, usage=121_000, answer_id="msg_x")
            lab.append(b"".join(file.lines[-3:]))
        case "boundary":
            file.boundary()
            file.summary("What came before.")
            lab.append(b"".join(file.lines[2:]))
        case "costs":
            file.note("cost-state", modelUsage={MODEL: {"contextWindow": 500_000}})
            lab.append(file.lines[-1])
        case "announced":
            file.record("attachment", attachment={"identity": {"modelId": f"{MODEL}[1m]"}})
            lab.append(file.lines[-1])
        case "model":
            file.assistant(text("Done."), usage=130_000, model=f"{MODEL}-next")
            lab.append(file.lines[-1])
        case _:
            lab.append(b"".join(json.dumps({"n": "x" * 999}).encode() + b"\n" for _ in range(1100)))
    assert not lab.compare()


def test_a_checkpoint_that_is_gone_is_written_again(lab: Lab) -> None:
    file = ClaudeFile()
    file.user("Go on.")
    file.assistant(text("Done."), usage=150_000)
    lab.append(file.data)
    lab.compare()
    assert lab.compare()
    for path in lab.root.glob("short/context/checkpoints/*/cp_*.yaml"):
        path.unlink()
    assert not lab.compare()
    assert lab.compare()
    assert len(list(lab.root.glob("short/context/checkpoints/*/cp_*.yaml"))) == 1


@given(st.text())
def test_no_more_tokens_are_in_a_line_than_the_most(value: str) -> None:
    for line in (value.encode("utf-8", "surrogatepass"), json.dumps(value).encode()):
        assert estimate_tokens(value) <= most_tokens(line) or not value


def test_the_guess_of_the_state_folder_is_the_folder(
    lab: Lab, monkeypatch: pytest.MonkeyPatch
) -> None:
    from ullage.store.files.places import state_folder
    from ullage.store.files.quick_state import state_folder as guess_state_folder

    monkeypatch.delenv("ULLAGE_STATE_DIR", raising=False)
    for value in ("", str(lab.root / "state")):
        monkeypatch.setenv("XDG_STATE_HOME", value)
        assert guess_state_folder() == str(state_folder(dict(os.environ)))
