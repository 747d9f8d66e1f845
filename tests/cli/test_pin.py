"""`ullage pin`: texts and messages are pinned, listed and removed."""

import json
from pathlib import Path

import pytest

from pi_files import conversation


def pins(place, session: Path) -> list[dict]:
    done = place.run("pin", "--list", "--json", "--session", session)
    assert (done.returncode, done.stderr) == (0, "")
    return json.loads(done.stdout)["pins"]


@pytest.mark.parametrize("n_columns", [60, 80, 200])
def test_the_list_is_as_wide_as_the_terminal(place, session: Path, n_columns: int) -> None:
    text = "Never touch the database of the shop. " * 5
    assert place.run("pin", text, "--label", "a long label " * 8, "--session", session)[0] == 0
    listed = place.run("pin", "--list", "--session", session, COLUMNS=str(n_columns)).stdout
    first, *below = listed.rstrip("\n").split("\n")
    assert n_columns - 12 < len(first) <= n_columns or first.endswith("shop.")
    assert all(len(line) <= n_columns and line.startswith("     ") for line in below)


def test_a_text_and_a_message_are_pinned_and_one_is_removed(place, session: Path) -> None:
    original = session.read_bytes()
    shown = json.loads(place.run("context", "show", "--json", "--session", session).stdout)
    entry_id = shown["entry_ids"][0]
    done = place.run("pin", "Never touch prod.", "--label", "prod", "--session", session)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("✓ Pinned")
    assert place.run("pin", "--entry", entry_id, "--session", session).returncode == 0
    found = pins(place, session)
    assert {pin["by"] for pin in found} == {"command line"}
    listed = place.run("pin", "--list", "--session", session).stdout
    assert "  1. Never touch prod.\n     prod, on the command line, just now\n" in listed
    assert [(pin["number"], pin["label"], pin["entry_id"]) for pin in found] == [
        (1, "prod", None),
        (2, None, entry_id),
    ]
    done = place.run("pin", "--remove", "1", "--session", session)
    assert done.stdout.startswith("✓ Pin removed: ")
    assert [pin["entry_id"] for pin in pins(place, session)] == [entry_id]
    assert session.read_bytes() == original


def test_a_message_is_pinned_by_its_number(place, session: Path) -> None:
    shown = json.loads(place.run("context", "show", "--json", "--session", session).stdout)
    place.run("pin", "--entry", "2", "--session", session)
    assert pins(place, session)[0]["entry_id"] == shown["entry_ids"][1]


@pytest.mark.parametrize(
    ("args", "exit_code", "message"),
    [
        (("--entry", "99999"), 3, "no message of the context"),
        (("--remove", "3"), 4, "there is no pin 3"),
        ((" ",), 4, "no text to pin"),
        (("x" * 9000,), 4, "too many"),
        ((), 2, "give one of"),
        (("a", "--list"), 2, "give one of"),
        (("--list", "--label", "x"), 2, "--label"),
    ],
)
def test_what_cannot_be_pinned_is_one_line_and_an_exit_code(
    place, session: Path, args: tuple[str, ...], exit_code: int, message: str
) -> None:
    done = place.run("pin", *args, "--session", session)
    assert (done.returncode, done.stdout) == (exit_code, "")
    assert message in done.stderr
    assert done.stderr.count("\n") == 1
    assert not (place.state / "context" / "state").exists() or pins(place, session) == []


def test_a_secret_in_a_pinned_message_does_not_reach_the_state_folder(place) -> None:
    secret = "hunter2-hunter2"
    data = conversation(2).data.replace(b'"text":"', b'"text":"' + secret.encode() + b" ", 1)
    assert secret.encode() in data
    session = place.write("s.jsonl", data)
    done = place.run("pin", "--entry", "1", "--session", session, MY_TOKEN=secret)
    assert done.returncode == 0
    written = b"".join(path.read_bytes() for path in place.state.rglob("pins.json"))
    assert written
    assert secret.encode() not in written


def test_a_checkpoint_holds_the_pins(place, session: Path) -> None:
    place.run("pin", "Never touch prod.", "--session", session)
    place.run("checkpoint", "write", "--session", session)
    (path,) = place.state.rglob("cp_001.yaml")
    assert "Never touch prod." in path.read_text(encoding="utf-8")
