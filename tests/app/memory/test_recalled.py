"""What memory handed out is learned by nobody: no fact, checkpoint, summary or log has it."""

import asyncio
from pathlib import Path

import pytest

from claude_files import ClaudeFile
from claude_files import call as claude_call
from claude_files import result as claude_result
from codex_files import CodexFile
from model_server import ModelServer, served, text_reply
from model_session import endpoint_of
from pi_files import PiFile
from planning import loaded, planned
from reading import read_context
from ullage.app.checkpoint.write import write_checkpoint
from ullage.app.memory.flush import plan_flush
from ullage.app.sessions.load import Loaded
from ullage.app.summary.write import ModelUse
from ullage.core.checkpoint.captured import MessageEvent, capture_events, events_of
from ullage.core.config.settings import Config
from ullage.core.facts.collect import collect_facts
from ullage.core.memory.quoted import fence_memory, quote_memory
from ullage.formats.speech import COMMON_MARKS
from ullage.store.files.demo import make_idle
from ullage.store.files.places import Places
from virtual_time import run_virtual

FALSE = "The user prefers Fortran, and we decided to never run the tests of shop-core."
LINES = f"- {FALSE}\n- Error: COBOL was not found\n- LEGACY_PORT is 48213 in conf/old.toml"
RECALLED = fence_memory((f"memory/2026-11-01.md#L3-L5\n{quote_memory(LINES, ())}",))
WORDS = ("Fortran", "shop-core", "COBOL", "48213", "conf/old.toml")
ASKED = "What did we say about the language and LEGACY_PORT? Always answer in German."
FILLER = "It matters. " * 100


@pytest.fixture
def places(tmp_path: Path) -> Places:
    workspace = tmp_path / "ws"
    (workspace / "memory").mkdir(parents=True)
    return Places(cwd=workspace, home=tmp_path, env={}, state_folder=tmp_path / "state")


def pi_session(places: Places, *, pasted: str, copied: str) -> bytes:
    pi = PiFile(cwd=str(places.cwd))
    pi.user(ASKED)
    pi.assistant(calls=[("c1", "memory_search", {"query": "language"})], stop="toolUse")
    pi.result("c1", RECALLED, name="memory_search")
    call = ("c2", "bash", {"command": "ullage memory search language && false"})
    pi.assistant(calls=[call], stop="toolUse")
    pi.result("c2", RECALLED, is_error=True)
    pi.assistant(copied)
    pi.user(pasted)
    pi.assistant("Done.")
    for n in range(6):
        pi.user(f"Please look at file number {n}. {FILLER}")
        pi.assistant(f"I looked at number {n}. {FILLER}")
    return pi.data


def session(places: Places, data: bytes) -> Loaded:
    path = places.home / "s.jsonl"
    path.write_bytes(data)
    make_idle(path)
    return loaded(path, places)


COPIED = (f"We decided: {FALSE}", f"Decision: {FALSE}\n\nI learned that {FALSE}", FALSE)
PASTED = (
    RECALLED,
    f"Is that right?\n\n{RECALLED}\n",
    f"You said:\n> {RECALLED}".replace("\n", "\n> "),
)


@pytest.mark.parametrize("copied", COPIED)
@pytest.mark.parametrize("pasted", PASTED)
def test_a_false_preference_from_memory_is_learned_nowhere(
    places: Places, pasted: str, copied: str
) -> None:
    of = session(places, pi_session(places, pasted=pasted, copied=copied))
    checkpoint = write_checkpoint(of, Config().checkpoint, places, trigger="manual").checkpoint
    learned = [
        *(decision.what for decision in checkpoint.decisions),
        *checkpoint.learnings,
        *checkpoint.open_items,
        checkpoint.working.topic,
        checkpoint.working.next_action,
    ]
    flush = asyncio.run(
        plan_flush(of, Config(), places, ModelUse(), key="openclaw:test", epoch=None)
    )
    summary = planned(of.path, places).summary.text
    for word in WORDS:
        assert word not in "\n".join(learned)
        assert word not in flush.text
        assert word not in summary
    assert "German" in flush.text
    assert "German" in summary
    assert "ullage-memory" not in summary + flush.text + "\n".join(learned)


def test_every_agents_messages_lose_what_was_recalled(places: Places) -> None:
    claude = ClaudeFile(cwd=str(places.cwd))
    claude.user(RECALLED)
    claude.user(f"Use uv.\n{RECALLED}\nNot pip.")
    claude.assistant(claude_call("t1", "mcp__ullage__memory_search", query="x"))
    claude.user([claude_result("t1", RECALLED)])
    codex = CodexFile(cwd=str(places.cwd))
    codex.turn()
    codex.user(f"Use uv.\n{RECALLED}\nNot pip.")
    codex.tool(RECALLED)
    for data in (claude.data, codex.data):
        of = session(places, data)
        items = of.context.items
        events = capture_events(events_of(items, range(len(items))), now_ms=0)
        assert "Fortran" not in repr(events)
        (said,) = [m.gist for m in events.messages if "uv" in m.gist]
        assert said.split() == ["Use", "uv.", "Not", "pip."]


def test_a_prompts_hook_hears_what_was_typed_beside_it() -> None:
    event = MessageEvent(role="user", text=f"{RECALLED}\nwhy?")
    assert [m.gist for m in capture_events([event], now_ms=0).messages] == ["why?"]
    alone = MessageEvent(role="user", text=RECALLED)
    assert capture_events([alone], now_ms=0).messages == ()


def test_what_a_model_puts_down_of_it_counts_as_written(places: Places) -> None:
    of = session(places, pi_session(places, pasted="ok", copied="I searched."))
    reply = text_reply(f"**Notes:**\n- {FALSE}\n- LEGACY_PORT was asked for\n")

    async def main() -> tuple[str, str]:
        async with served(ModelServer((reply,))) as server:
            use = ModelUse(endpoint=endpoint_of(server))
            plan = await plan_flush(of, Config(), places, use, key="openclaw:a", epoch=None)
            assert plan.notes == ()
            return plan.text, str(server.asked)

    text, asked = run_virtual(main)
    assert "LEGACY_PORT was asked for" in text
    assert "Fortran" not in text
    assert "Fortran" not in asked


def test_no_title_is_made_of_it() -> None:
    assert COMMON_MARKS.read_typed(f"{RECALLED}\nwhy?") == "why?"
    assert COMMON_MARKS.read_typed(RECALLED) == ""


def test_no_outcome_of_a_command_and_no_task_is_read_from_it() -> None:
    pi = PiFile()
    pi.user("Run the tests.")
    pi.assistant(calls=[("c1", "bash", {"command": "pytest -q"})], stop="toolUse")
    pi.result("c1", RECALLED, is_error=True)
    facts = collect_facts(read_context(pi.data).items)
    assert not [word for word in WORDS if word in repr((facts.runs, facts.tasks, facts.plan))]
