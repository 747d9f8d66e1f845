"""A context goes out as a file without its secrets, and comes back as a session of its own."""

import json
import stat
import sys
from pathlib import Path

import pytest

from claude_files import ClaudeFile
from pi_files import PiFile, conversation
from running import Place

KEY = "sk-ant-api03-CANARY0123456789abcdefghijklmnop"


def answer(place: Place, *args: str | Path) -> dict[str, object]:
    done = place.run(*args, "--json")
    assert (done.returncode, done.stderr) == (0, "")
    return json.loads(done.stdout)


def compacted() -> PiFile:
    pi = conversation(4)
    kept = pi.user("kept")
    pi.assistant("yes", usage=150_000)
    pi.compaction("The summary", kept, details={"readFiles": ["a.py"]}, fromHook=True)
    pi.custom_message([{"type": "text", "text": "a note"}])
    pi.branch_summary("a branch")
    pi.context_edit(kept, {"content": "kept, but shorter"})
    pi.assistant("asking", calls=[("c9", "read", {"path": "b.py"})], stop="toolUse", usage=4000)
    pi.result("c9", "content", name="read")
    pi.user("lone \ud83d and 🍷 and \u2028")
    return pi


def test_what_was_exported_is_imported_as_the_same_context(place: Place) -> None:
    session = place.write("s.jsonl", compacted().data)
    before = answer(place, "context", "show", "--session", session)
    place.run("context", "export", "backup.json", "--session", session)
    made = answer(place, "context", "import", "backup.json")
    after = answer(place, "context", "show", "--session", str(made["path"]))
    assert after["messages"] == before["messages"]
    assert after["summary"] == "The summary"
    path = Path(str(made["path"]))
    assert (
        path.parent
        == place.home / ".pi/agent/sessions" / f"--{str(place.cwd)[1:].replace('/', '-')}--"
    )
    header = json.loads(path.read_bytes().split(b"\n")[0])
    assert header["id"] == made["session_id"] != "019c2f00-0000-7000-8000-000000000001"
    assert header["cwd"] == str(place.cwd)
    assert "parentSession" not in header
    # The newest session of this folder is the new one, with its gauge and its working state.
    assert answer(place, "context", "status")["session_id"] == made["session_id"]
    assert answer(place, "context", "status")["used_tokens"] != 150_000
    folders = {path.name for path in (place.state / "context" / "checkpoints").iterdir()}
    assert any(str(made["session_id"]) in name for name in folders)


def test_an_export_is_masked_and_says_what_it_masked(place: Place) -> None:
    pi = PiFile(cwd=str(place.cwd))
    pi.user(
        [
            {"type": "text", "text": f"use {KEY} in {place.home}/secret-plans"},
            {"type": "image", "data": "aW1hZ2U=", "mimeType": "image/png"},
        ]
    )
    pi.message(
        "assistant",
        content=[
            {"type": "thinking", "thinking": f"he gave {KEY}", "thinkingSignature": "c2lnbmVk"},
            {"type": "thinking", "thinking": "plain", "thinkingSignature": "a2VwdA=="},
        ],
        api="anthropic-messages",
        provider="anthropic",
        model="gpt-4-turbo",
        stopReason="stop",
    )
    session = place.write("s.jsonl", pi.data)
    report = answer(place, "context", "export", "out.json", "--session", session)
    text = (place.cwd / "out.json").read_text()
    assert KEY not in text
    assert str(place.home) not in text
    assert "~/secret-plans" in text
    assert "aW1hZ2U=" not in text
    assert "c2lnbmVk" not in text  # a signature of words that are no longer there
    assert "a2VwdA==" in text
    counts = {one["kind"]: one["count"] for one in report["redactions"]}
    assert counts.pop("home") >= 1  # it is also where the session lies
    assert counts == {"anthropic": 2, "image": 1}
    open_report = answer(
        place, "context", "export", "all.json", "--session", session, "--no-redact"
    )
    assert KEY in (place.cwd / "all.json").read_text()
    assert open_report["redactions"] == []
    for name in ("out.json", "all.json"):
        if sys.platform != "win32":
            assert stat.S_IMODE((place.cwd / name).stat().st_mode) == 0o600
        assert answer(place, "context", "import", name)["is_written"] is True


