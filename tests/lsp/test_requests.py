"""What a client asks for beyond LSP: sessions, window, history, usage, checkpoints, memory."""

import re
from datetime import UTC, datetime
from pathlib import Path

import pytest
from lsprotocol import types
from pygls.exceptions import JsonRpcException

from pi_files import MODEL, PiFile, conversation, grow
from running import WAIT_S, Place
from ullage.core.documents.virtual_uri import write_entry_uri
from ullage.lsp.views.sessions import MAX_TOPIC_CHARS

REQUESTS = ("status", "sessions", "window", "history", "usage", "checkpoints", "memory", "pinnable")


async def started(editor, text: str = "42%"):
    await editor.start(editor.place.cwd)
    return await editor.gauge(lambda gauge: gauge.text == text)


@pytest.mark.parametrize("name", REQUESTS)
async def test_wrong_parameters_are_refused_in_one_line(editor, name: str) -> None:
    await editor.start()
    for params, words in (
        ({"session": 7}, "Expected `str | null`, got `int` - at `$.session`"),
        ({"sesion": "x"}, "unknown 'sesion'; known are session"),
        ([7], "Expected `object`, got `array`"),
    ):
        with pytest.raises(JsonRpcException) as caught:
            await editor.request(f"ullage/{name}", params)
        assert caught.value.code == -32602
        assert words in caught.value.message
        assert "\n" not in caught.value.message


async def test_without_a_session_the_lists_are_empty(editor, place: Place) -> None:
    await editor.start(place.cwd)
    assert (await editor.request("ullage/sessions")).sessions == []
    assert (await editor.request("ullage/window", {})).rows == []
    assert (await editor.request("ullage/history")).points == []
    assert (await editor.request("ullage/usage")).days == []
    assert (await editor.request("ullage/checkpoints", {"session": None})).session is None
    assert (await editor.request("ullage/memory")).rows == []


async def test_all_sessions_are_listed_the_live_ones_first(
    editor, workspace_session: tuple[PiFile, Path]
) -> None:
    _, path = workspace_session
    await started(editor)
    cwd = str(editor.place.cwd)
    older = conversation(2, usage=20_000, cwd=cwd, model=MODEL, session_id="older-0001")
    editor.place.write(str(path.with_name("older.jsonl")), older.data, age_s=9000)
    rows = await listed(editor, 2)
    assert [(row.gauge, row.isLive, row.isShown) for row in rows] == [
        ("42%", False, True),
        ("10%", False, False),
    ]
    assert ["shown" in row.label for row in rows] == [True, False]
    assert rows[1].detail.startswith("pi / OpenClaw · der-0001 · 20k/200k · 2 hours ago")
    grown = older.data + b"\n"
    editor.place.write(str(path.with_name("older.jsonl")), grown, age_s=-WAIT_S)
    rows = await listed(editor, 2, lambda rows: rows[0].isLive)
    assert rows[0].session.path.endswith("older.jsonl")
    for row in rows:
        assert_says_what_it_shows(row)


async def test_a_session_that_grew_is_listed_as_its_gauge_shows_it(
    editor, workspace_session: tuple[PiFile, Path]
) -> None:
    await started(editor)
    await listed(editor, 1)
    grow(*workspace_session, 166_000)
    await editor.gauge(lambda gauge: gauge.text == "83%")
    assert [row.gauge for row in await listed(editor, 1)] == ["83%"]


def assert_says_what_it_shows(row) -> None:
    """A screen reader hears every word and figure that a row shows."""
    shown, said = (
        re.findall(r"[\w.,%]*\w%?", text.lower())
        for text in (f"{row.title} {row.detail}", row.label)
    )
    assert not set(shown) - set(said)


async def listed(editor, n_sessions: int, is_wanted=lambda rows: True):
    """Ask each time that the client is told to, until there are so many sessions."""
    while True:
        rows = (await editor.request("ullage/sessions")).sessions
        if len(rows) == n_sessions and is_wanted(rows):
            return rows
        await editor.changed("sessions")


async def test_the_window_adds_up_to_the_gauge(
    editor, workspace_session: tuple[PiFile, Path]
) -> None:
    _, path = workspace_session
    await started(editor)
    found = await editor.request("ullage/window")
    assert found.headline == "84,000 / 200,000 (42.0%) tokens"
    shares = [row for row in found.rows if row.kind == "category"]
    assert sum(row.nTokens for row in shares) == 84_000
    assert [row.nTokens for row in shares] == sorted((r.nTokens for r in shares), reverse=True)
    free = next(row for row in found.rows if row.kind == "free")
    assert free.nTokens == 116_000
    keys = [row.key for top in found.rows for row in (top, *top.children)]
    assert len(set(keys)) == len(keys)
    everything = [row for top in found.rows for row in (top, *top.children)]
    for row in everything:
        assert_says_what_it_shows(row)
        assert f"{row.nTokens:,}" in row.label
    users = next(row for row in shares if row.title.endswith(" · User"))
    assert users.children[0].entry
    assert users.children[0].title.startswith(
        f"{users.children[0].nTokens:,} · Please look at file"
    )
    question = await editor.execute("ullage.show", {"uri": users.children[0].uri})
    assert "> Please look at file number" in question.text
    assert question.text.count("\n## ") < 2
    with pytest.raises(JsonRpcException, match="no entry gone"):
        await editor.execute("ullage.show", {"uri": write_entry_uri(str(path), "gone")})


