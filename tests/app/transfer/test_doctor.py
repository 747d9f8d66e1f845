"""A session is examined where it lies, and a repaired copy is a file of its own."""

import json
from pathlib import Path

import pytest

from claude_files import ClaudeFile
from pi_files import PiFile, conversation, entry_line, json_line
from ullage.app.sessions.load import read
from ullage.app.sessions.open import open_session
from ullage.app.transfer.doctor import DoctorResult, check_up, plan_copy, report_checkup, write_copy
from ullage.errors import FileExists, NotATranscript, NotRepairable, StorageError
from ullage.store.files.places import Places


def examine(places: Places, data: bytes, name: str = "s.jsonl") -> DoctorResult:
    (places.cwd / name).write_bytes(data)
    return check_up(name, places)


def damaged() -> bytes:
    pi = conversation(3)
    return b"".join([*pi.lines[:4], pi.lines[4][:50], *pi.lines[5:], entry_line("ff", "deadbeef")])


def test_a_copy_reads_as_the_session_without_what_was_lost(places: Places) -> None:
    checkup = examine(places, damaged())
    before = (places.cwd / "s.jsonl").read_bytes()
    copy = plan_copy(checkup, Path("out.jsonl"), places)
    assert not (places.cwd / "out.jsonl").exists()
    write_copy(copy)
    assert (places.cwd / "s.jsonl").read_bytes() == before
    session = open_session(places.cwd / "out.jsonl")
    assert session.header.session_id == copy.session_id != checkup.patient.header.session_id
    assert session.header.cwd == checkup.patient.header.cwd
    texts = [str(item.native.get("content")) for item in read(session, places).context.items]
    assert any("file number 0" in text for text in texts)
    assert any("file number 2" in text for text in texts)
    assert texts[-1] == "again"
    assert not check_up("out.jsonl", places).examination.has_errors


def test_a_copy_takes_the_place_of_nothing(places: Places) -> None:
    checkup = examine(places, damaged())
    for name in ("s.jsonl", ".", "s.jsonl/below", "missing/out.jsonl", "nul\0"):
        with pytest.raises((FileExists, StorageError)):
            write_copy(plan_copy(checkup, Path(name), places))
    assert [path.name for path in places.cwd.iterdir()] == ["s.jsonl"]


def test_a_copy_of_claude_code_is_a_session_by_the_name_of_its_file(places: Places) -> None:
    claude = ClaudeFile()
    claude.user("first")
    claude.user("second")
    checkup = examine(places, claude.data)
    name = "0a0a0a0a-0000-4000-8000-000000000001"
    copy = plan_copy(checkup, Path(f"{name}.jsonl"), places)
    assert copy.session_id == name
    assert copy.repaired.data.count(name.encode()) == 2
    assert plan_copy(checkup, Path("copy.jsonl"), places).session_id == claude.session_id


def test_a_session_whose_beginning_is_lost_is_known_by_its_records(places: Places) -> None:
    pi = conversation(2)
    checkup = examine(places, b'{"type":"sessi' + b"".join(pi.lines[1:]))
    assert not checkup.patient.is_recognized
    assert "header-missing" in [one.code for one in checkup.examination.findings]
    write_copy(plan_copy(checkup, Path("out.jsonl"), places))
    assert open_session(places.cwd / "out.jsonl").header.cwd == str(places.cwd)


@pytest.mark.parametrize("key", ["uuid", "sessionId", "parentUuid"])
def test_what_no_agent_takes_for_a_session_is_not_well(places: Places, key: str) -> None:
    claude = ClaudeFile()
    claude.user("first")
    claude.user("second")
    natives = [json.loads(line) for line in claude.lines]
    for native in natives:
        del native[key]
    checkup = examine(places, b"".join(map(json_line, natives)))
    assert "unknown-session" in [one.code for one in checkup.examination.findings]
    assert checkup.examination.has_errors
    with pytest.raises(NotATranscript):
        open_session(places.cwd / "s.jsonl")


@pytest.mark.parametrize("version", [1, 4])
def test_what_is_not_ours_to_repair_is_examined_and_refused(places: Places, version: int) -> None:
    pi = PiFile(version=version)
    pi.user("first")
    checkup = examine(places, pi.data + b"oops\n")
    assert [one.code for one in checkup.examination.findings] == ["unparseable-line"]
    with pytest.raises(NotRepairable, match="versions 2 and 3"):
        plan_copy(checkup, Path("out.jsonl"), places)


def test_a_file_without_a_single_record_is_none(places: Places) -> None:
    for data in (b"oops\n", b"[1]\n{}\n", b"\0" * 100):
        with pytest.raises(NotATranscript):
            examine(places, data)


def test_what_interrupted_writes_left_is_told(places: Places) -> None:
    folder = places.state_folder / "context" / "checkpoints" / "openclaw-x"
    folder.mkdir(parents=True)
    (folder / ".cp_002.yaml.0a0b0c.tmp").write_bytes(b"half")
    (folder / "cp_001.yaml").write_bytes(b"half: [")
    data = conversation(1).data
    (places.cwd / ".a.jsonl.mine.tmp").write_bytes(data)
    report = report_checkup(examine(places, data))
    assert sorted(one.code for one in report.state) == ["corrupt-checkpoint", "leftover-temporary"]
    assert report.findings == []
    assert report.n_errors == 0


@pytest.mark.parametrize("cwd", ["/work/\ud800", "/work/\0"])
def test_a_session_of_a_folder_that_no_disk_can_have_is_examined(places: Places, cwd: str) -> None:
    pi = PiFile()
    pi.lines[0] = json_line(json.loads(pi.lines[0]) | {"cwd": cwd})
    pi.user("first")
    assert not examine(places, pi.data).examination.has_errors


def test_a_copy_that_a_kill_left_among_the_sessions_of_an_agent_is_told(places: Places) -> None:
    data = conversation(1).data
    session = open_session(examine(places, data).patient.lines.path)
    sessions = session.agent.workspace_folders(Path(session.header.cwd or ""), {}, places.home)[0]
    sessions.mkdir(parents=True)
    for folder in (sessions, places.cwd):
        (folder / ".a.jsonl.0a1b2c3d4e5f.tmp").write_bytes(data)
    report = report_checkup(examine(places, data))
    assert [one.code for one in report.state] == ["leftover-temporary"] * 2
    folders = (places.cwd, sessions)
    assert all(
        str(folder) in one.message for folder, one in zip(folders, report.state, strict=True)
    )
