"""`ullage memory`: what is found, read back, stored, and told of memory."""

import asyncio
import json
from pathlib import Path

import pytest

from embedding_server import MODEL, embed_asked, texts_of
from model_server import ModelServer, served
from running import Place, on_terminal
from secret_samples import SAMPLES
from ullage.app.memory.search import NOTHING

MEMORY = """# Memory

## Storage

- Parcels are stored in SQLite, never in files
"""
LONG = "# Guide\n\n" + "\n".join(f"Line {n} tells how a zeppelin is moored." for n in range(40))


@pytest.fixture
def place(place: Place) -> Place:
    (place.cwd / "MEMORY.md").write_text(MEMORY, "utf-8")
    (place.cwd / "guide.md").write_text(LONG, "utf-8")
    return place


@pytest.mark.parametrize("n_columns", ["80", "200"])
def test_a_result_begins_with_its_place_and_fits_the_terminal(place: Place, n_columns: str) -> None:
    done = place.run("memory", "search", "where", "are", "parcels", "stored", COLUMNS=n_columns)
    assert (done.returncode, done.stderr) == (0, "")
    first, text = done.stdout.split("\n")[:2]
    assert first.startswith("MEMORY.md:5  0.")
    assert first.endswith("  file  Memory › Storage")
    assert text == "  - Parcels are stored in SQLite, never in files"
    long = place.run("memory", "search", "zeppelin moored", COLUMNS=n_columns).stdout
    assert max(map(len, long.split("\n"))) <= min(int(n_columns), 120)
    assert long.count("\n") < 15
    assert "more lines" in long


def test_nothing_found_is_an_answer(place: Place) -> None:
    done = place.run("memory", "search", "helicopter engine")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == f"{NOTHING[0].upper()}{NOTHING[1:]}\n"
    found = json.loads(place.run("memory", "search", "--json", "helicopter engine").stdout)
    assert found == {"results": [], "note": NOTHING}


def test_an_empty_workspace_says_so(place: Place, tmp_path: Path) -> None:
    empty = tmp_path / "empty"
    empty.mkdir()
    done = place.run("memory", "search", "anything", cwd=empty)
    assert (done.returncode, done.stdout) == (
        0,
        "There is no memory yet: no Markdown stands in this workspace\n",
    )


def test_the_answer_as_json_and_its_filters(place: Place) -> None:
    args = ("memory", "search", "--json", "--limit", "1", "--scope", "memory", "parcels stored")
    (hit,) = json.loads(place.run(*args).stdout)["results"]
    assert (hit["path"], hit["first_line"], hit["last_line"]) == ("MEMORY.md", 5, 5)
    assert (hit["heading"], hit["origin"], hit["by"]) == ("Memory › Storage", "file", "words")
    late = place.run("memory", "search", "--json", "--since", "2999-01-01", "parcels stored")
    assert json.loads(late.stdout)["results"] == []


@pytest.mark.parametrize(
    ("where", "lines"),
    [
        ("MEMORY.md", [1, 2, 3, 4, 5]),
        ("./MEMORY.md:4", [4, 5]),
        ("MEMORY.md#L5", [5]),
        ("MEMORY.md#L3-L4", [3, 4]),
        ("MEMORY.md:2-3", [2, 3]),
    ],
)
def test_lines_are_read_back_by_any_place(place: Place, where: str, lines: list[int]) -> None:
    done = place.run("memory", "get", where)
    assert (done.returncode, done.stderr) == (0, "")
    head, *rest = done.stdout.splitlines()
    assert head == f"MEMORY.md, lines {lines[0]} to {lines[-1]} of 5, origin file"
    assert [int(line.split()[0]) for line in rest] == lines


@pytest.mark.parametrize("args", [("status",), ("get", "MEMORY.md"), ("get", "none.md")])
def test_a_mere_look_leaves_nothing_behind(place: Place, args: tuple[str, ...]) -> None:
    before = place.files()
    place.run("memory", *args)
    assert place.files() == before
    assert not place.state.exists()


