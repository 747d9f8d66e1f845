"""Layers point downwards: import-linter holds the contracts of pyproject.toml."""

import os
import subprocess
import sys
import tomllib
from pathlib import Path

from running import WAIT_S
from ullage.formats.registry import AGENTS

ROOT = Path(__file__).parents[1]


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


def test_every_package_says_what_it_is() -> None:
    for path in (ROOT / "server" / "ullage").rglob("*.py"):
        first = path.read_text("utf-8").lstrip().split("\n", 1)[0]
        assert first.startswith('"""'), path