async def test_what_is_sent_beside_the_transcript_leads_to_its_files(
    editor, workspace_session: tuple[PiFile, Path], place: Place
) -> None:
    rules = place.cwd / "AGENTS.md"
    rules.write_text("Always run the tests.\n", "utf-8")
    await started(editor)
    found = await editor.request("ullage/window")
    unseen = next(row for row in found.rows if row.title.endswith(" · Not in the messages"))
    built_in, instructions = unseen.children
    assert [row.kind for row in unseen.children] == ["part", "part"]
    for row in found.rows:
        assert_says_what_it_shows(row)
    assert built_in.title == f"{built_in.nTokens:,} · System prompt and tools"
    assert instructions.title == f"{instructions.nTokens:,} · AGENTS.md"
    assert (built_in.path, instructions.path) == (None, str(rules))
    assert sum(row.nTokens for row in unseen.children) == unseen.nTokens


async def test_a_call_is_named_by_its_command_in_the_window(editor, place: Place) -> None:
    pi = PiFile(cwd=str(place.cwd))
    pi.user("look")
    pi.assistant(calls=[("c1", "bash", {"command": "rg -n window"})], usage=1000)
    path = place.write("s.jsonl", pi.data)
    await editor.start()
    found = await editor.request("ullage/window", {"session": str(path)})
    titles = [row.title for share in found.rows for row in share.children]
    assert any(title.endswith(" · bash rg -n window") for title in titles)


async def test_a_share_says_that_it_has_more_entries_than_are_listed(editor, place: Place) -> None:
    pi = conversation(12, usage=84_000, cwd=str(place.cwd), model=MODEL)
    path = place.write("s.jsonl", pi.data)
    await editor.start()
    found = await editor.request("ullage/window", {"session": str(path)})
    users = next(row for row in found.rows if row.title.endswith(" · User"))
    assert len(users.children) == 10
    assert users.detail.endswith(" · the 10 largest of 12")
    assert_says_what_it_shows(users)


async def test_secrets_are_masked_in_the_window(editor, place: Place) -> None:
    pi = conversation(1, usage=84_000, cwd=str(place.cwd), model=MODEL)
    pi.user("use sk-ant-api03-abcdefghijklmnopqrstuvwxyz0123456789")
    path = place.write("s.jsonl", pi.data)
    await editor.start()
    found = await editor.request("ullage/window", {"session": str(path)})
    assert "abcdefghijklmnop" not in repr(found)


async def test_the_history_reaches_behind_compactions(editor, place: Place) -> None:
    pi = PiFile(cwd=str(place.cwd))
    for usage in (10_000, 90_000, 170_000):
        pi.user("go on")
        kept = pi.assistant("done", usage=usage)
    pi.compaction("what was", kept, details={"trigger": "auto"})
    for usage in (30_000, 60_000):
        pi.user("go on")
        pi.assistant("done", usage=usage)
    path = place.write("s.jsonl", pi.data)
    await editor.start()
    found = await editor.request("ullage/history", {"session": str(path)})
    assert [one.nTokens for one in found.points] == [10_000, 90_000, 170_000, 30_000, 60_000]
    assert not any(one.isEstimated for one in found.points)
    (mark,) = found.marks
    assert (mark.nPoint, mark.title, mark.tokensBefore) == (3, "Compaction 1 (auto)", 900)
    assert found.windowTokens == 200_000
    assert found.thresholds[0].name == "checkpoint"
    assert await editor.request("ullage/history", {"session": str(path)}) == found


