"""The real pi, 0.73.1 and 0.87.1, reads what we read and what we wrote, and agrees."""

import gzip
import json
import os
import subprocess
from importlib import resources
from pathlib import Path
from typing import cast

import pytest

from edits import applied
from pi_process import NODES
from planning import compacted, restored, undone
from reading import read as read_bytes
from running import WAIT_S
from ullage.app.gauge.status_report import report_context
from ullage.app.sessions.load import load, read
from ullage.app.sessions.open import open_session
from ullage.app.transfer.branch import plan_branch, write_branch
from ullage.app.transfer.bundle import plan_export, plan_import, write_export, write_import
from ullage.app.transfer.doctor import check_up, plan_copy, write_copy
from ullage.core.change.edit import PRUNED_OUTPUT, PruneEdit, Replacement, Rewrite
from ullage.core.config.settings import Config, Policy
from ullage.core.gauge.gauge import measure
from ullage.core.gauge.window import Window
from ullage.core.transcript.entries import MemoryLines, ToolResult
from ullage.formats.agents.openclaw.edit import EDITOR
from ullage.formats.agents.openclaw.messages import prune_message
from ullage.store.files.demo import make_idle
from ullage.store.files.places import Places

HERE = Path(__file__).parent
SAMPLES = sorted((HERE.parent / "samples" / "openclaw").glob("*.jsonl"))
SEEDS = tuple(range(1, 26))


def run_node(version: str, script: str, *arguments: str) -> str:
    command = [NODES[version], str(HERE / script), *arguments]
    done = subprocess.run(command, capture_output=True, check=True, timeout=WAIT_S, cwd=HERE)
    return done.stdout.decode()


def ask_pi(version: str, *paths: Path) -> list[dict[str, object]]:
    output = run_node(version, "context.mjs", version, *(str(path) for path in paths))
    return [cast(dict[str, object], json.loads(line)) for line in output.split("\n") if line]


def ask_ullage(path: Path, places: Places) -> dict[str, object]:
    session = open_session(path)
    context = read(session, places).context
    messages = report_context(session, context).messages
    return {
        "messages": cast(object, json.loads(json.dumps(messages))),
        "leafId": context.leaf_id,
        "nEntries": context.n_entries,
    }


@pytest.fixture
def places(tmp_path: Path) -> Places:
    return Places(
        cwd=tmp_path, home=tmp_path, env=dict(os.environ), state_folder=tmp_path / "state"
    )


@pytest.fixture
def demo_session(tmp_path: Path) -> Path:
    packed = resources.files("ullage") / "data" / "demo" / "session.jsonl.gz"
    path = tmp_path / "session.jsonl"
    path.write_bytes(gzip.decompress(packed.read_bytes()))
    make_idle(path)
    return path


def test_there_are_samples() -> None:
    assert len(SAMPLES) >= 7


@pytest.mark.parametrize("version", NODES)
@pytest.mark.parametrize("path", SAMPLES, ids=lambda path: path.stem)
def test_a_sample_gives_the_messages_that_pi_builds(
    path: Path, version: str, places: Places
) -> None:
    if "0.87.1" in path.name and version != "0.87.1":
        version = "0.87.1"  # the older pi passes over what the newer one wrote
    (answer,) = ask_pi(version, path)
    ours = ask_ullage(path, places)
    assert ours["messages"] == answer["messages"]
    assert ours["nEntries"] == answer["nEntries"]


@pytest.mark.parametrize("version", NODES)
def test_random_sessions_of_pi_give_what_pi_builds(
    version: str, tmp_path: Path, places: Places
) -> None:
    run_node("0.73.1", "generate.mjs", str(tmp_path / "made"), *(str(seed) for seed in SEEDS))
    paths = [tmp_path / "made" / f"{seed}.jsonl" for seed in SEEDS]
    for path, answer in zip(paths, ask_pi(version, *paths), strict=True):
        assert ask_ullage(path, places) == answer, path.name


@pytest.mark.parametrize("version", NODES)
def test_pi_opens_a_compacted_session_with_the_context_that_was_previewed(
    version: str, demo_session: Path, places: Places
) -> None:
    plan, _ = compacted(demo_session, places, Config())
    after = plan.change.context_after
    previewed = json.loads(json.dumps([item.native for item in after.items]))
    (answer,) = ask_pi(version, demo_session)
    assert answer["messages"] == previewed
    assert previewed[0]["role"] == "compactionSummary"


