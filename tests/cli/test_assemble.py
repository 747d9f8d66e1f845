"""`ullage context assemble` tells what each part of a request costs, and what is cut of it."""

import json
from pathlib import Path


def test_a_folder_without_a_session_is_assembled(place) -> None:
    place.write("AGENTS.md", b"x" * 25_000)
    shown = place.run("context", "assemble").stdout
    assert "  7,000 of 25,000 characters in its middle are left out: more than 20,000" in shown
    assert "kept for the answer                                                  8,000" in shown
    assert "kept for calls of tools                                              2,000" in shown
    assert "available                                                          190,000" in shown
    assert "Warnings" not in shown
    assert max(map(len, shown.splitlines())) <= 80


def test_each_skill_that_is_left_out_has_a_row_with_its_reason(place) -> None:
    needs = "metadata: {openclaw: {requires: {bins: [no-such-program], env: [NO_SUCH_VARIABLE]}}}"
    for number in range(22):
        text = f"---\nname: s{number:02}\ndescription: x\n{needs}\n---\n"
        place.write(f"skills/s{number:02}/SKILL.md", text.encode())
    shown = place.run("context", "assemble").stdout
    rows = shown.partition("Skills that are left out\n")[2].split("\n\n")[0].splitlines()[1:]
    assert len(rows) == 21
    assert rows[0] == f"{'s00':<26}the program no-such-program is not on PATH; the…"
    assert rows[-1] == "and 2 more, which --json names"
    assert max(map(len, shown.splitlines())) <= 80
    report = json.loads(place.run("context", "assemble", "--json").stdout)
    assert report["left_out_skills"][21]["reasons"] == [
        "the program no-such-program is not on PATH",
        "the variable NO_SUCH_VARIABLE is not set",
    ]


def test_a_session_brings_its_history_and_its_window(place, session: Path) -> None:
    options = ("--session", session, "--window", "40000")
    report = json.loads(place.run("context", "assemble", *options, "--json").stdout)
    assert report["budget"]["contextWindow"] == 40_000
    assert report["budget"]["history"] > 10_000
    assert report["messages"][0]["role"] == "user"
    shown = place.run("context", "assemble", *options).stdout
    assert f"{len(report['messages'])} messages" in shown


def test_a_subagent_gets_its_task_and_no_identity(place) -> None:
    place.write("SOUL.md", b"Be warm.\n")
    told = json.loads(place.run("context", "assemble", "--subagent", "Count.", "--json").stdout)
    assert "You were created to handle: Count." in told["system"]
    assert "Be warm" not in told["system"]
    assert "minimal mode leaves it out" in place.run("context", "assemble", "--minimal").stdout


def test_a_secret_is_not_shown(place) -> None:
    key = "sk-ant-api03-" + "abcdefghijklmnopqrstuvwxyz0123456789abcdef"
    place.write("AGENTS.md", f"The key is {key}\n".encode())
    done = place.run("context", "assemble", "--json")
    assert "The key is [REDACTED" in done.stdout
    assert key not in done.stdout


def test_what_makes_no_sense_is_refused_in_a_line(place) -> None:
    both = place.run("context", "assemble", "--minimal", "--subagent", "Count.")
    assert (both.returncode, both.stdout) == (2, "")
    unknown = place.run("context", "assemble", "--session", "nope")
    assert (unknown.returncode, unknown.stdout) == (3, "")
