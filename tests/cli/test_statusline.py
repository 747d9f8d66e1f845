"""`ullage statusline`: the number of `context status`, by whichever way, and what agents tell."""

import json
import os
import subprocess
import sys

import pytest

from claude_files import SESSION_ID, ClaudeFile, call, result, text
from codex_files import CodexFile
from pi_files import Json, conversation
from running import WAIT_S, Place, on_terminal
from ullage.agent.hook import MAX_INPUT_BYTES
from ullage.store.files.programs import package_folder

SHORT = ("-E", "-P", "-S", "-c")
"""As it is installed; the second run of it goes the short way."""
START = (
    f"import sys; sys.path.append({package_folder()!r}); from ullage.__main__ import main; main()"
)
IMPORTS = (
    "import os, sys\n"
    f"sys.path.append({package_folder()!r})\n"
    "from ullage.__main__ import main\n"
    "os._exit = lambda code: sys.exit(' '.join(sorted(sys.modules)))\n"
    "main()\n"
)
LIMITS: Json = {
    "five_hour": {"used_percentage": 23.6, "resets_at": 99_999_999_999},
    "seven_day": {"used_percentage": 41, "resets_at": 99_999_999_999},
}


class Lab:
    """A session of Claude Code in the project's folder, where its agent would keep it."""

    def __init__(self, place: Place) -> None:
        self.place = place
        folder = (
            place.home
            / ".claude"
            / "projects"
            / "".join(char if char.isalnum() else "-" for char in str(place.cwd))
        )
        folder.mkdir(parents=True)
        self.path = folder / f"{SESSION_ID}.jsonl"
        self.file = ClaudeFile(cwd=str(place.cwd))
        self.n_written = 0

    def answer(self, used: int) -> None:
        self.file.user("Fix the login.")
        self.file.assistant(text("Done."), usage=used)
        self.write()

    def write(self) -> None:
        with self.path.open("ab") as file:
            file.write(b"".join(self.file.lines[self.n_written :]))
        self.n_written = len(self.file.lines)

    def input(self, **fields: object) -> bytes:
        told: Json = {
            "session_id": SESSION_ID,
            "transcript_path": str(self.path),
            "cwd": str(self.place.cwd),
            "model": {"id": "claude-sonnet-4-5", "display_name": "Sonnet 4.5"},
            "context_window": {"context_window_size": 200_000},
            "cost": {"total_cost_usd": 0.39},
            "prompt_cache": {"caching_observed": True, "hit_ratio": 0.86},
            "rate_limits": LIMITS,
        }
        return json.dumps(told | fields).encode()

    def line(
        self, template: str = "{percent} {used}", *, script: str = START, **fields: object
    ) -> str:
        arguments = ("statusline", "--format", template)
        program = (*SHORT, script, *arguments)
        done = self.place.run_process(
            program=program, stdin=self.input(**fields), NO_COLOR="1", COLUMNS="200"
        )
        return done.stderr if script is IMPORTS else done.stdout.rstrip("\n") + done.stderr

    def status(self) -> Json:
        return json.loads(self.place.run("context", "status", "--json").stdout)

    def short(self) -> bool:
        """Whether a line goes the short way, which alone needs no command line."""
        return "ullage.cli.main" not in self.line(script=IMPORTS)


@pytest.fixture
def lab(place: Place) -> Lab:
    return Lab(place)


def test_the_number_is_that_of_the_status_by_both_ways(lab: Lab) -> None:
    ways: list[bool] = []
    for step in ("answer", "again", "more", "tool", "answer", "large"):
        if step == "tool":
            lab.file.assistant(call("c1"), usage=90_000)
            lab.file.user([result("c1", "x y z\n" * 4_000)])
            lab.write()
        elif step != "again":
            lab.answer({"answer": 60_000, "more": 84_400, "large": 163_000}[step])
        ways.append(lab.short())
        status = lab.status()
        used = status["used_tokens"]
        assert isinstance(used, int)
        assert lab.line() == f"{used / 200_000:.0%} {used / 1_000:.0f}k", step
    # What follows the last answer is counted the long way alone.
    assert ways == [False, True, True, False, True, True]


def test_the_short_way_imports_nothing_slow(lab: Lab) -> None:
    lab.answer(60_000)
    lab.line()
    imported = set(lab.line(script=IMPORTS).split())
    assert "ullage.agent.status_line" in imported
    slow = "re typing json msgspec click pathlib collections threading functools enum site".split()
    assert not imported & set(slow)


