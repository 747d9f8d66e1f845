"""What `context inspect` tells of the parts of a request."""

import pytest

from claude_files import ClaudeFile, text
from ullage.app.assembly.parts import inspect_session
from ullage.app.gauge.inspect import SOURCE_CHARS, inspection_text
from ullage.app.sessions.load import load
from ullage.app.sessions.open import open_session
from ullage.core.config.settings import Config
from ullage.store.files.places import Places


def test_parts_stand_in_place_of_what_is_not_in_the_transcript(places: Places) -> None:
    project = places.home.parent / "a folder of a long name" / "and another one" / "shop"
    (project / "docs").mkdir(parents=True)
    (project / "CLAUDE.md").write_text("Always run the tests.\n", "utf-8")
    slug = "".join(letter if letter.isalnum() else "-" for letter in str(project))
    memory = places.home / ".claude/projects" / slug / "memory/MEMORY.md"
    memory.parent.mkdir(parents=True)
    memory.write_text("- a fact\n" * 201, "utf-8")
    claude = ClaudeFile(cwd=str(project))
    claude.user("Begin.")
    claude.assistant(text("Done."), usage=9_000)
    path = places.home / "session.jsonl"
    path.write_bytes(claude.data)
    loaded = load(open_session(path), Config(), places)
    inspection = inspect_session(loaded, 5, Config())
    told = inspection_text(inspection).splitlines()
    assert any(line.startswith("not in the messages") for line in told)
    start = next(at for at, line in enumerate(told) if line.startswith("What is sent"))
    rows = told[start + 2 : start + 8]
    assert [row[:24].rstrip() for row in rows] == [
        "system prompt and tools",
        "instructions",
        "memory",
        "    not sent: 8 characte",
        "    characters",
        "conversation",
    ]
    assert rows[1].endswith("shop/CLAUDE.md")
    assert all(len(row) <= 80 for row in rows)
    source = rows[2][50:]
    assert source.startswith("…")
    assert len(source) == SOURCE_CHARS


def test_each_part_and_each_advice_has_its_price(places: Places) -> None:
    project = places.home.parent / "shop"
    project.mkdir()
    rule = "Never push to the main branch without a review by a second person."
    (project / "CLAUDE.md").write_text(f"# Shop\n\n- {rule}\n", "utf-8")
    (places.home / ".claude").mkdir()
    (places.home / ".claude/CLAUDE.md").write_text(f"# Mine\n\n- {rule}\n", "utf-8")
    claude = ClaudeFile(cwd=str(project))
    for number in range(4):
        claude.user(f"Go on, step {number}.")
        usage = {
            "input_tokens": 100,
            "cache_creation_input_tokens": 0,
            "cache_read_input_tokens": 900,
            "output_tokens": 10,
        }
        claude.assistant(text("Done."), usage=usage, model="claude-sonnet-4-5")
    path = places.home / "session.jsonl"
    path.write_bytes(claude.data)
    inspection = inspect_session(load(open_session(path), Config(), places), 5, Config())
    part = next(part for part in inspection.parts if part.source.endswith("shop/CLAUDE.md"))
    assert part.cost.tokens_a_day == 4 * part.n_tokens
    assert part.cost.cached_tokens_a_day == round(4 * part.n_tokens * 0.9)
    assert part.cost.usd_a_request_fresh == pytest.approx(part.n_tokens * 3e-6)
    (advice,) = inspection.advice
    assert advice.path == str(project / "CLAUDE.md")
    assert advice.cost.tokens_a_day == 4 * advice.n_tokens
    told = inspection_text(inspection)
    assert all(len(line) <= 80 for line in told.splitlines())
    assert (
        " ".join(told.split()).count(
            "At this session's pace: 4 requests a day, 90% of what was sent read from the cache."
            " claude-sonnet-4-5: $3.00 for a million tokens, $0.30 from the cache"
        )
        == 1
    )
    assert "shop/CLAUDE.md says 1 thing that" in told
