"""What code cites is a page of this repository, and has the heading that is cited.

A citation is a page's path and its headings: `docs/design/prune.md, "The six rules" and "Rounds"`.
"""

import ast
import os
import re
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parent.parent
FOLDERS = ("server", "vscode-extension/src", "benchmarks", "tools", "tests")
MADE_UP = ("benchmarks/", "tools/", "tests/")
"""Their strings name made-up files: there only comments and docstrings cite."""
NOT_CODE = {"node_modules", "samples", "__pycache__"}

PAGE = re.compile(r"(?<![@\w./-])docs/[a-z/-]+\.md")
CITATION = re.compile(rf'({PAGE.pattern})((?:(?:,| and) "[^"]+")+)')
LINE_BREAK = re.compile(r"\n[ \t]*(?:#|//|\*)?[ \t]*")
"""With what begins the next line of a comment."""
NOT_HERE = re.compile(r"(?<!Amazon )\bS[0-5]\b|\bSPEC §|\bresearch/[a-z-]+\.md")


@cache
def sources() -> dict[str, str]:
    """Read all code, by its path from the root."""
    found: dict[str, str] = {}
    for top in FOLDERS:
        for folder, below, names in os.walk(ROOT / top):
            below[:] = sorted(set(below) - NOT_CODE)
            for name in names:
                if name.endswith((".py", ".ts", ".mjs")):
                    path = Path(folder, name)
                    found[path.relative_to(ROOT).as_posix()] = path.read_text("utf-8")
    assert len(found) > 500
    return found


def citing_text(path: str, text: str) -> str:
    """Give the part of a file that may cite, without line breaks; empty where nothing does."""
    if not PAGE.search(text):
        return ""
    if path.startswith(MADE_UP):
        comments = re.findall(r"^\s*#.*\n?|//.*\n?", text, re.MULTILINE)
        nodes = ast.walk(ast.parse(text)) if path.endswith(".py") else ()
        docstrings = [
            node.value.value
            for node in nodes
            if isinstance(node, ast.Expr)
            and isinstance(node.value, ast.Constant)
            and isinstance(node.value.value, str)
        ]
        text = "\n".join(["".join(comments), *docstrings])
    return LINE_BREAK.sub(" ", text)


@cache
def headings(page: str) -> frozenset[str]:
    text = (ROOT / page).read_text("utf-8")
    code = re.compile(r"^```.*?^```", re.MULTILINE | re.DOTALL)
    return frozenset(re.findall(r"^#+ (.+)$", code.sub("", text), re.MULTILINE))


def test_every_page_that_is_cited_is_there() -> None:
    cited = [
        (path, page)
        for path, text in sources().items()
        for page in PAGE.findall(citing_text(path, text))
    ]
    assert len(cited) > 50
    assert [(path, page) for path, page in cited if not (ROOT / page).is_file()] == []


def test_every_heading_that_is_cited_stands_in_its_page() -> None:
    cited = [
        (path, page, heading)
        for path, text in sources().items()
        for page, named in CITATION.findall(citing_text(path, text))
        for heading in re.findall(r'"([^"]+)"', named)
    ]
    assert len(cited) > 50
    assert [at for at in cited if (ROOT / at[1]).is_file() and at[2] not in headings(at[1])] == []


def test_no_document_is_cited_that_is_not_here() -> None:
    own_path = Path(__file__).relative_to(ROOT).as_posix()
    assert [
        (path, line.strip())
        for path, text in sources().items()
        if path != own_path
        for line in text.splitlines()
        if NOT_HERE.search(line)
    ] == []
