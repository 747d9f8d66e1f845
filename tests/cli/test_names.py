"""Every question and outcome of what changes or keeps something names its session, once."""

from collections.abc import Callable
from pathlib import Path

import pytest

from gemini_files import GeminiFile
from pi_files import conversation
from ullage.app.gauge.status_text import name_text
from ullage.app.sessions.load import load
from ullage.app.sessions.open import open_session
from ullage.core.config.settings import Config

SMALL = ("--window", "8000")


@pytest.fixture
def name(place, session: Path) -> str:
    return name_text(load(open_session(session), Config(), place.places()))


@pytest.mark.parametrize("command", ["compact", "prune"])
def test_a_change_names_its_session_in_question_and_outcome(
    place, session: Path, name: str, make_idle: Callable[[Path], Path], command: str
) -> None:
    args = (command, "--session", session, *SMALL, *(("--rescue",) if command == "prune" else ()))
    shown = place.run(*args, "--dry-run").stdout
    assert shown.startswith(f"Session: {name}\n")
    assert shown.count(name) == 1
    asked = place.run(*args, stdin="n\n")
    assert (asked.stderr.count(f" of {name} ("), asked.stdout.count(name)) == (1, 0)
    done = place.run(*args, "--yes").stdout
    assert f" · {name}\n" in done
    assert done.count(name) == 1
    undo = ("undo", "--session", make_idle(session), *SMALL)
    assert place.run(*undo, "--dry-run").stdout.startswith(f"Session: {name}\n")
    undone = place.run(*undo).stdout
    assert undone.startswith("✓ Undone:")
    assert undone.count(name) == 1


def test_what_finds_nothing_to_do_names_its_session(place, name: str) -> None:
    small = place.write("small.jsonl", conversation(2).data)
    for args in (("compact", "--yes"), ("compact", "--auto"), ("prune", "--yes")):
        done = place.run(*args, "--session", small)
        assert (done.returncode, done.stderr) == (0, "")
        head = done.stdout.split("\n")[0]
        assert head.startswith("Nothing to do: ")
        assert head.endswith(f" · {name}")


def test_what_is_kept_of_a_session_names_it(place, session: Path, name: str) -> None:
    of = ("--session", session)
    assert place.run("pin", "Never touch prod.", *of).stdout.startswith(
        f"✓ Pinned: every summary will hold “Never touch prod.” · {name}\n"
    )
    assert place.run("pin", "--remove", "1", *of).stdout.startswith(
        f"✓ Pin removed: no summary has to hold “Never touch prod.” · {name}\n"
    )
    for head in ("✓ Checkpoint cp_001", "Unchanged since cp_001"):
        assert place.run("checkpoint", "write", *of).stdout.startswith(f"{head} · {name}\n")
    restore = ("checkpoint", "restore", *of, "--into", "session")
    asked = place.run(*restore, stdin="n\n")
    assert f"Restore checkpoint cp_001 of {name}? " in asked.stderr
    assert place.run(*restore, "--dry-run").stdout.count(name) == 1
    assert f"✓ Restored cp_001 · {name}\n" in place.run(*restore, "--yes").stdout
    assert place.run("autocompact", "off", *of).stdout.startswith(f"Session: {name}\n")


def test_the_layer_that_would_do_something_is_named(place) -> None:
    session = place.write("middle.jsonl", conversation(9, chars=2400, usage=7_000).data)
    done = place.run("compact", "--yes", "--session", session)
    assert f"; `ullage compact --layer full --session {session}` keeps 15,000 · " in done.stdout
    assert (
        "Nothing to do"
        not in place.run("compact", "--yes", "--layer", "full", "--session", session).stdout
    )


def test_a_refusal_names_its_session_and_no_file(place, session: Path, name: str) -> None:
    for args in (("undo",), ("redo",), ("checkpoint", "show"), ("checkpoint", "restore")):
        refused = place.run(*args, "--session", session)
        assert refused.stderr.startswith(f"ullage: {name}: there is no")
        assert refused.stderr.replace(f" --session {session}", "").count(session.name) == 0


@pytest.mark.parametrize(
    ("args", "way_out"),
    [
        (("compact", "--yes"), "use /compress in Gemini CLI\n"),
        (("autocompact", "on"), "use /compress in Gemini CLI\n"),
        (("undo",), "there is nothing that it could take back\n"),
        (("redo",), "there is nothing that it could make again\n"),
        (
            ("checkpoint", "restore", "--into", "session", "--yes"),
            " prints it for you to give to the agent\n",
        ),
    ],
    ids=lambda value: value[0] if isinstance(value, tuple) else "",
)
def test_the_way_out_of_a_refusal_fits_what_was_refused(
    place, args: tuple[str, ...], way_out: str
) -> None:
    gemini = GeminiFile()
    gemini.user("Add a route")
    gemini.model("Done.")
    session = place.write("chat.jsonl", gemini.data)
    place.run("checkpoint", "write", "--session", session)
    refused = place.run(*args, "--session", session)
    assert refused.returncode == 4
    assert "Ullage only reads sessions of Gemini CLI" in refused.stderr
    assert refused.stderr.endswith(way_out)
    assert ("/compress" in refused.stderr) == way_out.startswith("use /compress")