def test_a_dry_run_writes_nothing(place: Place) -> None:
    session = place.write("s.jsonl", conversation(2).data)
    place.run("context", "export", "b.json", "--session", session)
    before = {name: data for name, data in place.files().items() if not name.startswith("state")}
    answer(place, "context", "export", "c.json", "--dry-run", "--session", session)
    answer(place, "context", "import", "b.json", "--dry-run")
    answer(place, "context", "branch", "--dry-run", "--session", session)
    answer(place, "doctor", "--repair", "d.jsonl", "--dry-run", "--session", session)
    after = {name: data for name, data in place.files().items() if not name.startswith("state")}
    assert after == before


def test_a_dry_run_names_no_way_to_go_on_with_what_is_not_there(place: Place) -> None:
    session = place.write("s.jsonl", conversation(2).data)
    place.run("context", "export", "b.json", "--session", session)
    for command in (("import", "b.json"), ("branch", "--session", session)):
        assert "Go on with" not in place.run("context", *command, "--dry-run").stdout
        assert "Go on with" in place.run("context", *command).stdout


def test_nothing_is_replaced(place: Place) -> None:
    session = place.write("s.jsonl", conversation(2).data)
    before = session.read_bytes()
    for command in (("context", "export", "s.jsonl"), ("doctor", "--repair", "s.jsonl")):
        done = place.run(*command, "--session", session)
        assert (done.returncode, done.stdout) == (4, "")
        assert "exists already" in done.stderr
    assert session.read_bytes() == before


def test_what_no_session_is_made_of_is_exported_to_be_read(place: Place) -> None:
    claude = ClaudeFile(cwd=str(place.cwd), agent_id="a1")
    claude.user("hello")
    claude.user(f"the key is {KEY}")
    session = place.write("c.jsonl", claude.data)
    report = answer(place, "context", "export", "c.json", "--session", session)
    assert (report["is_importable"], report["n_messages"]) == (False, 2)
    assert KEY not in (place.cwd / "c.json").read_text()
    done = place.run("context", "import", "c.json")
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (4, "", 1)
    assert "Claude Code" in done.stderr


def test_a_branch_goes_on_from_an_entry(place: Place) -> None:
    pi = conversation(3)
    session = place.write("s.jsonl", pi.data)
    made = answer(place, "context", "branch", "--session", session, "--at", pi.ids[4])
    path = Path(str(made["path"]))
    assert path.parent == session.parent
    lines = path.read_bytes().split(b"\n")
    assert json.loads(lines[0])["parentSession"] == str(session)
    assert lines[1:-1] == [line.rstrip(b"\n") for line in pi.lines[1:6]]
    assert made["entry_id"] == pi.ids[4]


@pytest.mark.parametrize("at", [1, 2])
def test_a_branch_never_parts_a_call_from_its_result(place: Place, at: int) -> None:
    pi = conversation(2)
    session = place.write("s.jsonl", pi.data)
    made = answer(place, "context", "branch", "--session", session, "--at", pi.ids[at])
    assert made["entry_id"] == pi.ids[2]  # the result


def test_a_branch_from_an_open_call_is_refused(place: Place) -> None:
    pi = PiFile()
    pi.user("hello")
    pi.assistant("asking", calls=[("c1", "read", {})], stop="toolUse")
    session = place.write("s.jsonl", pi.data)
    done = place.run("context", "branch", "--session", session)
    assert (done.returncode, done.stdout) == (4, "")
    assert "call without its result" in done.stderr


def test_a_branch_off_the_active_path_is_one_too(place: Place) -> None:
    pi = PiFile()
    first = pi.user("one")
    left = pi.user("left")
    pi.leaf = first
    pi.user("right")
    session = place.write("s.jsonl", pi.data)
    made = answer(place, "context", "branch", "--session", session, "--at", left)
    shown = answer(place, "context", "show", "--session", str(made["path"]))
    assert [message["content"] for message in shown["messages"]] == ["one", "left"]
