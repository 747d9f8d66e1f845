"""The real pi, 0.73.1 and 0.87.1, with our extension and the real service."""

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import cast

import pytest

from loopback_model import Answer, Json, LoopbackModel
from pi_process import NODES, PI_PACKAGES, SERVICE, Pi, install
from running import WAIT_S
from ullage.app.checkpoint.write import write_checkpoint
from ullage.app.sessions.load import load
from ullage.app.sessions.open import open_session
from ullage.core.change.edit import PRUNED_OUTPUT
from ullage.core.config.settings import CheckpointSettings, Config
from ullage.store.files.places import Places, folder_name

HERE = Path(__file__).parent
RESTORED = "[Post-compaction checkpoint restore]"
OWN_SUMMARY = "aside"
"""What the model answers to pi, where pi writes the summary itself."""
LONG_OUTPUT = "seq -s ' ' 1 8000 | fold -w 400"
"""39 kB in 98 lines; pi keeps 50 kB and 2000 lines of an output."""
ENDS = (sys.executable, "-c", "raise SystemExit(1)")
SILENT = (sys.executable, "-c", "import sys; sys.stdin.read()")
BABBLES = (sys.executable, "-c", "while True: print('not JSON', input()[:9], flush=True)")
MEMORY_TOOLS = ("memory_search", "memory_get", "memory_store")
ITEM: Json = {"text": "The staging server listens on port 8443", "kind": "fact"}
NEWER = "0.87.1"
"""For what depends on our client alone, which is the same in both."""
N_FULL = 97_000
"""Of a window of 100,000: pi compacts after the turn."""


