"""Every code stands once, and the pages are those of the code."""

import runpy
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


def test_every_code_leads_to_its_section() -> None:
    links = diagnostic_links()
    assert links.keys() == BY_CODE.keys()
    for code, link in links.items():
        address, _, line = link.partition("#L")
        lines = MADE["FILES"][1].read_text("utf-8").split("\n")
        assert lines[int(line) - 1] == f"### {code}"
        assert address == MADE["FILES"][1].as_uri()