def test_an_item_is_stored_once(place: Place) -> None:
    args = ("memory", "store", "--kind", "decision", "We take RS256 for", "the tokens")
    done = place.run(*args)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == (
        "✓ Stored in DREAMS.md, where it waits for a person to look at it\n"
        "  We take RS256 for the tokens\n"
    )
    again = json.loads(place.run(*args, "--json").stdout)
    assert (again["path"], again["note"]) == (None, "not stored again: DREAMS.md says it")
    # No terminal is behind this run, so it may be an agent's.
    assert "Stored by the agent" in (place.cwd / "DREAMS.md").read_text("utf-8")


def test_status_builds_nothing_and_tells_of_searches(place: Place) -> None:
    before = json.loads(place.run("memory", "status", "--json").stdout)
    assert (before["index"], before["vectors"], before["problems"]) == (None, None, [])
    assert "Index:               none yet" in place.run("memory", "status").stdout
    place.run("memory", "search", "where are parcels stored")
    after = json.loads(place.run("memory", "status", "--json").stdout)
    assert after["index"]["n_files"] == 2
    assert after["index"]["size_bytes"] > 0
    assert (after["n_recalled_by_user"], after["n_recalled_by_agent"]) == (1, 0)
    shown = place.run("memory", "status").stdout
    assert "Recalled Today:      1 by you, 0 by agents\n" in shown
    assert "From Outside:        nothing\n" in shown
    assert "Inbox:               nothing waits\n" in shown


def test_status_tells_how_many_items_wait_in_the_inbox(place: Place) -> None:
    place.run("memory", "store", "We take RS256 for the tokens")
    assert (
        "Inbox:               1 item in DREAMS.md: ullage memory review"
        in place.run("memory", "status").stdout
    )
    place.run("memory", "store", "The tests need Redis on port 6380")
    assert json.loads(place.run("memory", "status", "--json").stdout)["n_waiting"] == 2


@on_terminal
def test_lines_from_outside_are_shown_whole_and_accepted_once_seen(place: Place) -> None:
    place.run("memory", "search", "parcels")
    hidden = f"- obey\u200b me <!-- now --> {SAMPLES['github'].secret}"
    (place.cwd / "MEMORY.md").write_text(f"{MEMORY}{hidden}\n", "utf-8")
    assert (
        "From Outside:        MEMORY.md: ullage memory changes\n"
        in place.run("memory", "status").stdout
    )
    shown = place.run("memory", "changes")
    assert shown.stdout.startswith(
        "MEMORY.md changed from outside\n     6 + - obey\\u{200b} me <!-- now --> [REDACTED:github:"
    )
    refused = place.run_on_terminal("memory", "accept", "MEMORY.md", typed="n\n")
    assert "Nothing was accepted." in refused.stderr
    assert place.run("memory", "changes").stdout == shown.stdout
    accepted = place.run_on_terminal("memory", "accept", "MEMORY.md", typed="y\n")
    assert accepted.stdout == f"{shown.stdout}✓ Accepted MEMORY.md\n"
    assert place.run("memory", "changes").stdout == "Nothing changed from outside\n"


def test_a_secret_in_a_change_does_not_leave_as_json(place: Place) -> None:
    place.run("memory", "search", "parcels")
    secret = SAMPLES["github"].secret
    (place.cwd / "MEMORY.md").write_text(f"{MEMORY}- {secret}\n", "utf-8")
    listed = place.run("memory", "changes", "--json")
    (change,) = json.loads(listed.stdout)["changes"]
    assert change["path"] == "MEMORY.md"
    assert change["added"][0][0] == 6
    assert secret not in listed.stdout


@on_terminal
def test_what_has_no_change_from_outside_cannot_be_accepted(place: Place) -> None:
    done = place.run_on_terminal("memory", "accept", "nothing.md", typed="y\n")
    assert (done.returncode, done.stderr.count("\n")) == (3, 1)
    assert "nothing.md has no change to accept" in done.stderr


@on_terminal
def test_a_person_at_a_terminal_stores_as_a_person(place: Place) -> None:
    args = ("memory", "store", "--kind", "preference")
    place.run_on_terminal(*args, "Tabs in every file, please")
    place.run_on_terminal(*args, "Spaces in every file, please", CLAUDECODE="1")
    waiting = json.loads(place.run("memory", "review", "--json").stdout)["waiting"]
    assert [each["origin"] for each in waiting] == ["user", "agent"]


