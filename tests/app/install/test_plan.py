"""Ullage in an agent and out of it again: what is there stays as it is, to the byte."""

import json
import sys
from pathlib import Path

import msgspec
import pytest

from ullage.app.install.plan import find_install_state, make, plan_install, plan_uninstall
from ullage.app.install.text import plan_lines, report_plan
from ullage.core.install.hook_settings import is_ours
from ullage.errors import AgentNotFound, ChangedMeanwhile, Unreadable
from ullage.store.files.places import Places

THEIRS = {"matcher": "Edit", "hooks": [{"type": "command", "command": "lint"}]}
DOCUMENT = {
    "model": "opus",
    "permissions": {"allow": ["Bash(ls:*)", ["a", ["b"]]], "deny": []},
    "hooks": {"PostToolUse": [THEIRS], "Stop": []},
    "name": "größe \u2028 \U0001f600",
}
TEXT = json.dumps(DOCUMENT, indent=2, ensure_ascii=False)
SETTINGS: dict[str, bytes | None] = {
    "no file": None,
    "an empty file": b"",
    "a blank file": b"\n\n",
    "an empty object": b"{}",
    "an empty object over two lines": b"{\n}\n",
    "hooks of others": TEXT.encode() + b"\n",
    "no final line end": TEXT.encode(),
    "line ends of Windows": TEXT.replace("\n", "\r\n").encode(),
    "tabs": json.dumps(DOCUMENT, indent="\t").encode(),
    "one line": json.dumps(DOCUMENT, separators=(",", ":")).encode(),
    "a byte order mark": b"\xef\xbb\xbf" + TEXT.encode(),
    "a status line of its user": b'{"statusLine": {"type": "command", "command": "~/line.sh"}}',
    "a key that stands twice": b'{"hooks": {"Stop": []}, "a": 1, "hooks": {}}',
    "empty lists of our events": b'{"hooks": {"PreCompact": [ ], "SessionStart": [\n\n]}}',
    "many permissions": json.dumps({"allow": [f"Bash(run{n}:*)" for n in range(1_500)]}).encode(),
}
NAMES: dict[str, str] = {"claude-code": ".claude/settings.json", "codex": ".codex/hooks.json"}
CODEX_REFUSES = (b"\xef\xbb\xbf", b'"model"', b'"a"', b'"allow"', b'"statusLine"')
"""What Codex does not read in its own file."""


@pytest.fixture
def places(tmp_path: Path) -> Places:
    home = tmp_path / "home"
    for folder in (".claude", ".codex", ".pi/agent", ".openclaw"):
        (home / folder).mkdir(parents=True)
    return Places(cwd=tmp_path, home=home, env={}, state_folder=tmp_path / "state")


def everything(places: Places) -> dict[str, bytes | None]:
    root = places.home.parent
    return {
        str(path.relative_to(root)): path.read_bytes() if path.is_file() else None
        for path in root.rglob("*")
    }


def put(places: Places, agent: str, data: bytes | None) -> Path:
    path = places.home / NAMES[agent]
    if data is not None:
        path.write_bytes(data)
        path.chmod(0o640)
    return path


CASES: list[tuple[str, str]] = [
    (agent, case)
    for agent in NAMES
    for case, data in SETTINGS.items()
    if agent != "codex" or not any(part in (data or b"") for part in CODEX_REFUSES)
]


@pytest.mark.parametrize(("agent", "case"), CASES)
def test_out_again_all_is_as_it_was(places: Places, agent: str, case: str) -> None:
    data = SETTINGS[case]
    path = put(places, agent, data)
    places.state_folder.mkdir()
    before = everything(places)
    assert find_install_state(agent, places).state == "not-installed"
    make(plan_install(agent, places))
    assert not plan_install(agent, places).is_needed
    assert find_install_state(agent, places).state == "installed"
    hooks = json.loads(path.read_bytes().decode("utf-8-sig"))["hooks"]
    assert {"PreCompact", "SessionStart", "PostToolUse", "UserPromptSubmit"} <= set(hooks)
    assert is_ours(hooks["PreCompact"][-1]["hooks"][0]["command"], agent)
    if data is not None and sys.platform != "win32":
        assert path.stat().st_mode & 0o777 == 0o640
    make(plan_uninstall(agent, places))
    assert everything(places) == before
    assert not plan_uninstall(agent, places).is_needed


