"""What `context inspect` tells of the parts of a request."""

import pytest

from claude_files import ClaudeFile, call, result, text
from ullage.app.assembly.parts import inspect_session
from ullage.app.gauge.inspect import inspection_text
from ullage.app.sessions.load import load
from ullage.app.sessions.open import open_session
from ullage.core.config.settings import Config
from ullage.store.files.places import Places


@pytest.mark.parametrize("n_columns", [80, 400])
def test_parts_stand_below_what_is_not_in_the_messages_by_their_files(
    places: Places, n_columns: int
) -> None:
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
    told = inspection_text(inspection, n_columns).splitlines()
    start = next(at for at, line in enumerate(told) if line.startswith("not in the messages"))
    prompt, rules, index, cut = told[start + 1 : start + 5]
    assert prompt.startswith("  system prompt and tools  ")
    assert rules.startswith("  CLAUDE.md  ")
    assert cut.startswith("    not sent: 8 characters")
    assert all(len(row) <= n_columns for row in told)
    if n_columns == 80:
        assert index.startswith("  …")
    else:
        assert index.startswith(f"  ~/.claude/projects/{slug}/memory/MEMORY.md  ")


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
    told = inspection_text(inspection, 80)
    assert all(len(line) <= 80 for line in told.splitlines())
    assert (
        " ".join(told.split()).count(
            "At this session's pace: 4 requests a day, 90% of what was sent read from the cache."
            " claude-sonnet-4-5: $3.00 for a million tokens, $0.30 from the cache"
        )
        == 1
    )
    assert "shop/CLAUDE.md says 1 thing that" in told


def test_one_request_is_one_and_a_label_leaves_out_the_folder(places: Places) -> None:
    claude = ClaudeFile(cwd="/work/shop")
    claude.user("Begin.")
    deep = f"/work/shop/src/{'deep/' * 20}b.py"
    read = call("r2", "Read", file_path=deep)
    claude.assistant(call("r1", "Read", file_path="/work/shop/src/a.py"), read, usage=9_000)
    claude.user([result("r2", "x = 1\n" * 50)])
    path = places.home / "session.jsonl"
    path.write_bytes(claude.data)
    told = inspection_text(
        inspect_session(load(open_session(path), Config(), places), 5, Config()), 80
    )
    assert "1 request a day" in told
    assert "  Read src/a.py" in told
    cut = next(line for line in told.split("\n") if "b.py" in line)
    assert ("  Read …" in cut, cut.endswith("/deep/b.py"), len(cut)) == (True, True, 80)
