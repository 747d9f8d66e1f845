"""What the README says to run is what CI runs, and what it points to exists."""

import re
from pathlib import Path

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text("utf-8")


def test_trying_testing_and_the_editor_are_set_up_by_one_line_each() -> None:
    commands = re.findall(r"```sh\n(.*?)\n```", README, re.DOTALL)
    assert len(commands) == 3
    assert all("\n" not in command for command in commands)
    assert commands[0].endswith("ullage demo")
    assert commands[2].endswith("--install-extension vscode-extension/ullage.vsix")


def test_ci_runs_the_test_command_of_the_readme_to_the_letter() -> None:
    command = re.findall(r"```sh\n(.*?)\n```", README, re.DOTALL)[1]
    assert command in (ROOT / ".ci/run").read_text("utf-8")


def test_every_link_of_the_documents_leads_somewhere() -> None:
    for page in (*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")):
        links = re.findall(r"\]\(([^)#:]+)\)", page.read_text("utf-8"))
        assert [link for link in links if not (page.parent / link).exists()] == []


def test_every_invariant_names_a_test_that_exists() -> None:
    table = (ROOT / "ARCHITECTURE.md").read_text("utf-8").partition("## Invariants")[2]
    names = re.findall(r"`(tests/[^`]+)`", table)
    assert len(names) > 10
    assert [name for name in names if not (ROOT / name).exists()] == []


def test_every_module_that_the_documents_name_exists() -> None:
    layers = "cli|lsp|agent|app|formats|store|summary|core|data"
    pattern = re.compile(rf"(?:server/ullage/|(?<![\w/.-]))((?:{layers})/[a-z_/]+\.py)\b")
    missing: list[str] = []
    for path in (*ROOT.glob("*.md"), *ROOT.glob("docs/contributing/*.md")):
        names = pattern.findall(path.read_text("utf-8"))
        missing += [f"{path.name}: {n}" for n in names if not (ROOT / "server/ullage" / n).exists()]
    assert missing == []


def test_every_word_of_the_glossary_stands_in_its_module() -> None:
    table = (ROOT / "ARCHITECTURE.md").read_text("utf-8").partition("## Words")[2]
    rows = re.findall(
        r"^\| ([a-z ,]+) \|.*\| (`[^|]+`) \|$", table.partition("\n## ")[0], re.MULTILINE
    )
    assert len(rows) > 40
    for words, names in rows:
        paths = [ROOT / "server/ullage" / name for name in re.findall("`([^`]+)`", names)]
        code = " ".join(path.read_text("utf-8").lower() for path in paths)
        assert [word for word in words.split(", ") if word.split()[-1] not in code] == []
