"""Event files and flat files: what is said of a session is true of that session."""

import json

import pytest

from claude_files import ClaudeFile
from pi_files import conversation
from running import Place, idle
from seed_files import event_file, flat_file
from ullage.formats.agents.openclaw.agent import folder_name

FILES = {"events": event_file, "flat": flat_file}


@pytest.mark.parametrize("name", FILES)
def test_no_command_of_pis_is_named_for_a_file_that_pi_would_begin_anew(
    place: Place, name: str
) -> None:
    session = place.write("s.jsonl", FILES[name]())
    before = session.read_bytes()
    for command in ("compact", "undo"):
        report = json.loads(place.run(command, "--yes", "--json", "--session", session).stdout)
        assert report["resume"] is None
        idle(session)
    assert session.read_bytes() == before
    for command in ("compact", "undo"):
        done = place.run(command, "--yes", "--session", session)
        idle(session)
        assert done.returncode == 0
        assert "Go on with" not in done.stdout


@pytest.mark.parametrize("name", FILES)
def test_the_command_that_takes_a_change_back_names_the_session_as_the_user_did(
    place: Place, name: str
) -> None:
    place.write("a b.jsonl", FILES[name]())
    done = place.run("compact", "--yes", "--session", "a b.jsonl")
    assert '`ullage undo --session "a b.jsonl"` takes it back' in done.stdout


def test_a_session_that_was_not_named_is_not_named_in_what_is_advised(place: Place) -> None:
    folder = place.home / ".pi/agent/sessions" / folder_name(str(place.cwd.resolve()))
    data = conversation(80, chars=2000, cwd=str(place.cwd)).data
    place.write(str(folder / "s.jsonl"), data)
    done = place.run("compact", "--yes")
    assert "`ullage undo` takes it back" in done.stdout
    assert "Go on with: pi --session " in done.stdout


@pytest.mark.parametrize(("n_compactions", "marks"), [(3, ("Consider:",)), (5, ("  1.", "  3."))])
@pytest.mark.parametrize("name", FILES)
def test_a_session_that_can_be_imported_is_told_to_be(
    place: Place, name: str, n_compactions: int, marks: tuple[str, ...]
) -> None:
    place.write("s.jsonl", FILES[name](n_compactions))
    status = place.run("context", "status", "--session", "s.jsonl").stdout
    assert all(mark in status for mark in marks)
    assert "ullage context export" in status
    assert "--session s.jsonl" in status
    advice = "⚠️  Recommendation: Consider exporting and starting fresh session"
    run = "   Run: ullage context export backup.json --session s.jsonl"
    assert f"\n\n{advice}\n{run}\n" in status


@pytest.mark.parametrize("name", FILES)
def test_a_session_that_was_compacted_twice_is_not_told_to_begin_anew(
    place: Place, name: str
) -> None:
    place.write("s.jsonl", FILES[name](2))
    assert "Recommendation" not in place.run("context", "status", "--session", "s.jsonl").stdout


def test_a_session_that_cannot_be_imported_is_not_told_to_be(place: Place) -> None:
    claude = ClaudeFile(cwd=str(place.cwd), agent_id="a1")
    claude.user("hello")
    for number in range(5):
        claude.boundary(preserved=[], n_after=50)
        claude.summary(f"summary {number}")
    place.write("s.jsonl", claude.data)
    status = json.loads(place.run("context", "status", "--session", "s.jsonl", "--json").stdout)
    assert status["risk"] == "critical"
    assert "import" not in status["recommendation"]
    assert "ullage checkpoint write --session s.jsonl" in status["recommendation"]
    assert place.run("checkpoint", "write", "--session", "s.jsonl").returncode == 0
    told = place.run("checkpoint", "restore", "--into", "text", "--session", "s.jsonl")
    assert told.returncode == 0


def test_a_flat_file_is_truncated_and_comes_back_to_the_byte(place: Place) -> None:
    whole, alone = (place.write(name, flat_file()) for name in ("w.jsonl", "a.jsonl"))
    before = whole.read_bytes()
    previewed = place.run("compact", "--truncate", "--dry-run", "--session", "w.jsonl").stdout
    assert "Taken out of the file: " in previewed
    assert "w.jsonl.bak" in previewed
    assert whole.read_bytes() == before
    assert place.run("compact", "--yes", "--session", "a.jsonl").returncode == 0
    assert place.run("compact", "--truncate", "--yes", "--session", "w.jsonl").returncode == 0
    shown = [
        json.loads(place.run("context", "show", "--json", "--session", name).stdout)["messages"]
        for name in ("w.jsonl", "a.jsonl")
    ]
    assert shown[0] == shown[1]
    assert len(whole.read_bytes()) < len(before) < len(alone.read_bytes())
    assert whole.with_name("w.jsonl.bak").read_bytes() == before
    status = json.loads(place.run("context", "status", "--json", "--session", "w.jsonl").stdout)
    assert status["used_source"] == "estimated"
    assert status["last_compaction_at"] is not None
    late = b'{"type":"message","id":"z1","parentId":"e0480","role":"user","content":"so?"}\n'
    with whole.open("ab") as file:
        file.write(late)
    idle(whole)
    assert place.run("undo", "--yes", "--session", "w.jsonl").returncode == 0
    assert whole.read_bytes() == before + late


@pytest.mark.parametrize("name", ["events", "pi", "claude"])
def test_only_a_flat_file_is_truncated(place: Place, name: str) -> None:
    claude = ClaudeFile(cwd=str(place.cwd))
    claude.user("hello")
    data = {"events": event_file(), "pi": conversation(3).data, "claude": claude.data}[name]
    session = place.write("s.jsonl", data)
    done = place.run("compact", "--truncate", "--yes", "--session", "s.jsonl")
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (4, "", 1)
    assert "only flat files are truncated" in done.stderr
    assert session.read_bytes() == data


def test_a_change_of_another_file_with_the_same_id_is_not_taken_back(place: Place) -> None:
    files = {
        place.write(name, data): data
        for name, data in (("a.jsonl", flat_file()), ("b.jsonl", flat_file(n_steps=70)))
    }
    for path in files:
        assert place.run("compact", "--truncate", "--yes", "--session", path).returncode == 0
    for path, data in files.items():
        assert place.run("undo", "--yes", "--session", path).returncode == 0
        assert path.read_bytes() == data


def test_a_hidden_message_is_sent_and_not_shown(place: Place) -> None:
    path = place.write("s3.jsonl", flat_file())
    for command in ("show", "inspect"):
        assert "aside" not in place.run("context", command, "--session", path).stdout
    assert "(hidden)" in place.run("context", "show", "--session", path).stdout
    assert "aside" in place.run("context", "show", "--json", "--session", path).stdout