def test_pi_still_has_its_system_message_after_a_compaction(tmp_path: Path, places: Places) -> None:
    sample = next(path for path in SAMPLES if "0.87.1" in path.name)
    path = tmp_path / "session.jsonl"
    parent = ask_ullage(sample, places)["leafId"]
    lines: list[bytes] = []
    for number in range(40):
        role = "assistant" if number % 2 else "user"
        content = [{"type": "text", "text": f"sentence {number} of a talk about parcels. " * 9}]
        message = {"role": role, "content": content, "timestamp": 1}
        entry = {"type": "message", "id": f"a0a0a0{number:02}", "parentId": parent}
        stamp = {"timestamp": "2026-11-21T03:00:00.000Z", "message": message}
        lines.append(json.dumps(entry | stamp).encode() + b"\n")
        parent = entry["id"]
    path.write_bytes(sample.read_bytes() + b"".join(lines))
    make_idle(path)
    config = Config(policy=Policy(summarize_protect_tokens=300))
    compacted(path, places, config)
    (answer,) = ask_pi("0.87.1", path)
    messages = cast(list[dict[str, object]], answer["messages"])
    assert [message["role"] for message in messages[:2]] == ["system", "compactionSummary"]
    (before,) = ask_pi("0.87.1", sample)
    old = cast(list[dict[str, object]], before["messages"])[0]
    assert {**messages[0], "timestamp": 0} == {**old, "timestamp": 0}


@pytest.mark.parametrize("version", NODES)
def test_pi_opens_an_undone_session_with_the_context_from_before(
    version: str, demo_session: Path, places: Places
) -> None:
    (before,) = ask_pi(version, demo_session)
    compacted(demo_session, places, Config())
    (short,) = ask_pi(version, demo_session)
    assert short["messages"] != before["messages"]
    undone(demo_session, places, Config())
    (back,) = ask_pi(version, demo_session)
    assert back["messages"] == before["messages"]


def prune_all(data: bytes, *, n_kept: int = 0) -> tuple[Rewrite, list[dict[str, object]]]:
    """Prune every output but the last; give the change and the messages it should leave."""
    context = read_bytes(data).context
    outputs = [
        Replacement(entry_id=item.entry_id, what="output", call_id=block.call_id)
        for item in context.items
        for block in item.message.blocks
        if isinstance(block, ToolResult)
    ]
    outputs = outputs[: len(outputs) - n_kept]
    edit = PruneEdit(
        entry_id="dd000000",
        timestamp="2026-11-21T05:00:00.000Z",
        replacements=tuple(outputs),
        n_tokens_before=9000,
        n_tokens_after=4000,
    )
    by_id = {one.entry_id: one for one in outputs}
    expected = [
        prune_message(item.native, [by_id[item.entry_id]] if item.entry_id in by_id else [])
        for item in context.items
    ]
    return EDITOR.prune(MemoryLines(data), context, edit), expected


def undo_prune(data: bytes, change: Rewrite) -> bytes:
    back = EDITOR.undo_prune(MemoryLines(data), change.changes)
    assert back is not None
    return applied(data, back)


def go_on(version: str, path: Path) -> list[dict[str, object]]:
    return cast(
        list[dict[str, object]], json.loads(run_node(version, "go_on.mjs", version, str(path)))
    )


@pytest.mark.parametrize("version", NODES)
def test_pi_opens_pruned_sessions_with_the_placeholders(version: str, tmp_path: Path) -> None:
    run_node("0.73.1", "generate.mjs", str(tmp_path / "made"), *(str(seed) for seed in SEEDS))
    paths = [tmp_path / "made" / f"{seed}.jsonl" for seed in SEEDS]
    originals = [path.read_bytes() for path in paths]
    before = ask_pi(version, *paths)
    changes = [prune_all(data) for data in originals]
    assert sum(len(change.changes) for change, _ in changes) > 40
    for path, data, (change, _) in zip(paths, originals, changes, strict=True):
        path.write_bytes(applied(data, change))
    for (_, expected), answer in zip(changes, ask_pi(version, *paths), strict=True):
        assert answer["messages"] == json.loads(json.dumps(expected))
    for path, data, (change, _) in zip(paths, originals, changes, strict=True):
        path.write_bytes(undo_prune(path.read_bytes(), change))
        assert path.read_bytes() == data
    assert ask_pi(version, *paths) == before


@pytest.mark.parametrize("version", NODES)
def test_pi_goes_on_with_a_pruned_session_and_with_one_that_was_undone(
    version: str, demo_session: Path
) -> None:
    original = demo_session.read_bytes()
    (before,) = ask_pi(version, demo_session)
    change, expected = prune_all(original, n_kept=2)
    demo_session.write_bytes(applied(original, change))
    sent = go_on(version, demo_session)
    assert len(sent) == len(expected) + 2
    outputs = [message["content"] for message in sent if message["role"] == "toolResult"]
    placeholder = [{"type": "text", "text": PRUNED_OUTPUT}]
    assert [output == placeholder for output in outputs] == [True] * (len(outputs) - 2) + [
        False
    ] * 2

    context = read_bytes(demo_session.read_bytes()).context
    assert json.loads(json.dumps([item.native for item in context.items[:-2]])) == expected
    gauge = measure(context, Window(n_tokens=200_000, source="setting", detail=""), len)
    assert (gauge.used_tokens, gauge.used_source) == (5000, "reported")

    demo_session.write_bytes(undo_prune(demo_session.read_bytes(), change))
    (back,) = ask_pi(version, demo_session)
    messages = cast(list[object], back["messages"])
    assert messages[:-2] == before["messages"]
    assert len(go_on(version, demo_session)) == len(messages) + 2