def test_what_the_agent_told_is_kept_and_told_elsewhere(lab: Lab) -> None:
    lab.answer(60_000)
    default = "30% 60k/200k | compacts at 167k | 5h 24% | week 41% | $0.39 | Sonnet 4.5"
    from ullage.core.gauge.status_line import DEFAULT_FORMAT

    assert lab.line(DEFAULT_FORMAT) == default
    status = lab.status()
    assert (status["cost_usd"], status["window_source"]) == (0.39, "agent")
    assert [(each["minutes"], each["used_percent"]) for each in status["limits"]] == [
        (300, 24),
        (10_080, 41),
    ]
    shown = lab.place.run("context", "status").stdout
    assert "Limits:              5h 24% until " in shown
    assert "Cost:                $0.39, 86% from the cache, as the agent says" in shown
    # By the short way too, and what is no longer told is gone.
    assert lab.line(cost={"total_cost_usd": 1.5}, rate_limits={}) == "30% 60k"
    assert (lab.status()["cost_usd"], lab.status()["limits"]) == (1.5, [])


def test_a_window_that_the_agent_tells_is_that_of_the_gauge(lab: Lab) -> None:
    lab.answer(60_000)
    assert lab.line() == "30% 60k"
    assert lab.line(context_window={"context_window_size": 1_000_000}) == "6% 60k"
    assert lab.status()["window_tokens"] == 1_000_000
    other: Json = {"id": "claude-opus-4-6", "display_name": "Opus 4.6"}
    # It is told of another model than the session's last answer is of.
    assert lab.line(model=other, context_window={"context_window_size": 500_000}) == "30% 60k"


def test_a_prompt_of_the_agent_is_told_by_the_new_window(lab: Lab) -> None:
    lab.answer(150_000)
    event = {"hook_event_name": "UserPromptSubmit", "prompt": "Go on."}

    def prompt() -> str:
        stdin = json.dumps(json.loads(lab.input()) | event).encode()
        return lab.place.run_process("hook", "claude-code", stdin=stdin).stdout

    prompt()
    assert "75% | 150k/200k" in prompt()
    lab.line(context_window={"context_window_size": 180_000})
    assert "83% | 150k/180k" in prompt()


def test_titles_are_those_of_the_moment(lab: Lab) -> None:
    lab.answer(60_000)
    assert [lab.line("{title}") for _ in range(2)] == ["Fix the login."] * 2
    lab.file.note("custom-title", customTitle="Release\u001b[31m")
    lab.write()
    assert lab.line("{title} {agent}") == "Release[31m Claude Code"
    assert lab.line("{title}", session_name="Named\u202e") == "Named"


def test_a_session_that_has_not_begun_tells_what_its_agent_does(lab: Lab) -> None:
    from ullage.core.gauge.status_line import DEFAULT_FORMAT

    limits = "5h 24% | week 41% | Sonnet 4.5"
    assert lab.line(DEFAULT_FORMAT, cost=None) == f"? ?/200k | {limits}"
    usage = {"input_tokens": 12, "output_tokens": 42, "cache_read_input_tokens": 17_500}
    window: Json = {"context_window_size": 200_000, "current_usage": usage}
    line = lab.line(DEFAULT_FORMAT, cost=None, context_window=window)
    assert line == f"9% 18k/200k | {limits}"
    assert lab.line(DEFAULT_FORMAT, cost=None, context_window={}) == limits


def test_where_nothing_may_be_written_nothing_is(lab: Lab) -> None:
    settings = lab.place.home / ".openclaw" / "config.yaml"
    settings.parent.mkdir()
    settings.write_text("sandbox:\n  readOnly: true\n", "utf-8")
    lab.answer(60_000)
    assert [lab.line() for _ in range(2)] == ["30% 60k"] * 2
    assert not lab.place.state.exists()


def test_only_its_user_reads_what_is_kept(lab: Lab) -> None:
    lab.answer(60_000)
    lab.line()
    lab.line(cost={"total_cost_usd": 2})
    (kept,) = lab.place.state.glob("context/figures/*")
    assert b"2000000" in kept.read_bytes()
    if sys.platform != "win32":
        assert {oct(path.stat().st_mode & 0o77) for path in lab.place.state.rglob("*")} == {"0o0"}


def test_colors_are_for_claude_code_and_not_where_they_are_unwanted(lab: Lab) -> None:
    lab.answer(150_000)
    for color in ("", "1"):
        done = lab.place.run_process("statusline", stdin=lab.input(), NO_COLOR=color, COLUMNS="20")
        assert done.stdout == ("75% 150k/200k\n" if color else "\x1b[33m75% 150k/200k\x1b[0m\n")