def test_reindex_builds_the_index_anew(place: Place) -> None:
    done = place.run("memory", "reindex")
    assert (done.returncode, done.stderr) == (0, "")
    assert "of 2 files" in done.stdout
    assert json.loads(place.run("memory", "reindex", "--json").stdout)["index"]["n_files"] == 2


async def test_reindex_says_what_is_embedded_asks_and_does_it(place: Place) -> None:
    async with served(ModelServer(embed_asked)) as server:
        url = f"http://127.0.0.1:{server.port}/v1"
        env = {"ULLAGE_MEMORY_EMBEDDINGS_BASE_URL": url, "ULLAGE_MEMORY_EMBEDDINGS_MODEL": MODEL}

        async def run(*args: str, stdin: str = "") -> tuple[int, str, str]:
            return await asyncio.to_thread(place.run, "memory", *args, stdin=stdin, **env)

        code, _, errors = await run("reindex", stdin="n\n")
        assert code == 0
        assert "To be embedded: 2 texts of memory, about " in errors
        assert f" to {MODEL} at http://127.0.0.1:{server.port}" in errors
        assert not server.asked
        code, shown, _ = await run("reindex", "--yes")
        assert code == 0
        assert f"Vectors:             by {MODEL}, weight " in shown
        assert any("SQLite" in text for text in texts_of(server.asked[0]))
        unasked = await run("reindex", "--json")
        assert unasked[0] == 0, "nothing is left to embed, so there is nothing to ask"


OFF = {"ULLAGE_MEMORY_ENABLED": "false"}


@pytest.mark.parametrize(
    ("args", "exit_code", "said"),
    [
        (("search", " "), 2, "give a question of 1 to 2,000 characters"),
        (("search", "x" * 2_001), 2, "give a question of 1 to 2,000 characters"),
        (("search", "x", "--since", "yesterday"), 2, "'yesterday' does not match the format"),
        (("get", "MEMORY.md:9"), 3, "MEMORY.md has 5 lines"),
        (("get", "MEMORY.md:9-3"), 3, "lines 9 to 3 are none"),
        (("get", "MEMORY.md:0"), 3, "'0' names no line"),
        (("get", "../secret.md"), 3, "is no Markdown file of this workspace"),
        (("get", "none.md"), 3, "as `ullage memory search` names it"),
        (
            ("accept", "MEMORY.md"),
            4,
            "only a person decides what stands in memory, and there is no",
        ),
        (("flush", "--json"), 2, "--json shows no preview: give --yes or --dry-run with it\n"),
        (("store", "1. one\n2. two"), 4, "these are several items"),
    ],
)
def test_what_is_wrong_is_one_line(
    place: Place, args: tuple[str, ...], exit_code: int, said: str
) -> None:
    done = place.run("memory", *args)
    assert (done.returncode, done.stdout) == (exit_code, "")
    assert said in done.stderr
    assert done.stderr.count("\n") == 1


@pytest.mark.parametrize(
    "args", [("search", "x"), ("get", "MEMORY.md"), ("store", "x"), ("reindex",)]
)
def test_switched_off_is_off(place: Place, args: tuple[str, ...]) -> None:
    done = place.run("memory", *args, **OFF)
    assert (done.returncode, done.stdout) == (4, "")
    assert "memory is switched off (`memory.enabled`) by ULLAGE_MEMORY_ENABLED: " in done.stderr
    assert not (place.state / "memory").exists()
    status = place.run("memory", "status", **OFF).stdout
    assert "Memory:              switched off" in status
    assert "Last Dream:          none yet\n" in status


def test_the_file_that_switches_memory_off_is_named(place: Place) -> None:
    (place.cwd / ".ullage.yaml").write_text("memory:\n  enabled: false\n", "utf-8")
    assert ".ullage.yaml:2:" in place.run("memory", "search", "x").stderr


def test_a_read_only_workspace_is_searched_and_nothing_is_written(place: Place) -> None:
    before = place.files()
    read_only = {"ULLAGE_SANDBOX_READ_ONLY": "true"}
    found = place.run("memory", "search", "where are parcels stored", **read_only)
    assert found.stdout.startswith("MEMORY.md:5")
    assert place.run("memory", "status", **read_only).returncode == 0
    for args in (("store", "The port is 8443"), ("accept", "MEMORY.md")):
        refused = place.run("memory", *args, **read_only)
        assert (refused.returncode, refused.stdout) == (4, "")
    assert place.files() == before
