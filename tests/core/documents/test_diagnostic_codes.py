"""Every code stands once, and the pages are those of the code."""

import ast
import runpy
from collections.abc import Iterator
from pathlib import Path
from typing import get_args

from ullage.core.config.key import Code
from ullage.core.documents.diagnostic_codes import BY_CODE, CODES
from ullage.store.documents.diagnostics_page import diagnostic_links

ROOT = Path(__file__).parents[3]
MADE = runpy.run_path(str(ROOT / "tools/make_diagnostics_page.py"))


def test_the_pages_are_those_of_the_code() -> None:
    for file in MADE["FILES"]:
        assert file.read_text("utf-8") == MADE["page"](), "run tools/make_diagnostics_page.py"


def test_a_code_stands_once() -> None:
    assert len(BY_CODE) == len(CODES)


def test_every_finding_on_a_configuration_has_a_code() -> None:
    assert {one.code for one in CODES if one.subject == "config"} == set(get_args(Code))


def texts_in(package: Path) -> Iterator[tuple[str, bool]]:
    """Give the texts in the code, and of each whether it is the code of a finding."""
    for path in package.rglob("*.py"):
        if path.name == "diagnostic_codes.py":
            continue
        nodes = list(ast.walk(ast.parse(path.read_text("utf-8"))))
        calls = [node for node in nodes if isinstance(node, ast.Call)]
        findings = [call for call in calls if getattr(call.func, "id", "") == "DocumentFinding"]
        codes = [word.value for call in findings for word in call.keywords if word.arg == "code"]
        for node in nodes:
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                yield node.value, node in codes


def test_every_code_of_a_finding_is_in_the_table_and_every_code_is_found() -> None:
    texts = set(texts_in(ROOT / "server/ullage"))
    assert {text for text, is_code in texts if is_code} - BY_CODE.keys() == set()
    assert BY_CODE.keys() - {text for text, _ in texts} == set()


def test_every_code_leads_to_its_section() -> None:
    links = diagnostic_links()
    assert links.keys() == BY_CODE.keys()
    for code, link in links.items():
        address, _, line = link.partition("#L")
        lines = MADE["FILES"][1].read_text("utf-8").split("\n")
        assert lines[int(line) - 1] == f"### {code}"
        assert address == MADE["FILES"][1].as_uri()
