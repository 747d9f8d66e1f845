"""Print how the package is built: code lines, import lines, folders, the longest chain of imports.

    python tools/figures.py [FOLDER]

A code line is a line that is neither blank nor a comment nor part of a docstring of a module, a
class or a function. FOLDER is that of another copy of this repository, to compare with.
"""

import ast
import io
import sys
import tokenize
from collections import Counter
from collections.abc import Iterator, Mapping, Set
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import grimp

ROOT = Path(__file__).parents[1]
_BLANK = {
    tokenize.COMMENT,
    tokenize.NL,
    tokenize.NEWLINE,
    tokenize.INDENT,
    tokenize.DEDENT,
    tokenize.ENDMARKER,
}
_WITH_DOCSTRING = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)


def count_lines(text: str) -> tuple[int, int]:
    """Count the code lines of a module, and those of them that import."""
    tokens = tokenize.generate_tokens(io.StringIO(text).readline)
    code = {n for token in tokens if token.type not in _BLANK for n in _lines_of_token(token)}
    imports: set[int] = set()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import | ast.ImportFrom):
            imports.update(_lines_of_node(node))
        elif isinstance(node, _WITH_DOCSTRING) and ast.get_docstring(node) is not None:
            code.difference_update(_lines_of_node(node.body[0]))
    return len(code), len(imports & code)


def count_layers(package: Path) -> dict[str, tuple[int, int, int]]:
    """Count modules, code lines and import lines of each layer."""
    totals: dict[str, tuple[int, int, int]] = {}
    for path in package.rglob("*.py"):
        layer = path.relative_to(package).parts[0].removesuffix(".py")
        n_modules, n_code, n_imports = totals.get(layer, (0, 0, 0))
        more_code, more_imports = count_lines(path.read_text("utf-8"))
        totals[layer] = n_modules + 1, n_code + more_code, n_imports + more_imports
    return totals


def count_folders(package: Path) -> Counter[str]:
    """Count the modules of each folder."""
    paths = (path for path in package.rglob("*.py") if path.name != "__init__.py")
    return Counter(path.parent.relative_to(package).as_posix() for path in paths)


def find_imports() -> dict[str, Set[str]]:
    """Give what each module of the package imports of it; imports inside functions count."""
    graph = grimp.build_graph("ullage", cache_dir=None)
    return {module: graph.find_modules_directly_imported_by(module) for module in graph.modules}


def find_longest_chain(imports: Mapping[str, Set[str]]) -> list[str]:
    """Find the longest chain of modules of which each imports the next; there is no circle."""
    below: dict[str, list[str]] = {}
    for module in TopologicalSorter(imports).static_order():
        longest = max((below[name] for name in sorted(imports[module])), key=len, default=[])
        below[module] = [module, *longest]
    return max(below.values(), key=len)


def main() -> None:
    root = Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT
    sys.path.insert(0, str(root / "server"))
    package = root / "server" / "ullage"
    layers = count_layers(package)
    for layer, (n_modules, n_code, n_imports) in sorted(layers.items()):
        print(f"{layer:12}{n_modules:5} modules{n_code:8,} code lines{n_imports:7,} import lines")
    n_modules, n_code, n_imports = map(sum, zip(*layers.values(), strict=True))
    print(
        f"{'all':12}{n_modules:5} modules{n_code:8,} code lines{n_imports:7,} import lines,"
        f" {n_imports / n_code:.2%}"
    )
    print("largest folders:", count_folders(package).most_common(3))
    try:
        chain = find_longest_chain(find_imports())
    except CycleError as error:
        print("a circle:", " → ".join(error.args[1]))
    else:
        print(f"longest chain: {len(chain)} modules,", " → ".join(chain))


def _lines_of_token(token: tokenize.TokenInfo) -> Iterator[int]:
    yield from range(token.start[0], token.end[0] + 1)


def _lines_of_node(node: ast.stmt) -> Iterator[int]:
    yield from range(node.lineno, (node.end_lineno or node.lineno) + 1)


if __name__ == "__main__":
    main()
