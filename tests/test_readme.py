"""What the README says to run is what CI runs, and what it points to exists."""

import ast
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


def test_every_word_of_the_glossary_is_defined_in_its_module() -> None:
    table = (ROOT / "ARCHITECTURE.md").read_text("utf-8").partition("## Words")[2]
    rows: list[tuple[str, str, str]] = re.findall(
        r"^\| ([a-z ,]+) \| (.*) \| (`[^|]+`) \|$", table.partition("\n## ")[0], re.MULTILINE
    )
    assert len(rows) > 40
    for words, meaning, paths in rows:
        names = {name for path in paths.strip("`").split("`, `") for name in _names_in(path)}
        is_named = any(name in names for name in re.findall(r"`(\w+)`", meaning))
        parts = " ".join(re.sub("(?<=[a-z])(?=[A-Z])", "_", name).lower() for name in names)
        terms = [word.replace(" ", "_").removesuffix("s") for word in words.split(", ")]
        assert is_named or [term for term in terms if term not in parts] == []


def _names_in(path: str) -> list[str]:
    """List what a module and its classes define."""
    module = ast.parse((ROOT / "server/ullage" / path).read_text("utf-8"))
    classes = [node for node in module.body if isinstance(node, ast.ClassDef)]
    names: list[str] = []
    for node in (*module.body, *(node for struct in classes for node in struct.body)):
        if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            names.append(node.name)
        elif isinstance(node, ast.Assign | ast.AnnAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            names += [target.id for target in targets if isinstance(target, ast.Name)]
    return names