@pytest.mark.parametrize("case", ["hooks of others", "line ends of Windows", "tabs", "one line"])
def test_what_was_edited_in_between_stays_to_the_byte(places: Places, case: str) -> None:
    def edited(data: bytes) -> bytes:
        return data.replace(b'"opus"', b'"sonnet",   "mine": [1 ]').replace(b"lint", b"lint -f")

    data = SETTINGS[case] or b""
    path = put(places, "claude-code", data)
    make(plan_install("claude-code", places))
    path.write_bytes(edited(path.read_bytes()))
    make(plan_uninstall("claude-code", places))
    assert path.read_bytes() == edited(data)


def test_a_file_that_we_made_stays_where_something_else_came_into_it(places: Places) -> None:
    path = put(places, "claude-code", None)
    make(plan_install("claude-code", places))
    path.write_bytes(path.read_bytes().replace(b"{\n", b'{\n  "model": "opus",\n', 1))
    make(plan_uninstall("claude-code", places))
    assert path.read_bytes() == b'{\n  "model": "opus"\n}\n'


def test_it_is_taken_back_without_a_receipt_too(places: Places) -> None:
    path = put(places, "claude-code", SETTINGS["hooks of others"])
    make(plan_install("claude-code", places))
    for receipt in (places.state_folder / "agents").iterdir():
        receipt.write_bytes(b"damaged")
    make(plan_uninstall("claude-code", places))
    assert path.read_bytes() == SETTINGS["hooks of others"]


def test_a_second_installation_by_another_interpreter_leaves_no_trace_of_the_first(
    places: Places,
) -> None:
    path = put(places, "claude-code", SETTINGS["empty lists of our events"])
    make(plan_install("claude-code", places))
    ours = path.read_bytes()
    command = json.loads(ours)["hooks"]["PreCompact"][0]["hooks"][0]["command"]
    older = ours.replace(
        json.dumps(command).encode(), b'"/old/bin/python -P -m ullage hook claude-code"'
    )
    path.write_bytes(older)
    found = find_install_state("claude-code", places)
    assert (found.state, found.detail) == ("other", "/old/bin/python")
    make(plan_install("claude-code", places))
    assert path.read_bytes() == ours
    make(plan_uninstall("claude-code", places))
    assert path.read_bytes() == SETTINGS["empty lists of our events"]


def test_the_status_line_is_ours_where_its_user_has_none(places: Places) -> None:
    path = put(places, "claude-code", b'{"model": "opus"}')
    make(plan_install("claude-code", places))
    setting = json.loads(path.read_bytes())["statusLine"]
    assert (setting["type"], setting["command"].split()[-1]) == ("command", "statusline")
    # What its user adds to it stays when the rest is renewed, and goes with it.
    with_format = path.read_bytes().replace(b'statusline"', b"statusline --format '{percent}'\"")
    path.write_bytes(with_format)
    assert not plan_install("claude-code", places).is_needed
    make(plan_uninstall("claude-code", places))
    assert path.read_bytes() == b'{"model": "opus"}'


def test_a_status_line_of_its_user_stays_and_that_is_said(places: Places) -> None:
    own = b'{"statusLine": {"type": "command", "command": "~/line.sh"}, "model": "opus"}'
    path = put(places, "claude-code", own)
    plan = plan_install("claude-code", places)
    assert "Note: your own status line stays." in "\n".join(plan_lines(plan, places))
    make(plan)
    assert json.loads(path.read_bytes())["statusLine"]["command"] == "~/line.sh"
    assert find_install_state("claude-code", places).state == "installed"


def test_a_number_of_any_length_is_no_fault(places: Places) -> None:
    data = b'{"number": ' + b"9" * 5000 + b"}"
    path = put(places, "claude-code", data)
    make(plan_install("claude-code", places))
    assert find_install_state("claude-code", places).state == "installed"
    make(plan_uninstall("claude-code", places))
    assert path.read_bytes() == data


def test_without_a_receipt_the_containers_that_held_our_hooks_alone_go(places: Places) -> None:
    """Nothing tells whether they were there before."""
    path = put(places, "claude-code", b'{"hooks": {"PreCompact": []}, "model": "opus"}')
    make(plan_install("claude-code", places))
    for receipt in (places.state_folder / "agents").iterdir():
        receipt.unlink()
    make(plan_uninstall("claude-code", places))
    assert json.loads(path.read_bytes()) == {"model": "opus"}


