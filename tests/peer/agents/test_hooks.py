"""The real Claude Code and Codex call our hooks: what they forget, the next request holds again.

`ullage install` puts the hooks into each agent's own settings, as a user does; the agents run
against a model on loopback. How to run it: see `test_agents.py`.
"""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from agents_lab import ARE_INSTALLED, COMPACT_AT, HOW_TO_INSTALL, N_FULL, PROGRAMS, Lab, texts
from loopback_model import Answer, Json, LoopbackModel
from reading import read_context
from running import WAIT_S

pytestmark = pytest.mark.skipif(not ARE_INSTALLED, reason=HOW_TO_INSTALL)

RULE = "Never touch the folder legacy/, whatever the tests say."
AGENTS_MD = "# Shop\n\n## Session Startup\n\n- Read SOUL.md.\n\n## Red Lines\n\n- Never push.\n"
LONG_ANSWER = "Long talk about tokens. " * 40
NAMES = {"claude": "claude-code", "codex": "codex"}


class Hooked(NamedTuple):
    """An agent with our hooks, in a session of some turns that the model calls nearly full."""

    lab: Lab
    state: Path
    session_id: str
    settings_before: dict[Path, bytes]

    def compact(self) -> tuple[list[Json], Json]:
        """Have the agent compact and go on; give the requests for a summary, and the next one."""
        model = self.lab.model
        n_asides, n_requests = len(model.asides), len(model.requests)
        if self.lab.agent == "claude":
            self.lab.ask("/compact", resume=self.session_id)
        else:
            self.lab.configure(compact_at=COMPACT_AT)
        self.lab.ask("Go on.", resume=self.session_id)
        *before, after = model.requests[n_requests:]
        return [*model.asides[n_asides:], *before], after


@pytest.fixture(params=tuple(PROGRAMS))
def hooked(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Hooked]:
    project = tmp_path / "project"
    project.mkdir()
    (project / "AGENTS.md").write_text(AGENTS_MD)
    (project / "SOUL.md").write_text("Be brief.\n")
    state = tmp_path / "state"
    with LoopbackModel() as model:
        passed_on = {name: os.environ[name] for name in ("PYTHONPATH",) if name in os.environ}
        variables = {"ULLAGE_STATE_DIR": str(state), **passed_on}
        lab = Lab(request.param, tmp_path, model, variables)
        lab.configure()
        before = settings(lab)
        ullage(lab, "install", NAMES[lab.agent], "--yes")
        model.answers = [
            Answer("I note it.", ("echo 'port = 8123' > notes.txt",)),
            Answer(LONG_ANSWER, n_tokens=N_FULL),
        ]
        lab.ask(f"Fix the login. {RULE}")
        session_id = read_context(lab.transcript().read_bytes()).header.session_id
        model.answers = [Answer("Done so far.", n_tokens=N_FULL)]
        lab.ask("Take RS256 then.", resume=session_id)
        yield Hooked(lab, state, session_id, before)


def test_what_was_compacted_away_reaches_the_model_again(hooked: Hooked) -> None:
    _, after = hooked.compact()
    lab = hooked.lab
    restored = ullage(lab, "checkpoint", "show", "--text", "--session", hooked.session_id).strip()
    assert RULE in restored
    assert LONG_ANSWER not in str(after)
    (given,) = (text for text in texts(after) if restored in text)
    rules = "From AGENTS.md of this workspace, quoted; "
    assert f"{rules}read now what it asks to read:\n> ## Session Startup\n" in given
    assert f"{rules}it holds on:\n> ## Red Lines\n>\n> - Never push.\n\n" in given
    assert "notes.txt as it is now, quoted:\n> port = 8123" in given
    lab.ask("And now?", resume=hooked.session_id)
    status = json.loads(ullage(lab, "context", "status", "--json"))
    assert (status["compaction_count"], status["unread_startup_files"]) == (1, ["SOUL.md"])


def test_tool_calls_and_messages_go_the_short_way(hooked: Hooked) -> None:
    """What an agent says at one event and the next differs in nothing that this would see."""
    lab, commands = hooked.lab, [f"echo {n} > {n}.txt" for n in range(3)]
    lab.model.answers = [*(Answer("I write.", (each,)) for each in commands), Answer("Done.")]
    lab.ask("Write three files.", resume=hooked.session_id)
    assert len(list(hooked.state.rglob("waiting-*_*.json"))) >= 2
    (snapshot,) = hooked.state.rglob("*.prompt.json")
    before = snapshot.stat().st_mtime_ns
    lab.model.answers = [Answer("Done.")] * 2
    lab.ask("Go on.", resume=hooked.session_id)
    lab.ask("Go on.", resume=hooked.session_id)
    assert snapshot.stat().st_mtime_ns == before