@pytest.mark.parametrize("version", NODES)
def test_pi_goes_on_with_a_compacted_session(
    version: str, demo_session: Path, places: Places
) -> None:
    plan, _ = compacted(demo_session, places, Config())
    sent = go_on(version, demo_session)
    context = read_bytes(demo_session.read_bytes()).context
    assert [message["role"] for message in sent[-2:]] == ["user", "assistant"]
    assert len(sent) == len(context.items) == len(plan.change.context_after.items) + 2
    as_json = json.dumps(plan.summary.text, ensure_ascii=False)[1:-1]
    assert as_json in json.dumps(sent[0], ensure_ascii=False)


@pytest.mark.parametrize("version", NODES)
def test_pi_goes_on_with_a_checkpoint_at_the_end_and_without_it_once_it_is_undone(
    version: str, demo_session: Path, places: Places
) -> None:
    (before,) = ask_pi(version, demo_session)
    plan = restored(demo_session, places, "session")
    (answer,) = ask_pi(version, demo_session)
    messages = cast(list[dict[str, object]], answer["messages"])
    after = plan.change.context_after
    assert messages == json.loads(json.dumps([item.native for item in after.items]))
    assert (messages[:-1], messages[-1]["content"]) == (before["messages"], plan.text)
    sent = go_on(version, demo_session)
    told = [{"type": "text", "text": plan.text}]
    assert {"role": "user", "content": told} in [
        {key: message[key] for key in ("role", "content")} for message in sent
    ]
    make_idle(demo_session)
    undone(demo_session, places, Config())
    (back,) = ask_pi(version, demo_session)
    assert cast(list[object], back["messages"])[:-2] == before["messages"]


@pytest.mark.parametrize("version", NODES)
def test_pi_goes_on_with_a_session_that_begins_with_a_checkpoint(
    version: str, demo_session: Path, places: Places
) -> None:
    plan = restored(demo_session, places, "new")
    new = plan.path_after
    cwd = plan.loaded.session.header.cwd or ""
    assert str(new) in json.loads(run_node(version, "list.mjs", version, cwd, str(new.parent)))
    sent = go_on(version, new)
    assert [message["role"] for message in sent] == ["user", "user", "assistant"]
    assert sent[0]["content"] == [{"type": "text", "text": plan.text}]


def made_from(path: Path, places: Places) -> list[Path]:
    """Make the sessions that Ullage can make from another one."""
    here = Places(cwd=places.cwd, home=places.home, env={}, state_folder=places.state_folder)
    session = open_session(path)
    branched = plan_branch(session, None, here)
    write_branch(branched, here)
    bundle = path.with_suffix(".json")
    loaded = load(session, Config(), here)
    write_export(plan_export(loaded, bundle, here, is_redacted=False))
    imported = plan_import(bundle, here)
    write_import(imported, here)
    copy = plan_copy(check_up(str(path), here), Path("repaired.jsonl"), here)
    write_copy(copy)
    return [branched.path, imported.path, copy.path]


@pytest.mark.parametrize("version", NODES)
def test_pi_opens_the_sessions_that_we_make_from_one_with_its_context(
    version: str, demo_session: Path, places: Places
) -> None:
    (before,) = ask_pi(version, demo_session)
    for path in made_from(demo_session, places):
        (made,) = ask_pi(version, path)
        assert made["messages"] == before["messages"], path.name
    demo_session.with_suffix(".json").unlink()


def test_pi_opens_a_repaired_session_on_which_it_would_hang(tmp_path: Path, places: Places) -> None:
    path = tmp_path / "s.jsonl"
    entries = [("a0", "a2"), ("a1", "a0"), ("a2", "a1"), ("a3", "a2")]
    lines = [{"type": "session", "version": 3, "id": "x0", "timestamp": "", "cwd": "/work"}]
    for entry_id, parent_id in entries:
        message = {"role": "user", "content": entry_id, "timestamp": 1}
        entry = {"type": "message", "id": entry_id, "parentId": parent_id, "timestamp": ""}
        lines.append(entry | {"message": message})
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    copy = plan_copy(check_up(str(path), places), Path("out.jsonl"), places)
    write_copy(copy)
    (answer,) = ask_pi("0.87.1", copy.path)
    messages = cast(list[dict[str, object]], answer["messages"])
    assert [message["content"] for message in messages] == ["a0", "a1", "a2", "a3"]