REFUSED: list[tuple[str, bytes, str]] = [
    ("claude-code", b"{", "this is not JSON5"),
    ("claude-code", b"[]", "what it holds is no table"),
    ("claude-code", b'{"hooks": []}', "`hooks` is no table"),
    ("claude-code", b'{"hooks": {"PreCompact": {}}}', "`hooks.PreCompact` is no list"),
    ("claude-code", b'{\n"a": 1, // mine\n}', "line 2: Claude Code reads plain JSON only"),
    ("claude-code", b'{"a": 1,}', "Claude Code reads plain JSON only"),
    ("claude-code", b'{"a": "\xff"}', "it is not UTF-8"),
    ("claude-code", '{"a": 1}'.encode("utf-16"), "it is not UTF-8"),
    ("claude-code", b"[" * 60 + b"]" * 60, "nested deeper"),
    ("claude-code", b" " * 2**20 + b"{}", "are read at most"),
    ("codex", b"\xef\xbb\xbf{}", "byte order mark"),
    ("codex", b'{"$schema": "x"}', "Codex does not know `$schema`"),
]


@pytest.mark.parametrize(("agent", "data", "problem"), REFUSED)
def test_what_cannot_be_used_is_told_in_a_line_and_left(
    places: Places, agent: str, data: bytes, problem: str
) -> None:
    put(places, agent, data)
    before = everything(places)
    with pytest.raises(Unreadable, match="nothing was written") as told:
        plan_install(agent, places)
    assert problem in str(told.value)
    assert find_install_state(agent, places).state == "unreadable"
    assert everything(places) == before


def test_a_folder_in_place_of_the_file_is_refused(places: Places) -> None:
    (places.home / NAMES["claude-code"]).mkdir()
    with pytest.raises(Unreadable, match="no regular file"):
        plan_install("claude-code", places)


def test_an_agent_that_is_not_here_gets_nothing(places: Places) -> None:
    (places.home / ".claude").rmdir()
    with pytest.raises(AgentNotFound, match="Claude Code was not found: there is no"):
        plan_install("claude-code", places)
    assert find_install_state("claude-code", places).state == "not-found"


@pytest.mark.skipif(sys.platform == "win32", reason="links need a privilege there")
def test_a_link_into_a_folder_of_dotfiles_stays_a_link(places: Places) -> None:
    kept = places.home / "dotfiles" / "claude.json"
    kept.parent.mkdir()
    kept.write_bytes(TEXT.encode())
    kept.chmod(0o600)
    link = places.home / NAMES["claude-code"]
    link.symlink_to("../dotfiles/claude.json")
    plan = plan_install("claude-code", places)
    assert any("is a link:" in line for line in plan_lines(plan, places))
    make(plan)
    assert link.is_symlink()
    assert b"hook claude-code" in kept.read_bytes()
    assert kept.stat().st_mode & 0o777 == 0o600
    make(plan_uninstall("claude-code", places))
    assert link.is_symlink()
    assert kept.read_bytes() == TEXT.encode()
    kept.unlink()
    with pytest.raises(Unreadable, match="a link to nothing"):
        plan_install("claude-code", places)


def test_a_file_that_changed_since_it_was_shown_is_left(places: Places) -> None:
    path = put(places, "claude-code", TEXT.encode())
    plan = plan_install("claude-code", places)
    path.write_bytes(b"{}")
    before = everything(places)
    with pytest.raises(ChangedMeanwhile, match="changed meanwhile"):
        make(plan)
    assert everything(places) == before


def test_the_settings_folder_of_the_environment_counts(places: Places, tmp_path: Path) -> None:
    chosen = tmp_path / "elsewhere"
    chosen.mkdir()
    env = {"CLAUDE_CONFIG_DIR": str(chosen)}
    here = Places(cwd=tmp_path, home=places.home, env=env, state_folder=places.state_folder)
    make(plan_install("claude-code", here))
    assert (chosen / "settings.json").is_file()
    assert find_install_state("claude-code", places).state == "not-installed"