def test_claude_code_asks_for_a_summary_with_our_points(hooked: Hooked) -> None:
    if hooked.lab.agent != "claude":
        # Codex takes no word from a hook to its summarizer.
        return
    before, _ = hooked.compact()
    assert any("Rules and decisions:\n- " in text for one in before for text in texts(one))


def test_a_fresh_session_is_offered_the_work_of_this_branch_alone(hooked: Hooked) -> None:
    lab = hooked.lab
    project = lab.home / "project"
    subprocess.run(["git", "init", "-q", "-b", "main"], cwd=project, check=True)
    lab.model.answers = [Answer("The login works. Shall I remove the old key as well?")]
    lab.ask("Go on.", resume=hooked.session_id)
    ullage(lab, "checkpoint", "write", "--session", hooked.session_id)
    offers: dict[str, list[str]] = {}
    for n, branch in enumerate(("side", "main")):
        (project / ".git" / "HEAD").write_text(f"ref: refs/heads/{branch}\n")
        new_id = f"6f1c7f0e-5a0b-4a53-9f0c-2f6b8e1d900{n}"
        request = lab.ask("Hello.", session_id=new_id)[0]
        offers[branch] = [text for text in texts(request) if "[Context offer] " in text]
    assert offers["side"] == []
    (offer,) = offers["main"]
    assert f"checkpoint show --text --session {hooked.session_id}`" in offer


def test_a_cleared_session_of_claude_code_is_offered_what_was_cleared(hooked: Hooked) -> None:
    lab = hooked.lab
    if lab.agent != "claude":
        return
    lab.model.answers = [Answer("The login works.\n\nNext: remove the old key.")]
    lab.ask("Go on.", resume=hooked.session_id)
    prompts = [{"role": "user", "content": text} for text in ("/clear", "Hello.")]
    options = "-p --verbose --input-format stream-json --output-format stream-json --resume"
    subprocess.run(
        ["node", str(PROGRAMS["claude"]), *options.split(), hooked.session_id],
        env=lab.environment(),
        cwd=lab.home / "project",
        input="".join(f"{json.dumps({'type': 'user', 'message': said})}\n" for said in prompts),
        capture_output=True,
        check=True,
        encoding="utf-8",
        timeout=WAIT_S,
    )
    (offer,) = (text for text in texts(lab.model.requests[-1]) if "[Context offer] " in text)
    assert f"checkpoint show --text --session {hooked.session_id}`" in offer


def test_install_and_uninstall_leave_every_settings_file_as_it_was(hooked: Hooked) -> None:
    assert settings(hooked.lab) != hooked.settings_before
    ullage(hooked.lab, "uninstall", NAMES[hooked.lab.agent], "--yes")
    assert settings(hooked.lab) == hooked.settings_before


@pytest.mark.parametrize("name", ["claude-opus-5-5", "claude-sonnet-4-5[1m]"])
def test_in_a_window_of_a_million_claude_code_is_not_told_to_stop_at_150_000(
    tmp_path: Path, name: str
) -> None:
    (tmp_path / "project").mkdir()
    passed_on = {n: os.environ[n] for n in ("PYTHONPATH",) if n in os.environ}
    with LoopbackModel() as model:
        variables = {"ULLAGE_STATE_DIR": str(tmp_path / "state"), **passed_on}
        lab = Lab("claude", tmp_path, model, variables)
        lab.configure()
        ullage(lab, "install", NAMES[lab.agent], "--yes")
        model.answers = [Answer("Done.", n_tokens=150_000), Answer("Done.", n_tokens=850_000)]
        lab.ask("First.", model=name)
        session_id = read_context(lab.transcript().read_bytes()).header.session_id
        status = json.loads(ullage(lab, "context", "status", "--json"))
        assert (status["window_tokens"], status["utilization"]) == (1_000_000, 0.15)
        assert status["model"] == name
        [request] = lab.ask("Second.", resume=session_id, model=name)
        assert not any("[Context: " in text for text in texts(request))
        # The hook does speak where there is something to say.
        [request] = lab.ask("Third.", resume=session_id, model=name)
        assert any("[Context: 85% | 850k/1.0M tokens" in text for text in texts(request))


def settings(lab: Lab) -> dict[Path, bytes]:
    names = (".claude/settings.json", ".codex/config.toml", ".codex/hooks.json")
    return {p: p.read_bytes() for name in names if (p := lab.home / name).exists()}


def ullage(lab: Lab, *args: str) -> str:
    done = subprocess.run(
        [sys.executable, "-m", "ullage", *args],
        env=lab.environment(),
        cwd=lab.home / "project",
        capture_output=True,
        check=True,
        encoding="utf-8",
        timeout=WAIT_S,
    )
    return done.stdout
