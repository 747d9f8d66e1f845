"""`ullage checkpoint`: written, listed, shown, compared, restored in three ways."""

import io
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest
from click.shell_completion import ShellComplete

from pi_files import conversation
from running import Place, idle
from ullage.cli.commands import ullage as group
from ullage.cli.main import main


class Done(NamedTuple):
    returncode: int
    stdout: str
    stderr: str


Ullage = Callable[..., Done]


@pytest.fixture
def ullage(
    place: Place, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Ullage:
    """Run the program in this process: a process of its own for each step takes too long."""
    for name in ("HOME", "USERPROFILE", "ULLAGE_STATE_DIR"):
        monkeypatch.setenv(name, place.env()[name])
    monkeypatch.chdir(place.cwd)

    def run_here(*args: str | Path, stdin: str = "") -> Done:
        monkeypatch.setattr(sys, "argv", ["ullage", *map(str, args)])
        monkeypatch.setattr(sys, "stdin", io.StringIO(stdin))
        with pytest.raises(SystemExit) as ended:
            main()
        code = ended.value.code
        return Done(code if isinstance(code, int) else 0, *capsys.readouterr())

    return run_here


def grow(session: Path, n_turns: int = 11) -> None:
    session.write_bytes(conversation(n_turns, chars=2400, usage=7_700).data)
    idle(session)


def run(ullage: Ullage, session: Path, *args: str) -> str:
    done = ullage("checkpoint", *args, "--session", session)
    assert (done.returncode, done.stderr) == (0, ""), done.stderr
    return done.stdout


def asked(ullage: Ullage, session: Path, *args: str) -> dict:
    return json.loads(run(ullage, session, *args, "--json"))


def contents(ullage: Ullage, session: Path) -> list[str]:
    shown = json.loads(ullage("context", "show", "--json", "--session", session).stdout)
    return [str(message["content"]) for message in shown["messages"]]


def test_a_checkpoint_is_written_once(ullage: Ullage, session: Path) -> None:
    assert run(ullage, session, "write").startswith("✓ Checkpoint cp_001 · ")
    assert run(ullage, session, "write").startswith("Unchanged since cp_001 · ")
    written = asked(ullage, session, "write")
    assert (written["checkpoint_id"], written["is_new"]) == ("cp_001", False)
    assert Path(written["path"]).is_file()
    grow(session)
    assert run(ullage, session, "write").startswith("✓ Checkpoint cp_002 · ")


def test_checkpoints_are_listed_and_compared(ullage: Ullage, session: Path) -> None:
    assert "No checkpoints of this session yet" in run(ullage, session, "list")
    run(ullage, session, "write")
    grow(session)
    run(ullage, session, "write")
    heading, *rows = run(ullage, session, "list").splitlines()
    assert heading.split()[:2] == ["Id", "Written"]
    assert [row.split()[0] for row in rows] == ["cp_002", "cp_001"]
    assert all(len(row) <= 80 for row in (heading, *rows))
    assert [row.split()[2:5] for row in rows] == [
        ["manual", "7,700", "6%"],
        ["manual", "7,000", "5%"],
    ]
    report = asked(ullage, session, "list")
    assert [one["checkpoint_id"] for one in report["checkpoints"]] == ["cp_002", "cp_001"]
    assert report["checkpoints"][0]["previous_checkpoint"] == "cp_001"
    shown = run(ullage, session, "diff")
    assert shown.splitlines()[1] == "Tokens: 7,000 → 7,700"
    assert shown == run(ullage, session, "diff", "cp_001", "2") == run(ullage, session, "diff", "1")
    assert "\x1b" not in shown
    changes = asked(ullage, session, "diff")["changes"]
    assert {
        "field": "meta.token_usage.input_tokens",
        "kind": "changed",
        "old": "7,000",
        "new": "7,700",
    } in changes
    assert "Nothing differs" in run(ullage, session, "diff", "2", "2")


def test_a_checkpoint_is_shown_as_it_is_on_disk(ullage: Ullage, session: Path) -> None:
    path = Path(asked(ullage, session, "write")["path"])
    assert run(ullage, session, "show") == path.read_text("utf-8")
    assert run(ullage, session, "show", "1") == path.read_text("utf-8")
    assert asked(ullage, session, "show")["checkpoint"]["meta"]["checkpoint_id"] == "cp_001"
    told = run(ullage, session, "show", "--text")
    assert told.startswith("[Post-compaction checkpoint restore]\n\nWorking on: ")
    assert told == run(ullage, session, "restore")
    assert asked(ullage, session, "restore")["text"] + "\n" == told


def test_a_damaged_latest_one_is_told_of_and_the_one_before_it_serves(
    ullage: Ullage, session: Path
) -> None:
    run(ullage, session, "write")
    grow(session)
    path = Path(asked(ullage, session, "write")["path"])
    path.write_bytes(b"\0" * 40)
    done = ullage("checkpoint", "show", "--session", session)
    assert done.returncode == 0
    assert 'checkpoint_id: "cp_001"' in done.stdout
    assert done.stderr.startswith("Note: cp_002.yaml is damaged")
    assert done.stderr.count("\n") == 1
    assert "Warning: cp_002.yaml is damaged" in run(ullage, session, "list")


def test_a_checkpoint_is_restored_into_the_session_and_taken_back(
    ullage: Ullage, session: Path
) -> None:
    before, data = contents(ullage, session), session.read_bytes()
    told = run(ullage, session, "show", "--text") if run(ullage, session, "write") else ""
    planned = asked(ullage, session, "restore", "--into", "session", "--dry-run")
    assert (planned["outcome"], planned["path_after"]) == ("planned", str(session))
    assert session.read_bytes() == data
    done = asked(ullage, session, "restore", "--into", "session", "--yes")
    assert (done["outcome"], done["tokens_after"]) == ("restored", planned["tokens_after"])
    assert contents(ullage, session) == [*before, told.removesuffix("\n")]
    idle(session)
    assert ullage("undo", "--yes", "--session", session).returncode == 0
    assert contents(ullage, session) == before
    idle(session)
    done = ullage("undo", "--yes", "--session", session)
    assert (done.returncode, "to undo" in done.stderr) == (4, True)


def test_a_checkpoint_begins_a_new_session(ullage: Ullage, session: Path) -> None:
    data = session.read_bytes()
    run(ullage, session, "write")
    planned = asked(ullage, session, "restore", "1", "--into", "new", "--dry-run")
    assert not Path(planned["path_after"]).exists()
    done = asked(ullage, session, "restore", "1", "--into", "new", "--yes")
    new = Path(done["path_after"])
    assert contents(ullage, new) == [done["text"]]
    assert done["resume"] == f"pi --session {new}"
    assert session.read_bytes() == data
    assert run(ullage, new, "show") == run(ullage, session, "show")


def test_a_question_stands_before_a_change(ullage: Ullage, session: Path) -> None:
    run(ullage, session, "write")
    data = session.read_bytes()
    args = ("checkpoint", "restore", "--into", "session", "--session", session)
    done = ullage(*args, stdin="n\n")
    assert (done.returncode, session.read_bytes()) == (0, data)
    assert "Nothing was restored." in done.stderr
    assert "What the agent is told:" in done.stdout
    assert ullage(*args, stdin="y\n").stdout.count("✓ Restored cp_001") == 1
    assert session.read_bytes() != data


@pytest.mark.parametrize(
    ("args", "exit_code", "message"),
    [
        (("show",), 3, "`ullage checkpoint write --session "),
        (("restore",), 3, "there is no checkpoint yet"),
        (("diff",), 3, "there is no checkpoint yet"),
        (("restore", "--into", "session", "--json"), 2, "--yes or --dry-run"),
        (("restore", "--into", "elsewhere"), 2, "elsewhere"),
    ],
)
def test_what_cannot_be_done_is_one_line(
    ullage: Ullage, session: Path, args: tuple[str, ...], exit_code: int, message: str
) -> None:
    if exit_code == 2:
        run(ullage, session, "write")
    done = ullage("checkpoint", *args, "--session", session)
    assert (done.returncode, done.stdout) == (exit_code, "")
    assert message in done.stderr
    assert done.stderr.count("\n") == 1


def test_an_unknown_id_lists_the_known_ones(ullage: Ullage, session: Path) -> None:
    run(ullage, session, "write")
    done = ullage("checkpoint", "show", "cp_7", "--session", session)
    assert (done.returncode, done.stdout) == (3, "")
    assert done.stderr.endswith("there is no checkpoint 'cp_7', only cp_001\n")


def test_an_agent_whose_sessions_are_only_read_gets_the_text(
    ullage: Ullage, place: Place, session: Path
) -> None:
    old = session.read_bytes().replace(b'"version":3', b'"version":2', 1)
    path = place.write("old.jsonl", old)
    run(ullage, path, "write")
    for into in ("session", "new"):
        done = ullage("checkpoint", "restore", "--into", into, "--yes", "--session", path)
        assert (done.returncode, done.stderr.count("\n")) == (4, 1)
        assert f"`ullage checkpoint restore --into text --session {path}`" in done.stderr
    assert run(ullage, path, "restore").startswith("[Post-compaction checkpoint restore]")


def test_the_shell_completes_ids(ullage: Ullage, session: Path) -> None:
    run(ullage, session, "write")
    shell = ShellComplete(group, {}, "ullage", "_ULLAGE_COMPLETE")
    line = ["checkpoint", "show", "--session", str(session)]
    assert [one.value for one in shell.get_completions(line, "cp")] == ["cp_001"]
    assert shell.get_completions(line, "x") == []
    assert shell.get_completions(["checkpoint", "diff", "--session", "nowhere.jsonl"], "") == []


def test_every_answer_tells_which_newer_file_is_damaged(ullage: Ullage, session: Path) -> None:
    run(ullage, session, "write")
    grow(session)
    path = Path(asked(ullage, session, "write")["path"])
    path.with_name("cp_003.yaml").write_bytes(b"{")
    for args in (["show", "--text"], ["restore"], ["restore", "--into", "new", "--yes"], ["diff"]):
        done = ullage("checkpoint", *args, "--json", "--session", session)
        assert "cp_003.yaml is damaged" in json.loads(done.stdout)["problem"], done.stderr
