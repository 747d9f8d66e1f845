"""State that version 0.1.0 wrote is read, gone on with, and undone.

`samples/state-0.1.0.tar.gz` is a home and a state folder as that version left them: a pi session
that it compacted (with a pin, and automatic compaction off), one that it pruned, a Claude Code
session that it compacted into a new one, and events that its hooks captured afterwards. In
`originals` are the sessions from before; `@ROOT@` stands for the folder that all of it was made in.
"""

import json
import tarfile
from pathlib import Path

import pytest

from running import Place, idle

ARCHIVE = Path(__file__).parents[1] / "samples" / "state-0.1.0.tar.gz"
PI = "home/.pi/agent/sessions/--work-shop--"
CLAUDE = "home/.claude/projects/-work-shop"
CLAUDE_ID = "33333333-4444-4555-8666-777777777777"


@pytest.fixture
def left(place: Place) -> Place:
    """The place as 0.1.0 left it."""
    with tarfile.open(ARCHIVE) as archive:
        archive.extractall(place.root, filter="data")
    for path in (place.root / "state").rglob("*"):
        if path.is_file():
            data = path.read_bytes()
            root = json.dumps(str(place.root))[1:-1].encode()
            path.write_bytes(data.replace(b"@ROOT@", root))
    for path in (place.root / "home").rglob("*.jsonl*"):
        idle(path)
    return place


def session(place: Place, name: str) -> Path:
    (path,) = place.root.glob(name)
    return path


def answer(place: Place, *args: str | Path) -> dict:
    done = place.run(*args, "--json")
    assert (done.returncode, done.stderr) == (0, "")
    return json.loads(done.stdout)


def context_of(place: Place, path: Path) -> object:
    return answer(place, "context", "show", "--session", path)["messages"]


def test_its_compaction_is_undone(left: Place) -> None:
    path = session(left, f"{PI}/compacted_*.jsonl")
    before = session(left, "originals/compacted_*.jsonl")
    assert context_of(left, path) != context_of(left, before)
    assert answer(left, "undo", "--yes", "--session", path)["outcome"] == "undone"
    assert context_of(left, path) == context_of(left, before)


def test_its_prune_is_undone_to_the_byte(left: Place) -> None:
    path = session(left, f"{PI}/pruned_*.jsonl")
    assert b"[output pruned for context]" in path.read_bytes()
    assert answer(left, "undo", "--yes", "--session", path)["outcome"] == "undone"
    assert path.read_bytes() == session(left, "originals/pruned_*.jsonl").read_bytes()


def test_its_new_session_is_withdrawn(left: Place) -> None:
    (copy,) = (p for p in left.root.glob(f"{CLAUDE}/*.jsonl") if p.stem != CLAUDE_ID)
    assert answer(left, "undo", "--yes", "--session", copy)["outcome"] == "undone"
    (path,) = left.root.glob(f"{CLAUDE}/*.jsonl")
    assert path.read_bytes() == session(left, f"originals/{CLAUDE_ID}.jsonl").read_bytes()


def test_its_checkpoints_are_read_and_the_next_one_goes_on(left: Place) -> None:
    path = session(left, f"{PI}/compacted_*.jsonl")
    listed = answer(left, "checkpoint", "list", "--session", path)
    assert [row["checkpoint_id"] for row in listed["checkpoints"]] == ["cp_001"]
    assert listed["problems"] == []
    shown = answer(left, "checkpoint", "show", "cp_001", "--session", path)["checkpoint"]
    assert "Never log the address of a customer." in json.dumps(shown)
    decided = {decision["id"]: decision["what"] for decision in shown["decisions"]}
    assert any(what.startswith("Retry three times") for what in decided.values())
    written = answer(left, "checkpoint", "write", "--session", path)
    assert (written["checkpoint_id"], written["problem"]) == ("cp_002", None)
    later = answer(left, "checkpoint", "show", "cp_002", "--session", path)["checkpoint"]
    kept = {decision["id"]: decision["what"] for decision in later["decisions"]}
    # A reply stands with what it answers now; the session shows that one.
    assert all(kept[name].startswith(what) for name, what in decided.items())


def test_its_pins_and_its_switch_hold(left: Place) -> None:
    path = session(left, f"{PI}/compacted_*.jsonl")
    assert "Prices are in cents." in json.dumps(answer(left, "pin", "--list", "--session", path))
    assert answer(left, "autocompact", "status", "--session", path)["enabled"] is False


def test_what_its_hooks_captured_goes_into_the_next_checkpoint_once(left: Place) -> None:
    path = left.root / CLAUDE / f"{CLAUDE_ID}.jsonl"
    written = answer(left, "checkpoint", "write", "--session", path)
    name = written["checkpoint_id"]
    checkpoint = answer(left, "checkpoint", "show", name, "--session", path)["checkpoint"]
    # Only an event that was captured names this file, and these tools.
    assert "/work/shop/rounding.py" in checkpoint["resources"]["files_modified"]
    assert {"Edit", "Bash", "TodoWrite"} <= set(checkpoint["resources"]["tools_used"])
    assert not answer(left, "checkpoint", "write", "--session", path)["is_new"]


WAITING = """{"version":1,"taken":{"calls":[{"name":"f1bd58e108490142","at_ms":1795351670000,\
"tool":"Write","read":[],"modified":["/work/shop/cents.py"],"error":null,"steps":null}],\
"said":[{"message_id":"ac31b0df191dfacb","at_ms":1795351671000,"is_user":true,\
"gist":"Round half to even, please.","proposal":"","is_bundled":false}]}}"""
"""What a hook of 0.1.0 laid beside the state while another process wrote that."""


def test_what_waited_goes_into_the_next_checkpoint_once(left: Place) -> None:
    (folder,) = left.state.glob(f"context/state/claude-code_{CLAUDE_ID}-*")
    for name in ("waiting-0123456789abcdef.json", "waiting-fedcba9876543210.json"):
        (folder / name).write_text(WAITING)
    path = left.root / CLAUDE / f"{CLAUDE_ID}.jsonl"
    name = answer(left, "checkpoint", "write", "--session", path)["checkpoint_id"]
    checkpoint = answer(left, "checkpoint", "show", name, "--session", path)["checkpoint"]
    modified = checkpoint["resources"]["files_modified"]
    assert {"/work/shop/rounding.py", "/work/shop/cents.py"} <= set(modified)
    assert modified.count("/work/shop/cents.py") == 1
    assert not list(folder.glob("waiting-*"))
    assert not answer(left, "checkpoint", "write", "--session", path)["is_new"]