def test_secrets_in_the_settings_are_not_shown(places: Places) -> None:
    put(places, "claude-code", b'{\n  "env": {\n    "MY_API_KEY": "hunter2hunter2"\n  }\n}\n')
    plan = plan_install("claude-code", places)
    shown = "\n".join(plan_lines(plan, places))
    report = report_plan(plan, places, is_done=False)
    for text in (shown, report.files[0].diff):
        assert "MY_API_KEY" in text
        assert "hunter2" not in text
        assert '+  "hooks": {' in text


@pytest.mark.parametrize(
    ("agent", "files", "note"),
    [
        ("claude-code", {".claude/settings.json": '{"disableAllHooks": true}'}, "disableAllHooks"),
        ("claude-code", {".claude/settings.json": "{}"}, None),
        ("codex", {".codex/config.toml": "[features]\nhooks = false"}, "features.hooks"),
        ("codex", {".codex/config.toml": "[[hooks.Stop]]"}, "config.toml has hooks too"),
        ("codex", {".codex/config.toml": "[hooks.state]\na = 1"}, None),
        ("codex", {".codex/config.toml": "torn = "}, None),
    ],
)
def test_what_keeps_hooks_from_running_is_noted(
    places: Places, agent: str, files: dict[str, str], note: str | None
) -> None:
    for name, text in files.items():
        (places.home / name).write_text(text)
    notes = plan_install(agent, places).notes
    assert len(notes) == (note is not None)
    assert note is None or note in notes[0]


def test_pi_gets_an_extension_and_a_command_and_loses_them(places: Places) -> None:
    before = everything(places)
    make(plan_install("pi", places))
    folder = places.home / ".pi" / "agent" / "extensions" / "ullage"
    assert {"index.ts", "client.ts", "command.json"} <= {path.name for path in folder.iterdir()}
    command = json.loads((folder / "command.json").read_bytes())["command"]
    assert command == [sys.executable, "-P", "-m", "ullage", "agent"]
    assert find_install_state("pi", places).state == "installed"
    make(plan_uninstall("pi", places))
    (places.state_folder).rmdir()
    assert everything(places) == before


def test_of_an_extension_what_somebody_changed_or_added_stays(places: Places) -> None:
    make(plan_install("pi", places))
    folder = places.home / ".pi" / "agent" / "extensions" / "ullage"
    (folder / "notes.md").write_bytes(b"mine")
    (folder / "client.ts").write_bytes(b"mine too")
    plan = plan_uninstall("pi", places)
    assert "client.ts was changed by somebody" in plan.notes[0]
    make(plan)
    assert {path.name for path in folder.iterdir()} == {"notes.md", "client.ts"}


def test_an_extension_of_an_older_version_is_replaced(places: Places) -> None:
    make(plan_install("pi", places))
    folder = places.home / ".pi" / "agent" / "extensions" / "ullage"
    (folder / "client.ts").write_bytes(b"older")
    (folder / "command.json").write_bytes(b'{"command": ["/old/python", "-m", "ullage", "agent"]}')
    found = find_install_state("pi", places)
    assert (found.state, found.detail) == ("other", "/old/python")
    make(plan_install("pi", places))
    assert find_install_state("pi", places).state == "installed"


CONFIG = b"// mine\n{\n  gateway: { mode: 'local' }, // keep\n}\n"


def test_openclaw_gets_a_plug_in_and_its_name_in_the_configuration(places: Places) -> None:
    path = places.home / ".openclaw" / "openclaw.json"
    path.write_bytes(CONFIG)
    before = everything(places)
    make(plan_install("openclaw", places))
    folder = places.state_folder / "agents" / "openclaw"
    assert {"openclaw.plugin.json", "command.json"} <= {one.name for one in folder.iterdir()}
    assert path.read_bytes().startswith(b"// mine\n{\n  gateway: { mode: 'local' }, // keep\n")
    assert json.dumps(str(folder)).encode() in path.read_bytes()
    assert find_install_state("openclaw", places).state == "installed"
    make(plan_uninstall("openclaw", places))
    assert everything(places) == before


def test_a_folder_that_cannot_be_looked_at_has_no_agent(places: Places) -> None:
    env = {"CLAUDE_CONFIG_DIR": str(places.home / ("x" * 300))}
    with pytest.raises(AgentNotFound, match="was not found"):
        plan_install("claude-code", msgspec.structs.replace(places, env=env))