def test_without_an_agent_it_is_the_session_of_the_folder(place: Place) -> None:
    folder = f"--{str(place.cwd).lstrip('/').replace('/', '-')}--"
    data = conversation(2, cwd=str(place.cwd)).data
    place.write(str(place.home / ".pi" / "agent" / "sessions" / folder / "s.jsonl"), data)
    status = json.loads(place.run("context", "status", "--json").stdout)
    done = place.run("statusline", "--format", "{agent}: {percent}")
    assert done == (0, f"pi / OpenClaw: {status['utilization']:.0%}\n", "")
    for stdin in ("", "no JSON", "[]", '{"a": 1}'):
        assert (
            place.run("statusline", "--format", "{agent}", stdin=stdin).stdout == "pi / OpenClaw\n"
        )


def test_limits_of_codex_come_from_its_rollout(place: Place) -> None:
    codex = CodexFile(cwd=str(place.cwd))
    codex.turn()
    codex.user("Go on.")
    codex.assistant("Done.", n_total=50_000)
    primary: Json = {"used_percent": 2.6, "window_minutes": 300, "resets_at": 99_999_999_999}
    secondary: Json = {"used_percent": 1.0, "window_minutes": 10_080, "resets_at": 1}
    codex.event("token_count", info=None, rate_limits={"primary": primary, "secondary": secondary})
    path = place.home / ".codex" / "sessions" / "2026" / "11" / "28"
    path.mkdir(parents=True)
    (path / "rollout-2026-11-28T00-00-00-1.jsonl").write_bytes(codex.data)
    assert place.run("statusline", "--format", "{five_hour} {week}").stdout == "5h 3%\n"


def test_a_folder_without_a_session_prints_nothing(place: Place) -> None:
    assert place.run("statusline") == (0, "", "")


def test_a_field_that_there_is_none_of_is_an_error(place: Place) -> None:
    done = place.run("statusline", "--format", "{percnt}")
    assert (done.returncode, done.stdout) == (2, "")
    assert "--format has no field {percnt}: percent, used" in done.stderr


@on_terminal
@pytest.mark.skipif(os.geteuid() == 0 if hasattr(os, "geteuid") else True, reason="root may write")
def test_a_state_folder_that_takes_nothing_costs_no_line(lab: Lab) -> None:
    lab.answer(60_000)
    lab.place.state.mkdir(mode=0o500)
    assert lab.line() == "30% 60k"


def test_a_state_folder_that_is_none_costs_no_line(lab: Lab) -> None:
    lab.answer(60_000)
    lab.place.state.write_bytes(b"")
    assert lab.line() == "30% 60k"


@on_terminal
def test_a_working_folder_that_is_gone_costs_no_line(lab: Lab) -> None:
    lab.answer(60_000)
    gone = f"import os, tempfile; os.chdir(tempfile.mkdtemp()); os.rmdir(os.getcwd()); {START}"
    assert [lab.line(script=gone) for _ in range(2)] == ["30% 60k"] * 2


def test_ids_that_are_no_text_are_none(lab: Lab) -> None:
    lab.answer(60_000)
    lab.line()
    lab.file.note("user", uuid="u9", parentUuid={}, message={"id": []})
    lab.write()
    # It follows nothing.
    assert [lab.line(), lab.status()["used_tokens"]] == ["~0% 0", 0]


def test_a_wrong_field_is_an_error_by_the_short_way_too(lab: Lab) -> None:
    lab.answer(60_000)
    for template in ("{percent} {nope}", "{us{percent}ed}"):
        assert lab.line() == "30% 60k"
        assert "--format has no field {" in lab.line(template)


@pytest.mark.parametrize("n_columns", ["0", "-3"])
def test_a_width_that_is_none_cuts_nothing(lab: Lab, n_columns: str) -> None:
    lab.answer(60_000)
    arguments = ("statusline", "--format", "{percent} {used}/{window} | {agent}")
    for _ in range(2):
        done = lab.place.run_process(*arguments, stdin=lab.input(), NO_COLOR="1", COLUMNS=n_columns)
        assert done.stdout == "30% 60k/200k | Claude Code\n"


def test_an_input_that_is_too_long_is_none(lab: Lab) -> None:
    lab.answer(60_000)
    assert lab.line("{model}") == "Sonnet 4.5"
    assert lab.line("{model}", more=" " * MAX_INPUT_BYTES) == "claude-sonnet-4-5"


@on_terminal
def test_an_input_that_nobody_writes_to_holds_nothing_up(place: Place) -> None:
    """As tmux gives it."""
    ours, theirs = os.pipe()
    try:
        done = subprocess.run(
            [sys.executable, "-m", "ullage", "statusline"],
            cwd=place.cwd,
            env=place.env(),
            stdin=ours,
            capture_output=True,
            timeout=WAIT_S,
            check=False,
        )
    finally:
        os.close(ours)
        os.close(theirs)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
