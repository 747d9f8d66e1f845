"""What `context inspect` tells of the parts of a request."""

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
    assert not any(line.startswith("not in the transcript") for line in told)
    start = told.index("What is sent")
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
    source = rows[2][35:]
    assert source.startswith("…")
    assert len(source) == SOURCE_CHARS
