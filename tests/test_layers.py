"""Layers point downwards: import-linter holds the contracts of pyproject.toml."""

import ast
import os
import runpy
import subprocess
import sys
import tomllib
from collections.abc import Mapping, Set
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import grimp

from running import WAIT_S
from ullage.formats.registry import AGENTS

ROOT = Path(__file__).parents[1]
CORE_MAY_IMPORT = {
    *("base64", "bisect", "collections", "collections.abc", "contextlib", "datetime", "difflib"),
    *(
        "functools",
        "hashlib",
        "html",
        "itertools",
        "json",
        "math",
        "operator",
        "re",
        "shlex",
        "typing",
    ),
    *("unicodedata", "urllib.parse", "msgspec", "pathspec", "pathspec.patterns.gitignore.spec"),
    *("Stemmer", "cronsim"),
    # In C: what a hook has the time for (core/text/quick_json.py, core/secrets/quick_gate.py).
    *("_json", "binascii"),
    # In C too: what a command has the time for (core/text/digest.py).
    *("_blake2", "_sha2", "_sha256"),
}
FIGURES = runpy.run_path(str(ROOT / "tools/figures.py"))


def test_no_layer_imports_what_it_may_not() -> None:
    done = subprocess.run(
        [
            sys.executable,
            "-c",
            "from importlinter.cli import lint_imports_command; lint_imports_command()",
            "--no-cache",
        ],
        cwd=ROOT,
        env=dict(os.environ) | {"COLUMNS": "200"},
        capture_output=True,
        encoding="utf-8",
        timeout=WAIT_S,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "0 broken" in done.stdout


def test_every_agent_is_a_package_of_its_own_that_the_contract_holds() -> None:
    folder = ROOT / "server" / "ullage" / "formats" / "agents"
    packages = {path.name for path in folder.iterdir() if path.name[:2] != "__"}
    assert packages == {info.agent.replace("-", "_") for info in AGENTS}
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    contracts = project["tool"]["importlinter"]["contracts"]
    (contract,) = (one for one in contracts if one["type"] == "independence")
    assert contract["modules"] == ["ullage.formats.agents.*"]


def test_no_two_modules_lead_to_each_other() -> None:
    """Imports inside functions count: what they hide is a circle all the same."""
    graph = grimp.build_graph("ullage", cache_dir=None)
    imports = {module: graph.find_modules_directly_imported_by(module) for module in graph.modules}
    circle = find_circle(imports)
    assert circle is None, " → ".join(circle)


def test_a_circle_of_modules_is_found() -> None:
    assert find_circle({"a": {"b", "c"}, "b": {"c"}, "c": set()}) is None
    assert find_circle({"a": {"b"}, "b": {"c"}, "c": {"d", "b"}, "d": set()}) == ["b", "c", "b"]


def test_the_core_is_pure() -> None:
    """It knows values, patterns and the package's data: no files, clocks, processes or tasks."""
    for path in (ROOT / "server" / "ullage" / "core").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            modules: list[str] = []
            if isinstance(node, ast.Import):
                modules = [alias.name for alias in node.names]
            elif isinstance(node, ast.ImportFrom):
                modules = [node.module or ""]
            elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
                assert node.func.id not in ("open", "print", "input", "__import__"), path
            for module in modules:
                is_ours = module.startswith(("ullage.core", "ullage.data."))
                assert is_ours or module in CORE_MAY_IMPORT, f"{path}: {module}"


def find_circle(imports: Mapping[str, Set[str]]) -> list[str] | None:
    """Give the modules of a circle in their order, the first again at the end."""
    try:
        tuple(TopologicalSorter(imports).static_order())
    except CycleError as error:
        return list(reversed(error.args[1]))
    return None


def test_the_house_stays_easy_to_enter() -> None:
    """Limits that were chosen: 0.1.0 had folders of 104 modules, a chain of 30, 13 % of imports."""
    package = ROOT / "server" / "ullage"
    layers = FIGURES["count_layers"](package).values()
    n_code, n_imports = (sum(counts) for counts in list(zip(*layers, strict=True))[1:])
    assert n_imports <= 0.11 * n_code
    assert max(FIGURES["count_folders"](package).values()) <= 20
    chain = FIGURES["find_longest_chain"](FIGURES["find_imports"]())
    assert len(chain) <= 24, " → ".join(chain)


def test_lines_of_code_are_counted_without_docstrings_and_comments() -> None:
    text = '"""What it is."""\n\nimport os  # why\n\n# Why.\nVALUE = (\n    1,\n)\n"""Its."""\n'
    assert FIGURES["count_lines"](text) == (5, 1)


def test_every_package_says_what_it_is() -> None:
    for path in (ROOT / "server" / "ullage").rglob("*.py"):
        first = path.read_text("utf-8").lstrip().split("\n", 1)[0]
        assert first.startswith('"""'), path


def test_no_field_hides_a_type_that_its_class_names() -> None:
    """Python 3.14 reads annotations late, where the field stands in the place of the type."""
    hidden = [
        f"{path.name}: {owner.name}.{name.id}"
        for path in (ROOT / "server").rglob("*.py")
        for owner in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(owner, ast.ClassDef)
        for fields in [[field for field in owner.body if isinstance(field, ast.AnnAssign)]]
        for field in fields
        for name in ast.walk(field.annotation)
        if isinstance(name, ast.Name) and name.id in {ast.unparse(each.target) for each in fields}
    ]
    assert hidden == []
