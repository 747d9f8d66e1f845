"""What the guides hand over as examples comes out of sessions in which people say it.

The guides: docs/design/README.md, "Where the rules come from". People talk here as they do; none of
the lines below is worded as the examples are.
"""

import asyncio
from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path

import pytest

from pi_files import PiFile
from planning import loaded
from ullage.app.change.compact import Plan, Request, plan_compaction
from ullage.app.checkpoint.write import write_checkpoint
from ullage.app.memory.flush import make_flush, plan_flush
from ullage.app.summary.write import ModelUse
from ullage.core.checkpoint.checkpoint import Checkpoint
from ullage.core.config.settings import Config, Policy
from ullage.core.memory.flush import read_epoch
from ullage.store.files.demo import make_idle
from ullage.store.files.places import Places

AT = datetime(2026, 2, 3, 14, 22, tzinfo=UTC)


def write(pi: PiFile, places: Places) -> Path:
    path = places.home / "s.jsonl"
    path.write_bytes(pi.data)
    make_idle(path)
    return path


def checkpoint_of(pi: PiFile, places: Places) -> Checkpoint:
    session = loaded(write(pi, places), places)
    return write_checkpoint(session, Config().checkpoint, places, trigger="manual").checkpoint


def flush_of(pi: PiFile, places: Places) -> dict[str, list[str]]:
    """Flush a session before its first compaction; the points that are logged, by heading."""
    session = loaded(write(pi, places), places)
    epoch = read_epoch(session.context, 0)
    plan = plan_flush(session, Config(), places, ModelUse(), key="openclaw:x", epoch=epoch, now=AT)
    text = make_flush(asyncio.run(plan), places).text
    assert text.startswith("## 14:22 — Compaction Pre-flush\n")
    points: dict[str, list[str]] = {}
    for line in text.split("\n"):
        if line.startswith("**"):
            points[line.strip("*:")] = []
        elif line.startswith("- "):
            points[list(points)[-1]].append(line[2:])
    return points


def summary_of(pi: PiFile, places: Places) -> dict[str, str]:
    """Compact a session up to its last message; the summary's text by section."""
    config = Config(policy=Policy(summarize_protect_tokens=1))
    session = loaded(write(pi, places), places, config)
    plan = asyncio.run(plan_compaction(session, Request(), config, places, ModelUse()))
    assert isinstance(plan, Plan), plan
    parts = ("\n" + plan.summary.text).split("\n## ")
    return {part.split("\n", 1)[0]: part.split("\n", 1)[-1] for part in parts}


def holds(texts: Iterable[str], *words: str) -> bool:
    """Whether one of the texts has all these words."""
    return any(all(word in text for word in words) for text in texts)


def token_service(places: Places) -> PiFile:
    """Two functions of three are written; the third is begun."""
    pi = PiFile(cwd=str(places.cwd))
    pi.user(
        "Hi! Please refactor the JWT validation logic in auth-service, it has grown over the years."
        " Every new function should get JSDoc comments, our reviewers send it back otherwise."
    )
    pi.assistant(
        "I'll look at what is there.",
        calls=[("c1", "read", {"path": "auth-service/auth.js"})],
        stop="toolUse",
    )
    pi.result("c1", "const jwt = require('jsonwebtoken')\n" * 900 + "const secret = 'REDACTED'\n")
    pi.assistant(
        "The logic is spread over one file of 300 lines. I propose three modules: generateToken.ts,"
        " verifyToken.ts and refreshToken.ts, then the test cases. For the signature there are two"
        " ways: HS256, as today, with one shared secret, or RS256 with a key pair. Which one do you"
        " want?"
    )
    pi.user("RS256. The other services only have to verify, they get the public key.")
    pi.assistant(
        "I go with RS256 rather than HS256: it supports public key verification, which fits the"
        " microservices. How long should the tokens live?"
    )
    pi.user("15 minutes for the access token, 7 days for the refresh token")
    todos = ("token generation (generateToken.ts)", "validation (verifyToken.ts)",
             "refresh token logic (refreshToken.ts)", "test cases")  # fmt: skip
    pi.assistant(
        "",
        calls=[
            ("c2", "todo_write", {"todos": [{"content": t, "status": "pending"} for t in todos]})
        ],
        stop="toolUse",
    )
    pi.result("c2", "ok", name="todo_write")
    for call_id, name in (("c3", "generateToken"), ("c4", "verifyToken")):
        path = f"auth-service/src/{name}.ts"
        code = f"/** {name} */\nexport function {name}() {{}}\n" * 200
        pi.assistant(
            "", calls=[(call_id, "write", {"path": path, "content": code})], stop="toolUse"
        )
        pi.result(call_id, f"Wrote {path}", name="write")
    pi.assistant(
        "Implemented generateToken(payload, expiresIn): it signs with RS256 and returns"
        " {token, expiresAt}. Implemented verifyToken(token): it validates the signature, checks"
        " the expiration and returns the payload or null. I also found that the old auth.js has"
        " `secret` hardcoded in line 42; that has to move to env vars.",
        calls=[
            (
                "c5",
                "todo_write",
                {
                    "todos": [
                        {"content": t, "status": status}
                        for t, status in zip(
                            todos, ("completed", "completed", "in_progress", "pending"), strict=True
                        )
                    ]
                },
            )
        ],
        stop="toolUse",
    )
    pi.result("c5", "ok", name="todo_write")
    pi.assistant(
        "Next is the refresh logic.",
        calls=[("c6", "read", {"path": "auth-service/src/session.ts"})],
        stop="toolUse",
    )
    pi.result("c6", "export const store = new Map()\n" * 10, name="read")
    return pi