async def test_the_history_reaches_behind_prunes(editor, place: Place) -> None:
    pi = PiFile(cwd=str(place.cwd))
    prune = {"by": "ullage", "tokensBefore": 90_400, "tokensAfter": 41_000, "pruned": 3}
    for usages in ((10_000, 50_000, 90_000), (45_000, 60_000)):
        for usage in usages:
            pi.user("go on")
            kept = pi.assistant("done", usage=usage)
        pi.entry("custom", customType="ullage.prune", data=prune)
    pi.compaction("what was", kept)
    pi.user("go on")
    pi.assistant("done", usage=30_000)
    pi.entry("custom", customType="ullage.prune", data=prune)
    path = place.write("s.jsonl", pi.data)
    await editor.start()
    found = await editor.request("ullage/history", {"session": str(path)})
    reported = [10_000, 50_000, 90_000, 45_000, 60_000, 30_000]
    assert [one.nTokens for one in found.points] == [*reported, 41_000]
    assert [one.isEstimated for one in found.points] == [False] * 6 + [True]
    assert [one.share for one in found.points[-2:]] == ["15%", "~20%"]
    assert found.marks[0].shareAfter == "~20%"
    assert [(one.nPoint, one.title, one.tokensAfter) for one in found.marks] == [
        (5, "Prune 1", 41_000),
        (5, "Compaction 2", None),
        (6, "Prune 3", 41_000),
    ]


async def test_the_history_goes_on_and_leads_to_messages_that_a_compaction_hid_too(
    editor, workspace_session: tuple[PiFile, Path]
) -> None:
    pi, path = workspace_session
    pi.compaction("what was", pi.ids[-1])
    path.write_bytes(pi.data)
    await editor.start(editor.place.cwd)
    await editor.gauge(lambda gauge: gauge.session is not None)
    for n_points, usage in ((1, 30_000), (2, 60_000)):
        grow(pi, path, usage)
        found = await editor.request("ullage/history")
        assert found.points[-1].nTokens == usage
        assert len(found.points) == found.marks[0].nPoint + n_points
    for point in found.points:
        uri = f"ullage:/Context.md?session={path}&entry={point.entry}"
        shown = await editor.execute("ullage.show", {"uri": uri})
        assert shown.text.startswith("## 1. Assistant"), point


async def test_a_damaged_checkpoint_is_listed_as_such(
    editor, workspace_session: tuple[PiFile, Path]
) -> None:
    _, path = workspace_session
    await started(editor)
    editor.place.run("checkpoint", "write", "--session", path)
    (latest,) = (await editor.request("ullage/checkpoints")).rows
    assert (latest.isLatest, latest.isReadable) == (True, True)
    assert latest.label.startswith("Checkpoint cp_001, the latest: ")
    assert latest.detail.startswith("latest · ")
    assert_says_what_it_shows(latest)
    # In a narrow view the name comes before what is cut off.
    assert latest.title.startswith("cp_001 · ")
    assert len(latest.title) <= len("cp_001 · ") + MAX_TOPIC_CHARS
    assert "cp_001" not in latest.detail
    Path(latest.path).write_bytes(b"schema: [")
    (damaged,) = (await editor.request("ullage/checkpoints")).rows
    assert (damaged.checkpoint, damaged.isReadable) == (latest.checkpoint, False)
    assert "is damaged" in damaged.tooltip


async def test_memory_and_instructions_are_listed_with_their_sizes(editor, place: Place) -> None:
    for name in ("MEMORY.md", "AGENTS.md", "memory/2026-02-03.md", "memory/2026-02-04.md"):
        place.write(name, b"# A heading\n")
    await editor.start(place.cwd)
    found = await editor.request("ullage/memory")
    assert [(row.title.replace("\\", "/"), row.kind) for row in found.rows] == [
        ("MEMORY.md", "memory"),
        ("memory/2026-02-04.md", "log"),
        ("memory/2026-02-03.md", "log"),
        ("AGENTS.md", "instructions"),
    ]
    assert found.rows[0].detail.startswith("12 characters, ")


async def test_sessions_are_measured_anew_when_the_configuration_changes(
    editor, workspace_session: tuple[PiFile, Path]
) -> None:
    await started(editor)
    editor.place.write(str(editor.place.home / ".openclaw/config.yaml"), b"contextWindow: 100000\n")
    await editor.gauge(lambda gauge: gauge.text == "84%")
    editor.client.workspace_did_change_configuration(
        types.DidChangeConfigurationParams(settings={"ullage": {"contextWindow": 400_000}})
    )
    await editor.gauge(lambda gauge: gauge.text == "21%")


async def test_what_the_workspace_used_is_told_by_the_day(
    editor, workspace_session: tuple[PiFile, Path]
) -> None:
    pi, path = workspace_session
    today = f'"{datetime.now(UTC).date().isoformat()}T'.encode()
    editor.place.write(str(path), pi.data.replace(b'"2026-02-03T', today))
    await started(editor)
    used = await editor.request("ullage/usage")
    assert str(editor.place.cwd) in used.title
    assert len(used.days) == 1
    assert len(used.heads) == len(used.days[0].cells) == len(used.total)
    assert used.days[0].nSent > 0
    assert used.notes[0].startswith(f"{MODEL}: ")
