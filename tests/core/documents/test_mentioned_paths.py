"""What an instruction file names as a path, and what only looks like one."""

import pytest

from ullage.core.documents.mentioned_paths import find_mentions


@pytest.mark.parametrize(
    ("text", "path"),
    [
        ("See `src/app/main.py` first.", "src/app/main.py"),
        ("The entry is `src/app/main.py:42`.", "src/app/main.py"),
        ("Routes are in `src/routes/`.", "src/routes/"),
        ("Read [the rules](docs/RULES.md).", "docs/RULES.md"),
        ("Read [the rules](docs/the%20rules#why).", None),
        ('Read [the rules](<./RULES.md#why> "Rules").', "./RULES.md"),
        ("Follow @docs/rules.md in all.", "docs/rules.md"),
        ("Never do it.\n\nSee\n`src/a.py`\nfor it.\n\nNever do it.", "src/a.py"),
        ("See `docs/local/missing.md`.", "docs/local/missing.md"),
        ("- a list with `packages/core/index.ts`", "packages/core/index.ts"),
    ],
)
def test_a_path_is_found(text: str, path: str | None) -> None:
    assert [one.path for one in find_mentions(text)] == ([] if path is None else [path])


@pytest.mark.parametrize(
    "text",
    [
        "Run `npm run build`.",
        "All of `src/**/*.ts`.",
        "Never touch `<folder>/main.py`.",
        "Use `{name}/index.ts`.",
        "The branch `feature/login`.",
        "Install `@scope/package`.",
        "GET `/v1/responses` answers.",
        "Open `https://example.org/a/b.html`.",
        "See [docs](https://example.org/a.md).",
        "Home is `~/.codex/AGENTS.md`.",
        "On Windows `C:\\work\\a.py`.",
        "Choose and/or, `and/or`, `n/a`.",
        "Such as `path/to/file.ts`.",
        "Name it `your/module.py`.",
        "It writes `out.d/report.json` each time.",
        "Build output is `dist/index.js`.",
        "Confirm from `build.gradle` and `gradle.properties`.",
        "The script creates `src/generated/api.ts`.",
        "Mail @someone/else about it.",
        "![shot](docs/missing.png)",
        "```sh\ncat src/gone/main.py `src/gone/x.py`\n```",
        "<!-- `src/gone/main.py` -->",
        "Daily logs are `memory/YYYY-MM-DD.md`.",
        "Repo-local copies (if any) live in `docs/slash-commands/`.",
        "See `docs/RELEASING.md`. If it's missing, search for a checklist.",
        "It is kept in the upstream\nrepository, see `docs/gone.md`\nthere.",
        "The profile is\n`data/profile.json`, which is\nstored by the bot.",
        "The virtual environment is `server/venv/`.",
        "Canonical sample (upstream): **`configs/kzero.sample.yml`**",
        "Keep it aligned (see `.cursor/rules/readme.mdc` locally).",
        "`data/` is git-ignored: `data/odds_history.json` (one entry per run day)",
    ],
)
def test_what_only_looks_like_a_path_is_none(text: str) -> None:
    assert find_mentions(text) == ()


def test_the_place_is_that_of_the_path_alone() -> None:
    text = "é😀 see `src/a.py:3` now"
    (one,) = find_mentions(text)
    assert text[one.start : one.end] == "src/a.py:3"