@pytest.fixture(params=PI_PACKAGES)
def version(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def model() -> Iterator[LoopbackModel]:
    with LoopbackModel() as model:
        yield model


def texts(request: Json, role: str | None = None) -> list[str]:
    """Give the text of each message that reached the model."""
    found: list[str] = []
    for message in cast(list[Json], request["messages"]):
        content = message.get("content") or ""
        if not isinstance(content, str):
            content = "".join(str(block.get("text", "")) for block in cast(list[Json], content))
        if role in (None, message["role"]):
            found.append(content)
    return found


def compactions(pi: Pi) -> list[Json]:
    return [entry for entry in pi.entries() if entry["type"] == "compaction"]


def work(model: LoopbackModel, *, n_tokens: int) -> None:
    """Let the model look at something long, decide, and report so many tokens at the end."""
    listing = "seq -f 'E0042 in src/parcels.py: parcel %g has no owner' 1 300; exit 3"
    model.answers = [
        Answer("I look at src/parcels.py.", commands=(listing,)),
        Answer("Then we store the parcels in SQLite.", n_tokens=n_tokens),
    ]


def is_running(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def noted_service(root: Path) -> tuple[tuple[str, ...], Path]:
    """Give a command for the service that notes each of its processes, and where it does."""
    notes = root / "pids"
    program = f"""
import os, runpy, sys
with open({str(notes)!r}, "a") as notes:
    notes.write(f"{{os.getpid()}}\\n")
sys.argv = ["ullage", "agent"]
runpy.run_module("ullage", run_name="__main__")
"""
    return (sys.executable, "-P", "-c", program), notes


def pids(notes: Path) -> list[int]:
    return [int(line) for line in notes.read_text().split()]


def wait_until_ended(notes: Path) -> None:
    end = time.monotonic() + WAIT_S
    while any(is_running(pid) for pid in pids(notes)):
        assert time.monotonic() < end
        time.sleep(0.02)


def test_a_compaction_has_our_summary_and_the_next_request_our_checkpoint(
    tmp_path: Path, model: LoopbackModel, version: str
) -> None:
    with Pi(tmp_path, model, version=version, command=SERVICE, keep_tokens=10) as pi:
        (pi.project / "AGENTS.md").write_text("## Red Lines\n- Never push.\n")
        pi.wait_for_service()
        work(model, n_tokens=N_FULL)
        pi.ask("Keep the parcels in SQLite, never in files.")
        pi.wait_for("compaction_end")
        pi.ask("Go on.")
        (compaction,) = compactions(pi)
        summary = str(compaction["summary"])
        assert summary != OWN_SUMMARY
        assert compaction["fromHook"] is True
        assert "SQLite" in summary
        sent = texts(model.requests[-1], "user")
        assert any(summary in text for text in sent)
        (restored,) = (text for text in sent if text.startswith(RESTORED))
        assert "SQLite" in restored
        assert restored.endswith("it holds on:\n> ## Red Lines\n> - Never push.")
        assert sent[-1] == "Go on."

        pi.ask("And now?")
        assert sum(text.startswith(RESTORED) for text in texts(model.requests[-1])) == 1
        # The command line reads pi's session file, and has to find what its extension saved.
        (transcript,) = pi.agent_folder.rglob("sessions/**/*.jsonl")
        (saved,) = {path.parent for path in pi.state.rglob("cp_*.yaml")}
        session = open_session(transcript)
        assert saved.name == folder_name(session.state_key)
        assert pi.problems == []
        assert pi.notices == []


def test_a_fresh_session_is_offered_the_work_of_the_last_one_on_its_branch_alone(
    tmp_path: Path, model: LoopbackModel, version: str
) -> None:
    question = Answer("The parcels are stored. Shall I remove the old table as well?")
    git_head = tmp_path / "project" / ".git" / "HEAD"
    git_head.parent.mkdir(parents=True)
    git_head.write_text("ref: refs/heads/main\n")
    with Pi(tmp_path, model, version=version, command=SERVICE) as pi:
        pi.wait_for_service()
        model.answers = [question]
        pi.ask("Keep the parcels in SQLite.")
        (transcript,) = pi.agent_folder.rglob("sessions/**/*.jsonl")
        session = open_session(transcript)
        places = Places(cwd=pi.project, home=tmp_path, env={}, state_folder=pi.state)
        loaded = load(session, Config(), places)
        write_checkpoint(loaded, CheckpointSettings(), places, trigger="manual")
    git_head.write_text("ref: refs/heads/side\n")
    with Pi(tmp_path, model, version=version, command=SERVICE) as pi:
        pi.wait_for_service()
        pi.ask("Hello.")
        assert "[Context offer] " not in str(texts(model.requests[-1]))
    assert not list(pi.state.rglob("offered"))
    git_head.write_text("ref: refs/heads/main\n")
    with Pi(tmp_path, model, version=version, command=SERVICE) as pi:
        pi.wait_for_service()
        if not pi.notices:
            pi.wait_for("extension_ui_request", lambda event: event["method"] == "notify")
        pi.ask("Hello.")
        sent = texts(model.requests[-1])
        (offer,) = (text for text in sent if text.startswith("[Context offer] "))
        assert session.header.session_id in offer
        assert any("may ask about earlier work" in str(notice) for notice in pi.notices)


def test_a_prompt_that_follows_at_once_makes_no_second_compaction(
    tmp_path: Path, model: LoopbackModel
) -> None:
    # 0.73.1 takes a prompt while it compacts, and looks again whether a compaction is due.
    with Pi(tmp_path, model, version="0.73.1", command=SERVICE, keep_tokens=10) as pi:
        pi.wait_for_service()
        work(model, n_tokens=N_FULL)
        pi.ask("Keep the parcels in SQLite, never in files.")
        pi.ask("Go on.")
        pi.ask("And on.")
        assert len(compactions(pi)) == 1
        assert sum(text.startswith(RESTORED) for text in texts(model.requests[-1])) == 1


def test_a_compaction_by_the_user_has_our_summary_with_the_focus_and_all_files(
    tmp_path: Path, model: LoopbackModel, version: str
) -> None:
    with Pi(tmp_path, model, version=version, command=SERVICE, keep_tokens=10) as pi:
        pi.wait_for_service()
        for name in ("parcels.py", "owners.py"):
            (pi.project / name).write_text("def look(): ...\n")
            model.answers = [Answer("I read it.", reads=(name,)), Answer("Read.")]
            pi.ask(f"Read {name}.")
            work(model, n_tokens=20_000)
            pi.ask("Look at the parcels.")
            done = pi.send({"type": "compact", "customInstructions": "the parcels without owners"})
            assert done["success"] is True
        pi.ask("Go on.")
        first, second = compactions(pi)
        assert "the parcels without owners" in str(second["summary"])
        assert cast(Json, first["details"])["readFiles"] == ["parcels.py"]
        assert cast(Json, second["details"])["readFiles"] == ["owners.py", "parcels.py"]
        restored = [text for text in texts(model.requests[-1]) if text.startswith(RESTORED)]
        assert len(restored) == 1


def test_the_user_is_asked_for_a_compaction_after_the_turn(
    tmp_path: Path, model: LoopbackModel, version: str
) -> None:
    with Pi(tmp_path, model, version=version, command=SERVICE, keep_tokens=10) as pi:
        pi.wait_for_service()
        work(model, n_tokens=90_000)  # pi itself would wait for 96,000
        pi.ask("Keep the parcels in SQLite, never in files.")
        model.answers = [Answer("Not yet.", n_tokens=93_000), Answer("No.", n_tokens=95_500)]
        pi.ask("Is it done?")
        pi.confirm(is_wanted=False)
        pi.ask("Is it done?")
        pi.send({"type": "bash", "command": "sleep 0.5"})  # by then it would ask
        pi.ask("Is it done?")
        pi.confirm(is_wanted=True)
        pi.wait_for("compaction_end")
        (compaction,) = compactions(pi)
        assert "SQLite" in str(compaction["summary"])
        assert len([event for event in pi.events if event.get("method") == "confirm"]) == 2
        assert pi.problems == []


def test_a_compaction_within_a_turn_is_followed_by_the_checkpoint_at_once(
    tmp_path: Path, model: LoopbackModel, version: str
) -> None:
    with Pi(tmp_path, model, version=version, command=SERVICE, keep_tokens=10) as pi:
        pi.wait_for_service()
        work(model, n_tokens=20_000)
        pi.ask("Keep the parcels in SQLite, never in files.")
        if version == "0.73.1":
            # More than the window: it compacts after the turn, and sends that once more by itself.
            model.answers = [Answer("Too much.", n_tokens=120_000), Answer("Done.")]
            pi.ask("Is it done?")
            pi.wait_for("compaction_end")
            pi.wait_for("agent_end")
        else:
            # It compacts between the tools' output and the next request.
            model.answers = [Answer("I look.", commands=("ls",), n_tokens=N_FULL), Answer("Done.")]
            pi.ask("Is it done?")
        assert len(compactions(pi)) == 1
        assert sum(text.startswith(RESTORED) for text in texts(model.requests[-1])) == 1
        pi.ask("And now?")
        assert sum(text.startswith(RESTORED) for text in texts(model.requests[-1])) == 1


def test_only_the_latest_checkpoint_is_sent_and_counts_if_it_came_after_the_summary(
    tmp_path: Path,
) -> None:
    summary = {"role": "compactionSummary", "summary": "…", "timestamp": 3}
    asked = {"role": "user", "content": "Go on.", "timestamp": 2}
    first, second = (
        {"role": "custom", "customType": "ullage-checkpoint", "content": text, "timestamp": at}
        for text, at in (("first", 1), ("second", 4))
    )
    install(tmp_path, SERVICE)

    def ask(*messages: Json) -> Json:
        done = subprocess.run(
            [NODES["0.73.1"], str(HERE / "pi_checkpoint.mjs"), str(tmp_path)],
            input=json.dumps(messages).encode(),
            capture_output=True,
            timeout=WAIT_S,
            check=True,
        )
        return cast(Json, json.loads(done.stdout))

    assert ask(summary, first, asked) == {"holds": False, "sent": [summary, first, asked]}
    assert ask(summary, first, asked, second) == {"holds": True, "sent": [summary, asked, second]}


def test_a_session_whose_pi_ended_after_the_compaction_gets_its_checkpoint_when_it_goes_on(
    tmp_path: Path, model: LoopbackModel, version: str
) -> None:
    command, notes = noted_service(tmp_path)
    pi = Pi(tmp_path, model, version=version, command=command, keep_tokens=10)
    work(model, n_tokens=N_FULL)
    done = subprocess.run(
        pi.command("-p", "Keep the parcels in SQLite, never in files."),
        cwd=pi.project,
        env=pi.environment(),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=WAIT_S,
        check=True,
    )
    assert done.stdout.decode().strip() == "Then we store the parcels in SQLite."
    assert done.stderr.decode() == ""
    wait_until_ended(notes)
    (compaction,) = compactions(pi)
    if version != "0.73.1":  # which does not wait for us when it ends, and may write its own
        assert compaction["fromHook"] is True
    again = Pi(tmp_path, model, version=version, command=command, keep_tokens=10, is_continued=True)
    with again:
        again.wait_for_service()
        for prompt in ("Go on.", "And now?"):
            again.ask(prompt)
            restored = [text for text in texts(model.requests[-1]) if text.startswith(RESTORED)]
            assert len(restored) == (1 if compaction["fromHook"] else 0)
    wait_until_ended(notes)


def test_old_output_is_pruned_in_what_is_sent_and_not_in_the_session(
    tmp_path: Path, model: LoopbackModel, version: str
) -> None:
    with Pi(tmp_path, model, version=version, command=SERVICE) as pi:
        pi.wait_for_service()
        model.answers = [
            Answer("I look.", commands=(LONG_OUTPUT,) * 4, n_tokens=60_000),
            Answer("Once more.", commands=("echo last",), n_tokens=85_000),
            Answer("Hm.", commands=("echo very last",), n_tokens=86_000),
            Answer("Done.", n_tokens=86_500),
            Answer("Done.", n_tokens=87_000),
        ]
        pi.ask("What is in here?")
        pi.ask("And there?")
        pi.ask("And then?")
        sent = texts(model.requests[-1], "tool")
        assert sent[0] == PRUNED_OUTPUT
        assert sent[-1].strip() == "very last"
        outputs = [
            json.dumps(entry["message"]["content"])
            for entry in cast(list[dict[str, Json]], pi.entries())
            if entry["type"] == "message" and entry["message"]["role"] == "toolResult"
        ]
        assert len(outputs) == 6
        assert PRUNED_OUTPUT not in "".join(outputs)
        assert len(outputs[0]) > 30_000


def test_the_gauge_is_in_the_status_line_and_told_to_the_model_where_it_is_first_due(
    tmp_path: Path, model: LoopbackModel, version: str
) -> None:
    with Pi(tmp_path, model, version=version, command=SERVICE) as pi:
        pi.wait_for_service()
        model.answers = [
            Answer("I look.", commands=("echo a",), n_tokens=42_000),
            Answer("More.", commands=("echo b",), n_tokens=72_000),
            Answer("Done.", n_tokens=72_000),
        ]
        pi.ask("What is in here?")
        pi.ask("And there?")
        assert any(str(status).startswith("◔ 42% · 42k/100k") for status in pi.statuses)
        told = [[text for text in texts(one) if "[Context: " in text] for one in model.requests]
        assert told[:2] == [[], []]
        assert len(told[2]) == 1
        before = texts(model.requests[2])
        assert texts(model.requests[3])[: len(before)] == before  # a cached prefix stays one
        assert "[Context: " not in json.dumps(pi.entries())


def test_a_session_that_is_not_kept_leaves_nothing_behind(
    tmp_path: Path, model: LoopbackModel
) -> None:
    pi = Pi(tmp_path, model, version=NEWER, command=SERVICE)
    model.answers = [Answer("I look.", commands=("sleep 1",), n_tokens=85_000), Answer("Done.")]
    subprocess.run(
        pi.command("-p", "Look.", "--no-session"),
        cwd=pi.project,
        env=pi.environment(),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=WAIT_S,
        check=True,
    )
    assert len(model.requests) == 2
    assert not list(pi.state.rglob("*.yaml"))


@pytest.mark.parametrize("command", [("/nowhere/ullage", "agent"), ENDS], ids=["missing", "ends"])
def test_without_a_service_pi_works_as_without_us_and_says_it_once(
    tmp_path: Path, model: LoopbackModel, command: tuple[str, ...]
) -> None:
    with Pi(tmp_path, model, version=NEWER, command=command, keep_tokens=10) as pi:
        for number in range(3):
            work(model, n_tokens=20_000)
            pi.ask(f"Look at parcel {number}.")
        assert len(pi.notices) == 1
        work(model, n_tokens=N_FULL)
        pi.ask("Keep the parcels in SQLite.")
        pi.wait_for("compaction_end")
        pi.ask("Go on.")
        (compaction,) = compactions(pi)
        assert str(compaction["summary"]).startswith(OWN_SUMMARY)
        assert texts(model.requests[-1])[-1] == "Go on."
        assert [text.startswith("Ullage: pi goes on without it: ") for text in pi.notices] == [True]
        assert set(pi.statuses) == {None}
        assert pi.problems == []


@pytest.mark.parametrize("command", [SILENT, BABBLES], ids=["silent", "babbles"])
def test_a_service_that_does_not_answer_is_waited_for_once(
    tmp_path: Path, model: LoopbackModel, command: tuple[str, ...]
) -> None:
    with Pi(tmp_path, model, version=NEWER, command=command) as pi:
        turns_s: list[float] = []
        for number in range(6):
            before_s = time.monotonic()
            work(model, n_tokens=20_000)
            pi.ask(f"Look at parcel {number}.")
            turns_s.append(time.monotonic() - before_s)
        # A turn takes two seconds or more where both of its requests wait for the service.
        assert min(turns_s) < 2
        assert len(model.requests) == 12
        assert texts(model.requests[-1], "user")[-1] == "Look at parcel 5."
        assert pi.problems == []


def test_a_service_that_is_killed_is_started_again(
    tmp_path: Path, model: LoopbackModel, version: str
) -> None:
    command, notes = noted_service(tmp_path)
    with Pi(tmp_path, model, version=version, command=command, keep_tokens=10) as pi:
        pi.wait_for_service()
        work(model, n_tokens=42_000)
        pi.ask("Look.")
        n_statuses = len(pi.statuses)
        assert n_statuses > 0
        (first,) = pids(notes)
        os.kill(first, 9)
        work(model, n_tokens=N_FULL)
        pi.ask("Keep the parcels in SQLite, never in files.")
        pi.wait_for("compaction_end")
        assert texts(model.requests[-1], "user")[-1].startswith("Keep the parcels")
        assert str(compactions(pi)[0]["summary"]) != OWN_SUMMARY
        assert len(pi.statuses) > n_statuses
        assert len(pids(notes)) == 2
        assert pi.problems == []
    wait_until_ended(notes)


def test_what_memory_answers_reaches_the_model_in_the_next_request(
    tmp_path: Path, model: LoopbackModel, version: str
) -> None:
    with Pi(tmp_path, model, version=version, command=SERVICE) as pi:
        memory = "# Memory\n\n## Storage\n\n- Parcels are stored in SQLite, never in files\n"
        (pi.project / "MEMORY.md").write_text(memory, "utf-8")
        pi.wait_for_service()
        model.answers = [
            Answer("I search.", calls=(("memory_search", {"query": "where are parcels stored"}),)),
            Answer("I read.", calls=(("memory_get", {"path": "MEMORY.md", "first_line": 3}),)),
            Answer("I store.", calls=(("memory_store", ITEM), ("memory_store", {"text": "x"}))),
            Answer("Done."),
        ]
        pi.ask("Where are parcels stored?")
        asked, searched, read, stored = model.requests
        tools = {name_of(tool): tool for tool in cast(list[Json], asked["tools"])}
        assert set(MEMORY_TOOLS) <= set(tools)
        assert "Search memory before you answer" in "".join(texts(asked, "system"))
        (found,) = texts(searched, "tool")
        assert found.startswith("<ullage-memory>\n")
        assert "\nMEMORY.md#L5 (under Memory › Storage, origin file, score " in found
        assert found.endswith("\n- Parcels are stored in SQLite, never in files\n</ullage-memory>")
        assert "\nMEMORY.md#L3-L5 (of 5 lines, origin file)\n## Storage" in texts(read, "tool")[-1]
        *_, done, refused = texts(stored, "tool")
        assert done == "stored in DREAMS.md, where it waits for a person to look at it"
        assert "kind" in refused
        assert str(ITEM["text"]) in (pi.project / "DREAMS.md").read_text("utf-8")
        assert pi.problems == []


def test_memory_that_is_switched_off_says_so_to_the_model(
    tmp_path: Path, model: LoopbackModel
) -> None:
    with Pi(tmp_path, model, version=NEWER, command=SERVICE) as pi:
        (pi.project / ".ullage.yaml").write_text("memory:\n  enabled: false\n", "utf-8")
        pi.wait_for_service()
        model.answers = [
            Answer("", calls=(("memory_search", {"query": "parcels"}),)),
            Answer("No."),
        ]
        pi.ask("Where are parcels stored?")
        (answer,) = texts(model.requests[-1], "tool")
        assert "memory is switched off (`memory.enabled`)" in answer
        assert pi.problems == []


def name_of(tool: Json) -> str:
    return str(cast(Json, tool["function"])["name"])