def test_the_flush_logs_progress_decisions_issues_and_preferences(places: Places) -> None:
    points = flush_of(token_service(places), places)
    progress, decisions = points["Task Progress"], points["Important Decisions"]
    assert holds(progress, "JWT validation logic", "auth-service")
    assert holds(progress, "generateToken.ts")
    assert holds(progress, "verifyToken.ts")
    assert holds([p for p in progress if p.startswith("Remaining: ")], "refreshToken.ts")
    assert holds([p for p in progress if p.startswith("Remaining: ")], "test cases")
    assert not holds(progress, "Remaining: Remaining:")
    assert not holds(progress, "Remaining:", "generateToken.ts")
    assert holds(decisions, "RS256", "HS256", "public key verification")
    assert holds(decisions, "15 minutes", "7 days")
    assert holds(points["Issues Found"], "auth.js", "`secret`", "line 42", "env vars")
    assert holds(points["User Preferences"], "new function", "JSDoc")
    assert not holds(points["User Preferences"], "RS256")


def test_the_summary_tells_the_task_what_is_done_and_where_it_stands(places: Places) -> None:
    sections = summary_of(token_service(places), places)
    text = "\n".join(f"## {name}\n{body}" for name, body in sections.items())
    assert "as of 10:" in text
    assert "JWT validation logic in auth-service" in sections["Goal"]
    completed = sections["Work completed"]
    assert "generateToken(payload, expiresIn)" in completed
    assert "{token, expiresAt}" in completed
    assert "verifyToken(token)" in completed
    assert "line 42" in text
    assert "refreshToken.ts" in sections["In progress"]
    assert "test cases" in sections["Remaining"]
    assert "generateToken" not in sections["Remaining"]
    for words in ("RS256", "public key verification", "15 minutes", "7 days"):
        assert words in sections["Decisions"]
    assert "JSDoc" in sections["Constraints"]


def trip() -> PiFile:
    """The dates are settled, the visa is asked for."""
    pi = PiFile(cwd="/home/ana")
    pi.user("I want to go to Japan in March, budget-friendly. Help me plan the trip?")
    pi.assistant(
        "Let me see what we know.",
        calls=[("c1", "memory_search", {"query": "travel"})],
        stop="toolUse",
    )
    pi.result("c1", "no results", name="memory_search")
    pi.assistant("With pleasure! Where do you fly from, and on which days could you leave?")
    pi.user("From Belgrade, sometime between March 15 and March 29")
    pi.assistant(
        "", calls=[("c2", "web_search", {"query": "BEG to TYO flights March"})], stop="toolUse"
    )
    pi.result("c2", "BEG-HND from 640 EUR, one stop\n" * 20, name="web_search")
    pi.assistant(
        "Flights begin at 640 EUR with one stop. There is a hotel in Asakusa with a garden for 210"
        " EUR a night, and hostels from 25 EUR. Shall I look at luxury places or at budget ones?"
    )
    pi.user(
        "Budget options, not luxury. I'm really price-sensitive, so always ask me about the budget"
        " before you suggest anything. Hotel or hostel I haven't decided yet."
    )
    pi.assistant(
        "Understood. A plan for two weeks: Tokyo (March 15 to 20), Kyoto (20 to 25), Osaka (25 to"
        " 29), about 2,000 USD with flights, hostels and a regional rail pass. " + "Each day has"
        " one thing that costs money and two that do not. " * 8 + "Does that fit?"
    )
    pi.user("Looks good! What are the visa requirements? I have a Serbian passport.")
    return pi


def test_a_checkpoint_of_a_trip_is_what_the_next_agent_needs(places: Places) -> None:
    checkpoint = checkpoint_of(trip(), places)
    decisions = [decision.what for decision in checkpoint.decisions]
    assert "Japan" in checkpoint.working.topic or "visa" in checkpoint.working.topic
    assert checkpoint.working.status == "in_progress"
    assert "visa" in checkpoint.working.next_action
    assert not checkpoint.working.interrupted
    assert holds(decisions, "Budget options", "luxury")
    assert holds(decisions, "Belgrade", "March 15", "March 29")
    assert checkpoint.resources.tools_used == ("memory_search", "web_search")
    assert "Japan in March" in checkpoint.thread.summary
    gists = [(exchange.role, exchange.gist) for exchange in checkpoint.thread.key_exchanges]
    assert gists[0] == (
        "user",
        "I want to go to Japan in March, budget-friendly. Help me plan the trip?",
    )
    assert ("agent", True) in [(role, "Tokyo" in gist) for role, gist in gists]
    assert "visa" in gists[-1][1]
    assert holds(checkpoint.open_items, "visa")
    assert holds(checkpoint.open_items, "Hotel or hostel")
    assert not holds(checkpoint.open_items, "Belgrade")
    assert holds(checkpoint.learnings, "price-sensitive", "ask me about the budget")


@pytest.mark.parametrize(
    ("said", "words"),
    [
        ("we do have an API spec btw, it lives at /docs/api-spec.yaml", "/docs/api-spec.yaml"),
        ("Our team keeps the API spec in /docs/api-spec.yaml.", "/docs/api-spec.yaml"),
        ("And I really can't stand emoji in code comments.", "emoji in code comments"),
        ("Oh, and I dislike emoji in code comments, they look unserious.", "dislike emoji"),
    ],
)
def test_what_is_said_in_passing_is_learned(said: str, words: str, places: Places) -> None:
    pi = PiFile(cwd="/work/shop")
    pi.user(f"Can you add a route that lists the refunds of a customer? {said}")
    pi.assistant("I added GET /customers/:id/refunds and a test. All tests pass.")
    pi.user("Great, then the same for invoices.")
    pi.assistant("Done, GET /customers/:id/invoices is there.")
    learnings = checkpoint_of(pi, places).learnings
    assert holds(learnings, words)
    assert not holds(learnings, "pass")
